"""Stores go through the ports of loads."""

from dataclasses import replace

import pytest
from small_graphs import attention_front, mlp
from stepping_networks import stepping

from compiler.analysis.estimate import estimate
from compiler.analysis.ports import kernel_ports, paired_stores
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.interface import plan_interface

U55C = load_platform("u55c")
KNOBS = Knobs(default_tile_size=8, overall_unroll=16)


def test_the_heaviest_store_shares_with_the_lightest_load() -> None:
    assert paired_stores({"a": 5, "b": 1, "c": 3}, {"x": 2, "y": 9}) == {"y": "b", "x": "c"}
    assert paired_stores({"a": 5}, {"x": 2, "y": 9}) == {"y": "a"}


def test_a_store_goes_through_the_port_of_what_it_writes() -> None:
    """The others through those that are left."""
    loads, stores = {"k": 5, "v": 5, "prompt": 1}, {"next": 1, "keep k": 2, "keep v": 2}
    found = paired_stores(loads, stores, {"keep k": "k", "keep v": "v"})
    assert found == {"keep k": "k", "keep v": "v", "next": "prompt"}


def test_ports_are_counted_as_they_are_emitted() -> None:
    for knobs in (KNOBS, replace(KNOBS, fusion_budget=0, hbm_channels=4)):
        for graph in (mlp(), attention_front()):
            tasks = planned_tasks(graph, knobs, U55C)
            interface = plan_interface(tasks, graph)
            bundles = [{p.bundle for p in kernel.ports} for kernel in interface.kernels]
            assert list(map(len, bundles)) == kernel_ports(tasks)
            counted = next(m.value for m in estimate(tasks, U55C).metrics if m.name == "hbm_ports")
            assert counted == sum(kernel_ports(tasks)), "all kernels of an xclbin together"
            for kernel in interface.kernels:
                for bundle in {p.bundle for p in kernel.ports}:
                    sharing = [p.writes for p in kernel.ports if p.bundle == bundle]
                    assert sharing in ([False], [True], [False, True], [True, False]), "one reads, one writes"


def test_a_kernel_may_have_fewer_ports_than_the_board() -> None:
    tasks = planned_tasks(mlp(), replace(KNOBS, hbm_channels=4), U55C)
    most = max(kernel_ports(tasks))
    for allowed, over in ((most, set[str]()), (most - 1, {"kernel_hbm_ports"})):
        board = replace(U55C, hbm=replace(U55C.hbm, kernel_ports=allowed))
        assert {v.resource for v in estimate(tasks, board).violations} == over
    assert U55C.hbm.kernel_ports < U55C.budget.hbm_ports, "one is the host's"


WIDE = replace(KNOBS, overall_unroll=1024, hbm_channels=4, stream_width=2048)


@pytest.mark.parametrize("graph", [mlp(), stepping(2)], ids=["mlp", "rows that stay"])
def test_ports_that_a_kernel_may_not_have_are_taken_from_the_quickest_loads(graph: LinalgGraph) -> None:
    def ports(knobs: Knobs, allowed: int) -> int:
        board = replace(U55C, hbm=replace(U55C.hbm, kernel_ports=allowed))
        (counted,) = kernel_ports(planned_tasks(graph, knobs, board))
        return counted

    most, least = ports(WIDE, 1000), ports(replace(WIDE, hbm_channels=1), 1000)
    found = {allowed: ports(WIDE, allowed) for allowed in range(least - 1, most + 1)}
    assert most > least + 1
    assert found[most] == most
    assert all(counted <= allowed for allowed, counted in found.items() if allowed >= least)
    assert sorted(found.values()) == list(found.values())
    assert set(found.values()) >= {least, least + 1}
    assert found[least - 1] == least, "each load has one, and it is said to be over"
