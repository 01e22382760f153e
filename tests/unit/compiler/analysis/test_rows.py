"""Rows that stay in memory: where they lie, how they are packed, and what no row can be."""

from dataclasses import replace

import pytest
from stepping_networks import POSITION, SLOTS, WIDTH, replying, stepping

from compiler.analysis.rows import all_rows, kept_rows, row_itensor, row_tokens
from compiler.errors import VerificationError
from compiler.frontend.graph_json import graph_from_json, graph_to_json
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import folded, launched
from compiler.graph.linalg_graph import LinalgGraph, Row
from compiler.graph.program import Argument, BoundLoop
from compiler.graph.task_graph import LoadTask, StoreTask, TaskGraph
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
STATE = ITensor((2, 1, 8), "f32", (Loop(6, 1, 1), Loop(4, 8, 2)))


def folded_steps() -> LinalgGraph:
    graph = folded(stepping())
    assert graph is not None
    return graph


def tasks_of(knobs: Knobs) -> TaskGraph:
    tasks = planned_tasks(folded_steps(), knobs, U55C)
    tasks.verify()
    return tasks


def test_a_row_streams_as_its_state_without_the_loop_over_rows() -> None:
    assert row_itensor(STATE, 1) == ITensor((2, 8), "f32", (Loop(4, 8, 1),))
    assert row_tokens(STATE, 1) == 4
    with pytest.raises(VerificationError, match="does not stream one row along dimension 0 after the other"):
        row_itensor(STATE, 0)


def test_all_rows_lie_inside_the_layers_that_have_them() -> None:
    one = ITensor((1, 4), "f32", (Loop(3, 1, 0), Loop(2, 4, 1)))
    assert all_rows(one, Row("position", 5)).loops == (Loop(5, 1, 0), Loop(3, 1, 1), Loop(2, 4, 2))
    of_layers = all_rows(one, Row("position", 5, 1))
    assert (of_layers.loops, of_layers.shape) == ((Loop(3, 1, 0), Loop(5, 1, 1), Loop(2, 4, 2)), (3, 5, 8))


def test_a_launch_reads_the_rows_before_its_own_and_stores_that_into_one_image() -> None:
    tasks = tasks_of(Knobs())
    place = BoundLoop(1, Argument("position", SLOTS - 1))
    (store,) = (t for t in tasks.transfers if isinstance(t, StoreTask) and t.dma.at is not None)
    (load,) = (t for t in tasks.transfers if isinstance(t, LoadTask) and t.dma.below is not None)
    assert (store.dma.value, store.dma.at, load.dma.below) == ("h0.k_past", place, place)
    assert store.dma.layout == load.dma.layout
    assert store.dma.layout.shape == (2, SLOTS, WIDTH)
    assert store.streamed.shape == (2, WIDTH)
    assert not tasks.passes_through_memory(store)
    told = {task.name for task in tasks.transfers if task.dma.place is not None}
    assert told == {load.name, store.name, "load_seen"}


@pytest.mark.parametrize("width", [32, 96, 512, 1024, 2048])
def test_no_word_holds_parts_of_two_rows(width: int) -> None:
    for task in tasks_of(Knobs(stream_width=width, hbm_channels=2)).transfers:
        if task.dma.place is not None:
            inside = task.dma.layout.loops[task.dma.place.loop + 1 :]
            tokens = ITensor((1,), "f32", tuple(Loop(loop.trip, 1, 0) for loop in inside)).tokens
            assert tokens % task.dma.tokens_per_word == 0


def test_a_row_that_later_tokens_read_is_whole_words_or_refused() -> None:
    graph = folded(replying())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    tasks.verify()
    for name in ("store_h0_key", "store_next", "load_prompt"):
        task = tasks.task[name]
        assert isinstance(task, LoadTask | StoreTask)
        other = replace(task, dma=replace(task.dma, tokens_per_word=3))
        flawed = replace(tasks, tasks=tuple(other if t is task else t for t in tasks.tasks))
        with pytest.raises(
            VerificationError, match=rf"{name} moves a row of \d tokens, 3 in a word.* fewer tokens in a word"
        ):
            flawed.verify()


def test_layers_that_read_rows_of_tables_of_their_own_have_one_image() -> None:
    graph = stepping()
    (seen,) = (v for v in graph.values if v.name == "seen")
    other = replace(seen, name="seen_1", source="seen_1")
    ops = tuple(
        replace(op, inputs=tuple(replace(o, value="seen_1") if o.value == "seen" else o for o in op.inputs))
        if op.name.startswith("h1")
        else op
        for op in graph.ops
    )
    made = folded(replace(graph, values=(*graph.values, other), ops=ops))
    assert made is not None
    value = launched(made).value["seen"]
    assert (value.row, value.in_memory.shape) == (replace(POSITION, axis=1), (2, SLOTS, SLOTS + 1))


def test_a_state_that_two_operations_read_has_no_new_row() -> None:
    graph = stepping(1)
    (join,) = (op for op in graph.ops if op.kind == "concat")
    with pytest.raises(VerificationError, match=r"h0.key is to be a row of h0.k_past, which one concat must read"):
        kept_rows(replace(graph, ops=(*graph.ops, replace(join, name="again"))))


def test_rows_are_written_and_read_back() -> None:
    graph = stepping()
    assert graph_from_json(graph_to_json(graph)) == graph
    design = planned(folded_steps(), Knobs(), U55C)
    text = design_text(design, "in a test")
    assert 'param from "seen" row "position" of 6' in text
    assert '"h0.k" = "h0.key"[d0] as [1, 32] of layer 0 row "position" of 6' in text
    assert parse_design(text, U55C).graph == design.graph
