"""What was compiled is not compiled again, and never taken for what it is not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.simulator.csim import build as building
from compiler.simulator.csim import objects
from compiler.simulator.csim.build import build
from compiler.simulator.csim.execute import run
from compiler.simulator.csim.objects import Objects

TASKS = 'extern "C" int answer();\n'
CODE = '#include "tiny_tasks.h"\n#include "value.h"\nint answer() { return VALUE; }\n'
MAIN = '#include "tiny_tasks.h"\n#include <cstdio>\nint main() { std::printf("%d", answer()); }\n'


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kept"
    monkeypatch.setattr(building, "own_folder", lambda _source: folder)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the sources that were given to the compiler."""
    given: list[str] = []
    compile_all = building._compile_all

    def noting(commands: dict[Path, list[str]], *rest: object) -> None:
        given.extend(sorted(source.name for source in commands))
        compile_all(commands, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(building, "_compile_all", noting)
    return given


def design(folder: Path, value: int = 42) -> Path:
    hls = folder / "hls"
    hls.mkdir(parents=True)
    (hls / "tiny_tasks.h").write_text(TASKS)
    (hls / "value.h").write_text(f"#define VALUE {value}\n")
    (hls / "tiny_tasks.cpp").write_text(CODE)
    (hls / "tb.cpp").write_text(MAIN)
    return folder


def said(folder: Path) -> str:
    return run(build(folder / "hls", folder, {}), folder).stdout


def test_the_same_code_elsewhere_is_compiled_once(tmp_path: Path, kept: Path, compiled: list[str]) -> None:
    assert said(design(tmp_path / "a")) == "42"
    assert said(design(tmp_path / "b")) == "42"
    assert compiled == ["tb.cpp", "tiny_tasks.cpp"]


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda hls: (hls / "value.h").write_text("#define VALUE 43\n"), ["tb.cpp", "tiny_tasks.cpp"]),
        (lambda hls: (hls / "tiny_tasks.cpp").write_text(CODE.replace("VALUE;", "VALUE + 1;")), ["tiny_tasks.cpp"]),
        (lambda hls: (hls / "tb.cpp").write_text(MAIN.replace("answer()", "answer() + 1")), ["tb.cpp"]),
    ],
)
def test_what_has_changed_is_compiled(
    tmp_path: Path, kept: Path, compiled: list[str], change: Callable[[Path], object], again: list[str]
) -> None:
    folder = design(tmp_path / "a")
    said(folder)
    compiled.clear()
    change(folder / "hls")
    assert said(folder) == "43"
    assert compiled == again
    assert said(design(tmp_path / "b")) == "42"  # the first ones are as they were
    assert compiled == again


def test_a_code_that_does_not_compile_leaves_nothing(tmp_path: Path, kept: Path) -> None:
    folder = design(tmp_path / "a")
    (folder / "hls" / "tiny_tasks.cpp").write_text("int answer() {")
    with pytest.raises(building.ToolError, match=r"compiling tiny_tasks\.cpp failed"):
        said(folder)
    assert not list(tmp_path.rglob("tiny_tasks.o"))
    (folder / "hls" / "tiny_tasks.cpp").write_text(CODE)
    assert said(folder) == "42"


def test_another_compiler_or_setting_has_its_own(tmp_path: Path) -> None:
    source, one, other = (tmp_path / name for name in ("source.cpp", "g++", "g++-new"))
    source.write_text(CODE)
    one.write_text("1")
    other.write_text("22")
    names = {Objects(tmp_path, str(gxx), flags).name(source, ()) for gxx in (one, other) for flags in ("-O1", "-O2")}
    assert len(names) == 4


def test_a_header_is_not_taken_for_the_end_of_the_one_before(tmp_path: Path) -> None:
    files = [tmp_path / folder / name for folder in "ab" for name in ("1.h", "2.h")]
    for file, content in zip(files, ("x", "y", "xy", ""), strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    known = Objects(tmp_path, __file__, "")
    assert known.name(files[0], files[1:2]) != known.name(files[2], files[3:])


def test_what_was_used_longest_ago_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST_BYTES", 25)
    known = Objects(tmp_path / "kept", __file__, "")
    made = [tmp_path / name for name in ("1.o", "2.o", "3.o")]
    for second, file in enumerate(made):
        file.write_bytes(bytes(10))
        os.utime(file, (second, second))
    for file in made[:2]:
        known.keep(file.name, file)
    assert known.give("1.o", tmp_path / "target.o")
    known.keep("3.o", made[2])
    assert sorted(file.name for file in (tmp_path / "kept").iterdir()) == ["1.o", "3.o"]
    assert not known.give("2.o", tmp_path / "target.o")
    assert not (tmp_path / "target.o").exists()


def test_where_nothing_can_be_kept_all_is_compiled(tmp_path: Path) -> None:
    none = Objects(None, __file__, "")
    made = tmp_path / "made.o"
    made.touch()
    none.keep("1.o", made)
    assert not none.give("1.o", tmp_path / "target.o")
    with_file_in_the_way = Objects(made, __file__, "")
    with_file_in_the_way.keep("1.o", made)
    assert list(tmp_path.iterdir()) == [made]
