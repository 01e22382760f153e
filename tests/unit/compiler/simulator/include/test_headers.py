"""The stand-in headers: their semantics, and the reports of runs that break a rule."""

import subprocess
from pathlib import Path

import pytest

from compiler.simulator.csim.build import FLAGS, INCLUDE_DIR, RUNTIME_SOURCE
from compiler.simulator.csim.errors import DeadlockError, TaskFaultError
from compiler.simulator.csim.execute import run

pytestmark = pytest.mark.slow

STACKS = {"assembly": [], "ucontext": ["-DMILLRACE_UCONTEXT"]}


@pytest.fixture(scope="module", params=STACKS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("headers") / "headers"
    source = Path(__file__).parent / "headers.cpp"
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = ["g++", *FLAGS, *warnings, *STACKS[request.param], "-I", INCLUDE_DIR, source, RUNTIME_SOURCE, "-o", path]
    subprocess.run(command, check=True)
    return path


def test_semantics(program: Path, tmp_path: Path) -> None:
    finished = run(program, tmp_path, timeout_s=60)
    assert (finished.stdout, finished.stderr) == ("", "")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("range", r"range\(8, 1\) is outside an integer of 8 bits"),
        ("divide", "divided by zero"),
        ("crash", "an access outside an array or a memory"),
        ("throw", 'it throws: no "reason"'),
        ("stack", "exceed its stack"),
        ("no request to read", "it reads a word that it has not asked memory for"),
        ("no request to write", "it writes a word for which it has made no request"),
        ("no write", "it waits for an answer without a write"),
        ("too early", "it waits for the answer to 2 words and has written 0"),
        ("unread", "it ends with 2 words unread"),
        ("too many", "more requests than memory may take before it reads their words"),
        ("unanswered", "it ends before memory has answered"),
    ],
)
def test_a_fault_names_its_task(program: Path, tmp_path: Path, how: str, message: str) -> None:
    with pytest.raises(TaskFaultError, match=message) as caught:
        run(program, tmp_path, arguments=[how], timeout_s=60)
    assert caught.value.task == "failing"


def test_a_stream_has_one_reader(program: Path, tmp_path: Path) -> None:
    with pytest.raises(TaskFaultError, match="stream s is read by two tasks, sum and sum#2"):
        run(program, tmp_path, arguments=["readers"])
    with pytest.raises(TaskFaultError, match="stream s is given to three tasks, sum, sum#2 and sum#3"):
        run(program, tmp_path, arguments=["three"])


def test_reading_with_no_task_to_write_is_a_deadlock(program: Path, tmp_path: Path) -> None:
    with pytest.raises(DeadlockError, match="main reads from empty s") as caught:
        run(program, tmp_path, arguments=["alone"])
    (task,) = caught.value.tasks
    assert (task.task, task.waits_for, caught.value.cycle) == ("main", None, ())
