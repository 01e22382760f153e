"""A run of a tool: its lines, its limits, and that nothing of it is left."""

import sys
import time
from pathlib import Path

import pytest

from compiler.toolchain.report import Failure
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import Command, Run, Sampling, disk_bytes, run_tool

QUICK = Sampling(0.05, 0.05)
LOOSE = Limits(300, 8, 1)

# A tree as Vivado's: a child in a session of its own, whose parent ends, so that it belongs to nobody.
FORK = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {work}
        time.sleep(600)
    os._exit(0)
os.wait()
print("started", flush=True)
{rest}
"""


def python(tmp_path: Path, text: str, limits: Limits = LOOSE, **others: object) -> tuple[Run, list[str]]:
    lines: list[str] = []
    command = Command((sys.executable, "-c", text), tmp_path, settings={"OF_THE_TEST": str(tmp_path)})
    watcher = others.get("watcher")
    run = run_tool(command, tmp_path, limits, tmp_path / "log", lines.append, watcher, QUICK)  # pyright: ignore[reportArgumentType]
    return run, lines


def survivors(tmp_path: Path) -> list[int]:
    wanted = f"OF_THE_TEST={tmp_path}".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_lines_and_exit_code(tmp_path: Path) -> None:
    text = r"import sys; sys.stdout.write('one\r\ntwo'); sys.stdout.flush(); sys.stderr.write('\nthree'); sys.exit(3)"
    run, lines = python(tmp_path, text)
    assert lines == ["one", "two", "three"]
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"
    assert (run.exit_code, run.ended_by, run.left) == (3, None, False)


def test_lines_come_while_it_runs(tmp_path: Path) -> None:
    """The tool says its second line only after its first one was read."""
    text = "import os, time\nprint('a')\nwhile not os.path.exists('read'): time.sleep(0.01)\nprint('b')"
    command, lines = Command((sys.executable, "-uc", text), tmp_path), list[str]()

    def read(line: str) -> None:
        lines.append(line)
        (tmp_path / "read").touch()

    run = run_tool(command, tmp_path, LOOSE, tmp_path / "log", read, None, QUICK)
    assert (lines, run.ended_by) == (["a", "b"], None)


def test_a_line_without_an_end_and_one_that_is_no_text(tmp_path: Path) -> None:
    run, lines = python(tmp_path, "import os; os.write(1, b'x' * 50000 + b'\\n' + b'\\xff\\xfe end')")
    assert run.exit_code == 0
    assert sum(map(len, lines[:-1])) >= 16 << 10
    assert lines[-1].endswith(" end")


def test_the_time(tmp_path: Path) -> None:
    run, _ = python(tmp_path, "import time; time.sleep(600)", Limits(0.3))
    assert run.ended_by == "timeout"
    assert 0.3 <= run.seconds < 600


def test_the_memory_of_the_whole_tree(tmp_path: Path) -> None:
    work = "held = bytearray(300 << 20); held[::4096] = b'x' * len(held[::4096])"
    run, _ = python(tmp_path, FORK.format(work=work, rest="time.sleep(600)"), Limits(300, 0.2, 1))
    assert run.ended_by == "memory"
    assert run.peak_memory_gb > 0.2
    assert survivors(tmp_path) == []


def test_the_disk(tmp_path: Path) -> None:
    text = "import os, time\nfor k in range(24): open(f'f{k}', 'wb').write(os.urandom(1 << 20))\ntime.sleep(600)"
    run, _ = python(tmp_path, text, Limits(300, 8, 0.02))
    assert run.ended_by == "disk"
    assert 0.02 * (1 << 30) < run.peak_disk_bytes <= disk_bytes(tmp_path)


def test_nothing_outlives_a_tool_that_ends_by_itself(tmp_path: Path) -> None:
    started = time.monotonic()
    run, lines = python(tmp_path, FORK.format(work="pass", rest="sys.exit(0)"))
    assert lines == ["started"]
    assert (run.exit_code, run.ended_by) == (0, None)
    assert time.monotonic() - started < 300  # though the child holds the output open
    assert survivors(tmp_path) == []


def test_nothing_outlives_a_reader_that_fails(tmp_path: Path) -> None:
    def refuse(_line: str) -> None:
        raise RuntimeError("no more")

    text = FORK.format(work="pass", rest="time.sleep(600)")
    command = Command((sys.executable, "-c", text), tmp_path, settings={"OF_THE_TEST": str(tmp_path)})
    with pytest.raises(RuntimeError, match="no more"):
        run_tool(command, tmp_path, LOOSE, tmp_path / "log", refuse, None, QUICK)
    assert survivors(tmp_path) == []


class StopAt:
    """Wants the run to end when it has seen a line."""

    def __init__(self, text: str) -> None:
        self.text, self.seen = text, False

    def line(self, text: str) -> None:
        self.seen |= text == self.text

    def verdict(self) -> Failure | None:
        return Failure("timing", "seen enough") if self.seen else None


def test_a_watcher_ends_it(tmp_path: Path) -> None:
    run, lines = python(
        tmp_path, "import time; print('hopeless', flush=True); time.sleep(600)", watcher=StopAt("hopeless")
    )
    assert (run.ended_by, run.failure) == ("stopped", Failure("timing", "seen enough"))
    assert lines == ["hopeless"]


def test_the_tools_have_no_input_and_a_marked_environment(tmp_path: Path) -> None:
    text = "import os, sys; print(sys.stdin.read() == '', os.environ['LC_ALL'], len(os.environ['MILLRACE_RUN']))"
    assert python(tmp_path, text)[1] == ["True C 32"]
