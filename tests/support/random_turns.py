"""Random designs that go round: layers with a feedback, tasks that take turns, trip counts that follow an argument.

The body of a layer is a random graph without cycles, each task of which walks rows, columns and parts in an order of
its own. `head` hands it what comes from outside in the first layer and what came back in the others; some tasks run in
one pipeline, one after the other.
"""

from dataclasses import dataclass, field, replace
from random import Random

from tasks_by_hand import compute, load, route

from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Repeat
from compiler.graph.task_graph import Dma, LoadTask, Stream, Task, TaskGraph, TimingSpec

LANES = 16  # of f32: a word of a port
LAYERS = (1, 2, 3, 7, 24)


def turning_graph(seed: int) -> TaskGraph:
    """The graph of `seed`; FIFOs hold two tokens, or all of them where no depth is to be found."""
    return _Growth(Random(f"turns {seed}")).graph()


def unbounded(graph: TaskGraph) -> TaskGraph:
    """With FIFOs that hold all there is, but for those behind loads."""
    streams = (
        s if isinstance(graph.task[s.source], LoadTask) else s._replace(depth=max(2, s.tokens)) for s in graph.streams
    )
    return replace(graph, streams=tuple(streams))


@dataclass
class _Body:
    """A task of a layer: its nest, and how it is pipelined."""

    name: str
    order: tuple[str, ...]
    ii: int
    depth: int
    reads: list[Access] = field(default_factory=list[Access])
    writes: list[Access] = field(default_factory=list[Access])


class _Growth:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.layers = rng.choice(LAYERS)
        self.trip = {"row": rng.choice((1, 2, 4)), "part": rng.choice((1, 3, 8)), "column": rng.choice((4, 16, 64))}
        self.argument = None
        if rng.random() < 0.5:
            tile = rng.choice((1, 4, 8))
            most = self.trip["column"] * tile - rng.randrange(tile)
            self.argument = Argument("position", most, tile)
        self.streams: list[Stream] = []
        self.bodies = [self._body(f"t{n}") for n in range(rng.randint(1, 6))]
        self.loads: list[Task] = []

    def graph(self) -> TaskGraph:
        for n, body in enumerate(self.bodies[1:], 1):
            for source in self.rng.sample(range(n), min(n, self.rng.choice((1, 1, 2)))):
                self._join(self.bodies[source], body)
        for body in self.bodies:
            if self.rng.random() < 0.3:
                self._weigh(body)
        whole = tuple(self.trip)
        first, last = self.bodies[0], self.bodies[-1]
        for body in self.bodies[:-1]:  # what nobody reads would be no part of the layer
            if not body.writes:
                self._join(body, last)
        self._stream("x", "source", "head", whole, 1)
        self._stream("in", "head", first.name, whole, self.layers)
        self._stream("out", last.name, "tail", whole, self.layers)
        self._stream("y", "tail", "sink", whole, 1)
        first.reads.append(Access("in"))
        last.writes.append(Access("out"))
        merged = self._tasks()
        again = self.layers - 1
        if again:
            self._stream("back", "tail", "head", whole, again, feedback=True)
        head = (self._route("x", "in"), *((Repeat(again, (self._route("back", "in"),)),) if again else ()))
        tail = (*((Repeat(again, (self._route("out", "back"),)),) if again else ()), self._route("out", "y"))
        tasks = (
            *self.loads,
            compute("source", *self._plain((), (Access("x"),))),
            route("head", head),
            *merged,
            route("tail", tail),
            compute("sink", *self._plain((Access("y"),), ())),
        )
        graph = TaskGraph("turning", 1, tasks, tuple(self.streams))
        graph.verify()
        return graph

    def _body(self, name: str) -> _Body:
        order = list(self.trip)
        self.rng.shuffle(order)
        return _Body(name, tuple(order), self.rng.choice((1, 1, 1, 2, 3)), self.rng.choice((3, 8, 20, 60)))

    def _join(self, source: _Body, target: _Body) -> None:
        kept = tuple(label for label in self.trip if self.rng.random() < 0.7)
        name = f"s{len(self.streams)}"
        self._stream(name, source.name, target.name, kept, self.layers)
        source.writes.append(self._access(name, source, kept))
        target.reads.append(self._access(name, target, kept))

    def _weigh(self, body: _Body) -> None:
        name = f"w{len(self.loads)}"
        kept = tuple(label for label in self.trip if label == "column" or self.rng.random() < 0.5)
        self._stream(name, f"load_{name}", body.name, kept, self.layers)
        body.reads.append(self._access(name, body, kept))
        dma = Dma(name, self.streams[-1].itensor, 1, 1, 1, 32 * LANES)
        trips = (self.layers, *(self.trip[label] for label in kept))
        timing = TimingSpec(trips, 1, 70, bounds=self._bounds(("layer", *kept)))
        self.loads.append(load(f"load_{name}", timing, name, dma))

    def _access(self, name: str, body: _Body, kept: tuple[str, ...]) -> Access:
        gates = list[Gate]()
        for loop, label in enumerate(body.order):
            if label not in kept:
                bound = label == "column" and self.argument is not None
                at = self.rng.choice((0, self.trip[label] - 1)) if bound else self.rng.randrange(self.trip[label])
                gates.append(Gate(loop, at, at + 1))
        return Access(name, tuple(gates))

    def _stream(
        self, name: str, source: str, target: str, kept: tuple[str, ...], times: int, *, feedback: bool = False
    ) -> None:
        tokens = times
        for label in kept:
            tokens *= self.trip[label]
        itensor = ITensor((LANES,), "f32", (Loop(tokens, LANES, 0),))
        self.streams.append(Stream(name, source, target, itensor, feedback=feedback))

    def _bounds(self, order: tuple[str, ...]) -> tuple[BoundLoop, ...]:
        return () if self.argument is None else (BoundLoop(order.index("column"), self.argument),)

    def _plain(
        self, reads: tuple[Access, ...], writes: tuple[Access, ...]
    ) -> tuple[TimingSpec, tuple[Access, ...], tuple[Access, ...]]:
        order = tuple(self.trip)
        return TimingSpec(tuple(self.trip.values()), 1, 4, bounds=self._bounds(order)), reads, writes

    def _nest(self, order: tuple[str, ...], reads: list[Access], writes: list[Access]) -> LoopNest:
        trips = tuple(self.trip[label] for label in order)
        return LoopNest(trips, tuple(reads), tuple(writes), bounds=self._bounds(order))

    def _route(self, source: str, target: str) -> LoopNest:
        return self._nest(tuple(self.trip), [Access(source)], [Access(target)])

    def _tasks(self) -> list[Task]:
        """Bodies, some of them merged into one task with the one before."""
        groups: list[list[_Body]] = []
        for body in self.bodies:
            if groups and self.rng.random() < 0.3:
                groups[-1].append(body)
            else:
                groups.append([body])
        name = {body.name: group[0].name for group in groups for body in group}
        self.streams = [
            s._replace(
                source=name.get(s.source, s.source),
                target=name.get(s.target, s.target),
                feedback=name.get(s.source) is not None and name.get(s.source) == name.get(s.target),
            )
            for s in self.streams
        ]
        return [self._task(group) for group in groups]

    def _task(self, group: list[_Body]) -> Task:
        turn = tuple(self._nest(body.order, body.reads, body.writes) for body in group)
        timing = TimingSpec((), group[0].ii, group[0].depth, gap=self.rng.choice((0, 2)))
        return compute(group[0].name, timing, turns=(Repeat(self.layers, turn),))
