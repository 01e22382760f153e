"""What C synthesis (Vitis HLS, Vivado HLS) reports: clock, latency, area, modules with their loops, FIFOs, memories.

Filled by `csynth_xml`, `summary_rpt` and `module_rpt`; what a form does not say is None or
empty. Cycles are of the clock `Clock.target`; areas are the tool's estimates before logic synthesis, and those of FIFOs
ignore the depth.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.hls.csynth_rows import Area, Breakdown, FifoRow, MemoryRow, OperatorRow
from compiler.toolchain.report import Failure

TOOL = "vitis_hls"
_STYLE = re.compile(r"\b(?:yes|rewind)\((stp|flp|frp)\)")


@dataclass(frozen=True, slots=True)
class Span:
    """Cycles or tripcounts between `best` and `worst`, each None where the tool does not know.

    A Synthesis Summary knows the worst only.
    """

    best: int | None = None
    worst: int | None = None

    @property
    def exact(self) -> int | None:
        """The value, None where it varies or is not known."""
        return self.worst if self.best in {None, self.worst} else None


@dataclass(frozen=True, slots=True)
class Clock:
    """Periods in ns. The tool plans for `target` less `uncertainty`."""

    target: float | None = None
    uncertainty: float | None = None
    estimated: float | None = None

    @property
    def slack(self) -> float | None:
        """What is left of the period that the tool plans for; negative: a violation."""
        if self.target is None or self.uncertainty is None or self.estimated is None:
            return None
        return round(self.target - self.uncertainty - self.estimated, 3)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop; flattened loops are one, with their names joined by `_` and the product of their tripcounts.

    `iteration` is the latency of one iteration, which is the pipeline's depth where it is `pipelined`; `ii` is the
    initiation interval that was reached, `target_ii` the one that was asked for. `style` is stp, flp or frp where
    the report says it. `calls` names the modules that its body instantiates, without those in `loops`.
    """

    name: str
    trips: Span
    latency: Span
    iteration: Span
    ii: int | None
    pipelined: bool
    target_ii: int | None = None
    loops: tuple["Loop", ...] = ()
    calls: tuple[str, ...] = ()
    style: str | None = None


IssueKind = Literal["timing", "ii", "other"]


@dataclass(frozen=True, slots=True)
class Issue:
    """A constraint that synthesis missed; `loop` is "" where it is the module's. `cause` in the tool's words."""

    kind: IssueKind
    module: str
    loop: str = ""
    cause: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """One function in hardware. `pipeline` is the tool's word: no, yes, yes(flp), none, dataflow, rewind.

    `calls` names the modules that it instantiates, those in its loops too; `depth` is the pipeline's where the function
    is pipelined as a whole.
    """

    name: str
    pipeline: str
    latency: Span
    interval: Span
    area: Area
    slack: float | None = None
    average: int | None = None
    depth: int | None = None
    loops: tuple[Loop, ...] = ()
    calls: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True)
class CsynthReport:
    """`flow` is "vitis" or "vivado" where the report says; `modules` holds at least `top`."""

    version: str
    part: str
    top: str
    flow: str
    clock: Clock
    available: Area
    modules: tuple[Module, ...]
    fifos: tuple[FifoRow, ...] = ()
    memories: tuple[MemoryRow, ...] = ()
    operators: tuple[OperatorRow, ...] = ()
    breakdown: Breakdown | None = None

    @cached_property
    def module(self) -> dict[str, Module]:
        return {m.name: m for m in self.modules}

    @property
    def design(self) -> Module:
        """The top module: its latency, interval and area are the design's."""
        return self.module[self.top]

    @property
    def issues(self) -> tuple[Issue, ...]:
        return tuple(issue for module in self.modules for issue in module.issues)

    @property
    def slack(self) -> float | None:
        """In ns, of the whole design; negative: a timing violation."""
        return self.clock.slack if self.clock.slack is not None else self.design.slack

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The timing miss, if there is one. A missed II is an issue only: the design works."""
        slack = self.slack
        late = list(dict.fromkeys(issue.module for issue in self.issues if issue.kind == "timing"))
        if not late and (slack is None or slack >= 0):
            return ()
        known = [s for s in (slack, *(m.slack for m in self.modules)) if s is not None]
        missed = f"{-min(known):.3g} ns too much for the clock" if known else "more than the clock's period"
        return (
            Failure(
                "timing",
                f"synthesis estimates {missed}: {_periods(self.clock)}",
                ", ".join(late[:5]) or self.top,
                "lower the clock, or give the named modules fewer parallel operations, a larger II or more latency",
            ),
        )

    def metrics(self) -> tuple[Metric, ...]:
        return tuple(
            Metric(name, float(value), unit, Fidelity.CSYNTH, TOOL, self.version)
            for name, value, unit in self._numbers()
            if value is not None
        )

    def _numbers(self) -> Iterator[tuple[str, float | None, str]]:
        cycles, area, clock = self.design.latency.worst, self.design.area, self.clock
        yield "cycles", cycles, "cycles"
        if cycles is not None and clock.target is not None:
            yield "latency", cycles * clock.target / 1e3, "us"
        yield "interval", self.design.interval.worst, "cycles"
        yield "lut", area.lut, "LUT"
        yield "ff", area.ff, "FF"
        yield "dsp", area.dsp, "DSP"
        yield "bram36", None if area.bram18 is None else area.bram18 / 2, "BRAM36"
        yield "uram", area.uram, "URAM"
        yield "clock_estimated", clock.estimated, "ns"
        yield "slack", self.slack, "ns"
        yield "slowest_ii", max((loop.ii for loop in self._all_loops() if loop.ii is not None), default=None), "cycles"

    def _all_loops(self) -> Iterator[Loop]:
        waiting = [loop for module in self.modules for loop in module.loops]
        while waiting:
            loop = waiting.pop()
            waiting += loop.loops
            yield loop


def timing_issue(module: str, slack: float | None) -> tuple[Issue, ...]:
    """The issue of a module that misses the clock. The XML does not always name it, the Synthesis Summary does."""
    return (Issue("timing", module, cause="Timing"),) if slack is not None and slack < 0 else ()


def is_pipelined(word: str) -> bool:
    """Of a loop, from the tool's word: "yes" and "rewind" (it starts anew without draining), not "no" or "dataflow"."""
    return word.strip().startswith(("yes", "rewind"))


def style_of(word: str) -> str | None:
    """The style in the tool's word for a pipeline. "yes(flp)" and "yes(frp)" are published of 2024.2 and later; a plain
    "yes" says none: older releases print it for every style, and 2024.2 for a pipeline that was to be frp and stalls.
    """
    match = _STYLE.search(word)
    return match[1] if match else None


def issue_kind(text: str) -> IssueKind:
    """Kind of an issue from the tool's words: "Timing Violation" and "Timing", "II Violation" and "II"."""
    word = (text.split(maxsplit=1) or [""])[0]
    return "timing" if word == "Timing" else "ii" if word == "II" else "other"


def _periods(clock: Clock) -> str:
    if clock.target is None or clock.uncertainty is None or clock.estimated is None:
        return "see the slack of each module"
    return f"{clock.estimated:g} ns instead of {clock.target:g} - {clock.uncertainty:g} ns"
