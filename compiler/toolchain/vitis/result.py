"""What a stage of Vitis came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.metrics import Metric
from compiler.toolchain.report import Failure


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`files` are the reports, logs, .xo and .xclbin to keep, by their paths in the folder `out` of the call.

    `verdict` is JSON: the figures of every kernel, the clock, what was used of the limits. `notes` are what a person
    should know of a run that passed: a clock that was lowered, a report that could not be read.
    """

    passed: bool
    metrics: tuple[Metric, ...]
    failures: tuple[Failure, ...]
    files: tuple[Path, ...]
    tool_versions: Mapping[str, str]
    seconds: float
    verdict: Mapping[str, Any]
    notes: tuple[str, ...] = ()
