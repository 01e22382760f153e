from textwrap import dedent

import pytest

from compiler.errors import ReportError
from compiler.toolchain.ascii_table import read_table, require, tables
from compiler.toolchain.source import Source

SPANNED = """
    before
    +----------+-----+-----+
    |          |  Latency  |
    |   Name   | min | max |
    +----------+-----+-----+
    |a         |    1|    2|
    | b        |    ?|    4|
    +----------+-----+-----+
    |Total     |    5|    6|
    +----------+-----+-----+
    after
"""


def test_a_header_that_spans_columns() -> None:
    (table,) = tables(Source("a.rpt", SPANNED))
    assert table.columns == ("Name", "Latency min", "Latency max")
    assert table.groups[0] == (("a", "    1", "    2"), (" b", "    ?", "    4"))
    assert table.records()[2] == {"Name": "Total", "Latency min": "5", "Latency max": "6"}


def test_borders_coarser_than_rows() -> None:
    text = dedent("""\
        +-----+-----------+
        |     |  Latency  |
        + RTL +-----------+
        |     | min | max |
        +-----+-----------+
        | VHDL|   1 |   2 |
        +-----+-----------+""")
    (table,) = tables(Source("a.rpt", text))
    assert table.records() == ({"RTL": "VHDL", "Latency min": "1", "Latency max": "2"},)


def test_a_table_without_header() -> None:
    text = "+----+---+\n| a  | 1 |\n| b  | 2 |\n+----+---+\n"
    assert read_table(Source("a.rpt", text), 0, header=False).rows == ((" a", " 1"), (" b", " 2"))


def test_of_two_columns_with_one_name_the_first_counts() -> None:
    text = "+---+---+\n| a | a |\n+---+---+\n| 1 | 2 |\n+---+---+\n"
    assert read_table(Source("a.rpt", text), 0).records() == ({"a": "1"},)


@pytest.mark.parametrize("lines", [1, 3, 5, 6, 8])
def test_a_table_that_is_cut_is_an_error(lines: int) -> None:
    text = "\n".join(SPANNED.split("\n")[2 : 2 + lines])
    with pytest.raises(ReportError, match="has no end"):
        list(tables(Source("a.rpt", text)))


def test_a_row_with_too_few_cells_is_an_error() -> None:
    with pytest.raises(ReportError, match="has 2 cells instead of 3"):
        list(tables(Source("a.rpt", SPANNED.replace("|    1|    2|", "|    1     |"))))


def test_a_column_that_is_needed() -> None:
    (table,) = tables(Source("a.rpt", SPANNED))
    require(Source("a.rpt", SPANNED), table, "Name")
    with pytest.raises(ReportError, match="no column 'Slack'"):
        require(Source("a.rpt", SPANNED), table, "Name", "Slack")
