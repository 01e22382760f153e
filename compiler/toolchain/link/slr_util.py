"""`slr_util_routed`: what each die takes and how many super long lines cross between dies (report_utilization -slr)."""

import re
from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.ascii_table import Table
from compiler.toolchain.link.vivado_header import section_table, vivado_header, written_by
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged, known
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_SITES = {
    "lut": "CLB LUTs",
    "lut_as_memory": "LUT as Memory",
    "ff": "CLB Registers",
    "bram36": "Block RAM Tile",
    "uram": "URAM",
    "dsp": "DSPs",
}
_BOUNDARY = re.compile(r"(SLR\d+) <-> (SLR\d+)")
_SLR = re.compile(r"SLR\d+")


@dataclass(frozen=True, slots=True)
class SlrUse:
    """One die, shell and kernels together; `percent` of its LUTs and so on, by the same names."""

    name: str
    lut: float
    lut_as_memory: float
    ff: float
    bram36: float
    uram: float
    dsp: float
    percent: dict[str, float]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Super long lines between two dies that touch, both directions, of `available`."""

    between: tuple[str, str]
    used: float
    available: float


@dataclass(frozen=True, slots=True)
class SlrUtil:
    """`crossings` is source die, sink die -> nets; a net from SLR0 to SLR2 takes a line of both boundaries."""

    state: str
    tool_version: str
    slrs: tuple[SlrUse, ...]
    boundaries: tuple[Boundary, ...]
    crossings: dict[tuple[str, str], float]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """The fullest die and the lines that cross: what decides whether a design routes."""
        numbers: dict[str, tuple[float | None, str]] = {
            "sll": (sum(boundary.used for boundary in self.boundaries), "lines"),
            "sll_share": (max(100 * b.used / b.available for b in self.boundaries), "%"),
        }
        numbers |= {
            f"slr_{site}_share": (max(slr.percent[site] for slr in self.slrs), "%") for site in ("lut", "bram36", "dsp")
        }
        return metric_table(numbers, Fidelity.LINK, "vivado", self.tool_version)


def is_slr_util(source: Source) -> bool:
    return written_by(source, "report_utilization -slr")


def parse_slr_util(source: Source) -> SlrUtil:
    """Raises ReportError for another file and for one that is cut before the table of the dies ends."""
    if not is_slr_util(source):
        raise source.foreign("a report of the use of each SLR", "slr_util_routed.rpt of the v++ link")
    header = vivado_header(source)
    boundaries = _boundaries(source, section_table(source, "SLR Connectivity"))
    crossings = _crossings(source, section_table(source, "SLR Connectivity Matrix"))
    slrs = _slrs(source, section_table(source, "SLR CLB Logic and Dedicated Block Utilization"))
    if not boundaries or not slrs:
        raise source.truncated("it names no SLRs")
    return SlrUtil(header.state, header.tool_version, slrs, boundaries, crossings)


def _count(source: Source, text: str, what: str) -> float:
    """A count or a percentage; "<0.01" counts as the bound that it names."""
    return known(source, text.strip().removeprefix("<"), what)


def _boundaries(source: Source, table: Table) -> tuple[Boundary, ...]:
    found: list[Boundary] = []
    for row in table.rows:
        record = table.record(row)
        if match := _BOUNDARY.fullmatch(row[0].strip()):
            used, available = (_count(source, record.get(k, ""), f"{k} of {match[0]}") for k in ("Used", "Available"))
            if available <= 0:
                raise damaged(source, str(available), f"Available of {match[0]}", "above 0")
            found.append(Boundary((match[1], match[2]), used, available))
    return tuple(found)


def _crossings(source: Source, table: Table) -> dict[tuple[str, str], float]:
    sinks = table.columns[1:]
    return {
        (row[0].strip(), sink): _count(source, cell, f"nets from {row[0].strip()} to {sink}")
        for row in table.rows
        for sink, cell in zip(sinks, row[1:], strict=True)
        if row[0].strip() != sink
    }


def _slrs(source: Source, table: Table) -> tuple[SlrUse, ...]:
    rows = {row[0].strip(): table.record(row) for row in reversed(table.rows)}  # of two rows with one name the first
    missing = [site for site in _SITES.values() if site not in rows]
    if missing:
        raise source.truncated(f"the table of the SLRs has no row {missing[0]!r}")
    names = sorted(name for name in table.columns if _SLR.fullmatch(name))
    return tuple(_slr(source, name, rows) for name in names)


def _slr(source: Source, name: str, rows: dict[str, dict[str, str]]) -> SlrUse:
    def read(column: str) -> dict[str, float]:
        return {key: _count(source, rows[site].get(column, ""), f"{site} of {column}") for key, site in _SITES.items()}

    return SlrUse(name, **read(name), percent=read(f"{name} %"))
