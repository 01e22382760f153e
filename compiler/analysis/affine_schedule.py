"""An affine schedule of a kernel: when each task makes each of its accesses, and what that asks of the FIFOs.

Every node (a task, or the second half of one that fills before it drains) has a start of its own and takes its `pace`
of cycles for all its iterations, evenly: iteration i of N happens at start + pace x i/N. For an access, the iteration
of token n deviates from an even pace by a bounded amount, exact and separable over the loops (`Deviation`). So

    `lag`       = how much later than its writer the reader must start so that no token is read before it is written,
    `in_flight` = tokens written but not yet read, at most: linear in the difference of the two starts.

Both depend on the paces. With equal ones (`equal_paces`, the paper's `conservative` equalisation) tokens come as fast
as they go. With `own_paces` (`normal`) no task that computes waits for a slower one behind it: what a faster writer is
ahead when it ends adds to the tokens in flight, what a slower one is behind adds to the lag.

Executing all iterations in the order of such a schedule never finds a FIFO empty, nor full if it holds what is in
flight, whatever the paces and the starts, as long as these keep the lags. Blocking reads and writes are confluent:
where one order of execution completes, every order does (Kahn networks with bounded FIFOs). Hence no deadlock, whatever
the tasks' real speeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import NamedTuple

from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import ComputeTask, ConverterTask, Stream, Task, TimingSpec

MIN_DEPTH = 3
"""Of a FIFO: csynth makes two words of flip-flops, which take more LUTs than three of shift registers do."""
ROUNDING_TOKENS = 0.01  # of the offsets, which are sums of fractions


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far the iteration of a token is from an even pace, in paces: at most `late` after and `early` before."""

    late: float
    early: float


@lru_cache(maxsize=65536)
def deviation(trips: tuple[int, ...], gates: tuple[Gate, ...], first: int, span: int) -> Deviation:
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
    return Deviation(late, -early)


class Ramp(NamedTuple):
    """How tokens pass one end of a stream, in cycles since its node started: the first at `begin`, every other one
    `each` cycles after the one before, but for at most `late` cycles more and `early` less.
    """

    begin: float
    each: float
    late: float
    early: float

    def at(self, token: int) -> float:
        return self.begin + self.each * token


class Window(NamedTuple):
    """When an access moves its tokens, in paces since its nest started: the first at `begin`, every other one `each`
    later, but for at most `late` and `early`.
    """

    tokens: int
    begin: float
    each: float
    late: float
    early: float

    def ramp(self, pace: float, first: int = 0) -> Ramp:
        """Of the tokens from number `first` on, where the nest takes `pace` cycles."""
        return Ramp(pace * (self.begin + first * self.each), pace * self.each, pace * self.late, pace * self.early)


@lru_cache(maxsize=65536)
def window(trips: tuple[int, ...], gates: tuple[Gate, ...], first: int, span: int) -> Window:
    """Of an access in a nest of which `span` iterations, from `first` on, take a pace. What remains beside an even way
    from the first token to the last is a sum over the loops, bounded term by term. O(loops).
    """
    bounds = {g.loop: (g.low, g.high) for g in gates}
    iterations = tokens = 1
    begin, end, terms = -first, -first, list[tuple[int, int, int]]()
    for k in range(len(trips) - 1, -1, -1):
        low, high = bounds.get(k, (0, trips[k]))
        terms.append((high - low - 1, iterations, tokens))
        begin += low * iterations
        end += (high - 1) * iterations
        iterations *= trips[k]
        tokens *= high - low
    each = (end - begin) / (tokens - 1) if tokens > 1 else span
    apart = [steps * (stride - inside * each) for steps, stride, inside in terms]
    late, early = sum(max(0.0, x) for x in apart), sum(max(0.0, -x) for x in apart)
    return Window(tokens, begin / span, each / span, late / span, early / span)


