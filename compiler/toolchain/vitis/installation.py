"""Which versions of Vitis this machine has, with which tools and platforms, and what is missing and why.

AMD's installers lay Vitis out as `<root>/Vitis/<version>` with `<root>/Vitis_HLS/<version>` and
`<root>/Vivado/<version>` beside it (to 2024.2), as `<root>/<version>/Vitis` (from 2025.1), or both.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.toolchain.vitis.platforms import Platforms, find_platforms
from compiler.toolchain.vitis.programs import Programs, programs_by_version
from compiler.toolchain.vitis.versions import FrontEnd, front_ends, parsed

ROOTS = "MILLRACE_VITIS_ROOTS"
DEFAULT_ROOTS = (Path("/tools/Xilinx"), Path("/opt/xilinx"), Path("/opt/Xilinx"))
_LAYOUTS = ("{tool}/*", "*/{tool}", "*/{tool}/*")
_TOOLS = ("Vitis", "Vitis_HLS", "Vivado")
_HOMES = ("XILINX_VITIS", "XILINX_HLS", "XILINX_VIVADO")


@dataclass(frozen=True, slots=True)
class HlsTool:
    """How Vitis HLS is called: `synthesis` and `simulation` are the programs (the same one in the Tcl front ends)."""

    front_end: FrontEnd
    synthesis: Path
    simulation: Path


@dataclass(frozen=True, slots=True)
class Installation:
    """One version of Vitis. `hls` or `vpp` is None where the tool is missing, and `missing` says why, by capability.

    `platforms` are the names that v++ can link for; `repositories` are the folders that hold them. `programs` is where
    the tools lie, for their path.
    """

    version: str
    hls: HlsTool | None
    vpp: Path | None
    platforms: tuple[str, ...]
    repositories: tuple[Path, ...]
    programs: Programs
    missing: Mapping[str, str]

    @property
    def tools(self) -> dict[str, str]:
        """Versions by tool, for provenance."""
        hls = {self.hls.synthesis.name: self.version} if self.hls else {}
        return hls | ({"v++": self.version} if self.vpp else {})


@dataclass(frozen=True, slots=True)
class Search:
    """Installations, the newest first; `missing` says by capability what this machine can not do at all, and why."""

    installations: tuple[Installation, ...]
    missing: Mapping[str, str]


def find_installations(roots: Sequence[Path] | None = None) -> tuple[Installation, ...]:
    """Those of the machine, the newest first; with `roots`, those below these folders only."""
    return search(roots).installations


def search(roots: Sequence[Path] | None = None, environment: Mapping[str, str] | None = None) -> Search:
    """Like `find_installations`, with the reasons for what was not found. `environment` is the process's by default."""
    caller = _caller(environment) if roots is None else dict[str, str]()
    places = tuple(_roots(caller)) if roots is None else tuple(roots)
    platforms = find_platforms(places, caller)
    found = programs_by_version([*_homes(caller), *_below(places), *_on_path(caller)])
    installed = [_installation(version, programs, platforms) for version, programs in found.items()]
    installed.sort(key=lambda i: parsed(i.version), reverse=True)
    return Search(tuple(installed), {} if installed else {"vitis": _nothing(places)})


def _caller(environment: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environment is None else environment


def _roots(caller: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(part) for part in caller.get(ROOTS, "").split(os.pathsep) if part)
    yield from DEFAULT_ROOTS


def _homes(caller: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(caller[name]) for name in _HOMES if caller.get(name))


def _below(roots: Sequence[Path]) -> Iterator[Path]:
    for root in roots:
        for layout in _LAYOUTS:
            for tool in _TOOLS:
                yield from sorted(root.glob(layout.format(tool=tool)))


def _on_path(caller: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(part).parent for part in caller.get("PATH", "").split(os.pathsep) if part)


def _installation(version: str, programs: Programs, platforms: Platforms) -> Installation:
    hls = next((tool for front in front_ends(version) if (tool := _hls_tool(front, programs))), None)
    vpp = programs.vpp
    missing: dict[str, str] = {}
    if hls is None:
        names = " or ".join("vitis_hls" if front == "vitis_hls" else "vitis-run" for front in front_ends(version)[:1])
        missing["hls"] = f"Vitis {version} in {programs.where} has no {names}: install Vitis HLS {version} too"
    if vpp is None:
        missing["link"] = f"Vitis {version} in {programs.where} has no v++: install Vitis, not Vitis HLS alone"
    elif programs.vivado is None:
        missing["link"] = (
            f"v++ links with Vivado {version}, which is not beside Vitis: install it, or set XILINX_VIVADO"
        )
    elif not platforms.names:
        missing["link"] = platforms.why_none
    return Installation(version, hls, vpp, platforms.names, platforms.repositories, programs, missing)


def _hls_tool(front_end: FrontEnd, programs: Programs) -> HlsTool | None:
    if front_end == "vitis_hls":
        return HlsTool(front_end, programs.vitis_hls, programs.vitis_hls) if programs.vitis_hls else None
    if programs.vitis_run is None:
        return None
    if front_end == "tcl":
        return HlsTool(front_end, programs.vitis_run, programs.vitis_run)
    return HlsTool(front_end, programs.vpp, programs.vitis_run) if programs.vpp else None


def _nothing(places: Sequence[Path]) -> str:
    looked = ", ".join(map(str, places))
    return (
        f"no Vitis in {looked}, nor on PATH, nor in XILINX_VITIS or XILINX_HLS: install Vitis, "
        f"or give its folder in {ROOTS}"
    )
