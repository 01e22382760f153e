from pathlib import Path

import pytest

from compiler.errors import ReportError
from compiler.toolchain import source as module
from compiler.toolchain.source import Source, read_source


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"absent\.rpt can not be read"):
        read_source(tmp_path / "absent.rpt")


def test_a_file_above_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1 << 20)
    (tmp_path / "huge.rpt").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(ReportError, match=r"huge\.rpt is larger than 1 MiB"):
        read_source(tmp_path / "huge.rpt")


def test_line_ends_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.rpt").write_bytes(b"one\r\ntwo \xff\rthree")
    assert read_source(tmp_path / "a.rpt").lines == ["one", "two �", "three"]


def test_a_foreign_file_is_quoted() -> None:
    error = Source("a.rpt", "\n\n  hello world  \n").foreign("a csynth report", "csynth.xml")
    assert str(error) == "a.rpt is not a csynth report: it starts with 'hello world'; give csynth.xml"
    assert "it starts with nothing" in str(Source("b.rpt", "").foreign("a csynth report", "csynth.xml"))
