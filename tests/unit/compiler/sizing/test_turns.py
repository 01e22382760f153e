"""Certified depths of designs that go round: at every value of their arguments, and no FIFO with a token to spare."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from certificate import U55C
from random_turns import turning_graph, unbounded
from sizable_graphs import graph, stream
from tasks_by_hand import compute, route

from compiler.analysis.fifo import size_fifos
from compiler.errors import UnsupportedError, VerificationError
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, Repeat, Values, all_launches
from compiler.graph.task_graph import Task, TaskGraph, TimingSpec
from compiler.simulator.timing.simulate import simulate
from compiler.sizing import certify as module
from compiler.sizing.certify import as_given, certify
from compiler.sizing.trial import SLACK

ROW, LAYERS = 40, 4
POSITION = Argument("position", 320, 8)


def row(*, reads: str = "", writes: str = "", first: str = "", last: str = "", bound: bool = False) -> LoopNest:
    """One loop over a row; `first` is read before it, `last` written behind it."""
    begun = tuple(Access(name, (Gate(0, 0, 1),)) for name in first.split())
    ended = tuple(Access(name, (Gate(0, ROW - 1, ROW),)) for name in last.split())
    bounds = (BoundLoop(0, POSITION),) if bound else ()
    return LoopNest(
        (ROW,), (*map(Access, reads.split()), *begun), (*map(Access, writes.split()), *ended), bounds=bounds
    )


def task(name: str, *turns: LoopNest | Repeat) -> Task:
    return compute(name, TimingSpec((), 1, 4), turns=turns)


def layered() -> TaskGraph:
    """Layers, each of which hands back its row only when all of it is done: `back` must hold a whole row."""
    head: Program = (row(reads="x", writes="a"), Repeat(LAYERS - 1, (row(reads="back", writes="a", first="all"),)))
    tail: Program = (Repeat(LAYERS - 1, (row(reads="b", writes="back", last="all"),)), row(reads="b", writes="y"))
    tasks = (
        task("source", row(writes="x")),
        route("head", head),
        task("work", Repeat(LAYERS, (row(reads="a", writes="b"),))),
        route("tail", tail),
        task("sink", row(reads="y")),
    )
    again = LAYERS - 1
    streams = (
        stream("x", "source", "head", ROW),
        stream("a", "head", "work", LAYERS * ROW),
        stream("b", "work", "tail", LAYERS * ROW),
        stream("back", "tail", "head", again * ROW)._replace(feedback=True),
        stream("all", "tail", "head", again)._replace(feedback=True),
        stream("y", "tail", "sink", ROW),
    )
    return graph(tasks, streams)


def rows() -> TaskGraph:
    """A row of scores of any length, which is read when its total is known."""
    tasks = (
        task("score", row(writes="kept", last="total", bound=True)),
        task("weigh", row(reads="kept", first="total", bound=True)),
    )
    return graph(tasks, (stream("kept", "score", "weigh", ROW), stream("total", "score", "weigh", 1)))


def deadlock(tasks: TaskGraph, values: Values | None = None) -> str:
    found = simulate(tasks, U55C, launches=(values or {},), buckets=0).deadlock
    return "" if found is None else found.text


def with_depth(tasks: TaskGraph, name: str, depth: int) -> TaskGraph:
    return replace(tasks, streams=tuple(s._replace(depth=depth) if s.name == name else s for s in tasks.streams))


@pytest.mark.parametrize(("design", "fifo"), [(layered, "back"), (rows, "kept")])
def test_a_row_is_held_and_one_token_less_is_a_deadlock_by_name(design: Callable[[], TaskGraph], fifo: str):
    sized = certify(design(), U55C).tasks
    assert sized.stream[fifo].depth >= ROW
    assert deadlock(with_depth(sized, fifo, ROW)) == ""
    assert fifo in deadlock(with_depth(sized, fifo, ROW - 2))
    with pytest.raises(VerificationError, match=fifo):
        as_given(with_depth(sized, fifo, 2), U55C)


@pytest.mark.parametrize("seed", range(12))
def test_no_value_of_an_argument_deadlocks_or_is_slow(seed: int):
    design = turning_graph(seed)
    sized = certify(design, U55C, 300_000).tasks
    for values in all_launches(design.arguments):
        found, most = (simulate(g, U55C, launches=(values,), buckets=0) for g in (sized, unbounded(sized)))
        assert found.deadlock is None
        assert found.cycles <= most.cycles * (1 + SLACK)


def detour(most: int = 10_000) -> TaskGraph:
    """Until a first token has gone the long way round, what goes the short one waits: some cycles, however many tokens
    there are.
    """
    bounds, first = (BoundLoop(0, Argument("position", most)),), (Gate(0, 0, 1),)
    tasks = (
        compute("fork", TimingSpec((most,), 2, 3, bounds=bounds), (), (Access("near"), Access("go", first))),
        compute("slow", TimingSpec((most,), 1, 40, bounds=bounds), (Access("go", first),), (Access("far", first),)),
        compute("join", TimingSpec((most,), 1, 3, bounds=bounds), (Access("near"), Access("far", first))),
    )
    streams = (stream("near", "fork", "join", most), stream("go", "fork", "slow", 1), stream("far", "slow", "join", 1))
    return graph(tasks, streams)


def test_what_is_little_of_a_long_row_is_not_lost_on_a_short_one(monkeypatch: pytest.MonkeyPatch):
    short: Values = {"position": 20}
    monkeypatch.setattr("compiler.sizing.trial.all_launches", lambda _: ({}, short))
    monkeypatch.setattr(module, "all_launches", lambda _: ({},))
    assert certify(detour(), U55C).tasks.stream["near"].depth == 2
    monkeypatch.setattr(module, "all_launches", lambda _: ({}, short))
    found = certify(detour(), U55C).tasks.stream["near"]
    assert found.depth > 2
    assert found.reason == module.ONE_VALUE


def test_the_fifo_rule_says_that_it_does_not_know_loops():
    design = layered()
    with pytest.raises(UnsupportedError, match=r"source goes round.*certify"):
        size_fifos(design.tasks, design.streams, "normal")
