"""Every real report is of a known kind, and each kind is told from the others by its content alone."""

from pathlib import Path

import pytest
from fixtures import OURS, REAL, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.hls.cosim import CosimReport
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.hls.deadlock import DeadlockReport
from compiler.toolchain.hls.design_size import DesignSizeReport
from compiler.toolchain.reports import RECOGNISERS, parse_report, parse_source
from compiler.toolchain.source import Source

FOLDERS = ("csynth", "cosim")
REAL_FILES = [str(path.relative_to(REAL)) for folder in FOLDERS for path in sorted((REAL / folder).glob("*"))]
OUR_FILES = [path for folder in FOLDERS for path in sorted((OURS / folder).glob("*"))]


def kind_of(name: str) -> type:
    if "deadlock" in name:
        return DeadlockReport
    if "design_size" in name:
        return DesignSizeReport
    return CosimReport if "cosim" in name.rsplit("/", maxsplit=1)[-1] else CsynthReport


@pytest.mark.parametrize("name", REAL_FILES or ["csynth"])
def test_every_real_report_of_hls(name: str) -> None:
    assert type(parse_report(vitis_fixture(name))) is kind_of(name)


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
def test_every_report_of_ours(path: Path) -> None:
    assert type(parse_report(path)) is kind_of(path.name)


@pytest.mark.parametrize("path", OUR_FILES, ids=lambda path: path.name)
def test_one_recogniser_matches(path: Path) -> None:
    source = Source("anything", path.read_text())
    assert len([r.kind for r in RECOGNISERS if r.matches(source)]) == 1


@pytest.mark.parametrize("text", ["", "hello", "{}", "<a/>", "<profile/>", "+---+\n| a |\n+---+", "\0" * 100])
def test_what_is_no_report_names_the_kinds(text: str) -> None:
    with pytest.raises(ReportError, match=r"x\.txt .*give one of: csynth\.xml"):
        parse_source(Source("x.txt", text))
