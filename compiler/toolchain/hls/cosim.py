"""Reader of RTL co-simulation results: `<top>_cosim.rpt`, in the unified flow `hls_cosim.rpt`.

The latency counts the clock cycles of one transaction of the RTL with the test bench's memories, so it is exact for the
tasks and optimistic for HBM. The interval is not known where the test bench makes one transaction.
"""

import re
from dataclasses import dataclass
from typing import Literal

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.ascii_table import require, tables
from compiler.toolchain.numbers import integer
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

GIVE = "<solution>/sim/report/<top>_cosim.rpt or <work_dir>/reports/hls_cosim.rpt"
_STATUS: dict[str, Literal["pass", "fail", "not run"]] = {"Pass": "pass", "Fail": "fail", "NA": "not run"}
_LATENCY, _INTERVAL = "Latency(Clock Cycles)", "Interval(Clock Cycles)"
_TOTAL = "Total Execution Time (Clock Cycles)"


@dataclass(frozen=True, slots=True)
class Cycles:
    """Over all transactions; None where the report says NA."""

    least: int | None
    average: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class CosimReport:
    """Result of the one language that ran. `simulator` is "" where the tool wrote the report before a simulator ran.

    `total` is in cycles, over all transactions. The report does not say its tool's version.
    """

    name: str
    rtl: str
    status: Literal["pass", "fail", "not run"]
    simulator: str
    solution: str
    latency: Cycles
    interval: Cycles
    total: int | None
    tool_version: str = "unknown"

    @property
    def failures(self) -> tuple[Failure, ...]:
        if self.status == "pass":
            return ()
        if self.simulator:
            message = f"the {self.rtl} gives other results than the C++, or does not end"
            return (Failure("cosim", message, self.name, "look for ERROR and DEADLOCK in the log of the simulator"),)
        lever = "look in the log of the tool why the simulation did not start"
        if self.name.startswith("_"):
            lever = f"{self.name} is left over from a run without a top function: read <top>{self.name} beside it"
        return (Failure("cosim", "no simulator ran: the report was written before one started", self.name, lever),)

    def metrics(self) -> tuple[Metric, ...]:
        numbers = (
            ("cycles", self.latency.most),
            ("interval", self.interval.most),
            ("total_cycles", self.total),
        )
        return tuple(
            Metric(name, float(value), "cycles", Fidelity.COSIM, "vitis_hls", self.tool_version)
            for name, value in numbers
            if value is not None and self.status == "pass"
        )


def is_cosim_rpt(source: Source) -> bool:
    return "Total Execution Time" in source.text[:4000] and _LATENCY in source.text[:4000]


def parse_cosim(source: Source) -> CosimReport:
    """Raises ReportError for another file and for one that is cut."""
    if not is_cosim_rpt(source):
        raise source.foreign("a cosim report", GIVE)
    table = next(tables(source), None)
    if table is None:
        raise source.truncated("the table of results is missing")
    ends = [f"{what} {end}" for what in (_LATENCY, _INTERVAL) for end in ("min", "avg", "max")]
    require(source, table, "RTL", "Status", *ends, _TOTAL)
    rows = table.records()
    if not rows or any(row["Status"] not in _STATUS for row in rows):
        raise source.truncated("the table of results has no status")
    row = next((r for r in rows if r["Status"] != "NA"), rows[-1])
    cycles = [integer(source, row[name], name) for name in ends]
    report = CosimReport(
        name=source.name,
        rtl=row["RTL"],
        status=_STATUS[row["Status"]],
        simulator=_value(source, "Simulation tool"),
        solution=_value(source, "Solution"),
        latency=Cycles(*cycles[:3]),
        interval=Cycles(*cycles[3:]),
        total=integer(source, row[_TOTAL], _TOTAL),
    )
    if report.status == "pass" and report.total is None:
        raise source.truncated("it says Pass, but gives no cycles")
    return report


def _value(source: Source, name: str) -> str:
    """`Solution          : solution1.`; "" where the line is missing."""
    match = re.search(rf"^{re.escape(name)}\s*:\s*(.*?)\.?\s*$", source.text[:4000], re.MULTILINE)
    return match.group(1) if match else ""
