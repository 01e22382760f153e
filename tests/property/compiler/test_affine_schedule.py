"""Lags and tokens in flight of an affine schedule against the time of every single read and write."""

from itertools import product

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tasks import admits
from tasks_by_hand import compute, load

from compiler.analysis.affine_schedule import affine_schedule, drain_node, equal_paces, own_paces
from compiler.analysis.tasks import converter_task
from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import Dma, Stream, Task, TimingSpec
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")

ROUNDING = 1e-6


def _stream(name: str, source: str, target: str, tokens: int) -> Stream:
    return Stream(name, source, target, ITensor((1,), "f32", (Loop(tokens, 1, 0),)))


@st.composite
def gated(draw: st.DrawFn, kept: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Gate, ...]]:
    """Loops over `kept` in that order, and others between in one iteration of which the access happens."""
    trips: list[int] = []
    gates: list[Gate] = []
    for extent in (*kept, None):
        if draw(st.booleans()):
            trip = draw(st.integers(2, 4))
            at = draw(st.integers(0, trip - 1))
            gates.append(Gate(len(trips), at, at + 1))
            trips.append(trip)
        if extent is not None:
            trips.append(extent)
    return tuple(trips), tuple(gates)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Task, Task, Stream]:
    kept = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    (written, write_gates), (read, read_gates) = draw(gated(kept)), draw(gated(kept))
    tokens = 1
    for extent in kept:
        tokens *= extent
    depth = draw(st.integers(1, 9))
    source = compute("a", TimingSpec(written, 1, depth), (), (Access("s", write_gates),))
    target = compute("b", TimingSpec(read, 1, 2), (Access("s", read_gates),), ())
    return source, target, _stream("s", "a", "b", tokens)


def _times(task: Task, access: Access, start: float, pace: float) -> list[float]:
    indices = list(product(*(range(trip) for trip in task.timing.trips)))
    return [start + pace * i / len(indices) for i, index in enumerate(indices) if admits(access, index)]


@given(pairs(), st.integers(1, 200), st.integers(1, 200), st.integers(0, 100))
@settings(max_examples=examples(400), deadline=None)
def test_no_token_is_read_before_it_is_written_nor_are_more_in_flight(
    case: tuple[Task, Task, Stream], source_pace: int, target_pace: int, later: int
):
    source, target, stream = case
    paces = {"a": float(source_pace), "b": float(target_pace)}
    (edge,) = affine_schedule((source, target), (stream,), paces).edges
    start = {"a": 0.0, "b": edge.lag + later}
    written = _times(source, source.writes[0], start["a"], paces["a"])
    read = _times(target, target.reads[0], start["b"], paces["b"])
    assert all(w + source.timing.depth <= r + ROUNDING for w, r in zip(written, read, strict=True))
    most = max(sum(w <= r for w in written) - n for n, r in enumerate(read))
    assert most <= edge.in_flight(start) + 1 + ROUNDING
    assert most <= edge.depth(start)


@given(st.integers(2, 30), st.integers(1, 9), st.integers(1, 9), st.integers(0, 40))
@settings(max_examples=examples(200), deadline=None)
def test_plain_loops_are_counted_exactly(tokens: int, source_pace: int, target_pace: int, later: int):
    source = compute("a", TimingSpec((tokens,), 1, 2), (), (Access("s"),))
    target = compute("b", TimingSpec((tokens,), 1, 2), (Access("s"),), ())
    paces = {"a": float(source_pace * tokens), "b": float(target_pace * tokens)}
    (edge,) = affine_schedule((source, target), (_stream("s", "a", "b", tokens),), paces).edges
    behind = max(0, source_pace - target_pace) * (tokens - 1)
    assert abs(edge.lag - (2 + behind)) < ROUNDING
    start = {"a": 0.0, "b": edge.lag + later}
    written = _times(source, source.writes[0], 0.0, paces["a"])
    read = _times(target, target.reads[0], start["b"], paces["b"])
    most = max(sum(w <= r + ROUNDING for w in written) - n for n, r in enumerate(read))
    assert edge.in_flight(start) - 1 <= most <= edge.in_flight(start) + 1 + ROUNDING or most == tokens


def test_a_task_is_as_slow_as_what_it_reads_and_a_mover_as_what_reads_it():
    slow, fast = TimingSpec((12,), 5, 3), TimingSpec((12,), 1, 3)
    tasks = [
        load("load", fast, "a", Dma("a", ITensor((1,), "f32", (Loop(12, 1, 0),)), 1, 1, 1, 512)),
        compute("slow", slow, (Access("a"),), (Access("b"),)),
        compute("fast", fast, (Access("b"),), (Access("sum", (Gate(0, 11, 12),)),)),
        compute("last", fast, (Access("sum", (Gate(0, 0, 1),)),), ()),
    ]
    streams = [_stream("a", "load", "slow", 12), _stream("b", "slow", "fast", 12), _stream("sum", "fast", "last", 1)]
    assert own_paces(tasks, streams) == {"load": 60.0, "slow": 60.0, "fast": 60.0, "last": 12.0}
    assert set(equal_paces(tasks).values()) == {60.0}


def test_what_fills_and_then_drains_does_each_at_its_own_pace():
    rows, columns = (
        ITensor((1, 1), "f32", (Loop(3, 1, 0), Loop(4, 1, 1))),
        ITensor((1, 1), "f32", (Loop(4, 1, 1), Loop(3, 1, 0))),
    )
    turn = converter_task("turn", 0, plan_converter(rows, columns), "a", "b", U55C)
    tasks = [
        compute("slow", TimingSpec((12,), 5, 3), (), (Access("a"),)),
        turn,
        compute("fast", TimingSpec((12,), 2, 3), (Access("b"),), ()),
    ]
    streams = [Stream("a", "slow", "turn", rows), Stream("b", "turn", "fast", columns)]
    paces = own_paces(tasks, streams)
    assert paces == {"slow": 60.0, "turn": 60.0, drain_node("turn"): 24.0, "fast": 24.0}
    assert [(p.source, p.target, p.lag) for p in affine_schedule(tasks, streams, paces).phases] == [
        ("turn", drain_node("turn"), 60.0)
    ]
