"""FIFOs, memories and operators of a Synthesis Summary, from its Storage Report and its Bind Op Report."""

from collections.abc import Iterator, Mapping, Sequence

from compiler.toolchain.ascii_table import require
from compiler.toolchain.hls.csynth_rows import Area, FifoRow, MemoryRow, OperatorRow
from compiler.toolchain.hls.rpt_text import first_table, section
from compiler.toolchain.numbers import integer
from compiler.toolchain.source import Source


def fifos(source: Source) -> tuple[FifoRow, ...]:
    return tuple(
        FifoRow(
            name=row["Name"],
            module=module,
            depth=size[1],
            width=size[0],
            area=_area(source, row),
            implementation=row["Impl"],
            kind=row["Type"],
        )
        for module, row, size in _storage(source)
        if row["Usage"].startswith("fifo")
    )


def memories(source: Source) -> tuple[MemoryRow, ...]:
    return tuple(
        MemoryRow(
            name=row["Name"],
            module=module,
            kind=row["Usage"].split()[0],
            width=size[0],
            words=size[1],
            banks=size[2],
            area=_area(source, row),
            implementation=row["Impl"],
        )
        for module, row, size in _storage(source)
        if row["Usage"].startswith(("ram", "rom"))
    )


def operators(source: Source) -> tuple[OperatorRow, ...]:
    return tuple(
        OperatorRow(
            name=row["Name"],
            module=module,
            operation=row["Op"],
            implementation=row["Impl"],
            latency=integer(source, row["Latency"], "Latency"),
            dsp=_count(source, row, "DSP"),
        )
        for module, row in _rows(source, ["Bind Op Report"], "Op", "Impl", "Latency", "DSP")
    )


Size = tuple[int | None, int | None, int | None]  # width, words, banks


def _storage(source: Source) -> Iterator[tuple[str, Mapping[str, str], Size]]:
    columns = ("Usage", "Type", "BRAM", "URAM", "Impl", "Bitwidth, Depth, Banks")
    for module, row in _rows(source, ["Storage Report", "Bind Storage Report"], *columns):
        parts = [integer(source, part, "Bitwidth, Depth, Banks") for part in row["Bitwidth, Depth, Banks"].split(",")]
        yield module, row, (parts[0], parts[1], parts[2]) if len(parts) == 3 else (None, None, None)


def _rows(source: Source, names: Sequence[str], *needed: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Rows of the section's table that are no module, each with the module that they stand below."""
    table = first_table(source, section(source, *names))
    require(source, table, "Name", *needed)
    path: list[str] = []
    for cells in table.rows:
        name = cells[0]
        depth = len(name) - len(name.lstrip()) - 1
        row = table.record(cells)
        if row["Name"].startswith("+ "):
            del path[max(0, depth) :]
            path.append(row["Name"].removeprefix("+ "))
        else:
            yield path[min(len(path), max(1, depth - 1)) - 1] if path else "", row


def _area(source: Source, row: Mapping[str, str]) -> Area:
    return Area(bram18=_count(source, row, "BRAM"), uram=_count(source, row, "URAM"))


def _count(source: Source, row: Mapping[str, str], column: str) -> int | None:
    """An empty cell is none used, as the XML of the same run says."""
    return integer(source, row[column] or "0", column)
