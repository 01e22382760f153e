"""The schedule of tasks that take turns: against the simulator, and what it refuses."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from random_turns import turning_graph, unbounded
from sizable_graphs import graph, stream
from tasks_by_hand import compute, load, route

from compiler.analysis import turns
from compiler.analysis.relays import relayed, relays
from compiler.analysis.schedule import schedule
from compiler.errors import UnsupportedError, VerificationError
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, Repeat
from compiler.graph.program import walked as walked_nests
from compiler.graph.task_graph import Dma, Task, TaskGraph, TimingSpec
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate

U55C = load_platform("u55c")
ROW = 16


def nest(*, reads: str = "", writes: str = "", last: str = "") -> LoopNest:
    """A row; `last` is written at its end."""
    ended = tuple(Access(name, (Gate(0, ROW - 1, ROW),)) for name in last.split())
    return LoopNest((ROW,), tuple(map(Access, reads.split())), (*map(Access, writes.split()), *ended))


def layered(layers: int, depth: int = 30, ii: int = 1) -> TaskGraph:
    """A task that works on a row of each of so many layers, and hands it back when all of it is there."""
    head = (nest(reads="x", writes="a"), Repeat(layers - 1, (nest(reads="back", writes="a"),)))
    tail = (Repeat(layers - 1, (nest(reads="b", writes="back"),)), nest(reads="b", writes="y"))
    tasks = (
        compute("source", TimingSpec((ROW,), 1, 4), writes=(Access("x"),)),
        route("head", head),
        compute("work", TimingSpec((), ii, depth), turns=(Repeat(layers, (nest(reads="a", writes="b"),)),)),
        route("tail", tail),
        compute("sink", TimingSpec((ROW,), 1, 4), (Access("y"),)),
    )
    streams = (
        stream("x", "source", "head", ROW),
        stream("a", "head", "work", layers * ROW),
        stream("b", "work", "tail", layers * ROW),
        stream("back", "tail", "head", (layers - 1) * ROW)._replace(feedback=True),
        stream("y", "tail", "sink", ROW),
    )
    return graph(tasks, streams)


def error(tasks: TaskGraph) -> float:
    """Of the estimate, against the simulation of FIFOs of any depth."""
    deep = unbounded(tasks)
    return sum(schedule(deep, U55C)[1]) / simulate(deep, U55C, buckets=0).cycles - 1


@pytest.mark.parametrize("layers", [2, 3, 9, 24, 1000])
@pytest.mark.parametrize("ii", [1, 3])
def test_the_slowest_cycle_is_the_period(layers: int, ii: int):
    assert abs(error(layered(layers, ii=ii))) < 0.001


def test_many_rounds_take_no_more_walking_than_few(monkeypatch: pytest.MonkeyPatch):
    walked, walk = list[Mapping[str, Program]](), turns._Walk
    monkeypatch.setattr(turns, "_Walk", lambda *given: (walked.append(given[-1]), walk(*given))[1])
    schedule(layered(1000), U55C)
    assert sum(len([*walked_nests(program)]) for programs in walked for program in programs.values()) < 50


def test_of_random_designs_few_are_off():
    errors = sorted(abs(error(turning_graph(seed))) for seed in range(100))
    assert errors[50] < 0.002
    assert errors[95] < 0.02
    assert errors[-1] < 0.08


@pytest.mark.parametrize("seed", [427, 120])
def test_a_stall_between_two_tokens_holds_up_the_second_one_only(seed: int):
    """Tasks that write in few of their iterations: 30 % and 10 % off with a knee at the iteration of the stall."""
    assert abs(error(turning_graph(seed))) < 0.002


def rounds_with_weights(depth: int) -> TaskGraph:
    """Four rounds: what comes late, then a product with weights from HBM whose FIFO has `depth`."""
    late, first, last = 4000, (Gate(0, 0, 1),), (Gate(0, 4095, 4096),)
    go = Access("go", (Gate(0, late - 1, late),))
    wait = (LoopNest((late,), (), (go,)), Repeat(3, (LoopNest((late,), (Access("back", first),), (go,)),)))
    reads = (Access("go", first), Access("weights"))
    product = (Repeat(3, (LoopNest((4096,), reads, (Access("back", last),)),)), LoopNest((4096,), reads, ()))
    timing = TimingSpec((4 * 4096,), 1, U55C.hbm.read_latency_cycles + 2)
    weights = stream("weights", "params", "product", 4 * 4096, 16, depth)
    tasks = (
        load("params", timing, "weights", Dma("params", weights.itensor, 1, 1, 1, 512)),
        compute("wait", TimingSpec((), 1, 4), turns=wait),
        compute("product", TimingSpec((), 1, 4), turns=product),
    )
    streams = (
        weights,
        stream("go", "wait", "product", 4),
        stream("back", "product", "wait", 3)._replace(feedback=True),
    )
    return graph(tasks, streams)


@pytest.mark.parametrize("depth", [2, 512, 2048])
@pytest.mark.parametrize("borders", [0, 1, 2])
def test_a_load_waits_for_its_reader_in_each_round(borders: int, depth: int):
    at = {"params": 0, "wait": borders, "product": borders}
    tasks = relayed(rounds_with_weights(depth), at).tasks
    carriers = ["params", *(task.name for task in tasks.tasks if relays(task))]
    assert len(carriers) == 1 + borders
    times, lengths = schedule(tasks, U55C)
    simulated = simulate(tasks, U55C, buckets=0)
    assert sum(lengths) == pytest.approx(simulated.cycles, rel=0.02)
    ends = {task.name: task.end for task in simulated.tasks}
    assert [times[name].end for name in carriers] == pytest.approx([ends[name] for name in carriers], rel=0.07)


def test_a_loop_within_one_nest_is_refused_by_name():
    tasks = (
        compute("a", TimingSpec((ROW,), 1, 4), (Access("back"),), (Access("on"),)),
        compute("b", TimingSpec((ROW,), 1, 4), (Access("on"),), (Access("back"),)),
    )
    streams = (
        stream("on", "a", "b", ROW),
        stream("back", "b", "a", ROW)._replace(feedback=True, initial=2),
    )
    with pytest.raises(UnsupportedError, match=r"a waits for tokens of back that are written only while it runs"):
        schedule(graph(tasks, streams), U55C)


def rows(value: int | None = None) -> TaskGraph:
    """A row whose length is an argument, and another that is read when its total is known."""
    bounds = (BoundLoop(0, Argument("position", 2 * ROW, 2)),)
    last = (Gate(0, ROW - 1, ROW),)
    tasks: tuple[Task, ...] = (
        compute("score", TimingSpec((ROW,), 1, 9, bounds=bounds), (), (Access("s"), Access("total", last))),
        compute("weigh", TimingSpec((ROW,), 2, 9, bounds=bounds), (Access("s"), Access("total", (Gate(0, 0, 1),)))),
    )
    found = graph(tasks, (stream("s", "score", "weigh", ROW), stream("total", "score", "weigh", 1)))
    return found if value is None else found.at({"position": value})


@pytest.mark.parametrize("value", [1, 2, 3, 17, 31, 32])
def test_an_argument_has_the_cycles_of_its_value(value: int):
    assert error(rows(value)) == pytest.approx(0, abs=0.02)
    assert schedule(rows(value), U55C)[1][0] == pytest.approx(2 * 9 + 3 * -(-value // 2), abs=4)


def test_nothing_is_done_for_no_position():
    assert schedule(rows(0), U55C)[1] == (0.0,)
    assert simulate(rows(), U55C, launches=({"position": 0},), buckets=0).cycles == 0


def test_a_stream_must_be_even_at_every_value():
    uneven = rows()
    score, weigh = uneven.tasks
    constant = replace(weigh, timing=replace(weigh.timing, bounds=()))
    with pytest.raises(VerificationError, match="at position 0 score writes 0 tokens to s, weigh reads 16"):
        replace(uneven, tasks=(score, constant)).verify()
