from hypothesis import given
from hypothesis import strategies as st
from xutil_files import Row, xutil

from compiler.toolchain.link.xutil import XutilRow, is_xutil, read_xutil
from compiler.toolchain.source import Source


def rows(depth: int) -> st.SearchStrategy[Row]:
    cells = st.tuples(st.text(min_size=1, max_size=9), st.integers(0, 1 << 40))
    below = st.lists(rows(depth - 1), max_size=2).map(tuple) if depth else st.just(())
    return st.tuples(cells, below)


def flat(row: Row, level: int = 0) -> list[XutilRow]:
    cells, below = row
    return [XutilRow(level, cells), *(r for inner in below for r in flat(inner, level + 1))]


@given(st.lists(rows(2), min_size=1, max_size=4).map(tuple))
def test_reads_back_what_was_written(table: tuple[Row, ...]) -> None:
    source = Source("t.xutil", "", xutil(("Name", "LUT"), table))
    assert is_xutil(source)
    read = read_xutil(source)
    assert read.columns == ("Name", "LUT")
    assert list(read.rows) == [r for row in table for r in flat(row)]
