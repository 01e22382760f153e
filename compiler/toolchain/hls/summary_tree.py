"""The tree of modules and loops in a Synthesis Summary: indented rows, `+` for a module and `o` for a loop."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compiler.toolchain.ascii_table import Table, require
from compiler.toolchain.source import Source

DEEPEST = 100
_NEEDED = (
    "Issue Type", "Slack", "Latency (cycles)", "Iteration Latency", "Interval", "Trip Count", "Pipelined",
    "BRAM", "DSP", "FF", "LUT", "URAM",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """A row: column -> cell, with what is indented below it. `children` fills while the tree is built."""

    name: str
    kind: Literal["module", "loop"]
    row: Mapping[str, str]
    children: list["Node"] = field(default_factory=list["Node"])


def tree(source: Source, table: Table) -> Node:
    """The root of the table "Performance & Resource Estimates". Raises ReportError where its rows make no tree."""
    require(source, table, "Modules & Loops", *_NEEDED)
    path: list[Node] = []
    for cells in table.rows:
        match = re.match(r"( *)([+o]) (\S+?)\*?$", cells[table.columns.index("Modules & Loops")])
        depth = len(match.group(1)) if match else -1
        if match is None or depth > min(len(path), DEEPEST) or (depth == 0 and path):
            raise source.truncated(f"the table at line {table.line + 1} is no tree of modules and loops")
        node = Node(match.group(3), "module" if match.group(2) == "+" else "loop", table.record(cells))
        del path[depth:]
        if path:
            path[-1].children.append(node)
        path.append(node)
    if not path:
        raise source.truncated(f"the table at line {table.line + 1} has no modules")
    return path[0]
