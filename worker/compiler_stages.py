"""The real stages: this compiler, this search. Each function is loaded when it is called: a job needs one or two."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform
from worker.stages import Progress, Simulated, Stages

if TYPE_CHECKING:
    from compiler.frontend.bundle import Bundle
    from compiler.verify import Verdict
    from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink


def lower(model: str | Path | FileSource, workload: Workload, cache: Path, on_progress: Progress) -> "Bundle":
    """See compiler.frontend.bundle."""
    from compiler.frontend.bundle import import_model  # noqa: PLC0415

    return import_model(model, workload, cache, on_progress)


def search(
    graph: LinalgGraph,
    platform: Platform,
    options: "SearchOptions",
    sink: "Sink",
    history: "Sequence[EvaluatedDesign]" = (),
) -> "SearchResult":
    """See dse.explore."""
    from dse import explore  # noqa: PLC0415

    return explore.search(graph, platform, options, sink, history)


def compile_design(bundle: "Bundle", knobs: Knobs, platform: Platform, out: Path, on_stage: Progress) -> None:
    """See compiler.pipeline."""
    from compiler import pipeline  # noqa: PLC0415

    pipeline.compile_design(bundle, knobs, platform, out, on_stage)


def simulate(design_dir: Path) -> Simulated:
    """See compiler.simulator.timing."""
    from compiler.simulator.timing.simulate import simulate_directory  # noqa: PLC0415

    found = simulate_directory(design_dir)
    deadlock = None if found.deadlock is None else found.deadlock.text
    return Simulated(found.cycles, found.latency_us, deadlock, found.metrics(), found.to_json())


def csim(design_dir: Path, on_stage: Progress) -> "Verdict":
    """See compiler.verify."""
    from compiler import verify  # noqa: PLC0415

    return verify.csim(design_dir, on_stage)


STAGES = Stages(lower=lower, search=search, compile=compile_design, simulate=simulate, csim=csim)
