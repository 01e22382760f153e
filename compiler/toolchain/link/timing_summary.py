"""`dr_timing_summary`: whether the routed design meets its clocks, and by how much (report_timing_summary)."""

from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.link.vivado_header import vivado_header, written_by
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged, number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_MET = "All user specified timing constraints are met."
_MISSED = "Timing constraints are not met."
_LEVER = "ask v++ for a lower clock, or shorten the paths: smaller tiles, deeper pipelines, kernels placed per SLR"
_NUMBERS = 12  # setup, hold and pulse width: worst slack, total slack, failing endpoints, endpoints
_WITH_PATHS = frozenset({9, 13})  # words of the row of a clock with paths, without and with its pulse width


@dataclass(frozen=True, slots=True)
class Slack:
    """Worst and total slack in ns (negative where paths are too slow), endpoints that fail, of how many."""

    worst: float
    total: float
    failing: float
    endpoints: float


@dataclass(frozen=True, slots=True)
class ClockSlack:
    """Setup slack within one clock domain."""

    clock: str
    setup: Slack


@dataclass(frozen=True, slots=True)
class TimingSummary:
    """`clocks` are those of the intra-clock table, in its order; `met` is Vivado's verdict."""

    state: str
    tool_version: str
    met: bool
    setup: Slack
    hold: Slack
    pulse_width: Slack
    clocks: tuple[ClockSlack, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def worst_clock(self) -> ClockSlack:
        return min(self.clocks, key=lambda clock: clock.setup.worst)

    def metrics(self) -> tuple[Metric, ...]:
        numbers: dict[str, tuple[float | None, str]] = {
            "worst_slack": (self.setup.worst, "ns"),
            "total_slack": (self.setup.total, "ns"),
            "failing_endpoints": (self.setup.failing, "endpoints"),
        }
        return metric_table(numbers, Fidelity.LINK, "vivado", self.tool_version)


def is_timing_summary(source: Source) -> bool:
    return written_by(source, "report_timing_summary")


def parse_timing_summary(source: Source) -> TimingSummary:
    """A timing miss is a Failure of the result. Raises ReportError for another file and for one that is cut."""
    if not is_timing_summary(source):
        raise source.foreign("a timing summary", "dr_timing_summary.rpt of the v++ link")
    header = vivado_header(source)
    setup, hold, pulse = _design_slacks(source)
    met = _verdict(source)
    summary = TimingSummary(header.state, header.tool_version, met, setup, hold, pulse, _clocks(source))
    failures = () if met else (_miss(summary),)
    return TimingSummary(header.state, header.tool_version, met, setup, hold, pulse, summary.clocks, failures)


def _miss(summary: TimingSummary) -> Failure:
    clock = summary.worst_clock
    text = (
        f"timing is not met: worst slack {summary.setup.worst} ns, {summary.setup.failing:.0f} of "
        f"{summary.setup.endpoints:.0f} endpoints fail; the worst clock is {clock.clock}"
    )
    return Failure("timing", text, clock.clock, _LEVER)


def _verdict(source: Source) -> bool:
    met, missed = (any(line.strip() == text for line in source.lines) for text in (_MET, _MISSED))
    if met == missed:
        raise source.truncated("it does not say whether the timing constraints are met")
    return met


def _box(source: Source, title: str) -> int:
    """First line below the box `| title`."""
    for at, line in enumerate(source.lines):
        if line.rstrip() == f"| {title}":
            return at + 3
    raise source.truncated(f"it has no section {title!r}")


def _table(source: Source, title: str) -> tuple[list[str], list[str]]:
    """The rule under the column heads (one run of dashes a column) and the rows of the first table of a section."""
    at = _box(source, title)
    while at < len(source.lines) and not source.lines[at].lstrip().startswith("---"):
        at += 1
    rule, rows = source.lines[at : at + 1], source.lines[at + 1 :]
    end = next((i for i, row in enumerate(rows) if not row.strip()), None)
    if end is None:
        raise source.truncated(f"the table of the section {title!r} has no end")
    return rule[0].split(), rows[:end]


def _design_slacks(source: Source) -> tuple[Slack, Slack, Slack]:
    rule, rows = _table(source, "Design Timing Summary")
    words = rows[0].split() if rows else []
    if len(rule) != _NUMBERS or len(words) != _NUMBERS:
        raise source.truncated(f"the design timing summary has {len(words)} numbers, not {_NUMBERS}")
    return _slack(source, words[:4]), _slack(source, words[4:8]), _slack(source, words[8:])


def _clocks(source: Source) -> tuple[ClockSlack, ...]:
    """Clocks with paths; Vivado leaves the numbers of a clock without paths away."""
    rule, rows = _table(source, "Intra Clock Table")
    if len(rule) != _NUMBERS + 1:
        raise source.truncated(f"the intra clock table has {len(rule)} columns, not {_NUMBERS + 1}")
    full = [row.split() for row in rows if len(row.split()) in _WITH_PATHS]
    found = tuple(ClockSlack(name, _slack(source, rest[:4])) for name, *rest in full)
    if not found:
        raise source.truncated("the intra clock table has no clock with paths")
    return found


def _slack(source: Source, words: list[str]) -> Slack:
    values = [number(source, word, "a slack or a count of endpoints") for word in words]
    known = [value for value in values if value is not None]
    if len(known) != len(words):
        raise damaged(source, " ".join(words), "the slack", "four numbers")
    return Slack(*known)
