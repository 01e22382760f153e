import pytest

from compiler.errors import ReportError
from compiler.toolchain.numbers import integer, number
from compiler.toolchain.source import Source

SOURCE = Source("a.rpt", "")


@pytest.mark.parametrize("text", ["", " - ", "?", "NA", "undef"])
def test_what_the_tool_does_not_know_is_none(text: str) -> None:
    assert number(SOURCE, text, "x") is None
    assert integer(SOURCE, text, "x") is None


def test_numbers() -> None:
    assert number(SOURCE, " -0.67 ", "Slack") == -0.67
    assert number(SOURCE, "2.236e+08", "Latency") == 223_600_000
    assert integer(SOURCE, "67141684", "Latency") == 67141684
    assert integer(SOURCE, "-3", "x") == -3


@pytest.mark.parametrize("text", ["12x", "nan", "inf", "1e999", "0x10", "1 2"])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(ReportError, match="Slack is"):
        number(SOURCE, text, "Slack")


@pytest.mark.parametrize("text", ["1.5", "1e3", "٣", "9" * 5000, "--1"])
def test_a_whole_number_is_nothing_else(text: str) -> None:
    with pytest.raises(ReportError, match="Depth is"):
        integer(SOURCE, text, "Depth")
