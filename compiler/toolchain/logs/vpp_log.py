"""Logs of v++, compile and link: how the run ended, which steps took how long, and the clock that it settled on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from compiler.errors import Violation
from compiler.metrics import Fidelity, Metric
from compiler.toolchain.logs.durations import NUMBER, gigabytes, seconds_of
from compiler.toolchain.logs.failure_rules import causes, congestion_level, crashes, over_utilisation
from compiler.toolchain.logs.messages import Message, messages
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

Outcome = Literal["passed", "failed", "unfinished"]

_KERNEL_CLOCK = "aclk_kernel_00"  # DATA in the xclbin; kernel_01 is the second clock, for kernels that ask for it
_LINKING, _TOTAL = "60-629", "60-791"
_ENDED_BADLY = re.compile(r" 60-(703|602|592|1442)$")
_SCALED = re.compile(
    rf"kernel clock (\S+) has an original frequency equal to ({NUMBER}) MHz.*changed to ({NUMBER}) MHz"
)
_SELECTED = re.compile(rf"\((SYSTEM|KERNEL|DATA)\) clock: (\S+) = ({NUMBER})")
_TASK = re.compile(r"Finished \w+ of \d+ tasks \((.+?)\)\. Elapsed time: ([\dhms ]+)")
_STEP = re.compile(r"Run run_link: Step (\S+): (Completed|Failed)")
_TIME = re.compile(rf"elapsed = ([\d:.]+) \. Memory \(MB\): peak = ({NUMBER})")
_STARTING = re.compile(r"\] Starting (.+?)\.\.")
_FMAX = re.compile(rf"Estimated Fmax: ({NUMBER}) MHz")
_VERSION = re.compile(r"Compiler Version string: (\d{4}\.\d+)")


@dataclass(frozen=True, slots=True)
class Step:
    """`seconds` on the wall clock."""

    name: str
    seconds: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ClockScaling:
    """v++ lowered a clock because paths missed it."""

    clock: str
    requested_mhz: float
    achieved_mhz: float


@dataclass(frozen=True, slots=True)
class VppLog:
    """`seconds` is the total, or that of the steps until the run failed; None where it ended before any step.

    `tasks` are Vivado's (placement, routing ...) within the step "vpl"; `phase` is the last that began, "" before
    Vivado's. `over` are cells of which the placer needs more than there are. `clocks_mhz` are those of the xclbin.
    """

    step: Literal["compile", "link"]
    outcome: Outcome
    tool_version: str
    seconds: float | None
    peak_memory_gb: float | None
    steps: tuple[Step, ...]
    tasks: tuple[Step, ...]
    phase: str
    clocks_mhz: dict[str, float]
    scalings: tuple[ClockScaling, ...]
    fmax_mhz: float | None
    over: tuple[Violation, ...]
    congestion_level: int | None
    failures: tuple[Failure, ...] = ()

    @property
    def clock_mhz(self) -> float | None:
        """The kernels' clock of a passed link; the exact one where v++ scaled it (the xclbin rounds it down)."""
        exact = (s.achieved_mhz for s in self.scalings if s.clock.endswith(_KERNEL_CLOCK))
        return next(exact, self.clocks_mhz.get("DATA"))

    def metrics(self) -> tuple[Metric, ...]:
        """Of a passed run only: the clock of the link, or HLS's estimate of one."""
        if self.outcome != "passed":
            return ()
        link = metric_table({"clock": (self.clock_mhz, "MHz")}, Fidelity.LINK, "v++", self.tool_version)
        return link + metric_table({"fmax": (self.fmax_mhz, "MHz")}, Fidelity.CSYNTH, "v++", self.tool_version)


def is_vpp_log(source: Source) -> bool:
    return "[v++ 60-" in source.text[:4000] or "[vitis-run 60-" in source.text[:4000]


def parse_vpp_log(source: Source) -> VppLog:
    """A failed or cut run is a result with failures. Raises ReportError for another file."""
    if not is_vpp_log(source):
        raise source.foreign("a log of v++", "the v++_*.log of a compile or link")
    found = list(messages(source))
    errors = [message for message in found if message.bad]
    steps, peak = _steps(source)
    outcome, failures = _outcome(source, found, errors)
    total = _total(found)
    return VppLog(
        "link" if any(m.code.endswith(_LINKING) for m in found) else "compile",
        outcome,
        _first(_VERSION, source) or "",
        total if total is not None else (sum(step.seconds for step in steps) if steps else None),
        peak,
        steps,
        tuple(_tasks(source)),
        next((match[1] for line in reversed(source.lines) if (match := _STARTING.search(line))), ""),
        _clocks(found),
        tuple(_scalings(found)),
        float(fmax) if (fmax := _first(_FMAX, source)) else None,
        over_utilisation(errors),
        congestion_level(errors),
        failures,
    )


def _first(pattern: re.Pattern[str], source: Source) -> str | None:
    match = pattern.search(source.text)
    return match[1] if match else None


def _outcome(source: Source, found: list[Message], errors: list[Message]) -> tuple[Outcome, tuple[Failure, ...]]:
    """Only a run that passes reports its total time: an error before it was one that the run got over."""
    if _total(found) is not None:
        return "passed", ()
    ends = [m for m in found if _ENDED_BADLY.search(m.code)]
    crashed = tuple(crashes(source))
    if errors or ends or crashed:
        return "failed", crashed + causes(errors or ends, found)
    last = next((line.strip() for line in reversed(source.lines) if line.strip()), "")
    lever = "wait for it; if it was stopped, start it again"
    return "unfinished", (Failure("unfinished", f"the log ends before v++ does: {last[:200]}", "", lever),)


def _total(found: list[Message]) -> float | None:
    """Seconds of the whole run, None where the log does not reach them."""
    for message in found:
        if message.code.endswith(_TOTAL):
            return seconds_of(message.text.removeprefix("Total elapsed time:"))
    return None


def _steps(source: Source) -> tuple[tuple[Step, ...], float | None]:
    """Steps of the link with the time line below each, and the largest memory of those lines in GB."""
    steps: list[Step] = []
    peak: float | None = None
    step: re.Match[str] | None = None
    for line in source.lines:
        time = _TIME.search(line)
        if time and (seconds := seconds_of(time[1])) is not None:
            peak = max(peak or 0.0, gigabytes(time[2], "MB"))
            steps += [Step(step[1], seconds, step[2] == "Failed")] if step else []
        step = _STEP.search(line)
    return tuple(steps), peak


def _tasks(source: Source) -> Iterator[Step]:
    for line in source.lines:
        match = _TASK.search(line)
        if match and (seconds := seconds_of(match[2])) is not None:
            yield Step(match[1], seconds)


def _clocks(found: list[Message]) -> dict[str, float]:
    """DATA, KERNEL and SYSTEM clock in MHz, as the link selects them."""
    return {kind: float(mhz) for m in found if m.code.endswith("60-1230") for kind, _, mhz in _SELECTED.findall(m.text)}


def _scalings(found: list[Message]) -> Iterator[ClockScaling]:
    for message in found:
        if message.code == "AUTO-FREQ-SCALING-04" and (match := _SCALED.search(message.text)):
            yield ClockScaling(match[1], float(match[2]), float(match[3]))
