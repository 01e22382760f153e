"""Reader of the Synthesis Summary: `csynth.rpt`, in the unified flow `hls_compile.rpt`.

It knows the worst latency of everything and the slack, but no clock period and no available resources. "-" in a column
of resources stands for none used, as the XML of the same run says.
"""

import re

from compiler.toolchain.hls.csynth import (
    Clock,
    CsynthReport,
    Issue,
    Loop,
    Module,
    Span,
    is_pipelined,
    issue_kind,
    style_of,
)
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.rpt_text import first_table, flow, head_value, section, version
from compiler.toolchain.hls.summary_storage import fifos, memories, operators
from compiler.toolchain.hls.summary_tree import Node, tree
from compiler.toolchain.hls.xml_fields import span
from compiler.toolchain.numbers import damaged, integer, number
from compiler.toolchain.source import Source

GIVE = "<solution>/syn/report/csynth.rpt or <work_dir>/reports/hls_compile.rpt"
_TITLE = re.compile(r"^== Synthesis Summary Report of '([^'\n]+)'$", re.MULTILINE)


def is_summary_rpt(source: Source) -> bool:
    return _TITLE.search(source.text[:4000]) is not None


def parse_summary_rpt(source: Source) -> CsynthReport:
    """Raises ReportError for another file and for one that ends early."""
    title = _TITLE.search(source.text[:4000])
    if title is None:
        raise source.foreign("a Synthesis Summary", GIVE)
    section(source, "Pragma Report", "User Pragma Report")  # the last one: all others are whole
    table = first_table(source, section(source, title.group(0).removeprefix("== ")))
    root = tree(source, table)
    modules: dict[str, Module] = {}
    _collect(source, root, modules)
    if root.name != title.group(1):
        raise source.truncated(f"its first module is {root.name}, its title says {title.group(1)}")
    return CsynthReport(
        version=version(source),
        part=head_value(source, "Target device"),
        top=root.name,
        flow=flow(source),
        clock=Clock(),
        available=Area(),
        modules=tuple(modules.values()),
        fifos=fifos(source),
        memories=memories(source),
        operators=operators(source),
    )


def _collect(source: Source, node: Node, modules: dict[str, Module]) -> None:
    """Modules of `node` and below, each once, those that are called first: as in csynth.xml."""
    for child in node.children:
        _collect(source, child, modules)
    if node.kind == "module" and node.name not in modules:
        modules[node.name] = _module(source, node)


def _module(source: Source, node: Node) -> Module:
    row = node.row
    return Module(
        name=node.name,
        pipeline=row["Pipelined"],
        latency=_worst(source, row["Latency (cycles)"]),
        interval=_worst(source, row["Interval"]),
        area=Area(*(_count(source, row[column]) for column in ("BRAM", "DSP", "FF", "LUT", "URAM"))),
        slack=number(source, row["Slack"], "Slack"),
        loops=tuple(_loop(source, child) for child in node.children if child.kind == "loop"),
        calls=tuple(dict.fromkeys(_called(node))),
        issues=tuple(_issues(node, node.name)),
    )


def _loop(source: Source, node: Node) -> Loop:
    row = node.row
    pipelined = is_pipelined(row["Pipelined"])
    return Loop(
        name=node.name,
        trips=span(source, row["Trip Count"], "Trip Count"),
        latency=_worst(source, row["Latency (cycles)"]),
        iteration=_worst(source, row["Iteration Latency"]),
        ii=integer(source, row["Interval"], "Interval") if pipelined else None,
        pipelined=pipelined,
        style=style_of(row["Pipelined"]),
        loops=tuple(_loop(source, child) for child in node.children if child.kind == "loop"),
        calls=tuple(child.name for child in node.children if child.kind == "module"),
    )


def _called(node: Node) -> list[str]:
    """Modules that the module `node` instantiates, those in its loops too."""
    inside = [name for child in node.children if child.kind == "loop" for name in _called(child)]
    return [child.name for child in node.children if child.kind == "module"] + inside


def _issues(node: Node, module: str) -> list[Issue]:
    """Of the module `node` and its loops, without the modules below."""
    found: list[Issue] = []
    for word in re.split(r"[\s,&]+", node.row["Issue Type"].strip()):
        if word not in {"", "-"}:
            loop = node.name if node.kind == "loop" else ""
            cause = node.row.get("Violation Type", "-")
            found.append(Issue(issue_kind(word), module, loop, cause if cause != "-" else word))
    return found + [i for child in node.children if child.kind == "loop" for i in _issues(child, module)]


def _worst(source: Source, text: str) -> Span:
    return Span(None, span(source, text, "a latency").worst)


def _count(source: Source, text: str) -> int:
    """`6951 (~0%)` is 6951; "-" is none."""
    count = 0 if text == "-" else integer(source, text.partition(" (")[0], "a count of resources")
    if count is None:
        raise damaged(source, text, "a count of resources", "a whole number")
    return count
