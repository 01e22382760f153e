"""`summary.csv` of XRT: how long each compute unit ran, what each of its ports moved, and the settings of the run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.board.csv_sections import Section, sections
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged, number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_FIRST = "Profile Summary\n"
_FIELD = re.compile(r"([A-Z][A-Za-z ]+): ?(.*)")
_ON_BOARD = "System Run"
_UNITS, _TRANSFERS = "Compute Unit Utilization", "Data Transfer: Kernels to Global Memory"
_CALLS, _GUIDANCE, _SETTING = "Native API Calls", "Guidance Parameters", "XRT_INI_SETTING"


@dataclass(frozen=True, slots=True)
class UnitRun:
    """A compute unit: calls, milliseconds over all and of one, clock."""

    device: str
    unit: str
    kernel: str
    calls: int
    total_ms: float
    shortest_ms: float
    mean_ms: float
    longest_ms: float
    clock_mhz: float


@dataclass(frozen=True, slots=True)
class PortTransfer:
    """One direction ("READ", "WRITE") of a port of a compute unit; MB are of 10^6 bytes, KB of 10^3."""

    port: str
    memory: str
    direction: str
    transfers: int
    mb_s: float
    share_percent: float
    mean_kb: float
    mean_ns: float


@dataclass(frozen=True, slots=True)
class ApiCall:
    name: str
    calls: int
    total_ms: float


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """`units` and `transfers` are empty in a run without device counters. `flow` is "System Run" on a board.

    `settings` are those of xrt.ini, `parameters` the other rows of the last section: (name, element) -> value.
    """

    application: str
    tool_version: str
    xrt_version: str
    flow: str
    units: tuple[UnitRun, ...]
    transfers: tuple[PortTransfer, ...]
    calls: tuple[ApiCall, ...]
    settings: dict[str, str]
    parameters: dict[tuple[str, str], str]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """Of a run on a board: time of the slowest unit, and what all ports moved a second."""
        if self.flow != _ON_BOARD or not self.units:
            return ()
        rates = {d: sum(t.mb_s for t in self.transfers if t.direction == d) / 1e3 for d in ("READ", "WRITE")}
        numbers: dict[str, tuple[float | None, str]] = {
            "kernel_time": (max(unit.mean_ms for unit in self.units) * 1e3, "us"),
            "memory_read": (rates["READ"] if self.transfers else None, "GB/s"),
            "memory_write": (rates["WRITE"] if self.transfers else None, "GB/s"),
        }
        return metric_table(numbers, Fidelity.BOARD, "xrt", self.xrt_version)


def is_profile_summary(source: Source) -> bool:
    return source.text.startswith(_FIRST) and "XRT build version" in source.text[:2000]


def parse_profile_summary(source: Source) -> ProfileSummary:
    """Raises ReportError for another file and for one that is cut before its settings or within a line."""
    if not is_profile_summary(source):
        raise source.foreign("a profile summary of XRT", "summary.csv of a run with profiling")
    found = sections(source)
    if _GUIDANCE not in found or not source.text.endswith("\n"):
        raise source.truncated(f"it has no section {_GUIDANCE!r}, or ends within it")
    head = {m[1]: m[2] for line in source.lines[:20] if (m := _FIELD.match(line))}
    guidance = [(*row, "", "", "")[:3] for row in found[_GUIDANCE].rows]
    settings = {name: value for kind, name, value in guidance if kind == _SETTING}
    if not settings:
        raise source.truncated("it has no settings of xrt.ini")
    return ProfileSummary(
        head.get("Profiled application", ""),
        head.get("Tool version", ""),
        head.get("XRT build version", ""),
        head.get("Flow mode", ""),
        tuple(_unit(row) for row in _rows(source, found.get(_UNITS))),
        tuple(_transfer(row) for row in _rows(source, found.get(_TRANSFERS))),
        tuple(_call(row) for row in _rows(source, found.get(_CALLS))),
        settings,
        {(kind, element): value for kind, element, value in guidance if kind != _SETTING},
    )


@dataclass(frozen=True, slots=True)
class _Row:
    source: Source
    title: str
    cells: dict[str, str]

    def text(self, column: str) -> str:
        if column not in self.cells:
            raise self.source.truncated(f"the section {self.title!r} has no column {column!r}")
        return self.cells[column]

    def number(self, column: str) -> float:
        value = number(self.source, self.text(column), f"{column} of {self.title}")
        if value is None:
            raise damaged(self.source, self.text(column), f"{column} of {self.title}", "a number")
        return value


def _rows(source: Source, section: Section | None) -> Iterator[_Row]:
    if section is None:
        return
    if any(len(row) != len(section.columns) for row in section.rows):
        raise source.truncated(f"a row of the section {section.title!r} has not as many cells as its header")
    for cells in section.records():
        yield _Row(source, section.title, cells)


def _unit(row: _Row) -> UnitRun:
    return UnitRun(
        row.text("Device"),
        row.text("Compute Unit"),
        row.text("Kernel"),
        int(row.number("Number Of Calls")),
        row.number("Total Time (ms)"),
        row.number("Minimum Time (ms)"),
        row.number("Average Time (ms)"),
        row.number("Maximum Time (ms)"),
        row.number("Clock Frequency (MHz)"),
    )


def _transfer(row: _Row) -> PortTransfer:
    return PortTransfer(
        row.text("Compute Unit/Port Name"),
        row.text("Memory Resources"),
        row.text("Transfer Type"),
        int(row.number("Number Of Transfers")),
        row.number("Transfer Rate (MB/s)"),
        row.number("Bandwidth Utilization With Respect To Current Port Configuration (%)"),
        row.number("Average Size (KB)"),
        row.number("Average Latency (ns)"),
    )


def _call(row: _Row) -> ApiCall:
    return ApiCall(row.text("API Name"), int(row.number("Number Of Calls")), row.number("Total Time (ms)"))
