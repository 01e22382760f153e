"""Lanes of a product lie where their tokens cost least."""

from dataclasses import replace
from itertools import product as combinations
from math import prod

import pytest
from small_graphs import attention_front, quantised

from compiler.analysis.growth import Part, Token, Unroll, Walk, divisors, holds
from compiler.analysis.tiling import sharing
from compiler.graph.linalg_graph import Body, LinalgOp, Operand, Reduction, ScalarOp
from compiler.graph.task_graph import ComputeTask
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
ADD = Reduction("add", 0.0)


def grown(rows: int, lanes: int, width: int = 2048, tile: int = 64) -> tuple[Part, tuple[int, ...]]:
    """The int8 x int4 product with at least so many lanes, or as many as its tokens may have."""
    knobs = Knobs(default_tile_size=tile, overall_unroll=1, stream_width=width)
    (parts,) = [p for p in sharing(quantised(rows, 64, 64), knobs, U55C) if p[0].op.name == "product"]
    unroll = Unroll(parts, U55C)
    while unroll.lanes < lanes and unroll.grow():
        pass
    return parts[0], unroll.growths[0].factors[unroll.at]


def luts(part: Part, factor: tuple[int, ...]) -> int:
    return sum(token.luts(factor) for token in part.tokens)


@pytest.mark.parametrize(
    ("rows", "lanes"), [(1, 16), (1, 64), (1, 256), (4, 16), (4, 256), (64, 64), (64, 256), (64, 1024)]
)
def test_tokens_cost_about_as_little_as_they_can(rows: int, lanes: int) -> None:
    part, factor = grown(rows, lanes)
    assert prod(factor) == lanes
    tiles = [divisors(n) for n in part.walk.tile]
    fitting = [f for f in combinations(*tiles) if prod(f) == lanes and holds(part, f)]
    least = min(luts(part, other) for other in fitting)
    assert luts(part, factor) <= 1.3 * least


def test_lanes_lie_along_rows_where_there_are_some() -> None:
    """Partial results are of 32 bits, weights of 4 and held while rows go by."""
    _, (one, columns, summed) = grown(1, 256)
    assert (one, columns * summed) == (1, 256)
    assert summed > columns, "what is summed makes no results"
    _, (rows, columns, summed) = grown(64, 1024)
    assert rows > 1
    assert summed > columns


@pytest.mark.parametrize(
    ("groups", "lanes", "factor"), [(8, 8, (8, 1)), (8, 16, (8, 2)), (32, 16, (8, 2)), (2, 16, (8, 2)), (9, 24, (8, 3))]
)
def test_what_adds_up_parts_grows_along_results_while_its_adders_keep_up(
    groups: int, lanes: int, factor: tuple[int, int]
) -> None:
    """Sixteen of 128 results side by side would be updated every eighth cycle, and such an update takes nine. A step to
    thrice the lanes is no reason.
    """
    operands = (Operand("acc", (0, 1)), Operand("scales", (1, 0)))
    body = Body(("i32", "f32"), (ScalarOp("arith.sitofp", (0,), "f32"), ScalarOp("arith.mulf", (2, 1), "f32")), 3)
    loops, results = (128, groups), (Operand("y", (0,)),)
    op = LinalgOp("sum", "generic", loops, ("parallel", "reduction"), (0, 1), operands, results, body, ADD)
    tokens = tuple(Token(dims, 64, 384) for dims in ((0, 1), (1, 0), (0,)))
    unroll = Unroll((Part(op, Walk(loops, (0, 1), (1, 0)), tokens, "dsp"),), U55C)
    while unroll.lanes < lanes and unroll.grow():
        assert unroll.cycles == prod(loops) // unroll.lanes
    assert unroll.growths[0].factors[unroll.at] == factor


@pytest.mark.parametrize("lanes", [4, 16, 64, 256])
@pytest.mark.parametrize("width", [128, 512, 2048])
def test_what_reads_a_cache_is_charged_for_the_banks_between(width: int, lanes: int) -> None:
    """Rows come one by one, several heads at once. Lanes lie along these first, so that nothing may be between; each
    row more side by side is that many banks more.
    """
    graph, integers = attention_front(heads=4, size=16, past=63), quantised().op["product"]
    kept = {"fused", "q", "k", "v", "past", "keys"}
    values = (replace(v, dtype="i8" if v.name in kept else "i32" if v.name == "s" else v.dtype) for v in graph.values)
    ops = (
        replace(op, body=integers.body, reduction=integers.reduction) if op.name == "scores" else op for op in graph.ops
    )
    graph = replace(graph, values=tuple(values), ops=tuple(ops))
    knobs = Knobs(default_tile_size=16, stream_width=width, overrides=(TaskOverride("scores", unroll=lanes),))
    tasks = planned_tasks(graph, knobs, U55C)
    scores, converter = tasks.task["scores"], tasks.task.get("convert_keys_to_scores_in1")
    (part,) = next(parts for parts in sharing(graph, knobs, U55C) if parts[0].op.name == "scores")
    (token,) = (token for token in part.tokens if token.come)
    assert isinstance(scores, ComputeTask)
    charged = token.luts(scores.nest.unroll) - token._replace(bank_lut=0).luts(scores.nest.unroll)
    taken = tuple(scores.nest.unroll[d] for d in token.dims)
    assert all(n <= most for n, most in zip(taken, token.come, strict=True)) or lanes > prod(token.come)
    if converter is None:
        assert taken == token.come
        return
    (buffer,) = converter.buffers
    assert charged == token.bank_lut * buffer.banks