def is_two_phase(task: Task) -> bool:
    """Whether the task fills all of its buffer before it drains any."""
    return isinstance(task, ConverterTask) and task.converter.shared == 1


def clock(task: Task, iterations: int, *, reads: bool) -> tuple[int, int]:
    """First iteration and number of iterations of the span in which a nest of the task, of so many, reads or writes.

    A converter that fills, then drains, does each in a span of its own; one that drains a row behind its fill has one
    more row than it has contents.
    """
    if not isinstance(task, ConverterTask):
        return 0, iterations
    converter = task.converter
    if is_two_phase(task):
        return (0, converter.fill) if reads else (converter.fill, converter.drain)
    return 0, converter.realisation.period * converter.shared


def _access_deviation(task: Task, access: Access, *, reads: bool) -> Deviation:
    return deviation(task.timing.trips, access.gates, *clock(task, task.timing.iterations, reads=reads))


def drain_node(name: str) -> str:
    """A converter that fills, then drains, may start to drain any time after it is full."""
    return f"{name}/drain"


def _writing_node(task: Task) -> str:
    return drain_node(task.name) if is_two_phase(task) else task.name


def cycles_of(timing: TimingSpec, iterations: int) -> float:
    """What so many iterations of the nest take when nothing blocks, without the depth of the pipeline."""
    return (timing.latency - timing.depth + timing.ii) * iterations / timing.iterations


Paces = Mapping[str, float]  # cycles, of each node of a schedule


def equal_paces(tasks: Sequence[Task]) -> dict[str, float]:
    """All nodes as slow as the slowest task: `conservative` equalisation."""
    slowest = max((cycles_of(t.timing, t.timing.iterations) for t in tasks), default=1.0)
    return {node: slowest for task in tasks for node in (task.name, _writing_node(task))}


def own_paces(tasks: Sequence[Task], streams: Sequence[Stream]) -> dict[str, float]:
    """Every node as fast as it can be when no FIFO is ever full: `normal` equalisation. `tasks` in topological order.

    A task is no faster than those it reads from, single tokens aside: it would wait for them. One that does not compute
    is as slow as its readers let it be: what it holds need not move to a FIFO, re-read, before they take it.
    """
    targets: dict[str, list[str]] = {t.name: [] for t in tasks}
    sources: dict[str, list[str]] = {t.name: [] for t in tasks}
    writing = {t.name: _writing_node(t) for t in tasks}
    for stream in streams:
        targets[stream.source].append(stream.target)
        if stream.tokens > 1:
            sources[stream.target].append(writing[stream.source])
    paces: dict[str, float] = {}
    for task in tasks:
        if is_two_phase(task):
            paces[drain_node(task.name)] = cycles_of(task.timing, clock(task, task.timing.iterations, reads=False)[1])
        own = cycles_of(task.timing, clock(task, task.timing.iterations, reads=True)[1])
        paces[task.name] = max((own, *(paces[source] for source in sources[task.name])))
    for task in reversed(tasks):
        node = writing[task.name]
        if not isinstance(task, ComputeTask):
            paces[node] = max(paces[node], min((paces[t] for t in targets[task.name]), default=0.0))
    return paces


class Edge(NamedTuple):
    """A stream in a schedule, or a part of it, between nodes: the reader starts at least `lag` cycles after the writer;
    tokens in flight are `base`, and `rate` more for every cycle between the two starts; `width` bits each.
    """

    stream: str
    source: str
    target: str
    lag: float
    base: float
    rate: float
    width: int
    tokens: int

    @property
    def cost(self) -> float:
        """Bits in flight more for every cycle that the reader starts later."""
        return self.rate * self.width

    def in_flight(self, start: Mapping[str, float]) -> float:
        return self.base + self.rate * (start[self.target] - start[self.source])

    def depth(self, start: Mapping[str, float]) -> int:
        """Of a FIFO that is never full, or holds all there is."""
        return max(MIN_DEPTH, min(self.tokens, 1 + floor(self.in_flight(start) + 1 + ROUNDING_TOKENS)))


