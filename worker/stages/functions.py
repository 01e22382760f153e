"""The functions that builds call, of the farm and below it of compiler and search. Each is loaded when it is called: a
build needs one or two.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from worker.errors import SettingsError
from worker.farm import Farm
from worker.stages.context import JobContext
from worker.stages.outcome import Outcome, StageError

if TYPE_CHECKING:
    from compiler.calibration.calibrate import Calibration
    from compiler.errors import Violation
    from compiler.frontend.bundle import Bundle
    from compiler.frontend.inputs.source import FileSource
    from compiler.graph.linalg_graph import LinalgGraph
    from compiler.measurement.measurement import Measurement
    from compiler.measurement.request import MeasureRequest
    from compiler.metrics import Metric
    from compiler.options import Knobs, Workload
    from compiler.platforms.platform import Platform
    from compiler.proof.verdict import Verdict
    from compiler.simulator.timing.simulation import Simulation
    from compiler.toolchain.vitis.commands import LinkOptions
    from compiler.toolchain.vitis.installation import Installation
    from compiler.toolchain.vitis.limits import Limits
    from compiler.toolchain.vitis.result import ToolResult
    from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink
    from dse.turns import Turn

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Certified:
    """Estimates of one design with certified FIFOs, as it is placed, and the budgets that it then exceeds."""

    metrics: tuple[Metric, ...]
    violations: tuple[Violation, ...]


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


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One run of Vitis: which version, the folder for what it leaves, its limits, and who hears its lines."""

    version: str
    out: Path
    limits: Limits
    say: Progress


class Stages:
    """The real functions; stand-ins override some. All raise MillraceError for what a person can act upon."""

    def run(self, farm: Farm, job: JobContext) -> Outcome:
        """The stage of the build, with the functions below."""
        match job.build.stage:
            case "lower":
                from worker.stages.lowering import lower as stage
            case "search":
                from worker.stages.searching import search as stage
            case "simulate":
                from worker.stages.simulating import simulate as stage
            case "csim":
                from worker.stages.verifying import csim as stage
            case "csynth":
                from worker.stages.synthesising import csynth as stage
            case "cosim":
                from worker.stages.synthesising import cosim as stage
            case "link":
                from worker.stages.linking import link as stage
            case "measure":
                from worker.stages.measuring import measure as stage
            case "calibrate":
                from worker.stages.calibrating import calibrate as stage
        return stage(farm, self, job)

    def lower(self, model: str | Path | FileSource, workload: Workload, cache: Path, say: Progress) -> Bundle:
        """Quick where the cache has the bundle."""
        from compiler.frontend.bundle import import_model

        return import_model(model, workload, cache, say, Path(tempfile.gettempdir()))  # the build's own

    def search(
        self,
        graph: LinalgGraph,
        platform: Platform,
        options: SearchOptions,
        sink: Sink,
        history: Sequence[EvaluatedDesign],
        turn: Turn,
        recorded: Sequence[EvaluatedDesign],
    ) -> SearchResult:
        from dse.explore import search

        return search(graph, platform, options, sink, history, turn=turn, recorded=recorded)

    def compile(self, bundle: Bundle, knobs: Knobs, platform: Platform, out: Path, say: Progress) -> None:
        """Write a design directory."""
        from compiler.pipeline import compile_design

        compile_design(bundle, knobs, platform, out, say)

    def time(self, bundle: Bundle, knobs: Knobs, platform: Platform, out: Path, say: Progress) -> Certified:
        """Write of a design directory what `simulate` reads."""
        from compiler.pipeline import time_design

        found = time_design(bundle, knobs, platform, out, say)
        return Certified(found.metrics, found.violations)

    def simulate(self, design: Path) -> Simulated:
        """Run the timing of a design directory, and that of a reply where it makes such."""
        from compiler.replies import stored_reply
        from compiler.simulator.timing.simulate import simulate_directory

        found = _simulated(simulate_directory(design))
        reply = stored_reply(design) if found.deadlock is None else None
        return found if reply is None else replace(found, metrics=(*found.metrics, *reply.timed))

    def csim(self, design: Path, say: Progress, whole: bool) -> Verdict:
        """Run the C++ of a design directory and prove it, on a few runs or on all."""
        from compiler.proof.csim import csim

        return csim(design, say, whole=whole)

    def csynth(self, design: Path, run: ToolRun) -> ToolResult:
        from compiler.toolchain.vitis.csynth import CsynthOptions, csynth

        return csynth(design, _installed(run.version), CsynthOptions(), run.out, run.limits, run.say)

    def cosim(self, design: Path, run: ToolRun) -> ToolResult:
        from compiler.toolchain.vitis.cosim import CosimOptions, cosim

        return cosim(design, _installed(run.version), CosimOptions(), run.out, run.limits, run.say)

    def link(self, design: Path, xos: Sequence[Path], options: LinkOptions, run: ToolRun) -> ToolResult:
        from compiler.toolchain.vitis.link import link

        return link(design, xos, _installed(run.version), options, run.out, run.limits, run.say)

    def resimulate(self, design: Path, reports: Sequence[Path]) -> Simulated | str:
        """The simulation with the timing that csynth's reports give the tasks; where they do not fit, why."""
        from compiler.design_dir import reported_timing
        from compiler.errors import ReportError
        from compiler.simulator.timing.simulate import simulate_directory

        try:
            return _simulated(simulate_directory(design, timing=reported_timing(design, reports)))
        except ReportError as error:
            return f"its timing could not be taken over: {error}"

    def measure(self, design: Path, xclbin: Path | None, request: MeasureRequest, say: Progress) -> Measurement:
        """Run a design on a board."""
        from compiler.measurement.measure import measure

        return measure(design, xclbin, request, say)

    def calibrate(self, platform: Platform, folder: Path) -> Calibration:
        """Refit the area model to the reports in the folder."""
        from compiler.calibration.calibrate import calibrate

        return calibrate(platform, [folder])


def _simulated(found: Simulation) -> Simulated:
    deadlock = None if found.deadlock is None else found.deadlock.text
    return Simulated(found.cycles, found.latency_us, deadlock, found.metrics(), found.to_json())


def _installed(version: str) -> Installation:
    from compiler.toolchain.vitis.installation import find_installations

    found = {installed.version: installed for installed in find_installations()}
    if version not in found:
        here = ", ".join(found) or "none"
        raise StageError("node", f"this node has no Vitis {version} any more (it has {here}); install it, or pause it")
    return found[version]


STAGES = Stages()


def load_stages(name: str) -> Stages:
    """What MILLRACE_STAGES, a `module:ATTRIBUTE`, names. Raises SettingsError."""
    try:
        found = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        found = error
    if not isinstance(found, Stages):
        raise SettingsError(
            f"MILLRACE_STAGES is {name!r}: expected module:ATTRIBUTE of a worker.stages.functions.Stages, got {found!r}"
        )
    return found
