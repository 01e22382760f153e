"""`report_power` of Vivado: watts that it expects of the routed design, by kind of resource and by block.

Without measured switching activity its confidence is at best "Medium": an estimate, not a measurement.
"""

from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.ascii_table import Table
from compiler.toolchain.link.vivado_header import section_table, vivado_header, written_by
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged, number
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_INDENT = 2


@dataclass(frozen=True, slots=True)
class Block:
    """`level` is 0 for the design, 1 for what it instantiates; watts below 0.001 are given as 0.001."""

    name: str
    level: int
    watts: float


@dataclass(frozen=True, slots=True)
class VivadoPower:
    """Watts. `by_resource` is "Clocks", "DSPs", "HBM" ...; `by_block` is the dynamic power of each instance."""

    state: str
    tool_version: str
    device: str
    total_w: float
    dynamic_w: float
    static_w: float
    confidence: str
    by_resource: tuple[Block, ...]
    by_block: tuple[Block, ...]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        numbers: dict[str, tuple[float | None, str]] = {
            "power": (self.total_w, "W"),
            "power_dynamic": (self.dynamic_w, "W"),
            "power_static": (self.static_w, "W"),
        }
        return metric_table(numbers, Fidelity.LINK, "vivado", self.tool_version)


def is_vivado_power(source: Source) -> bool:
    return written_by(source, "report_power")


def parse_vivado_power(source: Source) -> VivadoPower:
    """Raises ReportError for another file and for one that is cut before the table of the blocks ends."""
    if not is_vivado_power(source):
        raise source.foreign("a power report of Vivado", "the *_power_routed.rpt of the v++ link")
    header = vivado_header(source)
    summary = _pairs(source, section_table(source, "Summary"))
    total, dynamic, static = (
        _watts(source, summary.get(key, ""), key)
        for key in ("Total On-Chip Power (W)", "Dynamic (W)", "Device Static (W)")
    )
    return VivadoPower(
        header.state,
        header.tool_version,
        header.device,
        total,
        dynamic,
        static,
        summary.get("Confidence Level", ""),
        _blocks(source, section_table(source, "On-Chip Components"), "On-Chip"),
        _blocks(source, section_table(source, "By Hierarchy"), "Name"),
    )


def _pairs(source: Source, table: Table) -> dict[str, str]:
    """A table of two columns without a header."""
    rows = [line.strip().strip("|").split("|") for line in source.lines[table.line : table.end] if "|" in line]
    return {row[0].strip(): row[-1].strip() for row in rows}


def _watts(source: Source, text: str, what: str) -> float:
    value = number(source, text.strip().removeprefix("<"), what)
    if value is None:
        raise damaged(source, text, what, "a number of watts")
    return value


def _blocks(source: Source, table: Table, heading: str) -> tuple[Block, ...]:
    if table.columns[:2] != (heading, "Power (W)"):
        raise damaged(source, " ".join(table.columns), "the header of a table of power", f"{heading}, Power (W)")
    return tuple(
        Block(row[0].strip(), (len(row[0]) - len(row[0].lstrip()) - 1) // _INDENT, _watts(source, row[1], row[0]))
        for row in table.rows
    )