@dataclass(frozen=True, slots=True)
class AffineSchedule:
    """Nodes of one kernel in topological order, an edge for each of its streams, in order, and `phases`: edges that
    carry nothing.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    phases: tuple[Edge, ...]

    def depths(self, start: Mapping[str, float]) -> dict[str, int]:
        """Of the FIFO of each stream, with which it runs by this schedule."""
        return {edge.stream: edge.depth(start) for edge in self.edges}

    def entering(self) -> dict[str, list[Edge]]:
        """Edges and phases by the node that they enter."""
        entering: dict[str, list[Edge]] = {n: [] for n in self.nodes}
        for edge in (*self.edges, *self.phases):
            entering[edge.target].append(edge)
        return entering

    def leaving(self) -> dict[str, list[Edge]]:
        """Edges and phases by the node that they leave."""
        leaving: dict[str, list[Edge]] = {n: [] for n in self.nodes}
        for edge in (*self.edges, *self.phases):
            leaving[edge.source].append(edge)
        return leaving

    def earliest(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """The earliest starts in cycles that keep the lags, none earlier than `wanted` (default 0). Longest paths."""
        entering = self.entering()
        start: dict[str, float] = {}
        for node in self.nodes:
            start[node] = max((wanted.get(node, 0.0), *(start[e.source] + e.lag for e in entering[node])))
        return start


def lag_of(written: Ramp, read: Ramp, tokens: int, depth: int) -> float:
    """How much later than its writer, a pipeline of `depth`, the reader of so many tokens starts at least."""
    behind = max(written.at(token) - read.at(token) for token in (0, tokens - 1))
    return written.late + read.early + depth + behind


def in_flight_of(written: Ramp, read: Ramp, tokens: int) -> tuple[float, float]:
    """`Edge.base` and `Edge.rate` of so many tokens. Most are in flight when the first is read, or the last written
    where the reader is the slower one.
    """
    apart = written.early + read.late + read.begin
    if written.each >= read.each:
        return (apart - written.begin) / written.each, 1 / written.each
    return tokens - 1 + (apart - written.at(tokens - 1)) / read.each, 1 / read.each


def _even(pace: float, tokens: int, deviation: Deviation) -> Ramp:
    """Of a node that moves so many tokens in `pace` cycles."""
    return Ramp(0.0, pace / tokens, pace * deviation.late, pace * deviation.early)


def _edge(stream: Stream, source: Task, write: Access, target: Task, read: Access, paces: Paces) -> Edge:
    node, tokens = _writing_node(source), stream.tokens
    written = _even(paces[node], tokens, _access_deviation(source, write, reads=False))
    taken = _even(paces[target.name], tokens, _access_deviation(target, read, reads=True))
    lag = lag_of(written, taken, tokens, source.timing.depth)
    return Edge(
        stream.name, node, target.name, lag, *in_flight_of(written, taken, tokens), width=stream.width, tokens=tokens
    )


def affine_schedule(tasks: Sequence[Task], streams: Sequence[Stream], paces: Paces) -> AffineSchedule:
    """The lags of one kernel whose nodes run at these paces. O(tasks + streams x loops)."""
    task = {t.name: t for t in tasks}
    writes = {a.stream: a for t in tasks for a in t.writes}
    reads = {a.stream: a for t in tasks for a in t.reads}
    nodes = tuple(n for t in tasks for n in ((t.name, drain_node(t.name)) if is_two_phase(t) else (t.name,)))
    edges = (_edge(s, task[s.source], writes[s.name], task[s.target], reads[s.name], paces) for s in streams)
    phases = (Edge("", n, drain_node(n), paces[n], 0.0, 0.0, 0, 0) for n in (t.name for t in tasks if is_two_phase(t)))
    return AffineSchedule(nodes, tuple(edges), tuple(phases))
