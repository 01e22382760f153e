"""What the linear program makes of small kernels."""

from collections.abc import Sequence
from dataclasses import replace

from tasks_by_hand import compute

from compiler.analysis.fifo import by_kernel, plan_schedule, size_fifos
from compiler.analysis.memory_steps import is_free
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import Stream, Task, TaskGraph, TimingSpec
from compiler.platforms.platform import load_platform
from compiler.sizing.lp import Plan, best_starts, lp_depths

MEMORIES = load_platform("u55c").memories

LANES = 32  # 1024 bits: every token costs memory


def _stream(name: str, source: str, target: str, tokens: int) -> Stream:
    return Stream(name, source, target, ITensor((LANES,), "f32", (Loop(tokens, LANES, 0),)))


def _task(name: str, depth: int, reads: str, writes: str, ii: int = 1) -> Task:
    timing = TimingSpec((24,), ii, depth)
    return compute(name, timing, tuple(map(Access, reads.split())), tuple(map(Access, writes.split())))


def _triangle(second_ii: int = 1) -> TaskGraph:
    """The paper's example of three kernels; a token takes 5 and 9 cycles through the first two."""
    tasks = (_task("k0", 5, "", "a b"), _task("k1", 9, "a", "c"), _task("k2", 3, "b c", "", second_ii))
    streams = (_stream("a", "k0", "k1", 24), _stream("b", "k0", "k2", 24), _stream("c", "k1", "k2", 24))
    return TaskGraph("triangle", 1, tasks, streams)


def test_a_path_is_as_late_as_the_initial_delays_along_the_other():
    graph = _triangle()
    (part,) = by_kernel(graph.tasks, graph.streams)
    start = best_starts(Plan(part, plan_schedule(part, "conservative"), "conservative", MEMORIES))
    assert {name: round(at - start["k0"], 6) for name, at in start.items()} == {"k0": 0, "k1": 5, "k2": 14}
    assert lp_depths(graph, "conservative", MEMORIES) == {"a": 7, "b": 16, "c": 11}


def test_normal_keeps_what_a_faster_source_is_ahead():
    graph = _triangle(second_ii=3)
    conservative, normal = (lp_depths(graph, e, MEMORIES) for e in ("conservative", "normal"))
    assert all(conservative[name] < normal[name] for name in ("b", "c"))
    assert normal["a"] == 7


def _beside_a_sum(chain: Sequence[str], streams: dict[str, tuple[str, str, int]]) -> TaskGraph:
    """Tasks that pass on `streams` (from, to, bytes), beside a sum of all tokens that the last of them waits for."""
    timing = TimingSpec((24,), 1, 2)
    tasks = [compute("sum", timing, (Access("around"),), (Access("sum", (Gate(0, 23, 24),)),))]
    streams = {**streams, "around": (chain[0], "sum", 1)}
    for name in chain:
        reads = [Access(n) for n, (_, target, _) in streams.items() if target == name]
        writes = [Access(n) for n, (source, _, _) in streams.items() if source == name]
        reads += [Access("sum", (Gate(0, 0, 1),))] if name == chain[-1] else []
        tasks.append(compute(name, timing, reads, writes))
    made = [Stream(n, a, b, ITensor((w,), "i8", (Loop(24, w, 0),))) for n, (a, b, w) in streams.items()]
    made.append(Stream("sum", "sum", chain[-1], ITensor((1,), "i8", (Loop(1, 1, 0),))))
    order = [chain[0], "sum", *chain[1:]]
    return TaskGraph("g", 1, tuple(sorted(tasks, key=lambda t: order.index(t.name))), tuple(made))


def test_tokens_wait_where_they_are_narrow_even_if_several_tasks_must_start_late_for_it():
    chain = ("first", "m1", "m2", "last")
    graph = _beside_a_sum(
        chain, {"narrow": ("first", "m1", 4), "wide": ("m1", "m2", 128), "medium": ("m2", "last", 64)}
    )
    swept = {s.name: s.depth for s in size_fifos(graph.tasks, graph.streams, "conservative")}
    for depths in (swept, lp_depths(graph, "conservative", MEMORIES)):
        assert depths["narrow"] >= 24
        assert max(depths["wide"], depths["medium"]) <= 5  # though m2 alone would lose by starting later


def test_tokens_that_shift_registers_hold_are_free():
    """24 tokens in each of two streams of 40 bits are 1920 bits, and free; in one of 56 bits they are 1344, and not."""
    graph = _beside_a_sum(
        ("first", "m", "last"), {"a": ("first", "m", 5), "b": ("first", "m", 5), "c": ("m", "last", 7)}
    )
    planned = lp_depths(graph, "conservative", MEMORIES)
    assert [is_free(graph.stream[name].width, planned[name], MEMORIES) for name in "abc"] == [True] * 3
    swept = {s.name: s.depth for s in size_fifos(graph.tasks, graph.streams, "conservative")}
    assert not is_free(56, swept["c"], MEMORIES)


def test_kernels_are_planned_each_by_itself():
    graph = _triangle()
    second = tuple(
        replace(t, name=f"{t.name}_b", kernel=1, reads=_renamed(t.reads), writes=_renamed(t.writes))
        for t in graph.tasks
    )
    streams = tuple(
        s._replace(name=f"{s.name}_b", source=f"{s.source}_b", target=f"{s.target}_b") for s in graph.streams
    )
    both = TaskGraph("two", 2, (*graph.tasks, *second), (*graph.streams, *streams))
    depths = lp_depths(both, "conservative", MEMORIES)
    assert {n: d for n, d in depths.items() if "_b" not in n} == lp_depths(graph, "conservative", MEMORIES)
    assert [depths[f"{n}_b"] for n in "abc"] == [depths[n] for n in "abc"]


def _renamed(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
    return tuple(Access(f"{a.stream}_b", a.gates) for a in accesses)


def test_the_sweeps_are_kept_where_the_program_finds_nothing_cheaper():
    tasks = (_task("a", 2, "", "s"), _task("b", 2, "s", ""))
    graph = TaskGraph("pair", 1, tasks, (_stream("s", "a", "b", 24),))
    (swept,) = size_fifos(graph.tasks, graph.streams, "conservative")
    assert lp_depths(graph, "conservative", MEMORIES) == {"s": swept.depth}
