"""The compiler, as a list: PyTorch -> linalg -> passes over one Design, written as IR after each -> certified FIFOs ->
placed on the board -> HLS C++ (design section 3).

`ir/NN-pass.mlir` is the design after each pass; what is certified, placed and emitted is what the last of these texts
says. `ir/expanded.mlir` is the last one with every task spelled out as loops.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from compiler.analysis.build import task_dies, task_graph
from compiler.analysis.estimate import Estimate
from compiler.analysis.placement.board_plan import plan_board
from compiler.analysis.placement.place import describe
from compiler.analysis.placement.placement import Placement
from compiler.design_dir import OnStage, silent, write_description, write_testbench_data
from compiler.errors import InvalidInputError, MillraceError, VerificationError
from compiler.frontend.bundle import Bundle
from compiler.graph.design import Design
from compiler.graph.layers import launched
from compiler.ir.expand_tasks import expanded_text
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import FifoEffort, Knobs
from compiler.passes.design_passes import DESIGN_PASSES
from compiler.passes.size_fifos import SizeFifos
from compiler.platforms.platform import Platform
from compiler.simulator.timing.design import timed_design
from compiler.simulator.timing.simulate import simulate_stalling
from compiler.sizing.certify import Sizing, as_given, size
from compiler.sizing.relayed import size_placed
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.tolerance import TOLERANCE

IMPORTED, CERTIFIED, SPREAD = "import-linalg", "certify-fifos", "spread-over-dies"
STAGES = (IMPORTED, *(pass_.name for pass_ in DESIGN_PASSES), CERTIFIED)
ALL_STAGES = (*STAGES, SPREAD)  # the last only of a design whose streams cross between dies


def stage_file(stage: str) -> str:
    """Name of the text of a design after `stage`, in `ir/`."""
    return f"{ALL_STAGES.index(stage) + 1:02}-{stage}.mlir"


def compile_design(
    bundle: Bundle,
    knobs: Knobs,
    platform: Platform,
    out: Path,
    on_stage: OnStage | None = None,
    fifo_effort: FifoEffort = "quick",
    start: Path | None = None,
) -> Estimate:
    """Compile one design into the directory `out` (design section 8), all of it or nothing. With more `fifo_effort` its
    FIFOs may get smaller, no safer. `start`: go on from this text of `ir/` in a design directory instead of the start.

    Raises InvalidInputError where `out` holds something or `start` is no text of this network, MillraceError where the
    disk is full or a pass fails.
    """
    say = on_stage or silent
    with _whole_directory(out) as folder:
        ir = folder / "ir"
        ir.mkdir()
        shutil.copyfile(bundle.directory / "linalg.mlir", ir / "00-linalg.mlir")
        stage, design = _begin(bundle, platform, ir, start)
        design = _planned(design, knobs, stage, ir, say)
        say("certify FIFO depths")
        design, sizing = _certified(design, knobs, stage, ir, fifo_effort)
        say("place on the board")
        sizing, placement = _placed(design, sizing, ir)
        board = plan_board(sizing.tasks, placement, design, knobs)
        say("estimate")
        estimated = board.estimated(platform)
        say("emit HLS C++")
        data = NetworkData(bundle.tensors(), bundle.expected(), TOLERANCE[bundle.workload.precision])
        emit_design(board.tasks, launched(design.graph), platform, data, folder, board.placement)
        say("write test data")
        write_testbench_data(bundle, folder)
        stalling = simulate_stalling(timed_design(board.tasks, platform), platform)
        write_description(bundle, knobs, platform, board, sizing.summary_json(), stalling, estimated, folder)
    return estimated


def _begin(bundle: Bundle, platform: Platform, ir: Path, start: Path | None) -> tuple[str, Design]:
    """The stage from which to go on, and the design after it."""
    if start is None:
        design = Design(bundle.graph.in_order, platform)
        (ir / stage_file(IMPORTED)).write_text(design_text(design, f"after {IMPORTED}"))
        return IMPORTED, design
    stage = next((stage for stage in ALL_STAGES if stage_file(stage) == start.name), None)
    if stage is None:
        known = ", ".join(map(stage_file, ALL_STAGES))
        raise InvalidInputError(f"{start} is no stage of a design; go on from one of {known}")
    try:
        design = parse_design(start.read_text(), platform)
    except (OSError, ValueError, VerificationError) as error:
        raise InvalidInputError(f"{start} can not be gone on from: {error}") from error
    if stage in (SizeFifos.name, CERTIFIED, SPREAD) and not design.depths:
        raise InvalidInputError(f"{start} has no FIFOs, which a design has after {SizeFifos.name}")
    given = [{(s, v.dtype, v.true_shape) for v in g.values for s in v.tensors} for g in (design.graph, bundle.graph)]
    if given[0] != given[1]:
        raise InvalidInputError(
            f"{start} is of another network than {bundle.workload.model}; name the model it is of, its phase and length"
        )
    for earlier in ALL_STAGES[: ALL_STAGES.index(stage)]:
        if (file := start.with_name(stage_file(earlier))).is_file():
            shutil.copyfile(file, ir / file.name)
    shutil.copyfile(start, ir / start.name)
    return stage, design


def _planned(design: Design, knobs: Knobs, stage: str, ir: Path, say: OnStage) -> Design:
    """The design after all passes that follow `stage`, as the text of the last one says it."""
    text = None
    for pass_ in DESIGN_PASSES[ALL_STAGES.index(stage) :]:
        say(f"pass {pass_.name}")
        design = pass_(knobs).run(design)
        text = design_text(design, f"after {pass_.name}")
        (ir / stage_file(pass_.name)).write_text(text)
    return design if text is None else parse_design(text, design.platform)


def _certified(design: Design, knobs: Knobs, stage: str, ir: Path, effort: FifoEffort) -> tuple[Design, Sizing]:
    """FIFO depths that the simulator vouches for; those of a text that has them are kept, if the design runs."""
    tasks = task_graph(design)
    tasks.verify()
    given = stage in (CERTIFIED, SPREAD)
    sizing = as_given(tasks, design.platform) if given else size(tasks, knobs.fifo, design.platform, effort)
    design = _with_depths(design, sizing)
    if stage != SPREAD:
        (ir / stage_file(CERTIFIED)).write_text(design_text(design, f"after {CERTIFIED}"))
    # For people; without a number, because no step reads it.
    (ir / "expanded.mlir").write_text(expanded_text(replace(design, dies={})))
    return design, sizing


def _placed(design: Design, sizing: Sizing, ir: Path) -> tuple[Sizing, Placement]:
    """Where its tasks and relays lie, and FIFOs that keep the pace with relays; a text of it where there are any."""
    platform = design.platform
    if design.dies:
        return sizing, describe(sizing.tasks, platform, task_dies(design))
    sized, placement = size_placed(sizing, platform)
    if sized is sizing:
        return sizing, placement
    dies = {task.name: placement.slr[task.name] for task in sizing.tasks.tasks}
    spread = _with_depths(replace(design, dies=dies), sized)
    (ir / stage_file(SPREAD)).write_text(design_text(spread, f"after {SPREAD}"))
    return sized, placement


def _with_depths(design: Design, sizing: Sizing) -> Design:
    streams = sizing.tasks.streams
    return replace(design, depths={s.name: s.depth for s in streams}, reasons={s.name: s.reason for s in streams})


@contextmanager
def _whole_directory(out: Path) -> Generator[Path]:
    """A folder that becomes `out` when everything in it was written."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidInputError(f"{out} exists and is not empty; name another directory")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise InvalidInputError(f"{out} can not be made: {error.strerror}; name another directory") from error
    try:
        yield partial
        partial.chmod(0o755)
        partial.replace(out)
    except OSError as error:
        raise MillraceError(
            f"{out} could not be written: {error.strerror}; free some space or choose another disk"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
