"""Tables under "Utilization Estimates" of a module's report."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from compiler.toolchain.hls.csynth_rows import (
    Area,
    Breakdown,
    ExpressionRow,
    FifoRow,
    InstanceRow,
    MemoryRow,
    MultiplexerRow,
    RegisterRow,
)
from compiler.toolchain.hls.rpt_text import Section, item
from compiler.toolchain.numbers import integer
from compiler.toolchain.source import Source

Row = Mapping[str, str]
AnyRow = TypeVar("AnyRow")


def utilization(source: Source, areas: Section) -> dict[str, Area]:
    """The rows of the summary by their names. Raises ReportError where the total or what is available is missing."""
    table = item(source, areas, "Summary")
    rows = table.records() if table is not None else ()
    found = {row["Name"]: _area(source, row) for row in rows if row.get("Name") and "%" not in row["Name"]}
    for name in ("Total", "Available"):
        if name not in found or None in {found[name].bram18, found[name].dsp, found[name].ff, found[name].lut}:
            raise source.truncated(f"the summary of the utilization has no {name!r}")
    return found


def breakdown(source: Source, areas: Section, summary: Mapping[str, Area]) -> Breakdown:
    def instance(row: Row) -> InstanceRow:
        return InstanceRow(row["Instance"], row["Module"], _area(source, row))

    def expression(row: Row) -> ExpressionRow:
        return ExpressionRow(row["Variable Name"], row["Operation"], _area(source, row))

    def multiplexer(row: Row) -> MultiplexerRow:
        return MultiplexerRow(row["Name"], *_integers(source, row, "LUT", "Input Size", "Bits"))

    def register(row: Row) -> RegisterRow:
        return RegisterRow(row["Name"], *_integers(source, row, "FF", "Bits"))

    kinds = ("DSP", "DSP48E", "Expression", "FIFO", "Instance", "Memory", "Multiplexer", "Register")
    return Breakdown(
        by_kind=tuple((name, summary[name]) for name in kinds if name in summary),
        instances=_rows(source, areas, "Instance", instance),
        dsps=_rows(source, areas, "DSP", instance, "DSP48E"),
        expressions=_rows(source, areas, "Expression", expression),
        multiplexers=_rows(source, areas, "Multiplexer", multiplexer),
        registers=_rows(source, areas, "Register", register),
    )


def fifos(source: Source, areas: Section, module: str) -> tuple[FifoRow, ...]:
    def fifo(row: Row) -> FifoRow:
        depth, width = _integers(source, row, "Depth", "Bits")
        return FifoRow(row["Name"], module, depth, width, _area(source, row))

    return _rows(source, areas, "FIFO", fifo)


def memories(source: Source, areas: Section, module: str) -> tuple[MemoryRow, ...]:
    def memory(row: Row) -> MemoryRow:
        width, words, banks = _integers(source, row, "Bits", "Words", "Banks")
        return MemoryRow(row["Memory"], module, row["Module"], width, words, banks, _area(source, row))

    return _rows(source, areas, "Memory", memory)


def _rows(
    source: Source, areas: Section, title: str, make: Callable[[Row], AnyRow], older: str = ""
) -> tuple[AnyRow, ...]:
    """What an item's table lists, without its total; none where the report says N/A."""
    titles = [t for t in (title, older) if t and _has(source, areas, t)] or [title]
    table = item(source, areas, titles[0])
    if table is None or not table.groups:
        return ()
    try:
        return tuple(make(table.record(row)) for row in table.groups[0])
    except KeyError as error:
        raise source.truncated(f"the table {title!r} has no column {error}") from None


def _has(source: Source, areas: Section, title: str) -> bool:
    return any(line.strip() == f"* {title}:" for line in source.lines[areas.start : areas.stop])


def _integers(source: Source, row: Row, *columns: str) -> tuple[int | None, ...]:
    return tuple(integer(source, row[column], column) for column in columns)


def _area(source: Source, row: Row) -> Area:
    columns = ("BRAM_18K", "DSP" if "DSP" in row else "DSP48E", "FF", "LUT", "URAM")
    return Area(*(integer(source, row.get(column, ""), column) for column in columns))
