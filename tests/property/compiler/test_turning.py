"""Schedules of designs that go round, against the time of every single read and write in all of their rounds."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, product
from typing import get_args

import pytest
from examples import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from random_tasks import admits
from random_turns import turning_graph
from slow_turning import Event, TurningSchedule, events_of
from slow_turning import turning_schedule as slow_schedule

from compiler.analysis.affine_schedule import window
from compiler.analysis.fifo import by_kernel, plan_schedule, size_fifos, swept_starts
from compiler.analysis.memory_steps import price
from compiler.analysis.turning import turning_schedule
from compiler.graph.program import Access, Gate, LoopNest, Program, telling_values, without_single_rounds
from compiler.graph.task_graph import LoadTask, Task, TaskGraph
from compiler.options import Equalisation, FifoStrategy
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.lp import Plan, best_starts, lp_depths

U55C = load_platform("u55c")
ROUNDING = 1e-6
KEPT = 1e-5  # cycles
MANY = 8000  # tokens that are looked at one by one

seeds = st.integers(0, 100_000)
equalisations = st.sampled_from(["conservative", "normal"])


def _iterations(nest: LoopNest, access: Access) -> list[int]:
    return [i for i, index in enumerate(product(*map(range, nest.trips))) if admits(access, index)]


@st.composite
def accesses(draw: st.DrawFn) -> tuple[tuple[int, ...], Access]:
    trips = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    gates: list[Gate] = []
    for loop, trip in enumerate(trips):
        if draw(st.booleans()):
            low = draw(st.integers(0, trip - 1))
            gates.append(Gate(loop, low, draw(st.integers(low + 1, trip))))
    return trips, Access("s", tuple(gates))


@given(accesses())
@settings(max_examples=examples(200), deadline=None)
def test_tokens_pass_within_the_bounds_of_a_window_and_reach_them(case: tuple[tuple[int, ...], Access]):
    trips, access = case
    nest = LoopNest(trips, (access,), ())
    found, times = window(trips, access.gates, 0, nest.iterations), _iterations(nest, access)
    assert found.tokens == len(times)
    apart = [at / nest.iterations - (found.begin + n * found.each) for n, at in enumerate(times)]
    assert max(0.0, *apart, 0.0) == pytest.approx(found.late, abs=ROUNDING)
    assert max(0.0, *(-x for x in apart), 0.0) == pytest.approx(found.early, abs=ROUNDING)


def _small(seed: int) -> TaskGraph:
    graph = turning_graph(seed)
    assume(sum(stream.tokens for stream in graph.streams) <= MANY)
    return graph


def _working(graph: TaskGraph) -> list[Task]:
    return [task for task in graph.tasks if not isinstance(task, LoadTask)]


def _all_events(graph: TaskGraph, schedule: TurningSchedule) -> Iterator[tuple[Event, float]]:
    """Every event of all rounds with what it starts later than its activity: what comes behind the rounds that were not
    looked at is as much later as these take.
    """
    tasks = _working(graph)
    looked_at = defaultdict[str, int](int)
    period: dict[str, float] = {}
    for event, shift in schedule.events:
        for repeat, time in event.rounds:
            looked_at[repeat] = max(looked_at[repeat], time)
            if time == 1:
                period[repeat] = shift
    programs = {task.name: without_single_rounds(task.program) for task in tasks}
    events = events_of(tasks, programs, graph.streams)
    late: set[int] = set()
    before = defaultdict[int, list[int]](list)
    for source, target in (*events.next.items(), *((part.source, part.target) for part in events.parts)):
        before[target].append(source)
    left = max((out.rounds * period[repeat] for out in schedule.left for repeat in period), default=0.0)
    for number, event in enumerate(events.events):
        if event.rounds:
            late.add(number)
            yield event, sum(time * period.get(repeat, 0.0) for repeat, time in event.rounds)
        elif late.intersection(before[number]):
            late.add(number)
            yield event, left
        else:
            yield event, 0.0


@given(seeds, equalisations)
@settings(max_examples=examples(40), deadline=None)
def test_in_all_rounds_no_token_is_read_before_it_is_written_nor_are_more_in_flight(
    seed: int, equalisation: Equalisation
):
    graph = _small(seed)
    schedule = slow_schedule(graph.tasks, graph.streams, equalisation)
    start = swept_starts(schedule)
    paces, depths = schedule.stretched(start), schedule.depths(start)
    flat = {
        name: nest
        for task in _working(graph)
        for name, nest in _nests(without_single_rounds(task.program), f"{task.name}/")
    }
    written, read = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    ends: dict[str, float] = {}
    for event, shift in _all_events(graph, schedule):
        name = event.activity.name
        begin, pace, nest = start[name] + shift, paces[name], flat[name.replace("#0", "")]
        assert begin >= ends.get(event.activity.task, 0.0) - ROUNDING
        ends[event.activity.task] = begin + pace
        for moved, accesses_ in ((written, nest.writes), (read, nest.reads)):
            for access in accesses_:
                moved[access.stream] += [begin + pace * i / nest.iterations for i in _iterations(nest, access)]
    for name, depth in depths.items():
        assert len(written[name]) == len(read[name]) == graph.stream[name].tokens
        latency = graph.task[graph.stream[name].source].timing.depth
        pairs = zip(sorted(written[name]), sorted(read[name]), strict=True)
        assert all(w + latency <= r + ROUNDING * max(1.0, r) for w, r in pairs)
        moves = sorted([(w, 1) for w in written[name]] + [(r, -1) for r in read[name]])
        assert max(accumulate(change for _, change in moves)) <= depth


def _nests(program: Program, path: str) -> Iterator[tuple[str, LoopNest]]:
    """The nests by the names of their activities."""
    for number, part in enumerate(program):
        if isinstance(part, LoopNest):
            yield f"{path}{number}", part
        else:
            yield from _nests(part.body, f"{path}{number}.")


@given(seeds, equalisations)
@settings(max_examples=examples(100), deadline=None)
def test_the_native_core_has_the_same_bits(seed: int, equalisation: Equalisation):
    graph = turning_graph(seed)
    for values in ({}, *telling_values(graph.arguments)):
        tasks = [task.at(values) for task in graph.tasks]
        quick, slow = (plan(tasks, graph.streams, equalisation) for plan in (turning_schedule, slow_schedule))
        assert (quick.nodes, quick.edges, quick.phases) == (slow.nodes, slow.edges, slow.phases)
        start = swept_starts(slow)
        assert swept_starts(quick) == start
        assert quick.depths(start) == slow.depths(start)
        late = {node: start[node] + 100.0 * n for n, node in enumerate(quick.nodes)}
        assert quick.earliest(late) == slow.earliest(late)
        assert quick.depths(quick.earliest(late)) == slow.depths(slow.earliest(late))


@given(seeds, st.sampled_from(get_args(FifoStrategy)))
@example(515, "normal")  # needs more at one tile than at the largest value
@settings(max_examples=examples(25), deadline=None)
def test_no_launch_deadlocks_by_rule(seed: int, strategy: FifoStrategy):
    graph = turning_graph(seed)
    _runs(replace(graph, streams=size_fifos(graph.tasks, graph.streams, strategy)))


@given(seeds, equalisations)
@settings(max_examples=examples(15), deadline=None)
def test_no_launch_deadlocks_by_the_program_which_is_no_dearer(seed: int, equalisation: Equalisation):
    graph = turning_graph(seed)
    planned = lp_depths(graph, equalisation, U55C.memories)
    _runs(replace(graph, streams=tuple(s._replace(depth=planned[s.name]) for s in graph.streams)))
    swept = size_fifos(graph.tasks, graph.streams, equalisation)
    prices = [
        [price(s.width, depth, U55C.memories) for s, depth in each]
        for each in ([(s, s.depth) for s in swept], [(s, planned[s.name]) for s in swept])
    ]
    assert sum(prices[1]) <= sum(prices[0])


@given(seeds, equalisations)
@settings(max_examples=examples(15), deadline=None)
def test_starts_of_the_program_keep_the_lags(seed: int, equalisation: Equalisation):
    (part,) = by_kernel((graph := turning_graph(seed)).tasks, graph.streams)
    schedule = plan_schedule(part, equalisation)
    start = best_starts(Plan(part, schedule, equalisation, U55C.memories))
    for edge in (*schedule.edges, *schedule.phases):
        assert start[edge.target] - start[edge.source] >= edge.lag - KEPT


def _runs(sized: TaskGraph) -> None:
    for values in ({}, *telling_values(sized.arguments)):
        found = simulate(sized, U55C, launches=(values,), buckets=0).deadlock
        assert found is None, found
