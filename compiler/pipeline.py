"""The compiler, as a list: PyTorch -> linalg -> itensor dataflow IR -> streams -> HLS C++ (design section 3).

Every stage's IR is verified, written to `ir/NN-stage.mlir`, and parses again. `ir/expanded.mlir` is the last one with
every task spelled out as loops.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from compiler.analysis.estimate import Estimate, estimate
from compiler.analysis.padding import pad
from compiler.analysis.placement.board_plan import plan_board
from compiler.analysis.read_back import read_back
from compiler.design_dir import OnStage, silent, write_description, write_testbench_data
from compiler.dialects.context import design_context
from compiler.errors import InvalidInputError, MillraceError
from compiler.frontend.bundle import Bundle
from compiler.options import FifoEffort, Knobs
from compiler.passes.runner import print_module, run_passes
from compiler.platforms.platform import Platform
from compiler.sizing.certify import Sizing, size
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.tolerance import TOLERANCE
from compiler.transforms.expand_tasks import ExpandTasksPass
from compiler.transforms.import_linalg import import_linalg
from compiler.transforms.pipeline_passes import design_passes
from compiler.transforms.set_fifo_depths import SetFifoDepthsPass


def build_ir(
    bundle: Bundle, knobs: Knobs, platform: Platform, ir: Path, on_stage: OnStage, effort: FifoEffort = "quick"
) -> Sizing:
    """Take the network through all passes; the accelerator that the last stage's IR describes."""
    ir.mkdir(parents=True)
    shutil.copyfile(bundle.directory / "linalg.mlir", ir / "00-linalg.mlir")

    def record(number: int, name: str, stage: ModuleOp) -> None:
        on_stage(f"pass {name}")
        (ir / f"{number:02}-{name}.mlir").write_text(print_module(stage))

    module = import_linalg(bundle.graph)
    record(1, "import-linalg", module)
    passes = design_passes(knobs, platform)
    run_passes(module, passes, design_context(), record, first=2)
    tasks = read_back(module, platform)
    tasks.verify()
    on_stage("certify FIFO depths")
    sizing = size(tasks, knobs.fifo, platform, effort)
    run_passes(module, (SetFifoDepthsPass.of(sizing.tasks),), design_context(), record, first=2 + len(passes))
    run_passes(module, (ExpandTasksPass(),), design_context())
    (ir / "expanded.mlir").write_text(print_module(module))  # for people; without a number, because no step reads it
    return sizing


def compile_design(
    bundle: Bundle,
    knobs: Knobs,
    platform: Platform,
    out: Path,
    on_stage: OnStage | None = None,
    fifo_effort: FifoEffort = "quick",
) -> Estimate:
    """Compile one design into the directory `out` (design section 8), all of it or nothing. With more `fifo_effort` its
    FIFOs may get smaller, no safer.

    Raises InvalidInputError where `out` holds something, MillraceError where the disk is full or a pass fails.
    """
    say = on_stage or silent
    with _whole_directory(out) as design:
        sizing = build_ir(bundle, knobs, platform, design / "ir", say, fifo_effort)
        say("place on the board")
        network = pad(bundle.graph, knobs)  # as the tasks compute it
        board = plan_board(sizing.tasks, network, knobs, platform)
        say("estimate")
        estimated = board.judged(estimate(board.tasks, platform))
        say("emit HLS C++")
        data = NetworkData(bundle.tensors(), bundle.expected(), TOLERANCE[bundle.workload.precision])
        emit_design(board.tasks, network, platform, data, design, board.placement)
        say("write test data")
        write_testbench_data(bundle, design)
        write_description(bundle, knobs, platform, board, sizing.summary_json(), estimated, design)
    return estimated


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
