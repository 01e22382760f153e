"""Relays: one on each die that a stream leaves, which pass on what it carries, in as many runs."""

import pytest
from small_dies import small_dies
from small_graphs import mlp
from tasks_by_hand import route

from compiler.analysis.relays import RELAY_DEPTH, relay_dies, relayed, relays, with_relays, writer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Repeat, tokens
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks

BOARD = small_dies(0.08)
TASKS = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=64), BOARD)
ALL_ON_ONE = {task.name: 1 for task in TASKS.tasks}


def pair(*written: LoopNest | Repeat, tokens: int, initial: int = 0) -> TaskGraph:
    """A task that writes the stream `x`, and one that reads it in one go."""
    read = (LoopNest((tokens,), (Access("x"),), ()),)
    itensor = ITensor((1,), "f32", (Loop(tokens, 1, 0),))
    stream = Stream("x", "from", "to", itensor, 7, "bram", "because", initial)
    return TaskGraph("pair", 1, (route("from", written), route("to", read)), (stream,))


def test_a_design_on_one_die_stays_as_it_is() -> None:
    assert relayed(TASKS, ALL_ON_ONE).tasks is TASKS
    assert relay_dies(TASKS.tasks, TASKS.streams, ALL_ON_ONE) == {}


@pytest.mark.parametrize(("begin", "end", "left"), [(0, 1, [0]), (0, 2, [0, 1]), (2, 0, [2, 1])])
def test_a_stream_has_a_relay_on_each_die_that_it_leaves(begin: int, end: int, left: list[int]) -> None:
    tasks = pair(LoopNest((12,), (), (Access("x"),)), tokens=12)
    found = relayed(tasks, {"from": begin, "to": end})
    found.tasks.verify()
    first, *between, last = found.tasks.tasks
    assert [found.die[relay.name] for relay in between] == left
    assert all(map(relays, between))
    assert not relays(first)
    assert [(t.timing.ii, t.timing.depth, t.timing.trips) for t in between] == [(1, 2, (12,))] * len(left)
    streams = found.tasks.streams
    assert [(s.source, s.target) for s in streams] == [
        (a.name, b.name) for a, b in zip([first, *between], [*between, last], strict=True)
    ]
    assert {s.depth for s in streams[:-1]} == {RELAY_DEPTH}
    assert streams[-1] == tasks.streams[0]._replace(source=between[-1].name), "its depth is with its reader"
    assert writer(found.tasks, "x") == first


def test_tokens_that_are_there_before_a_launch_wait_at_the_reader() -> None:
    tasks = pair(LoopNest((12,), (), (Access("x"),)), tokens=12, initial=3)
    assert [s.initial for s in relayed(tasks, {"from": 0, "to": 2}).tasks.streams] == [0, 0, 3]


def test_a_relay_ends_a_run_where_the_writer_ends_one() -> None:
    """Else a stalling pipeline would keep the last tokens of a layer, for which that layer waits."""
    inner = LoopNest((2, 6), (), (Access("x", (Gate(1, 0, 4),)),), restarts=1)
    tasks = pair(Repeat(3, (inner,)), LoopNest((5,), (), ()), LoopNest((5,), (), (Access("x"),)), tokens=29)
    relay = relayed(tasks, {"from": 0, "to": 1}).tasks.tasks[1]
    read, write = (Access("x_relay0_in"),), (Access("x"),)
    layer = Repeat(3, (Repeat(2, (LoopNest((4,), read, write),)),))
    assert relay.program == (layer, LoopNest((5,), read, write))


def test_what_follows_an_argument_is_passed_on_for_each_of_its_values() -> None:
    bound = BoundLoop(0, Argument("rows", 6))
    written = LoopNest((6, 4), (), (Access("x", (Gate(1, 3, 4),)),), bounds=(bound,))
    read = LoopNest((6,), (Access("x"),), (), bounds=(bound,))
    tasks = pair(written, tokens=6)
    followed = TaskGraph("pair", 1, (tasks.task["from"], route("to", (read,))), tasks.streams)
    found = relayed(followed, {"from": 1, "to": 0}).tasks
    found.verify()
    assert [tokens(found.at({"rows": rows}).tasks[1].program, "writes", "x") for rows in (0, 1, 6)] == [0, 1, 6]


def test_every_stream_of_a_design_that_crosses_has_relays_and_no_other() -> None:
    die = {task.name: n % 3 for n, task in enumerate(TASKS.tasks)}
    found = relayed(TASKS, die)
    found.tasks.verify()
    borders = sum(abs(die[s.source] - die[s.target]) for s in TASKS.streams)
    assert sum(map(relays, found.tasks.tasks)) == borders > 0
    for stream in found.tasks.streams:
        apart = abs(found.die[stream.source] - found.die[stream.target])
        assert apart == 0 or (apart == 1 and relays(found.tasks.task[stream.source]))
    made, streams = with_relays(TASKS.tasks, TASKS.streams, die)
    assert (set(made), set(streams)) == (set(found.tasks.tasks), set(found.tasks.streams))
