"""What the linker gets of a placement: dies of kernels in link.cfg, of tasks in floorplan.tcl."""

from collections.abc import Callable
from pathlib import Path

from networks import NETWORKS

from compiler.analysis.placement.place import describe
from compiler.analysis.placement.placement import Placement
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.floorplan import floorplan_tcl, spread_kernels
from compiler.targets.interface import Interface, plan_interface
from compiler.targets.link_config import link_cfg

U55C = load_platform("u55c")
HERE = Path(__file__).parent
SPLIT = Knobs(fusion_budget=0, default_tile_size=8, overall_unroll=16)
Golden = Callable[[str, Path], None]


def placed(*, spread: bool) -> tuple[Interface, Placement]:
    """A design of several kernels: one on a die each, or the last one on two dies."""
    graph = NETWORKS["layer_norm"]().graph()
    tasks = planned_tasks(graph, SPLIT, U55C)
    last = [t.name for t in tasks.tasks if t.kernel == tasks.kernels - 1]
    slr = {t.name: f"SLR{min(t.kernel, 1)}" for t in tasks.tasks} | ({last[-1]: "SLR2"} if spread else {})
    return plan_interface(tasks, graph), describe(tasks, U55C, slr)


def test_link_and_floorplan_of_a_kernel_on_two_dies(golden: Golden) -> None:
    interface, placement = placed(spread=True)
    assert len(interface.kernels) > 1
    assert [k.name for k in spread_kernels(interface, placement)] == [interface.kernels[-1].name]
    golden(link_cfg(interface, U55C, placement), HERE / "link_placed.cfg")
    golden(floorplan_tcl(interface, placement), HERE / "floorplan.tcl")


def test_kernels_on_one_die_each_need_no_floorplan() -> None:
    interface, placement = placed(spread=False)
    text = link_cfg(interface, U55C, placement)
    assert not spread_kernels(interface, placement)
    assert text.count("slr=") == len(interface.kernels)
    assert "[vivado]" not in text


def test_every_task_fifo_and_port_of_a_spread_kernel_has_a_die() -> None:
    interface, placement = placed(spread=True)
    text = floorplan_tcl(interface, placement)
    kernel = interface.kernels[-1]
    for name in (*(f"{name}_U0" for name in kernel.instances), *(f"{s.name}_U" for s in kernel.streams)):
        assert text.count(f"  {name}\n") == 1
    for bundle in {port.bundle for port in kernel.ports}:
        assert text.count(f"  {bundle}_m_axi_U\n") == 1
