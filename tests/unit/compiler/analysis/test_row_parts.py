"""Parts of rows in turn: where each operation that reads rows walks them, and where none does."""

from dataclasses import replace

import pytest
from stepping_networks import SLOTS, WIDTH, stepping

from compiler.analysis.row_parts import ROWS_WHOLE, RowParts, parts_in_turn, row_parts
from compiler.analysis.tiling import plan_nests
from compiler.graph.box import verify_realisation
from compiler.graph.converter import box_of, plan_converter
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, ScalarOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.task_graph import LoadTask, StoreTask, TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate

U55C = load_platform("u55c")
ROWS, PART = SLOTS + 1, 16
WIDTH_OF_PART = 32 * PART
BY_ROW = {
    "h0.join": Nest((NestLoop(0, ROWS, 1), NestLoop(1, 2, PART)), (1, PART)),
    "h0.sum": Nest((NestLoop(1, ROWS // 4, 4), NestLoop(0, WIDTH // 4, 4)), (4, 4)),
}


def steps() -> LinalgGraph:
    graph = folded(stepping())
    assert graph is not None
    return graph


def in_turn(nests: dict[str, Nest]) -> dict[str, Nest]:
    return parts_in_turn(steps(), nests, WIDTH_OF_PART, U55C)


def of_integers() -> LinalgGraph:
    """The same, of whole numbers."""
    graph = steps()
    values = tuple(
        replace(v, dtype="i32" if v.name in ("seen", "h0.k_past", "h0.keys", "h0.key") else v.dtype)
        for v in graph.values
    )
    product = replace(graph.op["h0.sum"], body=Body(("i32", "i32"), (ScalarOp("arith.muli", (0, 1), "i32"),), 2))
    return replace(_with(graph, product), values=values)


def _with(graph: LinalgGraph, changed: LinalgOp) -> LinalgGraph:
    return replace(graph, ops=tuple(changed if op.name == changed.name else op for op in graph.ops))


def tasks_of(**knobs: object) -> TaskGraph:
    usual = {"default_tile_size": 4, "order": "reduction-outer", "stream_width": WIDTH_OF_PART}
    return planned_tasks(steps(), Knobs.from_json({**usual, **knobs}), U55C)


def test_all_rows_of_a_part_are_walked_before_the_next_part() -> None:
    assert in_turn(BY_ROW) == {
        "h0.join": Nest((NestLoop(1, 2, PART), NestLoop(0, ROWS, 1)), (1, PART)),
        "h0.sum": Nest((NestLoop(0, 2, PART), NestLoop(1, ROWS // 4, 4), NestLoop(0, PART // 4, 4)), (4, 4)),
    }


def test_rows_are_walked_whole_where_one_operation_can_not_do_otherwise() -> None:
    rows, _ = BY_ROW["h0.sum"].loops
    wide = Nest((rows,), (WIDTH, 4))  # lanes of two parts
    tiled = Nest((NestLoop(0, 4, PART // 2), rows, NestLoop(0, PART // 8, 4)), (4, 4))  # smaller tiles of columns
    for other in ({"h0.sum": wide}, {"h0.sum": tiled}):
        nests = {**BY_ROW, **other}
        assert in_turn(nests) == nests
    assert parts_in_turn(steps(), BY_ROW, 2 * WIDTH_OF_PART, U55C) == BY_ROW, "a row in a token"
    graph = _with(steps(), replace(steps().op["h0.sum"], iterators=("reduction", "reduction")))
    assert parts_in_turn(graph, BY_ROW, WIDTH_OF_PART, U55C) == BY_ROW


def test_rows_are_walked_whole_where_sums_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four iterations between two additions to an element: half as long again as with eight."""
    monkeypatch.setattr("compiler.analysis.row_parts._SLOWER", 1.5)
    assert in_turn(BY_ROW) == BY_ROW
    monkeypatch.setattr("compiler.analysis.row_parts._SLOWER", 1.6)
    assert in_turn(BY_ROW) != BY_ROW


def test_lanes_of_integers_are_of_one_part_from_the_start() -> None:
    """However many there are; sums of floats might wait then."""
    assert row_parts(steps(), WIDTH_OF_PART) == ROWS_WHOLE
    graph = of_integers()
    assert row_parts(graph, WIDTH_OF_PART) == RowParts(2, PART, {"h0.join": 1, "h0.sum": 0})
    for tile, lanes in ((4, 16), (16, 64), (64, 256), (64, 4096)):
        nests = plan_nests(graph, Knobs(tile, lanes, "reduction-outer", stream_width=WIDTH_OF_PART), U55C)
        assert nests["h0.join"] == Nest((NestLoop(1, 2, PART), NestLoop(0, ROWS, 1)), (1, PART))
        assert nests["h0.sum"].loops[0] == NestLoop(0, 2, PART)
        assert nests["h0.sum"].unroll[0] <= PART


def test_each_part_follows_the_position() -> None:
    tasks = tasks_of()
    tasks.verify()
    load, store = tasks.task["load_h0_k_past"], tasks.task["store_h0_key"]
    assert isinstance(load, LoadTask)
    assert isinstance(store, StoreTask)
    assert [loop.dim for loop in load.dma.layout.loops if loop.trip > 2] == [1]  # of a layer: parts, then rows
    cycles: list[int] = []
    for position in (0, 3, 4, 62):
        tiles = position // 4 + 1
        now = tasks.at({"position": position})
        assert now.task["h0_join"].timing.trips == (2, 2, 4 * tiles)
        assert now.task["h0_sum"].timing.trips == (2, 2, tiles, 4)
        run = simulate(tasks, U55C, launches=({"position": position},), buckets=0)
        assert run.deadlock is None
        cycles.append(run.cycles)
    assert cycles[0] == cycles[1] < cycles[2] < cycles[3]


def test_what_is_read_again_for_all_rows_of_a_part_is_filled_and_drained_in_turn() -> None:
    """Queries of heads, four at a time: again for each of the tiles of rows, fewer or more of which a launch has."""
    source = ITensor((1, 4), "i8", (Loop(16, 1, 0), Loop(16, 4, 1)))
    target = ITensor((1, 64), "i8", (Loop(4, 4, 0), Loop(68, 1, None), Loop(4, 1, 0)))
    assert plan_converter(source, target).realisation.kind == "ping-pong"
    made = plan_converter(source, target, in_turn=True)
    assert (made.shared, made.realisation.kind, made.realisation.period) == (4, "single", made.fill + made.drain)
    verify_realisation(box_of(source, target), made.realisation)
