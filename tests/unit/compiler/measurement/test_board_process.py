"""The process that uses the board: what it answers, and that it never stays behind."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from fake_board import FakeBoard, described_design

from compiler.measurement import board_process
from compiler.measurement.board_process import BoardAt, BoardProcess, BoardProcessError

_PARENT = """
import sys
from pathlib import Path
from compiler.measurement.board_process import BoardAt, BoardProcess
board = BoardProcess(BoardAt("0000:3b:00.1", "pyxrt", Path(sys.executable)))
board.electrical()
print(board.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BoardAt:
    FakeBoard(tmp_path, monkeypatch)
    return BoardAt("0000:3b:00.1", "pyxrt", Path(sys.executable))


def test_commands_have_answers_and_errors_names(at: BoardAt, tmp_path: Path) -> None:
    design = described_design(tmp_path / "design")
    with BoardProcess(at) as board:
        with pytest.raises(BoardProcessError, match="nothing is loaded") as caught:
            board.loop(0.01, 1)
        assert (caught.value.raised, caught.value.hangs, caught.value.kernel) == ("AssertionError", False, None)
        board.open(design, design / "x.xclbin")
        assert len(board.time(5, 10, 1)) == 5
        assert len(board.time(10**6, 0.0, 1)) == 1  # one at least, however little time there is
        runs, seconds = board.loop(0.05, 1)
        assert runs > 1
        assert 0.05 <= seconds < 1


def test_a_python_without_pyxrt_says_so(at: BoardAt, tmp_path: Path) -> None:
    (tmp_path / "python" / "pyxrt.py").unlink()
    with BoardProcess(at) as board, pytest.raises(BoardProcessError, match="pyxrt is missing: install XRT") as caught:
        board.electrical()
    assert caught.value.raised == "MissingXrtError"


def test_what_the_module_prints_is_no_answer(at: BoardAt, tmp_path: Path) -> None:
    with (tmp_path / "python" / "pyxrt.py").open("a") as module:
        module.write("import os\nprint('XRT build 2.16')\nos.write(1, b'[XRT] WARNING: shell\\n')\n")
    with BoardProcess(at) as board:
        assert "power_rails" in board.electrical()


def test_a_process_that_the_driver_does_not_let_end_hangs(
    at: BoardAt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_process, "GRACE_S", 0.2)
    monkeypatch.setattr(board_process, "OPEN_S", 20.0)
    with (tmp_path / "python" / "pyxrt.py").open("a") as module:
        module.write("import os, time\nos.closerange(0, 64)\ntime.sleep(3600)\n")
    with (
        BoardProcess(at) as board,
        pytest.raises(BoardProcessError, match="does not end: the driver holds it") as caught,
    ):
        board.electrical()
    assert caught.value.hangs


def test_nothing_is_left_when_it_is_closed(at: BoardAt) -> None:
    with BoardProcess(at) as board:
        board.electrical()
        assert psutil.pid_exists(board.pid)
    assert not psutil.pid_exists(board.pid)


def test_it_ends_when_who_measures_is_killed(at: BoardAt) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    deadline = time.monotonic() + 60
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
