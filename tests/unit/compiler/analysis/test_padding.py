"""Which dimensions are padded, to what, and what it costs."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from networks import Network, body
from small_graphs import attention_front, matmul, mlp, quantised, softmax

from compiler.analysis.estimate import estimate
from compiler.analysis.padding import pad, padded_extent
from compiler.analysis.tiling import plan_nests, tile_extent, tile_sizes
from compiler.errors import VerificationError
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Reduction, Value
from compiler.graph.task_graph import ComputeTask, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
PAD = Knobs(max_padding=12)


@pytest.mark.parametrize(
    ("extent", "tile", "padded"),
    [
        (97, 16, 104),
        (193, 16, 200),
        (193, 256, 208),
        (38, 16, 40),
        (17, 16, 18),  # 24 would waste 29 %
        (13, 8, 14),
        (13, 16, 13),  # one tile
        (896, 16, 896),
        (4864, 64, 4864),  # 2^8 x 19
        (6912, 256, 6912),  # 2^8 x 27
        (54, 16, 54),  # 9 lanes
        (7, 4, 7),  # one more would waste 12.5 %
    ],
)
def test_extents_within_an_eighth(extent: int, tile: int, padded: int):
    assert padded_extent(extent, tile, 12) == padded


@pytest.mark.parametrize("make", [mlp, softmax, attention_front, quantised])
def test_what_tiles_well_is_the_same_graph(make: Callable[[], LinalgGraph]):
    graph = make()
    assert pad(graph, PAD) is graph


def test_nothing_is_padded_without_a_limit_and_a_padded_graph_is_made_once():
    graph = mlp(97, 193, 101)
    assert pad(graph, Knobs(max_padding=0)) is graph
    assert pad(graph, PAD) is pad(graph, replace(PAD, overall_unroll=1, overrides=(TaskOverride("up", tile=4),)))


def test_dimensions_that_are_walked_together_are_padded_alike():
    padded = pad(mlp(97, 193, 101), PAD)
    padded.verify()
    assert [op.loops for op in padded.ops] == [(104, 104, 200), (104, 104), (104, 200, 104), (104, 200)]
    assert [op.masked for op in padded.ops] == [(2,), (), (2,), ()]
    assert padded.value["up.weight"].shape == (200, 104)
    assert padded.value["up.weight"].valid == (193, 101)


def test_weights_of_integers_need_no_mask():
    padded = pad(quantised(4, 97, 101), PAD)
    assert padded.op["product"].valid == (4, 101, 97)
    assert padded.op["product"].masked == ()


def grouped_product(groups: int) -> LinalgGraph:
    """Quantised weights of 128 in `groups` groups: the group is a loop of every tensor, nothing is reused over it."""
    network = Network("groups")
    op = matmul("product", 1, 128, 128, "x", "w", "a")
    loops = LinalgOp(
        "product", "generic", (groups, 128, 128), ("parallel", "parallel", "reduction"), (0, 1, 2),
        (Operand("x", (0, 2)), Operand("w", (0, 2, 1))), (Operand("a", (0, 1)),), op.body, op.reduction,
    )  # fmt: skip
    network.values |= {
        "x": Value("x", (groups, 128), "f32", "input", "x"),
        "w": Value("w", (groups, 128, 128), "f32", "param", "w"),
        "a": Value("a", (groups, 128), "f32"),
    }
    network.ops.append(loops)
    network.generic("y", (128, groups), [("a", "ba")], "a", body(["f32"], ("arith.negf", (0,))), Reduction("add", 0.0))
    return replace(network.graph(), outputs=(Output("y", "y", (0,), (128,)),))


def test_a_loop_beside_others_with_lanes_is_left_alone():
    graph = grouped_product(38)
    assert pad(graph, PAD) is graph


def test_chunks_and_joined_inputs_end_where_they_end():
    graph = attention_front(heads=2, size=8, past=96)
    padded = pad(graph, PAD)
    padded.verify()
    assert padded.value["past"] == graph.value["past"]
    assert padded.value["keys"].shape == (2, 104, 8)
    assert padded.value["keys"].valid == (2, 97, 8)
    assert padded.op["split"].loops[0] == 3


@pytest.mark.parametrize(
    ("extent", "limit", "tile"), [(104, 16, 8), (200, 16, 8), (208, 64, 16), (768, 16, 16), (13, 16, 13)]
)
def test_tiles_keep_powers_of_two(extent: int, limit: int, tile: int):
    assert tile_extent(extent, limit) == tile


def test_an_override_divides_the_padded_loop_and_takes_it_whole_where_the_true_one_fits():
    op = pad(mlp(97, 193, 101), PAD).op["up"]
    assert tile_sizes(op, 32) == (8, 8, 20)
    assert tile_sizes(op, 97)[0] == 104
    nest = plan_nests(
        pad(mlp(97, 193, 101), PAD), replace(PAD, overrides=(TaskOverride("up", tile=4, unroll=8),)), U55C
    )["up"]
    assert nest.lanes == 8


def operators(tasks: TaskGraph) -> dict[str, int]:
    """Of the first product."""
    task = tasks.task["up"]
    assert isinstance(task, ComputeTask)
    return dict(task.operators)


def test_prime_extents_run_on_many_lanes_and_the_cost_is_told():
    graph, knobs = mlp(97, 193, 101), Knobs(overall_unroll=512, max_padding=0)
    plain, padded = (planned_tasks(graph, k, U55C) for k in (knobs, replace(knobs, max_padding=12)))
    slow, fast = estimate(plain, U55C), estimate(padded, U55C)
    assert fast.latency_us < slow.latency_us / 8
    assert plain.padding_share == 0
    assert padded.padding_share == pytest.approx(1 - 97 * 193 * 101 / (104 * 200 * 104))
    metrics = {m.name: m.value for m in fast.metrics}
    assert metrics["padding_share"] == pytest.approx(100 * padded.padding_share)
    assert padded.to_json()["padding_share"] == padded.padding_share
    counts = operators(padded)
    assert counts["select"] == counts["fmul"] > 1
    assert "select" not in operators(plain)


def test_a_reduction_that_lets_padding_in_is_refused():
    padded = pad(mlp(97, 193, 101), PAD)
    unmasked = replace(padded, ops=tuple(replace(op, masked=()) for op in padded.ops))
    with pytest.raises(VerificationError, match=r"up: padded points of loops \[2\] reach the reduction; mask them"):
        unmasked.verify()


def test_what_a_launch_may_leave_out_ends_with_a_word_where_that_wastes_little() -> None:
    assert padded_extent(50257, 16, 12) == 50264
    assert padded_extent(50257, 16, 12, least=16) == 50272
    assert padded_extent(50257, 128, 12, least=128) == 50304
    assert padded_extent(40, 16, 12, least=16) == 40  # 48 would waste 17 %, and 40 are whole lanes
    assert padded_extent(96, 16, 12, least=16) == 96
