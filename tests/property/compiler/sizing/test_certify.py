"""Certificates of random designs, checked by fresh runs: no deadlock, no loss, none to spare, reasons that are true."""

from dataclasses import replace
from random import Random

import pytest
import random_tasks
from certificate import BOARD, check
from cycle_reference import run_reference
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tasks import RandomTasks, multigraphs, runs_to_the_end
from small_graphs import ALL

from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.sizing.certify import NOT_TRIED, certify


def _random_graph(edges: list[tuple[str, str]], data: st.DataObject) -> TaskGraph:
    made = RandomTasks(edges, data.draw)
    return TaskGraph("g", 1, tuple(made.tasks()), tuple(made.streams))


@given(multigraphs(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_random_graphs(edges: list[tuple[str, str]], data: st.DataObject):
    graph = _random_graph(edges, data)
    sizing = certify(graph, BOARD)
    check(graph, sizing)
    assert certify(graph, BOARD) == sizing


@given(multigraphs(), st.data(), st.randoms(use_true_random=False))
@settings(max_examples=examples(60), deadline=None)
def test_no_order_of_execution_deadlocks(edges: list[tuple[str, str]], data: st.DataObject, random: Random):
    """As in C simulation: a task makes its reads and writes one after the other."""
    sized = certify(_random_graph(edges, data), BOARD).tasks
    assert runs_to_the_end(sized.tasks, sized.streams, random)


@given(multigraphs(), st.data())
@settings(max_examples=examples(25), deadline=None)
def test_random_graphs_with_many_tokens(edges: list[tuple[str, str]], data: st.DataObject):
    """Steps of LUTRAM, block RAM and URAM, and a pace of which half a percent is some cycles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_tasks, "LOOPS", {"a": 16, "b": 9, "c": 10})
        graph = _random_graph(edges, data)
    check(graph, certify(graph, BOARD))


@given(multigraphs(), st.data())
@settings(max_examples=examples(8), deadline=None)
def test_the_reference_vouches_for_random_graphs(edges: list[tuple[str, str]], data: st.DataObject):
    graph = _random_graph(edges, data)
    check(graph, certify(graph, BOARD), run_reference)


def _design(name: str, rng: Random) -> TaskGraph:
    knobs = Knobs(
        default_tile_size=rng.choice((4, 8, 16)),
        overall_unroll=rng.choice((1, 8, 64, 256)),
        fusion_budget=rng.choice((1 << 20, 1 << 30)),
    )
    graph = planned_tasks(ALL[name](), knobs, BOARD)
    deeper = tuple(s._replace(depth=s.depth * rng.choice((1, 1, 7, 40))) for s in graph.streams)
    return replace(graph, streams=deeper)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ALL)
def test_designs_with_loads_and_stores(name: str, seed: int):
    graph = _design(name, Random(seed))
    check(graph, certify(graph, BOARD))


@given(multigraphs(), st.data(), st.integers(0, 3000))
@settings(max_examples=examples(40), deadline=None)
def test_whatever_the_effort_the_pace_is_kept(edges: list[tuple[str, str]], data: st.DataObject, effort: int):
    graph = _random_graph(edges, data)
    sizing = certify(graph, BOARD, effort)
    is_proven = all(s.reason != NOT_TRIED for s in sizing.tasks.streams)
    check(graph, sizing, proven=is_proven)
