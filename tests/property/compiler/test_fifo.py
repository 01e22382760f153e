"""FIFO depths: on random dataflow graphs with random loop nests, no order of execution deadlocks."""

from random import Random
from typing import get_args

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tasks import RandomTasks, multigraphs, runs_to_the_end
from tasks_by_hand import compute

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.cycles import biconnected_components, bridges
from compiler.analysis.fifo import size_fifos
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import ForkTask, Stream, TimingSpec
from compiler.options import FifoStrategy


def test_what_leads_back_to_its_own_task_is_on_a_cycle():
    row = ITensor((1,), "f32", (Loop(4, 1, 0),))
    streams = [Stream("on", "a", "b", row), Stream("own", "b", "b", row)]
    assert bridges(streams) == {"on"}


def _connected(edges: list[tuple[str, str]], start: str, goal: str, without: int) -> bool:
    """Whether `goal` is reached from `start` when edge `without` is gone, directions ignored."""
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        for k, (a, b) in enumerate(edges):
            if k != without and node in (a, b):
                other = b if node == a else a
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
    return goal in seen


@given(multigraphs())
@settings(max_examples=examples(200), deadline=None)
def test_an_edge_shares_its_component_iff_it_lies_on_a_cycle(edges: list[tuple[str, str]]):
    component = biconnected_components(tuple(edges))
    assert min(component) >= 0
    for k, (a, b) in enumerate(edges):
        alone = component.count(component[k]) == 1
        assert alone == (not _connected(edges, a, b, k))


@given(multigraphs(), st.data(), st.sampled_from(get_args(FifoStrategy)), st.randoms(use_true_random=False))
@settings(max_examples=examples(300), deadline=None)
def test_no_order_of_execution_deadlocks(
    edges: list[tuple[str, str]], data: st.DataObject, strategy: FifoStrategy, random: Random
):
    graph = RandomTasks(edges, data.draw)
    tasks = graph.tasks()
    streams = size_fifos(tasks, graph.streams, strategy)
    assert runs_to_the_end(tasks, streams, random)
    assert all(MIN_DEPTH <= s.depth <= max(MIN_DEPTH, s.tokens) for s in streams)


def test_paths_of_different_length_deadlock_in_shallow_fifos():
    """The reference notices: a task that reads a whole row before its other input needs that row's depth."""
    row = ITensor((1,), "f32", (Loop(12, 1, 0),))
    one = ITensor((1,), "f32", (Loop(1, 1, 0),))
    timing = TimingSpec((12,), 1, 3)
    tasks = [
        ForkTask("fork", 0, timing, (), (Access("direct"), Access("to_sum"))),
        compute("sum", timing, (Access("to_sum"),), (Access("sum", (Gate(0, 11, 12),)),)),
        compute("centre", timing, (Access("direct"), Access("sum", (Gate(0, 0, 1),))), ()),
    ]
    shallow = (
        Stream("direct", "fork", "centre", row),
        Stream("to_sum", "fork", "sum", row),
        Stream("sum", "sum", "centre", one),
    )
    assert not runs_to_the_end(tasks, shallow, Random(0))
    sized = size_fifos(tasks, shallow, "conservative")
    assert runs_to_the_end(tasks, sized, Random(0))
    assert sized[0].depth == 12  # the whole row waits for its sum
