"""The boards of this machine, and what it takes to use them."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from compiler.errors import ReportError
from compiler.measurement.errors import MeasurementError
from compiler.measurement.xbutil import NAMES, Xbutil, find_xbutil
from compiler.toolchain.json_text import Node, json_root

# XRT's packages build pyxrt for the Python of the system, which is seldom ours.
_PYTHONS = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
_TRY = "import sys, numpy, pyxrt; sys.exit(sys.version_info < (3, 10))"
_TRY_S = 30.0
# A card says "xilinx_u55c_gen3x16_xdma_base_3" where v++ links for "xilinx_u55c_gen3x16_xdma_3_202210_1".
_BASE = re.compile(r"(?P<stem>.+)_(?:base|shell)_(?P<version>\d+(?:_\d+)*)")
_NAME = re.compile(r"xilinx_([a-z0-9]+)_")


@dataclass(frozen=True, slots=True)
class Board:
    """A card: its PCIe address, its shell as the card names it, its short name ("u55c").

    `why_not` says why it is not `ready`, "" where it is.
    """

    bdf: str
    shell: str
    name: str
    ready: bool
    why_not: str = ""

    def fits(self, wanted: str) -> bool:
        """Whether `wanted` is this board's address, its shell, or the platform that v++ links for its shell."""
        base = _BASE.fullmatch(self.shell)
        platform = f"{base['stem']}_{base['version']}_" if base else self.shell
        return wanted in (self.bdf, self.shell) or wanted.startswith(platform)


@dataclass(frozen=True, slots=True)
class Host:
    """What this machine has: boards, the tool that finds them, a Python with pyxrt, XRT's version ("" if unknown).

    `missing` says why no board can be used, "" where nothing is missing.
    """

    boards: tuple[Board, ...] = ()
    tool: Xbutil | None = None
    python: Path | None = None
    xrt_version: str = ""
    missing: str = ""


def find_boards() -> tuple[Board, ...]:
    """The boards that this machine can use, ready or not; `missing` says why there are none."""
    return find_host().boards


def missing() -> str:
    """What this machine lacks to measure on a board, and what to do about it; "" where it lacks nothing."""
    return find_host().missing


def find_host() -> Host:
    """Look for the tool, the boards that it knows, and a Python that can open them."""
    tool = find_xbutil()
    if tool is None:
        return Host(missing=f"no {' or '.join(NAMES)} in PATH: install XRT and source /opt/xilinx/xrt/setup.sh")
    try:
        root = json_root(tool.examine())
        boards, version = _boards(root), _version(root)
    except (MeasurementError, ReportError) as error:
        return Host(tool=tool, missing=str(error))
    if not boards:
        return Host((), tool, None, version, f"{tool.path.name} finds no Alveo board: look with lspci -d 10ee:")
    python = find_python()
    if python is None:
        lacks = f"no Python of at least 3.10 with numpy and pyxrt (tried {', '.join(_PYTHONS)})"
        return Host((), tool, None, version, f"{lacks}: source /opt/xilinx/xrt/setup.sh, and install numpy for it")
    idle = "" if any(b.ready for b in boards) else f"no board is ready: {boards[0].why_not}"
    return Host(boards, tool, python, version, idle)


def find_python() -> Path | None:
    """A Python that imports pyxrt and numpy; ours if it does."""
    return next((Path(python) for python in dict.fromkeys(_PYTHONS) if _imports(python)), None)


def _imports(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", _TRY], capture_output=True, timeout=_TRY_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _version(root: Node) -> str:
    xrt = _host(root).get("xrt") if _host(root).has("xrt") else root
    return xrt.get("version").text() if xrt.has("version") else ""


def _host(root: Node) -> Node:
    return root.get("system").get("host")


def _boards(root: Node) -> tuple[Board, ...]:
    """Cards of the report `host`. It lists NPUs too from 2024 on, and the devices of an emulation."""
    nodes = _host(root).get("devices").each() if _host(root).has("devices") else ()
    return tuple(_board(node) for node in nodes if _is_card(node))


def _is_card(node: Node) -> bool:
    kind = node.get("device_class").text() if node.has("device_class") else "Alveo"
    return kind.lower() == "alveo" and node.has("vbnv") and not re.search(r"(hw|sw)[-_]em", node.get("vbnv").text())


def _board(node: Node) -> Board:
    bdf, shell = node.get("bdf").text(), node.get("vbnv").text()
    name = _NAME.match(shell)
    return Board(bdf, shell, name[1] if name else shell, not (why := _why_not(node, bdf, shell)), why)


def _why_not(node: Node, bdf: str, shell: str) -> str:
    if "GOLDEN" in shell:
        return f"{bdf} runs its factory image: flash its shell with xbmgmt program --base, then boot the machine cold"
    if node.has("is_ready") and node.get("is_ready").flag() is False:
        return f"{bdf} is not ready: look at xbutil examine --device {bdf} --report all, reset it or boot the machine"
    return ""
