"""What we have in C++ is compiled once, whole, and where only its user may write."""

import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compiler.errors import ToolError
from compiler.native import built


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of sources, to be compiled beside it."""
    folder = tmp_path / "simulator" / "core"
    folder.mkdir(parents=True)
    (folder / "core.cpp").write_text('#include "numbers.h"\n')
    (folder / "numbers.h").write_text("#pragma once\n")
    return folder


def made(source: Path, *flags: str, compiler: str = "g++") -> Path:
    return built(source / "core.cpp", "core.so", ("-shared", *flags), compiler)


def fake_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A g++ that does what `script` says, where OUT is the file that it should write."""
    folder.mkdir()
    compiler = folder / "g++"
    compiler.write_text(
        f'#!/bin/sh\nfor word; do if [ "$last" = -o ]; then OUT="$word"; fi; last="$word"; done\n{script}\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_the_library_is_compiled_once_and_again_when_a_source_changes(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log = tmp_path / "log"
    fake_compiler(tmp_path / "bin", monkeypatch, f'echo compiled >> {log}\necho library > "$OUT"')
    first = made(source)
    assert first.read_text() == "library\n"
    assert stat.S_IMODE(first.stat().st_mode) == 0o755
    assert made(source) == first
    header = source / "numbers.h"
    header.write_text(header.read_text() + "// another comment\n")
    second = made(source)
    assert second != first
    assert log.read_text() == "compiled\n" * 2
    assert first.exists()  # somebody may be linking it
    os.utime(first, (0, 0))
    header.write_text(header.read_text() + "// and another\n")
    third = made(source)
    assert {f.name for f in third.parent.iterdir()} == {second.name, third.name}


def test_other_flags_make_another_library(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake_compiler(tmp_path / "bin", monkeypatch, 'echo "$@" > "$OUT"')
    first = made(source)
    assert made(source, "-g") != first


def test_several_that_compile_at_once_leave_one_whole_library(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake_compiler(tmp_path / "bin", monkeypatch, 'echo half > "$OUT"; sleep 0.2; echo whole > "$OUT"')
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda _: made(source).read_text(), range(4)))
    assert set(built) == {"whole\n"}
    assert len(list((source.parent / "_build").iterdir())) == 1


def test_a_missing_compiler_is_named(source: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ToolError, match=r"g\+\+ was not found.*Install"):
        made(source)
    assert list((source.parent / "_build").iterdir()) == []


def test_what_the_compiler_says_is_passed_on(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake_compiler(tmp_path / "bin", monkeypatch, "echo something is odd >&2; exit 1")
    with pytest.raises(ToolError, match="does not compile:\nsomething is odd"):
        made(source)
    assert list((source.parent / "_build").iterdir()) == []


def test_a_source_that_can_not_be_written_beside_is_compiled_elsewhere(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake_compiler(tmp_path / "bin", monkeypatch, 'echo library > "$OUT"')

    def refused(*_args: object, **_options: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "mkdir", refused)  # whoever runs the tests: root may write anywhere
    built = made(source)
    assert built.read_text() == "library\n"
    assert source.parent not in built.parents
    shutil.rmtree(built.parent)
