"""The functions of compiler and search that jobs call, as one value: `MILLRACE_STAGES` names it (`module:attribute`).

`worker.stages.compiler_stages:STAGES` is the real one; tests bring stand-ins that keep the same promises.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Metric
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform
from worker.errors import ServiceError

if TYPE_CHECKING:
    from compiler.calibration.calibrate import Calibration
    from compiler.measurement.measurement import Measurement
    from compiler.measurement.request import MeasureRequest
    from compiler.toolchain.vitis.commands import LinkOptions
    from compiler.toolchain.vitis.limits import Limits
    from compiler.toolchain.vitis.result import ToolResult
    from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink

Progress = Callable[[str], None]


class Bundle(Protocol):
    """An imported workload (see compiler.frontend.bundle)."""

    @property
    def directory(self) -> Path: ...
    @property
    def graph(self) -> LinalgGraph: ...


class Verdict(Protocol):
    """What a C simulation found (see compiler.simulator.csim)."""

    @property
    def passed(self) -> bool: ...
    def to_json(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Simulated:
    """What the timing simulator found of one design: `metrics` have fidelity `simulate`, `document` is the content of
    `simulation.json`. With a `deadlock`, which it explains in words, cycles and latency are those until it.
    """

    cycles: int
    latency_us: float
    deadlock: str | None
    metrics: tuple[Metric, ...]
    document: Mapping[str, Any]


class Search(Protocol):
    """See dse.explore.search."""

    def __call__(
        self,
        graph: LinalgGraph,
        platform: Platform,
        options: "SearchOptions",
        sink: "Sink",
        history: "Sequence[EvaluatedDesign]" = (),
    ) -> "SearchResult": ...


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One run of Vitis: which version, the folder for what it leaves, its limits, and who hears its lines."""

    version: str
    out: Path
    limits: "Limits"
    say: Progress


@dataclass(frozen=True, slots=True)
class Stages:
    """The functions. All raise MillraceError for what a person can act upon.

    `lower(model, workload, cache, on_progress)` is quick where the cache has the bundle; `search` as above;
    `compile(bundle, knobs, platform, out, on_stage)` writes a design directory; `simulate(design_dir)` runs its timing,
    `csim(design_dir, on_stage)` its C++. `csynth(design_dir, run)`, `cosim(design_dir, run)` and
    `link(design_dir, xos, options, run)` are those of Vitis; `resimulate(design_dir, reports)` is the
    simulation with the timing of csynth's reports, or why there is none; `measure(design_dir, xclbin, request, say)`
    runs it on a board; `calibrate(platform, folder)` refits the area model to the reports in it.
    """

    lower: Callable[[str | Path | FileSource, Workload, Path, Progress], Bundle]
    search: Search
    compile: Callable[[Any, Knobs, Platform, Path, Progress], object]
    simulate: Callable[[Path], Simulated]
    csim: Callable[[Path, Progress], Verdict]
    csynth: "Callable[[Path, ToolRun], ToolResult]"
    cosim: "Callable[[Path, ToolRun], ToolResult]"
    link: "Callable[[Path, Sequence[Path], LinkOptions, ToolRun], ToolResult]"
    resimulate: "Callable[[Path, Sequence[Path]], Simulated | str]"
    measure: "Callable[[Path, Path | None, MeasureRequest, Progress], Measurement]"
    calibrate: "Callable[[Platform, Path], Calibration]"


def load_stages(name: str) -> Stages:
    """The stages that `module:attribute` names. Raises ServiceError."""
    module, _, attribute = name.partition(":")
    stages = getattr(import_module(module), attribute, None)
    if not isinstance(stages, Stages):
        raise ServiceError(f"MILLRACE_STAGES={name!r} does not name a worker.stages.functions.Stages value")
    return stages
