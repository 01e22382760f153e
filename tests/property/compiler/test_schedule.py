"""The native core says when tasks run with the very bits of the Python that it stands for."""

import pytest
import slow_schedule
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_turns import turning_graph, unbounded
from small_graphs import mlp, quantised

from compiler.analysis.schedule import schedule
from compiler.graph.task_graph import TaskGraph
from compiler.options import Engines, FifoStrategy, Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def compare(tasks: TaskGraph) -> None:
    assert schedule(tasks, U55C) == slow_schedule.schedule(tasks, U55C)


@given(st.integers(0, 1 << 20), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_of_tasks_that_take_turns(seed: int, deep: bool):
    tasks = turning_graph(seed)
    compare(unbounded(tasks) if deep else tasks)
    for argument in tasks.arguments:
        compare(tasks.at({argument.name: argument.most // 2}))


@pytest.mark.parametrize("fifo", ["conservative", "normal", "whole"])
@pytest.mark.parametrize("engines", ["own", "shared"])
@given(st.sampled_from([4, 16, 64]), st.sampled_from([1, 16, 128]), st.sampled_from([0, 64]))
@settings(max_examples=examples(20), deadline=None)
def test_of_planned_designs(fifo: FifoStrategy, engines: Engines, tile: int, unroll: int, prefetch: int):
    knobs = Knobs(default_tile_size=tile, overall_unroll=unroll, prefetch_kib=prefetch, fifo=fifo, engines=engines)
    compare(planned_tasks(quantised(), knobs, U55C))
    compare(planned_tasks(mlp(), knobs, U55C))
