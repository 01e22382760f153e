import pytest

from bench.mutants.trial import Fate, classify
from compiler.errors import MillraceError, ToolError, VerificationError
from compiler.proof.verdict import Verdict
from compiler.simulator.csim.errors import (
    BlockedTask,
    DeadlockError,
    LeftoverError,
    SimulationTimeoutError,
    TaskFaultError,
    UnreadStream,
)

BLOCKED = BlockedTask("reader", "s", "empty", 0, 2, "writer", True)
CASES: list[tuple[Verdict | MillraceError, Fate, str]] = [
    (Verdict(True, (), "", 0.0), "survived", ""),
    (Verdict(False, (), "task a differs", 0.0, wrong=({"task": "a"}, {"task": "b"})), "check", "a"),
    (Verdict(False, (), "hidden is off", 0.0), "check", ""),
    (VerificationError("task load_x: it wrote something beside the tensor"), "check", "load_x"),
    (VerificationError("the stage does not read"), "check", ""),
    (TaskFaultError("C simulation, task t: it writes more than the 8 tokens that stream s carries", "t"), "check", "t"),
    (TaskFaultError("C simulation, task t: a crash: an access outside an array (signal 11)", "t"), "crash", "t"),
    (TaskFaultError("C simulation, task t: an arithmetic fault: an integer division by zero", "t"), "crash", "t"),
    (TaskFaultError("C simulation, task t: the arrays of the task exceed its stack of 64 MiB", "t"), "crash", "t"),
    (TaskFaultError("C simulation, task t: it throws: bad_alloc", "t"), "crash", "t"),
    (DeadlockError("no task can run", (BLOCKED,), ()), "deadlock", "reader"),
    (DeadlockError("no task can run", (BLOCKED,), ("writer", "reader")), "deadlock", "writer"),
    (LeftoverError("unread", (UnreadStream("s", 1, 8, 2, ("writer", "reader")),)), "deadlock", "writer"),
    (LeftoverError("unread", ()), "deadlock", ""),
    (SimulationTimeoutError("the C simulation passed its limit of 20 s"), "time-out", ""),
    (ToolError("the C simulation ended by signal SIGKILL"), "crash", ""),
]


@pytest.mark.parametrize(("result", "fate", "named"), CASES)
def test_what_caught_a_mutant_and_whom_it_named(result: Verdict | MillraceError, fate: Fate, named: str) -> None:
    assert classify(result) == (fate, named)
