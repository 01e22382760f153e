"""The compiler, as a list: PyTorch -> linalg -> passes over one Design, written as IR -> certified FIFOs -> placed on
the board -> HLS C++ (design section 3).

What is certified, placed and emitted is what the text of the last pass says. `ir/` has the text that is emitted; where
asked for, `ir/NN-pass.mlir` is the design after each pass, and `ir/expanded.mlir` the last one with every task spelled
out as loops.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from compiler.analysis.build import task_dies, task_graph
from compiler.analysis.estimate import Estimate
from compiler.analysis.joint_loads import of_all_streams
from compiler.analysis.placement.board_plan import BoardPlan, plan_board
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
from compiler.passes.design_passes import DESIGN_PASSES, passes_of
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
    *,
    every_pass: bool = False,
) -> Estimate:
    """Compile one design into the directory `out` (design section 8), all of it or nothing. With more `fifo_effort` its
    FIFOs may get smaller, no safer. `start`: go on from this text of `ir/` in a design directory instead of the start.
    `every_pass`: write and verify the IR after each, which takes longer than all else.

    Raises InvalidInputError where `out` holds something or `start` is no text of this network, MillraceError where the
    disk is full or a pass fails.
    """
    say = on_stage or silent
    with _whole_directory(out) as folder:
        texts = _Texts(folder / "ir", every_pass=every_pass)
        shutil.copyfile(bundle.directory / "linalg.mlir", folder / "ir" / "00-linalg.mlir")
        stage, design = _begin(bundle, platform, texts, start)
        planned = _on_board(design, knobs, stage, texts, say, fifo_effort)
        say("emit HLS C++")
        data = NetworkData(bundle.tensors(), bundle.expected(), TOLERANCE[bundle.workload.precision])
        graph, board = launched(planned.design.graph), planned.board
        emit_design(board.tasks, graph, platform, data, folder, board.placement)
        say("write test data")
        write_testbench_data(bundle, folder)
        return _described(planned, bundle, knobs, platform, folder)


def time_design(bundle: Bundle, knobs: Knobs, platform: Platform, out: Path, say: OnStage = silent) -> Estimate:
    """What a simulation reads of a design, `design.json` and `dataflow.json` as `compile_design` writes them: without
    texts, C++ and test data, in half the time. Raises as that.
    """
    with _whole_directory(out) as folder:
        design = Design(bundle.graph.in_order, platform)
        planned = _on_board(design, knobs, IMPORTED, _Texts(), say, "quick")
        return _described(planned, bundle, knobs, platform, folder)


class _Planned(NamedTuple):
    design: Design
    board: BoardPlan
    sizing: Sizing


class _Texts:
    """`ir/` of a design directory: the design that is emitted, and where asked for that after every pass. Where there
    is no folder, no text is made.
    """

    def __init__(self, folder: Path | None = None, *, every_pass: bool = False) -> None:
        self._folder = folder
        self._every_pass = every_pass
        if folder:
            folder.mkdir()

    def keep(self, stage: str, design: Design) -> None:
        if self._folder:
            (self._folder / stage_file(stage)).write_text(design_text(design, f"after {stage}"))

    def pass_by(self, stage: str, design: Design, *, read_back: bool = False) -> Design:
        """The design; with `read_back` as its text says it, which is all that somebody has who goes on from it."""
        if self._folder is None or not (self._every_pass or read_back):
            return design
        text = design_text(design, f"after {stage}")
        if self._every_pass:
            (self._folder / stage_file(stage)).write_text(text)
        return parse_design(text, design.platform) if read_back else design

    def expand(self, design: Design) -> None:
        """For people; without a number, because no step reads it."""
        if self._folder and self._every_pass:
            (self._folder / "expanded.mlir").write_text(expanded_text(design))

    def go_on_from(self, start: Path, stage: str) -> None:
        """Take over the text that is gone on from and, where those of all passes are asked for, the ones before it."""
        assert self._folder is not None
        before = ALL_STAGES[: ALL_STAGES.index(stage)] if self._every_pass else ()
        for file in (*(start.with_name(stage_file(earlier)) for earlier in before), start):
            if file.is_file():
                shutil.copyfile(file, self._folder / file.name)


def _on_board(design: Design, knobs: Knobs, stage: str, texts: _Texts, say: OnStage, effort: FifoEffort) -> _Planned:
    """The design as it is after `stage`, planned, sized and placed."""
    design = _planned(design, knobs, stage, texts, say)
    say("certify FIFO depths")
    design, sizing = _certified(design, knobs, stage, texts, effort)
    say("place on the board")
    sizing, placement = _placed(design, sizing, texts)
    return _Planned(design, plan_board(sizing.tasks, placement, design, knobs), sizing)


def _described(planned: _Planned, bundle: Bundle, knobs: Knobs, platform: Platform, folder: Path) -> Estimate:
    board = planned.board
    estimated = board.estimated(platform)
    clock = next(metric.value for metric in estimated.metrics if metric.name == "clock")
    stalling = simulate_stalling(timed_design(board.tasks, platform), platform.at(clock))
    write_description(bundle, knobs, platform, board, planned.sizing.summary_json(), stalling, estimated, folder)
    return estimated


def _begin(bundle: Bundle, platform: Platform, texts: _Texts, start: Path | None) -> tuple[str, Design]:
    """The stage from which to go on, and the design after it."""
    if start is None:
        design = Design(bundle.graph.in_order, platform)
        texts.pass_by(IMPORTED, design)
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
    texts.go_on_from(start, stage)
    return stage, design


def _planned(design: Design, knobs: Knobs, stage: str, texts: _Texts, say: OnStage) -> Design:
    """The design after all passes that follow `stage`, as the text of the last one says it, where there is one."""
    passes = passes_of(design.graph, knobs)[ALL_STAGES.index(stage) :]
    for pass_ in passes:
        say(f"pass {pass_.name}")
        design = texts.pass_by(pass_.name, pass_.run(design), read_back=pass_ is passes[-1])
    return design


def _certified(design: Design, knobs: Knobs, stage: str, texts: _Texts, effort: FifoEffort) -> tuple[Design, Sizing]:
    """FIFO depths that the simulator vouches for; those of a text that has them are kept, if the design runs."""
    tasks = task_graph(design)
    tasks.verify()
    given = stage in (CERTIFIED, SPREAD)
    sizing = as_given(tasks, design.platform) if given else size(tasks, knobs.fifo, design.platform, effort)
    design = _with_depths(design, sizing)
    if stage != SPREAD:
        texts.keep(CERTIFIED, design)
    texts.expand(replace(design, dies={}))
    return design, sizing


def _placed(design: Design, sizing: Sizing, texts: _Texts) -> tuple[Sizing, Placement]:
    """Where its tasks and relays lie, and FIFOs that keep the pace with relays; a text of it where there are any."""
    platform = design.platform
    if design.dies:
        return sizing, describe(sizing.tasks, platform, task_dies(design))
    sized, placement = size_placed(sizing, platform)
    if sized is sizing:
        return sizing, placement
    dies = {task.name: placement.slr[task.name] for task in sizing.tasks.tasks}
    texts.keep(SPREAD, _with_depths(replace(design, dies=dies), sized))
    return sized, placement


def _with_depths(design: Design, sizing: Sizing) -> Design:
    streams = sizing.tasks.streams
    depths = of_all_streams(design, {s.name: s.depth for s in streams})
    return replace(design, depths=depths, reasons=of_all_streams(design, {s.name: s.reason for s in streams}))


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
