"""The loop table of a module's report: `- outer`, ` + inner`, `  ++ innermost`."""

import re
from dataclasses import dataclass, field

from compiler.toolchain.ascii_table import Table, require
from compiler.toolchain.hls.csynth import Loop, Span, is_pipelined, style_of
from compiler.toolchain.hls.xml_fields import span
from compiler.toolchain.numbers import integer
from compiler.toolchain.source import Source

DEEPEST = 100
_NEEDED = (
    "Loop Name", "Iteration Latency", "Initiation Interval achieved", "Initiation Interval target", "Trip Count",
    "Pipelined",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    row: dict[str, str]
    children: list["_Node"] = field(default_factory=list["_Node"])


def loops(source: Source, table: Table) -> tuple[Loop, ...]:
    """The outermost loops. Raises ReportError where the table's rows make no tree."""
    require(source, table, *_NEEDED)
    roots: list[_Node] = []
    path: list[_Node] = []
    for cells in table.rows:
        match = re.match(r"( *)(?:-|\++) (\S.*)$", cells[table.columns.index("Loop Name")])
        depth = len(match.group(1)) if match else -1
        if match is None or depth > min(len(path), DEEPEST):
            raise source.truncated(f"the table at line {table.line + 1} is no tree of loops")
        node = _Node(match.group(2), table.record(cells))
        del path[depth:]
        (path[-1].children if path else roots).append(node)
        path.append(node)
    return tuple(_loop(source, node) for node in roots)


def _loop(source: Source, node: _Node) -> Loop:
    row = node.row
    cycles = "Latency (cycles)" if "Latency (cycles) min" in row else "Latency"
    pipelined = is_pipelined(row["Pipelined"])
    ii, target = row["Initiation Interval achieved"], row["Initiation Interval target"]
    return Loop(
        name=node.name,
        trips=span(source, row["Trip Count"], "Trip Count"),
        latency=Span(
            integer(source, row.get(f"{cycles} min", ""), cycles), integer(source, row.get(f"{cycles} max", ""), cycles)
        ),
        iteration=span(source, row["Iteration Latency"], "Iteration Latency"),
        ii=integer(source, ii, "Initiation Interval") if pipelined else None,
        pipelined=pipelined,
        target_ii=integer(source, target, "Initiation Interval") if pipelined else None,
        style=style_of(row["Pipelined"]),
        loops=tuple(_loop(source, child) for child in node.children),
    )
