"""Certified depths of designs that go round: at every value of their arguments, and no FIFO with a token to spare."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from certificate import BOARD
from random_turns import turning_graph, unbounded
from sizable_graphs import graph, stream
from slow_turning import turning_schedule
from tasks_by_hand import compute, route

from compiler.analysis import memory_steps
from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.fifo import size_fifos
from compiler.errors import UnsupportedError, VerificationError
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, Repeat, Values, all_launches
from compiler.graph.task_graph import Task, TaskGraph, TimingSpec
from compiler.options import Equalisation, FifoStrategy
from compiler.simulator.timing.simulate import simulate
from compiler.sizing import certify as module
from compiler.sizing.certify import as_given, certify
from compiler.sizing.lp import lp_depths
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


def layered(layers: int = LAYERS) -> TaskGraph:
    """Layers, each of which hands back its row only when all of it is done: `back` must hold a whole row."""
    head: Program = (row(reads="x", writes="a"), Repeat(layers - 1, (row(reads="back", writes="a", first="all"),)))
    tail: Program = (Repeat(layers - 1, (row(reads="b", writes="back", last="all"),)), row(reads="b", writes="y"))
    tasks = (
        task("source", row(writes="x")),
        route("head", head),
        task("work", Repeat(layers, (row(reads="a", writes="b"),))),
        route("tail", tail),
        task("sink", row(reads="y")),
    )
    again = layers - 1
    streams = (
        stream("x", "source", "head", ROW),
        stream("a", "head", "work", layers * ROW),
        stream("b", "work", "tail", layers * ROW),
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
    found = simulate(tasks, BOARD, launches=(values or {},), buckets=0).deadlock
    return "" if found is None else found.text


def with_depth(tasks: TaskGraph, name: str, depth: int) -> TaskGraph:
    return replace(tasks, streams=tuple(s._replace(depth=depth) if s.name == name else s for s in tasks.streams))


@pytest.mark.parametrize(("design", "fifo"), [(layered, "back"), (rows, "kept")])
def test_a_row_is_held_and_one_token_less_is_a_deadlock_by_name(design: Callable[[], TaskGraph], fifo: str):
    sized = certify(design(), BOARD).tasks
    assert sized.stream[fifo].depth >= ROW
    assert deadlock(with_depth(sized, fifo, ROW)) == ""
    assert fifo in deadlock(with_depth(sized, fifo, ROW - 2))
    with pytest.raises(VerificationError, match=fifo):
        as_given(with_depth(sized, fifo, 2), BOARD)


@pytest.mark.parametrize("seed", range(12))
def test_no_value_of_an_argument_deadlocks_or_is_slow(seed: int):
    design = turning_graph(seed)
    sized = certify(design, BOARD, 300_000).tasks
    for values in all_launches(design.arguments):
        found, most = (simulate(g, BOARD, launches=(values,), buckets=0) for g in (sized, unbounded(sized)))
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
    assert certify(detour(), BOARD).tasks.stream["near"].depth == MIN_DEPTH
    monkeypatch.setattr(module, "all_launches", lambda _: ({}, short))
    found = certify(detour(), BOARD).tasks.stream["near"]
    assert found.depth > 2
    assert found.reason == module.ONE_VALUE


@pytest.mark.parametrize("strategy", get_args(FifoStrategy))
@pytest.mark.parametrize(("design", "fifo"), [(layered, "back"), (rows, "kept")])
def test_by_rule_the_row_is_held_that_must_be(design: Callable[[], TaskGraph], fifo: str, strategy: FifoStrategy):
    sized = by_rule(design(), strategy)
    assert sized.stream[fifo].depth >= ROW
    assert strategy == "whole" or sized.stream[fifo].depth <= ROW + 2
    assert all(deadlock(sized, values) == "" for values in all_launches(sized.arguments))
    most = simulate(unbounded(sized), BOARD, buckets=0).cycles
    assert simulate(sized, BOARD, buckets=0).cycles <= most * (1 + SLACK)


@pytest.mark.parametrize("strategy", get_args(Equalisation))
def test_many_rounds_need_no_more_than_few_and_are_no_more_to_look_at(strategy: Equalisation):
    few, many = layered(24), layered(2400)
    schedules = [turning_schedule(each.tasks, each.streams, strategy) for each in (few, many)]
    assert len(schedules[0].events) == len(schedules[1].events) < 50
    assert [s.depth for s in by_rule(few, strategy).streams] == [s.depth for s in by_rule(many, strategy).streams]
    assert deadlock(by_rule(many, strategy)) == ""


def reply(tokens: int, layers: int) -> TaskGraph:
    """Tokens one after the other, each through all layers: repetitions inside a repetition."""
    head = (row(reads="x", writes="a"), Repeat(layers - 1, (row(reads="back", writes="a"),)))
    tail = (Repeat(layers - 1, (row(reads="b", writes="back"),)), row(reads="b", writes="y", last="next"))
    tasks = (
        task("source", row(writes="x"), Repeat(tokens - 1, (row(writes="x", first="next"),))),
        route("head", (Repeat(tokens, head),)),
        task("work", Repeat(tokens, (Repeat(layers, (row(reads="a", writes="b"),)),))),
        route("tail", (Repeat(tokens - 1, tail), *tail[:1], row(reads="b", writes="y"))),
        task("sink", Repeat(tokens, (row(reads="y"),))),
    )
    streams = (
        stream("x", "source", "head", tokens * ROW),
        stream("a", "head", "work", tokens * layers * ROW),
        stream("b", "work", "tail", tokens * layers * ROW),
        stream("back", "tail", "head", tokens * (layers - 1) * ROW)._replace(feedback=True),
        stream("next", "tail", "source", tokens - 1)._replace(feedback=True),
        stream("y", "tail", "sink", tokens * ROW),
    )
    return graph(tasks, streams)


@pytest.mark.parametrize("strategy", get_args(FifoStrategy))
def test_repetitions_inside_a_repetition(strategy: FifoStrategy):
    few, many = reply(3, 4), reply(40, 14)
    assert deadlock(by_rule(few, strategy)) == deadlock(by_rule(many, strategy)) == ""
    if strategy != "whole":
        assert len(turning_schedule(many.tasks, many.streams, strategy).events) < 200
        assert max(s.depth for s in by_rule(many, strategy).streams) <= ROW + 2


def test_a_loop_within_one_nest_has_no_depth_by_rule_but_a_certificate():
    tasks = (
        compute("a", TimingSpec((ROW,), 1, 4), (Access("back"),), (Access("on"),)),
        compute("b", TimingSpec((ROW,), 1, 4), (Access("on"),), (Access("back"),)),
    )
    streams = (stream("on", "a", "b", ROW), stream("back", "b", "a", ROW)._replace(feedback=True, initial=2, depth=4))
    design = graph(tasks, streams)
    with pytest.raises(
        UnsupportedError, match=r"b waits for tokens of on that are written only while it runs.*certify"
    ):
        by_rule(design, "normal")
    assert deadlock(certify(design, BOARD).tasks) == ""


def test_the_program_plans_what_goes_round_for_less_than_the_rule():
    prices = [
        (price(by_rule(turning_graph(seed), "normal")), price(planned(turning_graph(seed)))) for seed in range(12)
    ]
    assert all(program <= rule for rule, program in prices)
    assert sum(program < 0.95 * rule for rule, program in prices) >= 2


def by_rule(tasks: TaskGraph, strategy: FifoStrategy) -> TaskGraph:
    return replace(tasks, streams=size_fifos(tasks.tasks, tasks.streams, strategy))


def planned(tasks: TaskGraph) -> TaskGraph:
    depths = lp_depths(tasks, "normal", BOARD.memories)
    return replace(tasks, streams=tuple(s._replace(depth=depths[s.name]) for s in tasks.streams))


def price(tasks: TaskGraph) -> float:
    return sum(memory_steps.price(s.width, s.depth, BOARD.memories) for s in tasks.streams)
