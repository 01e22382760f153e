"""A board belongs to one process of the machine at a time."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compiler.measurement.errors import MeasurementError
from compiler.measurement.lock import holder, lock_board
from compiler.measurement.progress import nobody

BDF, OTHER = "0000:3b:00.1", "0000:5e:00.1"
_HOLD = """
import sys, time
from pathlib import Path
from compiler.measurement.lock import lock_board
with lock_board((sys.argv[1],), 0, print, Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(bdf: str, folder: Path) -> Generator["subprocess.Popen[str]"]:
    """Another process that holds the lock until its input ends."""
    command = [sys.executable, "-c", _HOLD, bdf, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_waits_within_its_bound_and_says_who_is_first(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        held_elsewhere(BDF, tmp_path) as process,
        pytest.raises(
            MeasurementError, match=rf"board {BDF} is in use by pid {process.pid} on .* after 0.3 s"
        ) as caught,
        lock_board((BDF,), 0.3, said.append, tmp_path),
    ):
        pass
    assert caught.value.kind == "device"
    assert said == [f"wait: board {BDF} is in use by {holder(BDF, tmp_path)}"]


def test_a_lock_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    with held_elsewhere(BDF, tmp_path) as process:
        process.kill()
        process.wait()
        with lock_board((BDF,), 5, nobody, tmp_path):
            assert holder(BDF, tmp_path).startswith(f"pid {os.getpid()} on ")


def test_of_two_boards_the_free_one_is_taken_and_the_other_left_alone(tmp_path: Path) -> None:
    with held_elsewhere(BDF, tmp_path), lock_board((BDF, OTHER), 0, nobody, tmp_path) as lock:
        assert lock.bdf == OTHER
    with lock_board((BDF,), 5, nobody, tmp_path), lock_board((OTHER,), 0, nobody, tmp_path):
        pass


def test_a_process_that_inherits_the_lock_keeps_it(tmp_path: Path) -> None:
    """A child that is stuck in the driver is still using the board when its parent is gone."""
    with lock_board((BDF,), 0, nobody, tmp_path) as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.descriptor,))
    try:
        with pytest.raises(MeasurementError), lock_board((BDF,), 0, nobody, tmp_path):
            pass
    finally:
        child.kill()
        child.wait()
    with lock_board((BDF,), 0, nobody, tmp_path):
        pass


def test_a_file_that_can_not_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / f"millrace-{BDF}.lock").mkdir()
    with (
        pytest.raises(MeasurementError, match="it locks a board; make it readable"),
        lock_board((BDF,), 0, nobody, tmp_path),
    ):
        pass
