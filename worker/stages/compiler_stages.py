"""The real stages: this compiler, this search. Each function is loaded when it is called: a job needs one or two."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.errors import ReportError
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform
from worker.stages.functions import Progress, Simulated, Stages, ToolRun
from worker.stages.outcome import StageError

if TYPE_CHECKING:
    from compiler.calibration.calibrate import Calibration
    from compiler.frontend.bundle import Bundle
    from compiler.measurement.measurement import Measurement
    from compiler.measurement.request import MeasureRequest
    from compiler.simulator.timing.simulation import Simulation
    from compiler.toolchain.vitis.commands import LinkOptions
    from compiler.toolchain.vitis.installation import Installation
    from compiler.toolchain.vitis.result import ToolResult
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

    return _simulated(simulate_directory(design_dir))


def _simulated(found: "Simulation") -> Simulated:
    deadlock = None if found.deadlock is None else found.deadlock.text
    return Simulated(found.cycles, found.latency_us, deadlock, found.metrics(), found.to_json())


def csim(design_dir: Path, on_stage: Progress) -> "Verdict":
    """See compiler.verify."""
    from compiler import verify  # noqa: PLC0415

    return verify.csim(design_dir, on_stage)


def csynth(design: Path, run: ToolRun) -> "ToolResult":
    """See compiler.toolchain.vitis.csynth."""
    from compiler.toolchain.vitis import csynth as vitis  # noqa: PLC0415

    return vitis.csynth(design, _installed(run.version), vitis.CsynthOptions(), run.out, run.limits, run.say)


def cosim(design: Path, run: ToolRun) -> "ToolResult":
    """See compiler.toolchain.vitis.cosim."""
    from compiler.toolchain.vitis import cosim as vitis  # noqa: PLC0415

    return vitis.cosim(design, _installed(run.version), vitis.CosimOptions(), run.out, run.limits, run.say)


def link(design: Path, xos: Sequence[Path], options: "LinkOptions", run: ToolRun) -> "ToolResult":
    """See compiler.toolchain.vitis.link."""
    from compiler.toolchain.vitis import link as vitis  # noqa: PLC0415

    return vitis.link(design, xos, _installed(run.version), options, run.out, run.limits, run.say)


def _installed(version: str) -> "Installation":
    from compiler.toolchain.vitis.installation import find_installations  # noqa: PLC0415

    found = {installed.version: installed for installed in find_installations()}
    if version not in found:
        here = ", ".join(found) or "none"
        raise StageError("node", f"this node has no Vitis {version} any more (it has {here}); install it, or pause it")
    return found[version]


def resimulate(design: Path, reports: Sequence[Path]) -> "Simulated | str":
    """The simulation with the timing that csynth's reports give the tasks; where they do not fit, why."""
    from compiler.design_dir import reported_timing  # noqa: PLC0415
    from compiler.simulator.timing.simulate import simulate_directory  # noqa: PLC0415

    try:
        found = simulate_directory(design, timing=reported_timing(design, reports))
    except ReportError as error:
        return f"its timing could not be taken over: {error}"
    return _simulated(found)


def measure(design: Path, xclbin: Path | None, request: "MeasureRequest", say: Progress) -> "Measurement":
    """See compiler.measurement."""
    from compiler.measurement.measure import measure as run  # noqa: PLC0415

    return run(design, xclbin, request, say)


def calibrate(platform: Platform, folder: Path) -> "Calibration":
    """See compiler.calibration."""
    from compiler.calibration.calibrate import calibrate as refit  # noqa: PLC0415

    return refit(platform, [folder])


STAGES = Stages(
    lower=lower,
    search=search,
    compile=compile_design,
    simulate=simulate,
    csim=csim,
    csynth=csynth,
    cosim=cosim,
    link=link,
    resimulate=resimulate,
    measure=measure,
    calibrate=calibrate,
)
