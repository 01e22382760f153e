"""The cache passes first, in wide tokens, its rows outermost."""

from dataclasses import replace

import pytest
from small_graphs import attention_front

from compiler.analysis.caches import appends_to_cache
from compiler.analysis.tiling import plan_nests
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest, NestLoop
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")

GRAPH = attention_front(heads=4, size=8, past=7)


def unvectorised(graph: LinalgGraph) -> LinalgGraph:
    """The same, but that the past is no cache: nothing is known about when it comes."""
    return replace(graph, values=tuple(replace(v, role="input") if v.role == "state" else v for v in graph.values))


@pytest.mark.parametrize(
    ("width", "nest"),
    [
        (32, Nest((NestLoop(1, 8, 1), NestLoop(0, 4, 1), NestLoop(2, 8, 1)), (1, 1, 1))),
        (128, Nest((NestLoop(1, 8, 1), NestLoop(0, 4, 1), NestLoop(2, 2, 4)), (1, 1, 4))),
        (512, Nest((NestLoop(1, 8, 1), NestLoop(0, 2, 2)), (2, 1, 8))),
    ],
)
def test_rows_are_outermost_and_tokens_as_wide_as_allowed(width: int, nest: Nest) -> None:
    assert plan_nests(GRAPH, Knobs(stream_width=width), U55C)["append"] == nest


def test_only_caches_are_passed_by_rows() -> None:
    graph = unvectorised(GRAPH)
    assert not any(appends_to_cache(graph, op) for op in graph.ops)
    assert plan_nests(graph, Knobs(), U55C)["append"].loops[0].dim == 0


def test_the_buffer_behind_the_cache_shrinks() -> None:
    platform, knobs = load_platform("u55c"), Knobs(default_tile_size=4)
    graph = attention_front(heads=4, size=16, past=63)

    def converted(variant: LinalgGraph) -> tuple[int, int]:
        tasks = planned_tasks(variant, knobs, platform)
        name = "convert_keys_to_scores_in1"
        appended = next(t for t in tasks.tasks if t.kind == "concat")
        return sum(b.bits for t in tasks.tasks if t.name == name for b in t.buffers), appended.timing.iterations

    (wide, passed), (narrow, slowly) = converted(graph), converted(unvectorised(graph))
    assert wide < narrow / 2
    assert passed * 4 <= slowly
