"""FIFO depths from an affine schedule: sufficient for progress and for the pace of the slowest task (design 3.5).

The schedule is the paper's `conservative` equalisation: every task of a kernel is stretched to the same span, one unit,
and starts at its own offset. Iteration i of a task with N iterations happens at offset + i/N. For an access, the
iteration of token n deviates from an even pace by a bounded amount, exact and separable over the loops
(`_Deviation`). So

    lag(stream)   = how much later than its writer the reader must start so that no token is read before it is written,
    depth(stream) = tokens written but not yet read, at most, given the two offsets.

Offsets follow from the lags by longest paths; then tasks that write more bits than they read start as late as their
readers allow. Executing all iterations in the order of this schedule never finds a FIFO full or empty. Blocking reads
and writes are confluent: where one order of execution completes, every order does (Kahn networks with bounded FIFOs).
Hence no deadlock, whatever the tasks' real speeds.

A cycle of waits lies within one biconnected component of the undirected graph, so streams that lie on no cycle need no
depth for progress; they get what a few LUTs hold. `whole` keeps every token of a stream that enters a task together
with another of its component: no such stream is ever full, and every cycle of waits would have to pass through one.
Both hold for pipelines that finish what they hold when their input runs dry (`style=flp`, which the emitted C++ asks
for).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor

from compiler.graph.task_graph import Access, Gate, Stream, Task
from compiler.options import FifoStrategy

MIN_DEPTH = 2
BRIDGE_DEPTH = 16  # tokens of a stream on no cycle: a shift register or LUTRAM holds them
ROUNDING_TOKENS = 0.01  # of the offsets, which are sums of fractions
SWEEPS = 2


@dataclass(frozen=True, slots=True)
class _Deviation:
    """How far the iteration of a token is from an even pace, in spans: at most `late` after and `early` before."""

    late: float
    early: float


@lru_cache(maxsize=65536)
def _deviation(trips: tuple[int, ...], gates: tuple[Gate, ...], first: int, span: int) -> _Deviation:
    """Token n of the access happens in iteration p(n); bounds of (p(n) - first)/span - n/tokens. O(loops).

    Iteration and token number are sums over the loops, one term a loop, so the bounds are sums of bounds.
    """
    bounds = {g.loop: (g.low, g.high) for g in gates}
    iterations = tokens = 1
    terms: list[tuple[int, int, int, int]] = []
    for k in range(len(trips) - 1, -1, -1):
        low, high = bounds.get(k, (0, trips[k]))
        terms.append((low, high, iterations, tokens))
        iterations *= trips[k]
        tokens *= high - low
    late = early = -first / span
    for low, high, stride, tokens_inside in terms:
        begin = low * stride / span
        end = (high - 1) * stride / span - (high - 1 - low) * tokens_inside / tokens
        late += max(begin, end)
        early += min(begin, end)
    return _Deviation(late, -early)


def _clock(task: Task, *, reads: bool) -> tuple[int, int]:
    """First iteration and number of iterations of the span in which the task reads or writes.

    A converter that fills, then drains, does each in a span of its own; one that drains a row behind its fill has one
    more row than it has contents.
    """
    converter = task.converter
    if converter is None:
        return 0, task.timing.iterations
    if _is_two_phase(task):
        return (0, converter.fill) if reads else (converter.fill, converter.drain)
    return 0, converter.realisation.period * converter.shared


def _access_deviation(task: Task, access: Access, *, reads: bool) -> _Deviation:
    return _deviation(task.timing.trips, access.gates, *_clock(task, reads=reads))


@dataclass(frozen=True, slots=True)
class _Edge:
    """A stream of the schedule, between nodes: the reader starts at least `lag` after the writer; every span later
    costs `bits`; tokens in flight are `slack` plus the difference of the offsets, in spans.
    """

    source: str
    target: str
    lag: float
    bits: float
    slack: float


def _drain_node(name: str) -> str:
    """A converter that fills, then drains, may start to drain any time after it is full."""
    return f"{name}/drain"


def _is_two_phase(task: Task) -> bool:
    return task.converter is not None and task.converter.shared == 1


def _edges(tasks: Mapping[str, Task], streams: Sequence[Stream], span_cycles: float) -> list[_Edge]:
    """One edge for each stream, in order."""
    writes = {a.stream: a for t in tasks.values() for a in t.writes}
    reads = {a.stream: a for t in tasks.values() for a in t.reads}
    edges: list[_Edge] = []
    for stream in streams:
        source, target = tasks[stream.source], tasks[stream.target]
        write = _access_deviation(source, writes[stream.name], reads=False)
        read = _access_deviation(target, reads[stream.name], reads=True)
        lag = write.late + read.early + source.timing.depth / span_cycles
        name = _drain_node(source.name) if _is_two_phase(source) else source.name
        edges.append(_Edge(name, target.name, lag, float(stream.tokens * stream.width), write.early + read.late))
    return edges


def _offsets(nodes: Sequence[str], edges: Sequence[_Edge]) -> dict[str, float]:
    """Start of each node in spans; `nodes` in topological order. Longest paths, then sweeps of local moves."""
    entering: dict[str, list[_Edge]] = {n: [] for n in nodes}
    leaving: dict[str, list[_Edge]] = {n: [] for n in nodes}
    for edge in edges:
        entering[edge.target].append(edge)
        leaving[edge.source].append(edge)
    start: dict[str, float] = {}
    for node in nodes:
        start[node] = max((start[e.source] + e.lag for e in entering[node]), default=0.0)
    prefers_late = {n: sum(e.bits for e in leaving[n]) > sum(e.bits for e in entering[n]) for n in nodes}
    for _ in range(SWEEPS):
        for node in reversed(nodes):
            if prefers_late[node] and leaving[node]:
                start[node] = min(start[e.target] - e.lag for e in leaving[node])
        for node in nodes:
            if not prefers_late[node] and entering[node]:
                start[node] = max(start[e.source] + e.lag for e in entering[node])
    return start


def conservative_depths(tasks: Sequence[Task], streams: Sequence[Stream]) -> list[int]:
    """Tokens in flight on each stream of one kernel in the equalised schedule. O(tasks + streams x loops)."""
    span_cycles = max((t.timing.iterations * t.timing.ii for t in tasks), default=1)
    nodes = [n for t in tasks for n in ((t.name, _drain_node(t.name)) if _is_two_phase(t) else (t.name,))]
    edges = _edges({t.name: t for t in tasks}, streams, span_cycles)
    phases = [_Edge(t.name, _drain_node(t.name), 1.0, 0.0, 0.0) for t in tasks if _is_two_phase(t)]
    start = _offsets(nodes, [*edges, *phases])
    depths: list[int] = []
    for stream, edge in zip(streams, edges, strict=True):
        in_flight = stream.tokens * (start[edge.target] - start[edge.source] + edge.slack)
        depths.append(max(MIN_DEPTH, min(stream.tokens, 1 + floor(in_flight + 1 + ROUNDING_TOKENS))))
    return depths


def biconnected_components(edges: Sequence[tuple[str, str]]) -> list[int]:
    """Component number of each edge of the undirected multigraph (Hopcroft and Tarjan), iterative. O(edges)."""
    neighbours: dict[str, list[tuple[str, int]]] = {}
    for k, (a, b) in enumerate(edges):
        neighbours.setdefault(a, []).append((b, k))
        neighbours.setdefault(b, []).append((a, k))
    component = [-1] * len(edges)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[int] = []
    components = 0
    for root in list(neighbours):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        path = [(root, -1, iter(neighbours[root]))]
        while path:
            node, via, rest = path[-1]
            step = next(rest, None)
            if step is not None:
                other, edge = step
                if edge == via or component[edge] >= 0:
                    continue
                if other not in order:
                    stack.append(edge)
                    order[other] = low[other] = len(order)
                    path.append((other, edge, iter(neighbours[other])))
                elif order[other] < order[node]:
                    stack.append(edge)
                    low[node] = min(low[node], order[other])
                continue
            path.pop()
            if not path:
                continue
            parent = path[-1][0]
            low[parent] = min(low[parent], low[node])
            if low[node] >= order[parent]:
                first = stack.index(via)
                for edge in stack[first:]:
                    component[edge] = components
                del stack[first:]
                components += 1
    return component


def bridges(streams: Sequence[Stream]) -> set[str]:
    """Streams on no undirected cycle: no wait ever closes through them."""
    component = biconnected_components([(s.source, s.target) for s in streams])
    count: dict[int, int] = {}
    for number in component:
        count[number] = count.get(number, 0) + 1
    return {s.name for s, number in zip(streams, component, strict=True) if count[number] == 1}


def reconvergent_streams(streams: Sequence[Stream]) -> set[str]:
    """Streams that enter a task together with another stream of the same undirected cycle."""
    component = biconnected_components([(s.source, s.target) for s in streams])
    entering: dict[tuple[str, int], list[str]] = {}
    for stream, number in zip(streams, component, strict=True):
        entering.setdefault((stream.target, number), []).append(stream.name)
    return {name for names in entering.values() if len(names) > 1 for name in names}


def _kernel_depths(tasks: Sequence[Task], streams: Sequence[Stream], strategy: FifoStrategy) -> list[int]:
    if strategy == "whole":
        whole = reconvergent_streams(streams)
        return [max(MIN_DEPTH, s.tokens) if s.name in whole else MIN_DEPTH for s in streams]
    free = bridges(streams)
    depths = conservative_depths(tasks, streams)
    return [min(d, BRIDGE_DEPTH) if s.name in free else d for s, d in zip(streams, depths, strict=True)]


def size_fifos(tasks: Sequence[Task], streams: Sequence[Stream], strategy: FifoStrategy) -> tuple[Stream, ...]:
    """`streams` with their depths; `tasks` in topological order, kernels one after the other."""
    by_kernel: dict[int, list[Task]] = {}
    for task in tasks:
        by_kernel.setdefault(task.kernel, []).append(task)
    kernel_of = {t.name: t.kernel for t in tasks}
    depth: dict[str, int] = {}
    for kernel, members in by_kernel.items():
        inside = [s for s in streams if kernel_of[s.source] == kernel]
        depth |= dict(zip((s.name for s in inside), _kernel_depths(members, inside, strategy), strict=True))
    return tuple(replace(s, depth=depth[s.name]) for s in streams)
