"""Linking kernels into a bitstream: HBM channel of every port, die of every kernel, `link.cfg` for `v++ -l`."""

from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.placement.placement import Placement
from compiler.graph.task_graph import DmaTask
from compiler.platforms.platform import Platform
from compiler.targets import floorplan
from compiler.targets.interface import Interface

_FLOORPLAN = f"""
[vivado]
# v++ runs in this folder. Where Vivado does not find the file, give its whole path: --vivado.prop overrides this line.
prop=run.impl_1.STEPS.PLACE_DESIGN.TCL.PRE={floorplan.FILE}
"""


def hbm_channels(interface: Interface, platform: Platform) -> dict[tuple[str, int], int]:
    """HBM pseudo-channel of each image's channels, by image name and channel (`assign_channels`)."""
    tasks = (task for kernel in interface.kernels for task in kernel.tasks)
    channels = assign_channels([task for task in tasks if isinstance(task, DmaTask)], platform)
    return {
        (port.image.name, port.channel): channel
        for task, ports in interface.task_ports.items()
        for port, channel in zip(ports, channels[task], strict=True)
    }


def link_cfg(interface: Interface, platform: Platform, placement: Placement | None = None) -> str:
    """For `v++ -l`: one compute unit per kernel, each m_axi port on its HBM channel, the clock. With a placement, the
    die of each kernel that lies on one, and `floorplan.tcl` for the others.

    The clock is the platform's scalable one (0): the kernels are on it by default, v++ lowers it where paths are too
    slow, and XRT sets it. `[clock] freqHz=` would make a fixed one, whose miss ends the link (AMD UG1393, "Managing
    Clock Frequencies").
    """
    placed = hbm_channels(interface, platform)
    lines = [f"platform={platform.shell}", f"kernel_frequency=0:{platform.clock_mhz:g}", "", "[connectivity]"]
    lines += [f"nk={k.name}:1:{k.unit}" for k in interface.kernels]
    lines += [
        f"sp={k.unit}.{p.name}:HBM[{placed[p.image.name, p.channel]}]" for k in interface.kernels for p in k.ports
    ]
    lines += _slr_lines(interface, placement) if placement is not None else []
    spread = placement is not None and bool(floorplan.spread_kernels(interface, placement))
    return "\n".join(lines) + "\n" + (_FLOORPLAN if spread else "")


def _slr_lines(interface: Interface, placement: Placement) -> list[str]:
    dies = {k.unit: placement.kernel_slr([t.name for t in k.tasks]) for k in interface.kernels}
    return [f"slr={unit}:{slr}" for unit, slr in dies.items() if slr is not None]
