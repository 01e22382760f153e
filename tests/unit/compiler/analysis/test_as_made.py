"""What follows a product takes its tokens as they are made: every point once, in their order, and nothing is kept."""

from itertools import pairwise
from itertools import product as combinations

import pytest
from small_graphs import mlp, quantised

from compiler.analysis.as_made import as_made
from compiler.analysis.growth import Unroll
from compiler.analysis.tiling import plan_nests, sharing
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest
from compiler.graph.task_graph import ConverterTask, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
GRAPH = quantised(rows=64, inner=64, columns=64)
WIDE = Knobs(default_tile_size=64, stream_width=2048, overrides=(TaskOverride("product", unroll=1024),))


def points(nest: Nest) -> list[tuple[int, ...]]:
    """Of a nest of two dimensions, in the order in which it walks them, those side by side in order of their lanes."""
    found: list[tuple[int, ...]] = []
    for at in combinations(*(range(loop.trip) for loop in nest.loops)):
        base = [0, 0]
        for loop, n in zip(nest.loops, at, strict=True):
            base[loop.dim] += n * loop.step
        found += [(base[0] + i, base[1] + k) for i, k in combinations(*map(range, nest.unroll))]
    return found


def taken(lanes: int) -> tuple[Nest, Nest]:
    """How the product, and what follows it with so many lanes, walk the result."""
    nests = plan_nests(GRAPH, WIDE, U55C)
    parts = {part.op.name: part for shared in sharing(GRAPH, WIDE, U55C) for part in shared}
    alone = Unroll((parts["dequantise"],), U55C)
    while alone.lanes < lanes and alone.grow():
        pass
    assert alone.lanes == lanes
    made = as_made(GRAPH, {**nests, **alone.nests}, parts, (), U55C)
    return nests["product"], made["dequantise"]


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16, 32, 64])
def test_all_points_are_taken_in_the_order_of_their_tokens(lanes: int) -> None:
    product, nest = taken(lanes)
    rows, columns, _ = product.unroll
    assert rows > 1, "the case needs a block of rows and columns"
    assert nest.lanes == lanes
    found = points(nest)
    assert sorted(found) == sorted({(i, k) for i in range(64) for k in range(64)})
    blocks = [(i // rows, k // columns) for i, k in found]
    results = Nest(tuple(loop for loop in product.loops if loop.dim != 2), (rows, columns))
    assert list(dict.fromkeys(blocks)) == list(dict.fromkeys((i // rows, k // columns) for i, k in points(results)))
    runs = 1 + sum(a != b for a, b in pairwise(blocks))
    assert runs == len(set(blocks)) or lanes > rows * columns, "it is done with a token before it takes the next"


def converter_bits(tasks: TaskGraph) -> int:
    found = [t for t in tasks.tasks if isinstance(t, ConverterTask) and "dequantise" in t.name and "_in0" in t.name]
    return sum(buffer.width * buffer.depth * buffer.banks for task in found for buffer in task.buffers)


@pytest.mark.parametrize("lanes", [32, 512, 2048])
def test_between_a_product_and_what_follows_lies_a_token(lanes: int) -> None:
    knobs = Knobs(default_tile_size=64, overall_unroll=lanes, stream_width=2048, multiplier="dsp_packed")
    tasks = planned_tasks(GRAPH, knobs, U55C)
    stream = next(s for s in tasks.streams if s.source == "product")
    assert converter_bits(tasks) <= 2 * stream.width


def test_what_is_chosen_stays_as_it_is() -> None:
    """As the tile of an override says, and not as the product walks."""
    overrides = (*WIDE.overrides, TaskOverride("dequantise", tile=4, unroll=4))
    assert plan_nests(GRAPH, Knobs(64, stream_width=2048, overrides=overrides), U55C)["dequantise"].unroll == (1, 4)


def test_what_walks_in_another_order_keeps_its_own() -> None:
    graph: LinalgGraph = mlp(rows=8, hidden=16, inner=64)
    parts = {part.op.name: part for shared in sharing(graph, Knobs(), U55C) for part in shared}
    nests = plan_nests(graph, Knobs(), U55C)
    turned = Nest(tuple(reversed(nests["act"].loops)), nests["act"].unroll)
    assert len(turned.loops) > 1
    assert as_made(graph, {**nests, "act": turned}, parts, (), U55C)["act"] == turned
