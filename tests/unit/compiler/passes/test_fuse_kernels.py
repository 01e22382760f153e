"""Kernels run in an order in which every tensor is made before it is read, whatever the plan puts together."""

import pytest
from plans import U55C, plans
from small_graphs import mlp

from compiler.options import Knobs
from compiler.passes.design_passes import planned


def test_budget_of_nothing_still_connects_equal_streams() -> None:
    knobs = {budget: Knobs(default_tile_size=8, overall_unroll=16, fusion_budget=budget) for budget in (0, 1 << 20)}
    kernels = {budget: planned(mlp(), point, U55C).kernels for budget, point in knobs.items()}
    assert kernels[0] > 1
    assert kernels[1 << 20] == 1


@pytest.mark.parametrize("budget", [0, 64, 1 << 20])
def test_kernels_read_what_earlier_ones_stored(budget: int) -> None:
    design = plans(mlp(), Knobs(default_tile_size=8, overall_unroll=16, fusion_budget=budget))["fuse-kernels"]
    made = {store.value: store.kernel for store in design.stores.values()}
    given = {value.name for value in design.graph.values if value.role != "intermediate"}
    assert [design.kernel_of[op.name] for op in design.graph.ops] == sorted(design.kernel_of.values())
    for load in design.loads.values():
        assert load.value in given or made[load.value] < load.kernel
