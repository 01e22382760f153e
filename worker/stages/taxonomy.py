"""From what a tool reported as wrong to what the farm does about it (design section 6)."""

from collections.abc import Sequence

from compiler.errors import ImporterCrashError, InvalidInputError, MillraceError, UnsupportedError
from compiler.simulator.csim.errors import DeadlockError, LeftoverError, SimulationTimeoutError, TaskFaultError
from compiler.toolchain.report import Failure as Reported
from compiler.toolchain.report import FailureKind
from db.models import Failure

# By severity: where a log shows several, the first of these decides. A full disk makes C++ fail and tools crash.
_FAILURES: dict[FailureKind, Failure] = {
    "licence": "licence",
    "resources": "node",
    "device": "node",
    "timeout": "timeout",
    "c_error": "infeasible",
    "deadlock": "infeasible",
    "pipeline": "infeasible",
    "cosim": "infeasible",
    "placement": "infeasible",
    "routing": "infeasible",
    "timing": "infeasible",
    "link": "tool",
    "tool_crash": "tool",
    "unfinished": "tool",
}
_ORDER = tuple(_FAILURES)
# A design that can not work, a network that breaks its importer, C++ that does not run to its end: however often it is
# tried, nothing else comes of it.
_DESIGN = (InvalidInputError, UnsupportedError, ImporterCrashError, DeadlockError, LeftoverError, TaskFaultError)


def decisive(failures: Sequence[Reported]) -> Reported | None:
    """The failure that decides, None where there is none."""
    return min(failures, key=lambda failure: _ORDER.index(failure.kind), default=None)


def failure_of(kind: FailureKind) -> Failure:
    """What the farm calls it."""
    return _FAILURES[kind]


def explain(failure: Reported) -> str:
    """What a person reads: what the tool said, where, and the lever."""
    where = f" ({failure.where})" if failure.where else ""
    lever = f". {failure.lever[0].upper()}{failure.lever[1:]}" if failure.lever else ""
    return f"{failure.message.rstrip('.')}{where}{lever}"


def failure_of_error(error: MillraceError) -> Failure:
    """Of what our own code raised."""
    if isinstance(error, _DESIGN):
        return "infeasible"
    return "timeout" if isinstance(error, SimulationTimeoutError) else "tool"
