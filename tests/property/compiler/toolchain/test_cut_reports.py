"""A report that is cut, changed or of another kind is refused or says that it is unfinished: never half a result."""

from pathlib import Path
from time import thread_time

import pytest
from examples import examples
from fixtures import OURS, REAL
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import ReportError
from compiler.toolchain.report import Report
from compiler.toolchain.reports import RECOGNISERS, parse_report, parse_source
from compiler.toolchain.source import LARGEST, Source, read_source

KINDS = ("impl", "logs", "power", "profile", "xbutil", "xclbininfo")
OUR_FILES = sorted(p for kind in KINDS for p in (OURS / kind).iterdir())
REAL_FILES = sorted(p for kind in KINDS for p in (REAL / kind).glob("*"))
ALL_FILES = sorted(
    p for folder in (OURS, REAL) for kind in (*KINDS, "csynth", "cosim") for p in (folder / kind).glob("*")
)
# Rows of these stand for themselves: one that ends between two rows says less, and nothing wrong.
OPEN_ENDED = ("Examine", "PowerProfile", "ProfileSummary")
CUTS = 60


def parsed(data: bytes, name: str) -> Report | None:
    """The report in `data`, None where it is refused."""
    try:
        return parse_source(Source(name, data.decode(errors="replace").replace("\r\n", "\n"), data))
    except ReportError:
        return None


def is_sound(cut: Report | None, whole: Report) -> bool:
    """Whether a result of a part claims nothing that the whole does not say."""
    if cut is None or cut == whole or cut.failures:
        return True
    kind = type(whole).__name__
    return kind in OPEN_ENDED and not {m.name for m in cut.metrics()} - {m.name for m in whole.metrics()}


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
def test_ours_cut_anywhere(path: Path) -> None:
    data, whole = path.read_bytes(), parse_report(path)
    for at in range(0, len(data), 7):
        assert is_sound(parsed(data[:at], path.name), whole), f"cut at {at}"


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_real_ones_cut_anywhere(path: Path) -> None:
    data = path.read_bytes()
    whole = parsed(data, path.name)
    if whole is None:
        return
    for at in {len(data) * i // CUTS for i in range(CUTS)} | set(range(max(0, len(data) - 60), len(data), 3)):
        assert is_sound(parsed(data[:at], path.name), whole), f"cut at {at}"


@settings(max_examples=examples(400), deadline=None)
@given(st.sampled_from(OUR_FILES), st.data())
def test_changed_bytes_never_break_a_parser(path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 12))
        content[at : at + length] = data.draw(
            st.binary(max_size=12) | st.text("0123456789.|+-[]{}: \n", max_size=6).map(str.encode)
        )
        content = content or bytearray(b" ")
    parsed(bytes(content), path.name)


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(OUR_FILES), st.integers(0, 200), st.integers(0, 200))
def test_lines_taken_out_never_break_a_parser(path: Path, first: int, count: int) -> None:
    lines = path.read_bytes().split(b"\n")
    parsed(b"\n".join(lines[:first] + lines[first + count :]), path.name)


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("junk", [" " * 50_000, "7" * 50_000, "ERROR: [VPL 1-1] " + "requires more x " * 10_000])
def test_a_long_line_takes_no_long_time(path: Path, junk: str) -> None:
    lines = path.read_bytes().split(b"\n")
    for at in (1, len(lines) // 2, len(lines)):
        began = thread_time()
        parsed(b"\n".join([*lines[:at], junk.encode(), *lines[at:]]), path.name)
        assert thread_time() - began < 5  # a quadratic pattern takes minutes


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.name)
def test_every_other_parser_names_what_it_expects(path: Path) -> None:
    source = read_source(path)
    for recogniser in RECOGNISERS:
        if not recogniser.matches(source):
            with pytest.raises(ReportError, match="; give "):
                recogniser.parse(source)


def test_empty_binary_and_huge_files_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"\0" * 5000, b"{}", b"[]", b"{" * 100_000, bytes(range(256)) * 64):
        path = tmp_path / "x"
        path.write_bytes(content)
        with pytest.raises(ReportError):
            parse_report(path)
    with (tmp_path / "y").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(ReportError, match="larger than"):
        parse_report(tmp_path / "y")
