"""The programs of one version of Vitis, gathered from the folders that its parts are installed in."""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.toolchain.vitis.versions import version_in

_ASK_S = 20


@dataclass(frozen=True, slots=True)
class Programs:
    """Paths of the programs, None for those that are not there. `homes` are the folders above their bin/."""

    homes: tuple[Path, ...] = ()
    vitis_hls: Path | None = None
    vitis_run: Path | None = None
    vpp: Path | None = None
    vivado: Path | None = None

    @property
    def where(self) -> str:
        return ", ".join(map(str, self.homes))

    @property
    def settings(self) -> dict[str, str]:
        """What the tools' settings64.sh exports."""
        named = {
            "XILINX_VITIS": self.vpp or self.vitis_run,
            "XILINX_HLS": self.vitis_hls,
            "XILINX_VIVADO": self.vivado,
        }
        return {name: str(program.parent.parent) for name, program in named.items() if program}


def programs_by_version(homes: Iterable[Path]) -> dict[str, Programs]:
    """The programs under each of `homes`; of a program that is there twice the first counts."""
    found: dict[str, Programs] = {}
    for home in dict.fromkeys(home.absolute() for home in homes):
        programs = _programs(home)
        version = _version(programs) if programs else None
        if programs and version:
            found[version] = _merged(found.get(version, Programs()), programs)
    return {version: programs for version, programs in found.items() if _of_vitis(programs)}


def _of_vitis(programs: Programs) -> bool:
    """Whether it is more than a Vivado."""
    return any((programs.vitis_hls, programs.vitis_run, programs.vpp))


def _programs(home: Path) -> Programs | None:
    names = {"vitis_hls": "vitis_hls", "vitis_run": "vitis-run", "vpp": "v++", "vivado": "vivado"}
    paths = {field: home / "bin" / name for field, name in names.items()}
    there = {field: path for field, path in paths.items() if path.is_file() and os.access(path, os.X_OK)}
    return Programs((home,), **there) if there else None


def _merged(a: Programs, b: Programs) -> Programs:
    return replace(
        a,
        homes=tuple(dict.fromkeys((*a.homes, *b.homes))),
        vitis_hls=a.vitis_hls or b.vitis_hls,
        vitis_run=a.vitis_run or b.vitis_run,
        vpp=a.vpp or b.vpp,
        vivado=a.vivado or b.vivado,
    )


def _version(programs: Programs) -> str | None:
    """From the path, else the program is asked."""
    home = programs.homes[0]
    return version_in(str(home)) or version_in(str(home.resolve())) or _asked(programs)


def _asked(programs: Programs) -> str | None:
    program = programs.vpp or programs.vitis_run or programs.vitis_hls or programs.vivado
    try:
        answer = subprocess.run(
            [str(program), "-version" if program == programs.vivado else "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return version_in(answer.stdout + answer.stderr)
