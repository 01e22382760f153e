"""How a source of a design is compiled: the headers of the simulator are read once a machine."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compiler.frontend.files import sources_digest
from compiler.generation import _SOURCES as GENERATION_SOURCES
from compiler.simulator.csim import build
from compiler.simulator.csim.build import INCLUDE_DIR, compile_command
from worker.ladder import versions

SOURCE = "#include <ap_int.h>\n#include <hls_stream.h>\nap_int<7> half(ap_int<7> x) { return x / 2; }\n"
READS_WHAT_NOBODY_WROTE = """int main(int count, char**) {
  volatile float lines[2][4];
  lines[0][0] = 0;
  return lines[count][1] == 0;
}
"""


def compiled(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    (folder / "task.cpp").write_text(SOURCE)
    command = [*compile_command(folder, "g++"), *flags, "-H", "-c", "task.cpp", "-o", "task.o"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=True)


def read_whole(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the compiler read the header's text; it marks what it took precompiled with an exclamation mark."""
    return "! " not in done.stderr and "ap_int.h" in done.stderr


def test_headers_are_taken_as_they_were_precompiled(tmp_path: Path) -> None:
    assert not read_whole(compiled(tmp_path))


def test_for_other_flags_they_are_read(tmp_path: Path) -> None:
    assert read_whole(compiled(tmp_path, "-O0", "-fno-exceptions"))


def test_what_another_compiler_made_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "prelude.gch"
    other.write_bytes(b"gpch of another g++")
    monkeypatch.setattr(build, "built", lambda *_: other)
    assert read_whole(compiled(tmp_path))


def test_it_may_have_been_made_by_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compile_command(tmp_path, "g++")
    monkeypatch.setattr(Path, "touch", lambda *_, **__: pytest.fail("it is not ours to write"))
    assert compile_command(tmp_path, "g++") == before


def test_what_is_built_changes_no_digest_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds of a farm are told apart by it, and simulations run while others begin."""
    built_there = INCLUDE_DIR.parent / "_build"
    compile_command(tmp_path, "g++")
    with_it = versions.sources_digest.__wrapped__("compiler"), sources_digest(GENERATION_SOURCES)
    monkeypatch.setattr(Path, "rglob", without(built_there, Path.rglob))
    monkeypatch.setattr(Path, "glob", without(built_there, Path.glob))
    assert (versions.sources_digest.__wrapped__("compiler"), sources_digest(GENERATION_SOURCES)) == with_it


def test_what_is_never_written_is_no_zero(tmp_path: Path) -> None:
    """Of g++ 12; one that can not, as an older one, is not asked to."""
    (tmp_path / "old").write_text('#!/bin/sh\ncase "$*" in *trivial-auto*) exit 1;; esac\n')
    (tmp_path / "old").chmod(0o700)
    assert build.flags_of(str(tmp_path / "old")) == build.FLAGS
    (tmp_path / "task.cpp").write_text(READS_WHAT_NOBODY_WROTE)
    if build.flags_of("g++") == build.FLAGS:
        version = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, timeout=20, check=True)
        assert int(version.stdout.split(".")[0]) < 12
        return
    subprocess.run(["g++", *build.flags_of("g++"), "task.cpp", "-o", "task"], cwd=tmp_path, timeout=120, check=True)
    assert subprocess.run([tmp_path / "task"], timeout=20, check=False).returncode == 0


def without(folder: Path, walk: Callable[..., Iterator[Path]]) -> Callable[..., Iterator[Path]]:
    """`walk`, a method of Path, without what is in `folder`."""
    return lambda *given, **options: (path for path in walk(*given, **options) if folder not in path.parents)
