"""The simulated board keeps the contract, and says what went wrong on it."""

from pathlib import Path

import pytest
from board_contract import BoardContract
from networks import NETWORKS
from small_designs import small_design

from compiler.errors import InvalidInputError
from compiler.host.accelerator import Accelerator, program
from compiler.host.design import load_design
from compiler.host.xrt import RunError, Xrt
from compiler.options import Knobs
from compiler.simulator.board import pyxrt
from compiler.simulator.board.build import build_board
from compiler.simulator.csim.errors import DeadlockError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    design = small_design(NETWORKS["layer_norm"](), tmp_path_factory.mktemp("design"), Knobs(fusion_budget=0))
    build_board(design)
    return design


class TestSimulatedBoard(BoardContract):
    @pytest.fixture
    def xrt(self) -> Xrt:
        return pyxrt

    @pytest.fixture
    def design(self, built: Path) -> Path:
        return built

    @pytest.fixture
    def xclbin(self, built: Path) -> Path:
        return built


def test_a_built_design_is_not_built_again(built: Path) -> None:
    before = (built / "board" / "csim").stat().st_mtime_ns
    assert build_board(built).stat().st_mtime_ns == before


def test_memory_of_a_channel_ends(built: Path) -> None:
    device = pyxrt.device(0)
    device.load_xclbin(pyxrt.xclbin(str(built)))
    first = pyxrt.bo(device, 300 << 20, pyxrt.bo.normal, 3)
    with pytest.raises(RuntimeError, match="in memory group 3: Cannot allocate memory"):
        pyxrt.bo(device, 300 << 20, pyxrt.bo.normal, 3)
    assert first.address == 3 * (512 << 20)


def test_a_design_that_is_not_built_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="not built for the simulated board"):
        pyxrt.xclbin(str(tmp_path))


def _broken(tmp_path: Path, old: str, new: str) -> Accelerator:
    """A softmax whose only kernel was changed after it was emitted."""
    design = small_design(NETWORKS["softmax"](), tmp_path)
    (kernel,) = [k.name for k in load_design(design).kernels]
    source = design / "hls" / f"{kernel}.cpp"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new, 1))
    build_board(design)
    board = pyxrt.device(0)
    return Accelerator(pyxrt, board, load_design(design), program(pyxrt, board, design))


def test_a_deadlock_is_reported_with_the_tasks_that_wait(tmp_path: Path) -> None:
    accelerator = _broken(tmp_path, "\n  load_x(", "\n  if (false) load_x(")
    with pytest.raises(DeadlockError, match="no task can run"):
        accelerator.start()


def test_a_run_that_takes_too_long_times_out(tmp_path: Path) -> None:
    accelerator = _broken(tmp_path, "\n  load_x(", "\n  for (volatile int wait = 0; wait == 0;) {}\n  load_x(")
    with pytest.raises(RunError, match="ERT_CMD_STATE_TIMEOUT"):
        accelerator.start(timeout_ms=100)
