"""Reader of `<module>_csynth.rpt`: one module, its loops, and tables of where its area goes.

Trust the depth and the width of its FIFOs, not their BRAM: the estimate ignores the depth.
"""

import re
from collections.abc import Iterator

from compiler.toolchain.ascii_table import Table, require
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Issue, Loop, Module, Span, timing_issue
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.module_loops import loops
from compiler.toolchain.hls.module_tables import breakdown, fifos, memories, utilization
from compiler.toolchain.hls.rpt_text import Section, first_table, flow, head_value, item, section, version
from compiler.toolchain.numbers import damaged, integer, number
from compiler.toolchain.source import Source

GIVE = "<solution>/syn/report/<module>_csynth.rpt"
_TITLE = re.compile(r"^== (?:Vitis|Vivado) HLS Report for '([^'\n]+)'$", re.MULTILINE)


def is_module_rpt(source: Source) -> bool:
    return _TITLE.search(source.text[:4000]) is not None


def parse_module_rpt(source: Source) -> CsynthReport:
    """Raises ReportError for another file and for one that ends early."""
    title = _TITLE.search(source.text[:4000])
    if title is None:
        raise source.foreign("a csynth report of a module", GIVE)
    first_table(source, section(source, "Interface"))  # the last section: all others are whole
    performance, areas = section(source, "Performance Estimates"), section(source, "Utilization Estimates")
    clock, summary = _clock(source, performance), utilization(source, areas)
    return CsynthReport(
        version=version(source),
        part=head_value(source, "Target device"),
        top=title.group(1),
        flow=flow(source),
        clock=clock,
        available=summary["Available"],
        modules=(_module(source, performance, title.group(1), clock, summary["Total"]),),
        fifos=fifos(source, areas, title.group(1)),
        memories=memories(source, areas, title.group(1)),
        breakdown=breakdown(source, areas, summary),
    )


def _clock(source: Source, performance: Section) -> Clock:
    """Periods of the first clock; older versions leave the unit to the heading."""
    columns = ("Target", "Uncertainty", "Estimated")
    table = item(source, performance, "Summary", _heading(source, performance, "+ Timing"))
    row = _only_row(source, table, "Timing", *columns)
    return Clock(*(number(source, row[name].removesuffix(" ns"), name) for name in columns))


def _module(source: Source, performance: Section, name: str, clock: Clock, area: Area) -> Module:
    heading = _heading(source, performance, "+ Latency")
    row = _only_row(source, item(source, performance, "Summary", heading), "Latency", "Pipeline Type")
    cycles = "Latency (cycles)" if "Latency (cycles) min" in row else "Latency"
    found = _loops(source, performance, heading)
    return Module(
        name=name,
        pipeline=row["Pipeline Type"],
        latency=_min_max(source, row, cycles),
        interval=_min_max(source, row, "Interval"),
        area=area,
        slack=clock.slack,
        loops=found,
        calls=_calls(source, performance, heading),
        issues=timing_issue(name, clock.slack) + tuple(_slower_than_asked(found, name)),
    )


def _loops(source: Source, performance: Section, heading: int) -> tuple[Loop, ...]:
    table = item(source, performance, "Loop", heading)
    return loops(source, table) if table is not None else ()


def _slower_than_asked(found: tuple[Loop, ...], module: str) -> Iterator[Issue]:
    for loop in found:
        if loop.ii is not None and loop.target_ii is not None and loop.ii > loop.target_ii:
            yield Issue("ii", module, loop.name, f"target {loop.target_ii}, reached {loop.ii}")
        yield from _slower_than_asked(loop.loops, module)


def _calls(source: Source, performance: Section, heading: int) -> tuple[str, ...]:
    table = item(source, performance, "Instance", heading)
    if table is None:
        return ()
    require(source, table, "Module")
    return tuple(dict.fromkeys(row["Module"] for row in table.records()))


def _heading(source: Source, where: Section, start: str) -> int:
    """The line that begins with `start`."""
    for at in range(where.start, where.stop):
        if source.lines[at].startswith(start):
            return at
    raise source.truncated(f"{start!r} of {where.name!r} is missing")


def _only_row(source: Source, table: Table | None, what: str, *needed: str) -> dict[str, str]:
    if table is None or not table.rows:
        raise source.truncated(f"the summary of {what} is empty")
    require(source, table, *needed)
    return table.records()[0]


def _min_max(source: Source, row: dict[str, str], what: str) -> Span:
    if f"{what} min" not in row or f"{what} max" not in row:
        raise damaged(source, ", ".join(row), "the summary of the latency", f"a table with {what}")
    return Span(integer(source, row[f"{what} min"], what), integer(source, row[f"{what} max"], what))
