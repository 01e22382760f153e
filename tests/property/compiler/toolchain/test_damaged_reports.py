"""A report that is cut or damaged gives what it says or a ReportError: no other exception, no silent zero."""

import random
from functools import cache
from pathlib import Path

import pytest
from fixtures import OURS, REAL, vitis_fixture
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import ReportError
from compiler.toolchain.hls.deadlock import DeadlockReport, Wait
from compiler.toolchain.report import Report
from compiler.toolchain.reports import parse_source
from compiler.toolchain.source import Source, read_source

OUR_FILES = [path for folder in ("csynth", "cosim") for path in sorted((OURS / folder).glob("*"))]
SOME_REAL = (
    "csynth/autobridge_pagerank_2019.2_csynth.xml",
    "csynth/dat480_u55c_2023.2_csynth.rpt",
    "csynth/axiotisk_DNN_u55c_2022.2_kernel_wrapper_csynth.rpt",
    "csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth.rpt",
    "csynth/streamhls_FeedForward_opt1_u280_2023.2_csynth_design_size.xml",
    "csynth/superkooks_canny_k26_2025.2_hls_compile.rpt",
    "cosim/streamhls_FeedForward_opt1_pass_cosim.rpt",
    "cosim/deadlock_excerpt_full_and_empty_fifo.txt",
)
CUTS = 60
MARKS = ["", " ", "|", "+", "-", "~", "<", "9", "x", "\n", "é"]


@cache
def whole(path: Path) -> tuple[str, Report]:
    source = read_source(path)
    return source.text, parse_source(source)


def waits(report: DeadlockReport) -> list[Wait]:
    return [wait for cycle in report.cycles for wait in cycle]


def assert_cut_is_noticed(path: Path, length: int) -> None:
    """A cut report is refused, or nothing that is read was lost; a deadlock keeps its beginning."""
    text, report = whole(path)
    try:
        cut = parse_source(Source(path.name, text[:length]))
    except ReportError:
        return
    if isinstance(report, DeadlockReport):
        assert isinstance(cut, DeadlockReport)
        assert [f.kind for f in cut.failures] == ["deadlock"]
        assert waits(cut) == waits(report)[: len(waits(cut))]
        assert not cut.complete or cut == report
        return
    assert cut == report


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
@given(share=st.floats(0, 1))
def test_cuts_of_ours(path: Path, share: float) -> None:
    assert_cut_is_noticed(path, int(share * len(whole(path)[0])))


@pytest.mark.parametrize("name", SOME_REAL)
def test_cuts_of_real_reports(name: str) -> None:
    path = vitis_fixture(name)
    length = len(whole(path)[0])
    places = random.Random(name)
    for _ in range(CUTS):
        assert_cut_is_noticed(path, places.randrange(length))


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
@given(edits=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(MARKS)), min_size=1, max_size=5))
def test_damaged_characters(path: Path, edits: list[tuple[float, str]]) -> None:
    text = whole(path)[0]
    for share, character in edits:
        at = int(share * len(text))
        text = text[:at] + character + text[at + 1 :]
    try:
        report = parse_source(Source(path.name, text))
    except ReportError:
        return
    assert isinstance(report.failures, tuple)
    assert isinstance(report.metrics(), tuple)


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
@given(data=st.data())
def test_lines_that_are_gone_or_doubled(path: Path, data: st.DataObject) -> None:
    lines = whole(path)[0].split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    changed = lines[:at] + lines[at : at + 1] * data.draw(st.sampled_from([0, 2])) + lines[at + 1 :]
    try:
        report = parse_source(Source(path.name, "\n".join(changed)))
    except ReportError:
        return
    assert isinstance(report.metrics(), tuple)


def test_the_real_reports_are_there_or_the_folder_is_not() -> None:
    assert not REAL.is_dir() or all((REAL / name).is_file() for name in SOME_REAL)
