"""The direct path of the search on networks made by hand."""

import random
from math import prod

import pytest
from layered_networks import folded_layers
from small_graphs import ALL, attention_front, mlp, quantised

from compiler.analysis.estimate import estimate
from compiler.analysis.loop_order import loop_orders
from compiler.analysis.tiling import plan_nests, tile_sizes
from compiler.errors import InvalidInputError
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.task_graph import LoadTask, StoreTask
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def random_knobs(seed: int) -> Knobs:
    pick = random.Random(seed).choice
    return Knobs(
        default_tile_size=pick((1, 4, 8, 16, 64)),
        overall_unroll=pick((1, 16, 64, 512)),
        order=pick(("reduction-inner", "reduction-outer")),
        fusion_budget=pick((0, 256, 4096, 1 << 20)),
        fifo=pick(("conservative", "normal", "whole")),
        hbm_channels=pick((1, 2, 4)),
        stream_width=pick((32, 128, 512)),
        multiplier=pick(("fabric", "dsp")),
        engines=pick(("own", "shared")),
        slices=pick((1, 3, 4)),
    )


@pytest.mark.parametrize("name", ALL)
def test_every_stream_has_two_ends_that_agree(name: str):
    graph = ALL[name]()
    graph.verify()
    for seed in range(60):
        tasks = planned_tasks(graph, random_knobs(seed), U55C)
        tasks.verify()
        assert estimate(tasks, U55C).latency_us > 0


def test_a_budget_of_nothing_opens_kernels_and_a_large_one_fuses_all():
    knobs = Knobs(default_tile_size=8, overall_unroll=64)
    assert planned_tasks(mlp(), knobs, U55C).kernels == 1
    split = planned_tasks(mlp(), Knobs(default_tile_size=8, overall_unroll=64, fusion_budget=0), U55C)
    assert split.kernels > 1
    stored = {t.dma.value for t in split.transfers if isinstance(t, StoreTask)}
    loaded = {t.dma.value for t in split.transfers if isinstance(t, LoadTask)}
    assert stored & loaded, "what crosses kernels goes through HBM"


def test_nests_cover_every_iteration_once():
    for seed in range(40):
        graph = attention_front()
        nests = plan_nests(graph, random_knobs(seed), U55C)
        for op in graph.ops:
            for dim, extent in enumerate(op.loops):
                spans = [loop for loop in nests[op.name].loops if loop.dim == dim]
                assert prod(loop.trip for loop in spans) * nests[op.name].unroll[dim] == extent


def test_unrolling_reaches_the_target_and_tokens_stay_narrow():
    graph = mlp(rows=32, hidden=64, inner=256)
    knobs = Knobs(default_tile_size=64, overall_unroll=128, stream_width=512, hbm_channels=1)
    nests = plan_nests(graph, knobs, U55C)
    assert sum(n.lanes for n in nests.values()) >= 128
    for op in graph.ops:
        for operand in (*op.inputs, *op.outputs):
            value = graph.value[operand.value]
            width = prod(nests[op.name].unroll[d] for d in operand.dims) * DTYPE_BITS[value.dtype]
            assert width <= 512


def test_tile_of_a_group_fills_inner_loops_first():
    op = attention_front(heads=4, size=8).op["qkv"]
    assert tile_sizes(op, 16)[:3] == (1, 2, 8)


def test_a_tile_has_few_rows_that_stay_in_memory_or_all_that_there_are():
    op = mlp(96, 64, 32).op["up"]
    walked = [tile_sizes(op, tile, rows=0)[0] for tile in (8, 128)]
    assert (op.loops[0], tile_sizes(op, 128)[0], walked) == (96, 96, [8, 16])
    assert tile_sizes(mlp(13, 64, 32).op["up"], 128, rows=0)[0] == 13


def test_overrides_replace_tile_unroll_and_order():
    graph = quantised()
    knobs = Knobs(overrides=(TaskOverride("product", tile=8, unroll=4, order=(2, 0, 1)),))
    assert loop_orders(graph, knobs)["product"][0] == 2
    nest = plan_nests(graph, knobs, U55C)["product"]
    assert nest.lanes == 4
    assert nest.loops[0].dim == 2


def test_an_order_that_is_no_permutation_is_refused():
    knobs = Knobs(overrides=(TaskOverride("product", order=(0, 0, 1)),))
    with pytest.raises(InvalidInputError, match="not a permutation"):
        planned_tasks(quantised(), knobs, U55C)


@pytest.mark.parametrize("name", ["nope", "split"])
def test_an_override_of_what_does_not_compute_is_refused(name: str):
    with pytest.raises(InvalidInputError, match=f"no operation '{name}' to override"):
        planned_tasks(attention_front(), Knobs(overrides=(TaskOverride(name, tile=4),)), U55C)


def test_float_accumulation_into_one_register_costs_the_adder_s_latency():
    knobs = Knobs(default_tile_size=1, overall_unroll=1)
    tasks = planned_tasks(mlp(), knobs, U55C)
    assert tasks.task["up"].timing.ii == U55C.operators["fadd"].latency
    wide = planned_tasks(mlp(), Knobs(default_tile_size=16, overall_unroll=1), U55C)
    assert wide.task["up"].timing.ii == 1


def test_tasks_that_another_design_had_too_are_the_same():
    """So that what is known of them is not found again, though layers, here, made each of them anew."""
    shallow, deep = (planned_tasks(folded_layers(4), Knobs(fifo=fifo), U55C) for fifo in ("normal", "whole"))
    assert shallow.tasks == deep.tasks
    assert all(one is other for one, other in zip(shallow.tasks, deep.tasks, strict=True))
