"""Layers that run one after the other in a launch: the design of one layer, once for each, and how the loop closes.

In front of the first task that reads a carried value stands one that passes on what was loaded, for the first layer,
and for the others what the layer before made; that comes from one behind the task that makes it, and goes on to HBM
from the last layer. Each task but loads and stores ends a layer before it begins with the next: a pipeline that keeps
tokens until others follow would wait for what these become.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.engines import PASSING
from compiler.analysis.names import enter_name, input_stream, layer_streams, leave_name, load_name, store_name
from compiler.errors import VerificationError
from compiler.graph.design import Design, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long, last_name, launched, long_itensor, long_nest, repeated_itensor
from compiler.graph.linalg_graph import Carried, Layers
from compiler.graph.program import Access, LoopNest, Repeat
from compiler.graph.task_graph import ConverterTask, ForkTask, RouteTask, Stream, Task


def of_all_layers(design: Design) -> Design:
    """The design with the nests and itensors of a launch; as it is, where no layers are folded.
    O(operations + streams).
    """
    return design if design.graph.layers is None else _Lengthening(design, design.graph.layers).design()


def launched_itensor(design: Design, itensor: ITensor) -> ITensor:
    """What passes a stream within a layer, of all layers that a launch runs."""
    return itensor if design.graph.layers is None else long_itensor(itensor, design.graph.layers.count)


@dataclass(frozen=True, slots=True)
class _Lengthening:
    folded: Design
    layers: Layers

    def design(self) -> Design:
        """Edges keep the names of their values, which only tell ports apart."""
        folded, count = self.folded, self.layers.count
        reads = {(op.name, i): operand.value for op in folded.graph.ops for i, operand in enumerate(op.inputs)}
        return replace(
            folded,
            graph=launched(folded.graph),
            nests={op: long_nest(nest, count) for op, nest in folded.nests.items()},
            reads={key: itensor and self._itensor(reads[key], itensor) for key, itensor in folded.reads.items()},
            writes={value: self._itensor(value, itensor) for value, itensor in folded.writes.items()},
            loads={name: self._load(load) for name, load in folded.loads.items()},
            stores={name: self._store(store) for name, store in folded.stores.items()},
            forks={name: f._replace(itensor=self._itensor(f.value, f.itensor)) for name, f in folded.forks.items()},
            edges={name: e._replace(itensor=self._itensor(e.value, e.itensor)) for name, e in folded.edges.items()},
        )

    def _itensor(self, value: str, itensor: ITensor) -> ITensor:
        """Of a stream between tasks."""
        long = value in self.layers.read or is_long(self.folded.graph.value[value])
        return (long_itensor if long else repeated_itensor)(itensor, self.layers.count)

    def _load(self, load: Transfer) -> Transfer:
        if load.value in self.layers.read:
            return load
        return load._replace(itensor=self._itensor(load.value, load.itensor))

    def _store(self, store: Transfer) -> Transfer:
        if store.value in self.layers.made:
            return store._replace(value=last_name(store.value))
        return store._replace(itensor=self._itensor(store.value, store.itensor))


def with_loop(folded: Design, tasks: Sequence[Task], streams: Sequence[Stream]) -> tuple[list[Task], list[Stream]]:
    """Tasks and streams of `of_all_layers(folded)`, layer by layer, with those that close the loop.

    Raises VerificationError where a carried value leaves a layer in another order than it enters one.
    """
    layers = folded.graph.layers
    assert layers is not None
    made, known = [_each_layer(task, layers.count) for task in tasks], {stream.name: stream for stream in streams}
    for carried in layers.carried:
        loop = _Loop.of(folded, carried, layers.count)
        made = [loop.joined(task) for task in made]
        made += loop.tasks()
        known |= {stream.name: stream for stream in loop.streams(known, folded)}
    return made, list(known.values())


def _each_layer(task: Task, count: int) -> Task:
    """The task with its pipeline started anew in each layer; loops of operations and forks have that over layers."""
    timing = task.timing
    if task.turns:
        return replace(task, turns=(Repeat(count, task.turns),))
    match task:
        case ForkTask():
            return replace(task, timing=replace(timing, restarts=1))
        case ConverterTask():
            reads, writes = (tuple(access.inside(1) for access in side) for side in (task.reads, task.writes))
            timing = replace(timing, trips=(count, *timing.trips), restarts=1)
            return replace(task, timing=timing, reads=reads, writes=writes)
        case _:
            return task


@dataclass(frozen=True, slots=True)
class _Loop:
    """What closes the loop of one carried value: names of its streams, and the itensor of one layer."""

    carried: Carried
    count: int
    kernel: int
    itensor: ITensor
    load: str
    store: str
    entering: str

    @staticmethod
    def of(folded: Design, carried: Carried, count: int) -> "_Loop":
        load, store = load_name(carried.read, 0), store_name(carried.made)
        if load not in folded.loads or store not in folded.stores:
            raise VerificationError(f"{carried.made} must be stored and {carried.read} be loaded, once each")
        transfer, itensor = folded.loads[load], folded.stores[store].itensor
        if not transfer.itensor.same_stream(itensor):
            raise VerificationError(f"{carried.made} leaves a layer in another order than {carried.read} enters one")
        (entering,) = folded.leaving[load, carried.read]
        return _Loop(carried, count, transfer.kernel, itensor, load, store, entering)

    @property
    def names(self) -> tuple[str, str, str]:
        return layer_streams(self.carried.made, self.carried.read)

    def joined(self, task: Task) -> Task:
        """A task with its streams led through those of the loop: the load's, and that of what makes the value."""
        loaded, _, leaving = self.names
        moved = {self.entering: loaded} if task.name == self.load else {input_stream(self.store): leaving}
        return task.writing(moved)

    def tasks(self) -> tuple[RouteTask, RouteTask]:
        loaded, back, leaving = self.names
        stored, others = input_stream(self.store), self.count - 1
        return (
            self._route(enter_name(self.carried.read), (1, loaded, self.entering), (others, back, self.entering)),
            self._route(leave_name(self.carried.made), (others, leaving, back), (1, leaving, stored)),
        )

    def _route(self, name: str, *rounds: tuple[int, str, str]) -> RouteTask:
        """In turn, so many times the value from one stream to another."""
        _, *sides = zip(*rounds, strict=True)
        turns = tuple(self._turn(*turn) for turn in rounds)
        ports = (tuple(map(Access, dict.fromkeys(side))) for side in sides)
        return RouteTask(name, self.kernel, PASSING, *ports, turns=turns)

    def _turn(self, times: int, read: str, write: str) -> LoopNest | Repeat:
        nest = LoopNest((self.itensor.tokens,), (Access(read),), (Access(write),))
        return nest if times == 1 else Repeat(times, (nest,))

    def streams(self, known: dict[str, Stream], folded: Design) -> tuple[Stream, ...]:
        """Those that it adds, and those that have another end now."""
        loaded, back, leaving = self.names
        enter, leave = enter_name(self.carried.read), leave_name(self.carried.made)
        into, out = known[self.entering], known[input_stream(self.store)]

        def made(name: str, source: str, target: str, itensor: ITensor, *, feedback: bool = False) -> Stream:
            depth, reason = folded.depths.get(name, MIN_DEPTH), folded.reasons.get(name, "")
            return Stream(name, source, target, itensor, depth, None, reason, 0, feedback)

        others = long_itensor(self.itensor, self.count - 1)
        return (
            made(loaded, self.load, enter, folded.loads[self.load].itensor),
            made(back, leave, enter, others, feedback=True),
            made(leaving, out.source, leave, out.itensor),
            into._replace(source=enter),
            out._replace(source=leave, itensor=self.itensor),
        )
