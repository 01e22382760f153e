"""The command lines of Vitis, by front end (UG1399, UG1702: vitis-run, v++ --mode hls; UG1393: v++ --link)."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from compiler.errors import ToolError
from compiler.toolchain.vitis.environment import KERNELS, STEPS
from compiler.toolchain.vitis.installation import HlsTool, Installation
from compiler.toolchain.vitis.platforms import REPOSITORIES
from compiler.toolchain.vitis.process import Command
from compiler.toolchain.vitis.workspace import KernelCode, Workspace

SCRIPT, LINK_CONFIG, FLOORPLAN = "run_hls.tcl", "link.cfg", "floorplan.tcl"
TEMPORARY = "_x"  # of v++
# R1: the QoR assessment after opt_design, without the design checkpoints of every step (UG1393).
_REPORT_LEVEL = "1"

Target = Literal["hw", "hw_emu"]


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """`clock_mhz` None takes the clock of link.cfg. `patient` goes on where the early stop would end the link.

    `jobs` are Vivado's parallel jobs; each takes about 4 GB.
    """

    platform: str
    target: Target = "hw"
    clock_mhz: float | None = None
    patient: bool = False
    jobs: int = 4


def build_folder(kernel: KernelCode) -> str:
    """Where the tool keeps the kernel, in hls/: run_hls.tcl calls it so too."""
    return f"build_{kernel.name}"


def synthesis(installation: Installation, place: Workspace, kernel: KernelCode) -> Command:
    """C synthesis of `kernel`, and its .xo."""
    tool = hls_of(installation)
    if tool.front_end == "config":
        argv = (str(tool.synthesis), "-c", "--mode", "hls", *_component(kernel))
        return _command(installation, place, argv)
    return _script(installation, place, kernel, "csynth export")


def packaging(installation: Installation, place: Workspace, kernel: KernelCode) -> Command:
    """The .xo of a kernel that is synthesised, for versions whose synthesis leaves it out."""
    argv = (str(hls_of(installation).simulation), "--mode", "hls", "--package", *_component(kernel))
    return _command(installation, place, argv)


def cosimulation(installation: Installation, place: Workspace, kernel: KernelCode) -> tuple[Command, ...]:
    """RTL cosimulation of `kernel`, which wants it synthesised in the same place."""
    tool = hls_of(installation)
    if tool.front_end != "config":
        return (_script(installation, place, kernel, "csynth cosim"),)
    argv = (str(tool.simulation), "--mode", "hls", "--cosim", *_component(kernel))
    return synthesis(installation, place, kernel), _command(installation, place, argv)


def linking(
    installation: Installation, place: Workspace, xos: tuple[Path, ...], options: LinkOptions, output: str
) -> Command:
    """The link of all kernels into `output`. The clock is the scalable one of the card, whose miss v++ can mend."""
    if installation.vpp is None:
        raise ToolError(installation.missing.get("link", f"Vitis {installation.version} has no v++"))
    clock = () if options.clock_mhz is None else ("--kernel_frequency", f"0:{options.clock_mhz:g}")
    argv = (
        *(str(installation.vpp), "-l", "-t", options.target, "--platform", options.platform, "--config", LINK_CONFIG),
        *clock,
        *("--save-temps", "--temp_dir", TEMPORARY, "--report_level", _REPORT_LEVEL, "--jobs", str(options.jobs)),
        *_floorplan(place),
        *("-o", output, *map(str, xos)),
    )
    return _command(installation, place, argv)


def hls_of(installation: Installation) -> HlsTool:
    """Raises ToolError where the installation has no Vitis HLS."""
    if installation.hls is None:
        raise ToolError(installation.missing.get("hls", f"Vitis {installation.version} has no Vitis HLS"))
    return installation.hls


def _component(kernel: KernelCode) -> tuple[str, ...]:
    return ("--config", kernel.config, "--work_dir", build_folder(kernel))


def _script(installation: Installation, place: Workspace, kernel: KernelCode, steps: str) -> Command:
    tool = hls_of(installation)
    argv = ("-f",) if tool.front_end == "vitis_hls" else ("--mode", "hls", "--tcl")
    command = _command(installation, place, (str(tool.synthesis), *argv, SCRIPT))
    return replace(command, settings={**command.settings, STEPS: steps, KERNELS: kernel.name})


def _floorplan(place: Workspace) -> tuple[str, ...]:
    """Vivado runs in a folder of its own and wants the whole path, which link.cfg can not know."""
    file = place.code / FLOORPLAN
    return ("--vivado.prop", f"run.impl_1.STEPS.PLACE_DESIGN.TCL.PRE={file}") if file.is_file() else ()


def _command(installation: Installation, place: Workspace, argv: tuple[str, ...]) -> Command:
    settings = {**installation.programs.settings, "TMPDIR": str(place.root / "tmp")}
    if installation.repositories:
        settings[REPOSITORIES] = os.pathsep.join(map(str, installation.repositories))
    folders = tuple(home / "bin" for home in installation.programs.homes)
    return Command(argv, place.code, folders, settings)
