"""The deadlock that an RTL simulation prints: which process waits for which, and on which FIFO.

Cosimulation and hardware emulation print the same text. A cycle with a full FIFO is broken by a deeper FIFO; one in
which all wait for tokens is not: nobody writes, the design is wrong.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from compiler.metrics import Metric
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_DETECTED = re.compile(r"DEADLOCK DETECTED at (\d+) ns")
_CYCLE = re.compile(r"^// Dependence cycle \d+:\s*$")
_PROCESS = re.compile(r"^// \(\d+\): Process: (\S+)\s*$")
_BLOCKED = re.compile(
    r"^//\s+Blocked by (empty|full) (?:input|output) (\S+) '(\S+)' (?:written|read) by process '(\S+)'\s*$"
)
_OTHERWISE = re.compile(r"^//\s+Blocked by (.*\S)\s*$")
_TOTAL = re.compile(r"^// Totally (\d+) cycles? detected")


@dataclass(frozen=True, slots=True)
class Wait:
    """`process` waits for `other` because `channel` is empty or full, or for another `reason` in the tool's words."""

    process: str
    because: Literal["empty", "full", "other"]
    channel: str
    other: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DeadlockReport:
    """Cycles of processes that wait for one another. Not `complete`: the text ends before the tool's count of them.

    `time` is as printed: the tool writes "ns" but counts in the simulator's resolution, usually ps.
    """

    time: int
    cycles: tuple[tuple[Wait, ...], ...]
    complete: bool

    @property
    def full_channels(self) -> tuple[str, ...]:
        """FIFOs whose depth would break a cycle."""
        return tuple(dict.fromkeys(w.channel for cycle in self.cycles for w in cycle if w.because == "full"))

    @property
    def is_depth(self) -> bool:
        """Whether every cycle has a full FIFO, so that deeper FIFOs break them all."""
        return bool(self.cycles) and all(any(w.because == "full" for w in cycle) for cycle in self.cycles)

    @property
    def failures(self) -> tuple[Failure, ...]:
        waits = [_sentence(w) for cycle in self.cycles for w in cycle]
        message = f"deadlock: {'; '.join(waits)}" if waits else "deadlock"
        channels = self.full_channels or dict.fromkeys(w.channel for cycle in self.cycles for w in cycle if w.channel)
        return (Failure("deadlock", message, ", ".join(channels), self._lever()),)

    def metrics(self) -> tuple[Metric, ...]:
        return ()

    def _lever(self) -> str:
        if not self.complete:
            return "the text ends before the tool's count of cycles: copy it again before you judge it"
        if self.is_depth:
            return f"make a FIFO of each cycle deeper: {', '.join(self.full_channels)}"
        if any(w.because == "other" for cycle in self.cycles for w in cycle):
            return "a process waits for something that is no FIFO: look at how the processes start and end"
        return "every process waits for tokens that nobody writes: no depth helps, the design is wrong"


def is_deadlock_text(source: Source) -> bool:
    return _DETECTED.search(source.text) is not None and "// Dependence cycle" in source.text


def parse_deadlock(source: Source) -> DeadlockReport:
    """Raises ReportError for a text without a deadlock. What is cut off is left out."""
    detected = _DETECTED.search(source.text)
    if detected is None:
        raise source.foreign("a deadlock report", "the output of cosimulation or hardware emulation")
    total = next((int(m.group(1)[:9]) for line in source.lines if (m := _TOTAL.match(line))), None)
    cycles = tuple(_cycles(source.lines[:-1]))  # the last line has no end: it may be cut
    return DeadlockReport(int(detected.group(1)[:18]), cycles, len(cycles) == total)


def _cycles(lines: list[str]) -> Iterator[tuple[Wait, ...]]:
    starts = [i for i, line in enumerate(lines) if _CYCLE.match(line)]
    for start, stop in pairwise([*starts, len(lines)]):
        yield tuple(_waits(lines[start:stop]))


def _waits(lines: list[str]) -> Iterator[Wait]:
    process = ""
    for line in lines:
        if match := _PROCESS.match(line):
            process = match.group(1)
        elif match := _BLOCKED.match(line):
            because = "full" if match.group(1) == "full" else "empty"
            yield Wait(process, because, match.group(3), match.group(4), f"{match.group(1)} {match.group(2)}")
        elif process and (match := _OTHERWISE.match(line)) and not match.group(1).startswith(("empty", "full")):
            yield Wait(process, "other", "", "", match.group(1))


def _sentence(wait: Wait) -> str:
    if wait.because == "other":
        return f"{wait.process} is blocked by {wait.reason}"
    verb = "writes into the full" if wait.because == "full" else "reads from the empty"
    end = "read" if wait.because == "full" else "written"
    return f"{wait.process} {verb} {wait.channel}, which is {end} by {wait.other}"
