"""`floorplan.tcl`: the die of every process of kernels that lie on several dies, for Vivado before it places.

`slr=` in link.cfg is for a whole kernel (AMD UG1393); one that does not fit a die must not have it. Vitis HLS names the
instance of a process `<function>_U0`, those of further calls `<function>_1_U0` and so on, that of a stream
`<variable>_U`, that of a port `<bundle>_m_axi_U`.
"""

from compiler.analysis.placement.placement import Placement
from compiler.targets.interface import Interface, Kernel
from compiler.targets.tokens import part_names

FILE = "floorplan.tcl"

_PROCEDURES = """\
# A die's own region: the platform has one for each die, else it is made here.
proc die {slr} {
  set pblock [get_pblocks -quiet pblock_dynamic_$slr]
  if {[llength $pblock] == 0} {
    set pblock [get_pblocks -quiet millrace_$slr]
  }
  if {[llength $pblock] == 0} {
    set pblock [create_pblock millrace_$slr]
    resize_pblock $pblock -add $slr
  }
  return $pblock
}

proc place {slr unit instances} {
  foreach instance $instances {
    set cells [get_cells -quiet -hierarchical -filter "NAME =~ */$unit/inst/$instance"]
    if {[llength $cells] == 0} {
      puts "WARNING: floorplan.tcl: $unit has no instance $instance; Vivado places it where it likes"
      continue
    }
    add_cells_to_pblock [die $slr] $cells -clear_locs
  }
}
"""


def spread_kernels(interface: Interface, placement: Placement) -> list[Kernel]:
    """Kernels that lie on more than one die."""
    return [k for k in interface.kernels if placement.kernel_slr([t.name for t in k.tasks]) is None]


def floorplan_tcl(interface: Interface, placement: Placement) -> str:
    """The dies of the tasks of `spread_kernels`; a FIFO lies with the task that reads it, an adapter with its own."""
    lines = [f"# Dies of {interface.name}. Vivado runs it before place_design: link.cfg names it.", "", _PROCEDURES]
    for kernel in spread_kernels(interface, placement):
        instances: dict[str, list[str]] = {}
        for (task, _), instance in zip(kernel.calls, kernel.instances, strict=True):
            own = (port for port in interface.task_ports.get(task.name, ()) if port.shares is None)
            ports = (f"{port.bundle}_m_axi_U" for port in own)
            instances.setdefault(placement.slr[task.name], []).extend([f"{instance}_U0", *ports])
        for stream in kernel.streams:
            fifos = (part_names(name, stream.itensor) for name in kernel.abreast.fifos(stream.name))
            instances[placement.slr[stream.target]] += (f"{part}_U" for parts in fifos for part in parts)
        for slr in sorted(instances):
            lines += [f"place {slr} {kernel.unit} {{", *(f"  {name}" for name in instances[slr]), "}"]
    return "\n".join(lines) + "\n"
