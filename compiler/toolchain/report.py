"""What every report of a tool is: metrics, and failures that stand beside them.

A timing miss or a failed co-simulation is a `Failure`: the file was read, and it says that something went wrong. A file
that can not be read (foreign, truncated, too large) is a `ReportError`.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from compiler.metrics import Metric

FailureKind = Literal[
    "licence",  # no licence for the tool or the part
    "c_error",  # the C++ does not compile, or its test bench fails
    "cosim",  # the RTL's results differ, or the RTL simulation did not run
    "deadlock",
    "pipeline",  # a pipeline has another style than its pragma names: no certificate is about it
    "timing",
    "placement",
    "routing",
    "link",  # v++ could not link, for another reason than placement or routing
    "resources",  # memory or disk of the machine ran out
    "device",  # the board does not answer or fails its checks
    "tool_crash",
    "timeout",  # the tool ran longer than it was allowed to
    "unfinished",  # the log ends before the tool does: it still runs, or was stopped
]


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a tool reported as wrong.

    `where` is a line, a module, a path or the tool's message code ("[VPL UTLZ-1]"), "" where there is none; `lever` is
    what a person can do about it.
    """

    kind: FailureKind
    message: str
    where: str = ""
    lever: str = ""


class Report(Protocol):
    """A parsed report, whatever its kind. `metrics` has no entry for what the tool did not know."""

    @property
    def failures(self) -> tuple[Failure, ...]: ...

    def metrics(self) -> tuple[Metric, ...]: ...
