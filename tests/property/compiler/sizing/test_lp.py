"""Depths by the linear program: no deadlock on random graphs, and never dearer than the sweeps of the search."""

from collections.abc import Sequence
from random import Random

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tasks import RandomTasks, multigraphs, runs_to_the_end

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.fifo import by_kernel, plan_schedule, size_fifos
from compiler.analysis.memory_steps import price
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.options import Equalisation
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import Fifo, Network, Process
from compiler.sizing.lp import Plan, best_starts, lp_depths

MEMORIES = load_platform("u55c").memories

KEPT = 1e-6  # cycles

equalisations = st.sampled_from(["conservative", "normal"])


def _price(streams: Sequence[Stream]) -> float:
    return sum(price(s.width, s.depth, MEMORIES) for s in streams)


def _network(tasks: Sequence[Task], streams: Sequence[Stream]) -> Network:
    processes = (
        Process.of_nest(t.name, t.timing.trips, t.timing.ii, max(2, t.timing.depth), t.reads, t.writes) for t in tasks
    )
    return Network(tuple(processes), tuple(Fifo(s.name, s.source, s.target, s.depth) for s in streams))


@given(multigraphs(), st.data(), equalisations, st.randoms(use_true_random=False))
@settings(max_examples=examples(80), deadline=None)
def test_no_order_of_execution_deadlocks(
    edges: list[tuple[str, str]], data: st.DataObject, equalisation: Equalisation, random: Random
):
    graph = RandomTasks(edges, data.draw)
    tasks = graph.tasks()
    depths = lp_depths(TaskGraph("g", 1, tuple(tasks), tuple(graph.streams)), equalisation, MEMORIES)
    streams = [s._replace(depth=depths[s.name]) for s in graph.streams]
    assert runs_to_the_end(tasks, streams, random)
    assert not run(_network(tasks, streams)).deadlocked
    assert all(MIN_DEPTH <= s.depth <= max(MIN_DEPTH, s.tokens) for s in streams)
    assert _price(streams) <= _price(size_fifos(tasks, graph.streams, equalisation))


@given(multigraphs(), st.data(), equalisations)
@settings(max_examples=examples(40), deadline=None)
def test_starts_keep_the_lags(edges: list[tuple[str, str]], data: st.DataObject, equalisation: Equalisation):
    graph = RandomTasks(edges, data.draw)
    (part,) = by_kernel(graph.tasks(), graph.streams)
    schedule = plan_schedule(part, equalisation)
    start = best_starts(Plan(part, schedule, equalisation, MEMORIES))
    for edge in (*schedule.edges, *schedule.phases):
        assert start[edge.target] - start[edge.source] >= edge.lag - KEPT
