"""Kernels by hand whose FIFOs must hold something: tasks that meet again behind paths of unequal length."""

from collections.abc import Sequence
from dataclasses import replace

from small_graphs import mlp
from tasks_by_hand import compute

from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import Stream, Task, TaskGraph, TimingSpec
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform


def stream(name: str, source: str, target: str, tokens: int, lanes: int = 32, depth: int = 2) -> Stream:
    """`lanes` numbers of 32 bits a token; with 32 of them, every token beyond two costs memory."""
    return Stream(name, source, target, ITensor((lanes,), "f32", (Loop(tokens, lanes, 0),)), depth)


def task(
    name: str,
    trips: Sequence[int],
    reads: Sequence[str | Access] = (),
    writes: Sequence[str | Access] = (),
    *,
    ii: int = 1,
    depth: int = 4,
    kernel: int = 0,
) -> Task:
    read, written = (tuple(a if isinstance(a, Access) else Access(a) for a in side) for side in (reads, writes))
    return compute(name, TimingSpec(tuple(trips), ii, depth), read, written, kernel=kernel)


def graph(tasks: Sequence[Task], streams: Sequence[Stream]) -> TaskGraph:
    made = TaskGraph("g", 1 + max(t.kernel for t in tasks), tuple(tasks), tuple(streams))
    made.verify()
    return made


def first(loop: int) -> tuple[Gate, ...]:
    return (Gate(loop, 0, 1),)


def last(loop: int, trip: int) -> tuple[Gate, ...]:
    return (Gate(loop, trip - 1, trip),)


def residual(rows: int = 40, slow: int = 50, lanes: int = 32) -> TaskGraph:
    """A value that goes around a task of `slow` cycles and is added to its result."""
    tokens = rows
    return graph(
        (
            task("fork", (tokens,), (), ("body", "around")),
            task("slow", (tokens,), ("body",), ("done",), depth=slow),
            task("add", (tokens,), ("done", "around")),
        ),
        (
            stream("body", "fork", "slow", tokens, lanes),
            stream("around", "fork", "add", tokens, lanes),
            stream("done", "slow", "add", tokens, lanes),
        ),
    )


def racing(tokens: int = 3000, slow: int = 1500, lanes: int = 32) -> TaskGraph:
    """A residual whose source is three times as fast as the task on its way: unbounded FIFOs hold more than serves."""
    return graph(
        (
            task("fork", (tokens,), (), ("body", "around")),
            task("slow", (tokens,), ("body",), ("done",), ii=3, depth=slow),
            task("add", (tokens,), ("done", "around")),
        ),
        (
            stream("body", "fork", "slow", tokens, lanes),
            stream("around", "fork", "add", tokens, lanes),
            stream("done", "slow", "add", tokens, lanes),
        ),
    )


def softmax_rows(rows: int = 6, columns: int = 40, lanes: int = 32) -> TaskGraph:
    """Each row is read for its maximum, again for its sum, and once more when both are known."""
    nest = (rows, columns)
    whole, one = rows * columns, rows
    return graph(
        (
            task("fork", nest, (), ("x_max", "x_exp")),
            task("max", nest, ("x_max",), (Access("max", last(1, columns)),)),
            task("exp", nest, (Access("max", first(1)), "x_exp"), ("e_sum", "e_div"), depth=20),
            task("sum", nest, ("e_sum",), (Access("sum", last(1, columns)),), depth=8),
            task("divide", nest, (Access("sum", first(1)), "e_div"), depth=30),
        ),
        (
            stream("x_max", "fork", "max", whole, lanes),
            stream("x_exp", "fork", "exp", whole, lanes),
            stream("max", "max", "exp", one, 1),
            stream("e_sum", "exp", "sum", whole, lanes),
            stream("e_div", "exp", "divide", whole, lanes),
            stream("sum", "sum", "divide", one, 1),
        ),
    )


def reconvergent(rows: int = 5, columns: int = 30) -> TaskGraph:
    """Two sources of different pace, three paths to one task: straight, through a sum, through a slow chain."""
    nest, whole = (rows, columns), rows * columns
    return graph(
        (
            task("a", nest, (), ("a_sum", "a_join", "a_mix")),
            task("b", nest, (), ("b_mix",), ii=2),
            task("sum", nest, ("a_sum",), (Access("total", last(1, columns)),), depth=12),
            task("mix", nest, ("a_mix", "b_mix"), ("mixed",), depth=40),
            task("join", nest, (Access("total", first(1)), "a_join", "mixed")),
        ),
        (
            stream("a_sum", "a", "sum", whole, 16),
            stream("a_join", "a", "join", whole, 32),
            stream("a_mix", "a", "mix", whole, 8),
            stream("b_mix", "b", "mix", whole, 64),
            stream("total", "sum", "join", rows, 1),
            stream("mixed", "mix", "join", whole, 32),
        ),
    )


def loaded(prefetch: int = 1) -> TaskGraph:
    """A small network that waits for weights, with its loads and stores; the FIFOs behind HBM `prefetch` times as deep
    as they come.
    """
    overrides = (
        TaskOverride("up", tile=512, unroll=4),
        TaskOverride("act", unroll=16),
        TaskOverride("down", tile=64, unroll=256),
    )
    knobs = Knobs(default_tile_size=64, stream_width=2048, overrides=overrides)
    made = planned_tasks(mlp(2, 64, 512), knobs, load_platform("u55c"))
    loads = {s.name for s in made.streams if made.task[s.source].kind == "load"}
    return replace(
        made, streams=tuple(s._replace(depth=s.depth * (prefetch if s.name in loads else 1)) for s in made.streams)
    )


def quiet_deadlock() -> TaskGraph:
    """With three tokens of room in `row` nothing happens any more before its writer has the fourth: no cycle in which
    it waits is ever counted.
    """
    return graph(
        (
            task("a", (8,), (), ("row", Access("total", last(0, 8))), depth=100),
            task("b", (8,), (Access("total", first(0)), "row")),
        ),
        (stream("row", "a", "b", 8), stream("total", "a", "b", 1, 1)),
    )


def choice(columns: int = 24, wide: int = 64, narrow: int = 4) -> TaskGraph:
    """Where `wide` or `narrow` must hold a whole row: what goes around a sum passes one, then the other."""
    nest, whole = (4, columns), 4 * columns
    return graph(
        (
            task("fork", nest, (), ("row", "wide")),
            task("sum", nest, ("row",), (Access("total", last(1, columns)),)),
            task("shrink", nest, ("wide",), ("narrow",)),
            task("divide", nest, (Access("total", first(1)), "narrow")),
        ),
        (
            stream("row", "fork", "sum", whole, 1),
            stream("wide", "fork", "shrink", whole, wide),
            stream("total", "sum", "divide", 4, 1),
            stream("narrow", "shrink", "divide", whole, narrow),
        ),
    )


def depth_four() -> TaskGraph:
    """A stream of 512 bits that needs four tokens: one step below is the shallowest FIFO there is."""
    return graph(
        (
            task("fork", (30,), (), ("body", "around")),
            task("next", (30,), ("body",), ("done",), depth=3),
            task("add", (30,), ("done", "around")),
        ),
        (
            stream("body", "fork", "next", 30, 16),
            stream("around", "fork", "add", 30, 16),
            stream("done", "next", "add", 30, 16),
        ),
    )


BY_HAND = {
    "residual": residual,
    "racing": racing,
    "softmax_rows": softmax_rows,
    "reconvergent": reconvergent,
    "quiet_deadlock": quiet_deadlock,
    "choice": choice,
    "depth_four": depth_four,
}
