"""`kernel_util_routed`: what each kernel and compute unit takes of what the shell leaves.

Vivado's report_accelerator_utilization writes the same table three times: `.json` (the best to read, without the
platform's share), `.rpt` and the binary `.xutil`. A file called `*_routed` may be of the placed design: `state` tells.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.ascii_table import Table
from compiler.toolchain.json_text import Node, json_root, looks_like_json
from compiler.toolchain.link.vivado_header import section_table, vivado_header, written_by
from compiler.toolchain.link.xutil import is_xutil, read_xutil
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import damaged
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

COLUMNS = ("LUT", "LUTAsMem", "REG", "BRAM", "URAM", "DSP")
_INDENT = 3
_CELL = re.compile(r" *(\d+(?:\.\d+)?) \[ *<?\d+\.\d+%\]")
_COUNT = re.compile(r" \(\d+\)$")


@dataclass(frozen=True, slots=True)
class Usage:
    """LUTs, those of them used as memory, registers, block RAM in BRAM36 (halves are BRAM18), URAMs, DSPs."""

    lut: float
    lut_as_memory: float
    ff: float
    bram36: float
    uram: float
    dsp: float


@dataclass(frozen=True, slots=True)
class ComputeUnit:
    name: str
    used: Usage


@dataclass(frozen=True, slots=True)
class KernelUse:
    name: str
    used: Usage
    units: tuple[ComputeUnit, ...]


@dataclass(frozen=True, slots=True)
class KernelUtil:
    """`budget` is the part less `platform`, the shell's share (None where the file does not tell); `used` is of it.

    `state` is "Routed" or "Fully Placed", "" where the file does not tell (`.xutil`).
    """

    state: str
    tool_version: str
    platform: Usage | None
    budget: Usage
    used: Usage
    kernels: tuple[KernelUse, ...]
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """Area of all kernels, without the shell."""
        area = {
            "lut": (self.used.lut, "LUT"),
            "ff": (self.used.ff, "FF"),
            "dsp": (self.used.dsp, "DSP"),
            "bram36": (self.used.bram36, "BRAM36"),
            "uram": (self.used.uram, "URAM"),
        }
        return metric_table(area, Fidelity.LINK, "vivado", self.tool_version)


@dataclass(frozen=True, slots=True)
class _Row:
    level: int
    name: str
    used: Usage


def is_kernel_util(source: Source) -> bool:
    if looks_like_json(source):
        return '"user_budget"' in source.text[:2000]
    return is_xutil(source) or written_by(source, "report_accelerator_utilization")


def parse_kernel_util(source: Source) -> KernelUtil:
    """The table of any of the three files. Raises ReportError for another file and for one that is cut."""
    if not is_kernel_util(source):
        raise source.foreign("a kernel utilisation report", "kernel_util_routed.json, .rpt or .xutil of the v++ link")
    if looks_like_json(source):
        return _of_json(json_root(source), source)
    header = vivado_header(source)
    rows = _rows_of_xutil(source) if is_xutil(source) else _rows_of_table(source)
    return _of_rows(source, list(rows), header.state, header.tool_version)


def _of_json(root: Node, source: Source) -> KernelUtil:
    budget = root.get("user_budget")
    kernels = tuple(_kernel_of_json(kernel) for kernel in root.get("kernels").each())
    if not kernels:
        raise source.truncated("it lists no kernels")
    used, supply = (_usage(budget.get(key)) for key in ("actual_resources", "supply_resources"))
    return KernelUtil(root.get("design_state").text(), "", None, supply, used, kernels)


def _kernel_of_json(kernel: Node) -> KernelUse:
    units = tuple(
        ComputeUnit(unit.get("cu_name").text(), _usage(unit.get("actual_resources")))
        for unit in kernel.get("compute_units").each()
    )
    if not units or len(units) != kernel.get("compute_unit_count").number():
        raise kernel.source.truncated(f"{kernel.path} has {len(units)} compute units, not as many as it says")
    return KernelUse(kernel.get("name").text(), _sum(unit.used for unit in units), units)


def _usage(node: Node) -> Usage:
    return Usage(*(node.get(column).number() for column in COLUMNS))


def _sum(parts: Iterable[Usage]) -> Usage:
    amounts = [(p.lut, p.lut_as_memory, p.ff, p.bram36, p.uram, p.dsp) for p in parts]
    return Usage(*(sum(column) for column in zip(*amounts, strict=True)))


def _rows_of_table(source: Source) -> Iterable[_Row]:
    table = section_table(source, "System Utilization")
    if table.columns != ("Name", *COLUMNS):
        raise damaged(source, " ".join(table.columns), "the header of the table", f"Name {' '.join(COLUMNS)}")
    return (_row_of_table(source, table, row) for row in table.rows)


def _row_of_table(source: Source, table: Table, row: tuple[str, ...]) -> _Row:
    name = row[0].strip()
    level = (len(row[0]) - len(row[0].lstrip())) // _INDENT
    cells = [_CELL.fullmatch(cell) for cell in row[1:]]
    if not all(cells):
        raise source.truncated(f"the row {name!r} of the table at line {table.line + 1} is not numbers and shares")
    return _Row(level, name, Usage(*(float(cell[1]) for cell in cells if cell)))


def _rows_of_xutil(source: Source) -> Iterable[_Row]:
    table = read_xutil(source)
    if table.columns != ("Name", *COLUMNS) or any(len(row.cells) != len(table.columns) for row in table.rows):
        raise damaged(source, " ".join(table.columns), "the header of the table", f"Name {' '.join(COLUMNS)}")
    for row in table.rows:
        yield _Row(row.level, _COUNT.sub("", str(row.cells[0])), Usage(*map(float, row.cells[1:])))


def _of_rows(source: Source, rows: list[_Row], state: str, tool_version: str) -> KernelUtil:
    """Platform, budget and use come first, then each kernel with its compute units below it."""
    named = {row.name: row.used for row in rows[:4]}
    missing = [name for name in ("Platform", "User Budget", "Used Resources") if name not in named]
    kernels = _kernels(source, rows[4:])
    if missing or not kernels:
        raise source.truncated(f"the table has no row {missing[0]!r}" if missing else "the table has no kernels")
    return KernelUtil(
        state, tool_version, named["Platform"], named["User Budget"], named["Used Resources"], tuple(kernels)
    )


def _kernels(source: Source, rows: list[_Row]) -> list[KernelUse]:
    starts = [i for i, row in enumerate(rows) if row.level == 0]
    if rows and starts[:1] != [0]:
        raise source.truncated("the table has a compute unit that belongs to no kernel")
    kernels: list[KernelUse] = []
    for start, stop in pairwise([*starts, len(rows)]):
        units = tuple(ComputeUnit(row.name, row.used) for row in rows[start + 1 : stop])
        kernels.append(KernelUse(rows[start].name, rows[start].used, units))
    return kernels
