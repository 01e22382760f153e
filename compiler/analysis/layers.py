"""Layers that run one after the other in a launch: the design of one layer, once for each, and how the loop closes.

In front of the first task that reads a carried value stands one that passes on what was loaded, or made outside of
layers, for the first layer, and for the others what the layer before made; that comes from one behind the task that
makes it, and goes on from the last layer, to HBM or to what lies behind the layers. Each task of a layer but loads and
stores ends a layer before it begins with the next: a pipeline that keeps tokens until others follow would wait for what
these become. Tasks outside of layers are as they are without any.

Inputs that follow each other hand on nothing, so they flow, and nothing ends between them: converters re-order one
while they pass on the one before, and what loads parameters into a converter does so once a launch. A launch takes as
many as it is told (`Layers.told`), unless a task is none of one nest: then it takes all. Where engines take turns, each
input ends as a layer does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.engines import PASSING
from compiler.analysis.names import (
    c_name,
    converter_name,
    enter_name,
    input_stream,
    layer_streams,
    leave_name,
    load_name,
    store_name,
)
from compiler.analysis.prompt_rows import in_layers
from compiler.errors import VerificationError
from compiler.graph.converter import Converter, converter_of, plan_converter
from compiler.graph.design import Conversion, Design, Edge, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long, last_name, launched, long_itensor, long_nest, repeated_itensor
from compiler.graph.linalg_graph import Carried, Layers
from compiler.graph.program import Access, Argument, BoundLoop, LoopNest, Repeat
from compiler.graph.task_graph import ConverterTask, ForkTask, RouteTask, Stream, Task, WindowTask


def of_all_layers(design: Design) -> Design:
    """The design with the nests and itensors of a launch; as it is, where no layers are folded.
    O(operations + streams).
    """
    return design if design.graph.layers is None else _Lengthening(design, design.graph.layers).design()


@dataclass(frozen=True)
class _Lengthening:
    folded: Design
    layers: Layers

    def design(self) -> Design:
        """Edges keep the names of their values, which only tell ports apart."""
        folded = self.folded
        reads = {(op.name, i): operand.value for op in folded.graph.ops for i, operand in enumerate(op.inputs)}
        return replace(
            folded,
            graph=launched(folded.graph),
            nests={
                op: nest if op in self.layers.outside else long_nest(nest, self.layers.count, flows=_flows(folded))
                for op, nest in folded.nests.items()
            },
            reads={key: itensor and self._itensor(reads[key], itensor) for key, itensor in folded.reads.items()},
            writes={value: self._made(value, itensor) for value, itensor in folded.writes.items()},
            loads={name: self._load(name, load) for name, load in folded.loads.items()},
            stores={name: self._store(store) for name, store in folded.stores.items()},
            converters={name: self._conversion(name, made) for name, made in folded.converters.items()},
            forks={name: f._replace(itensor=self._itensor(f.value, f.itensor)) for name, f in folded.forks.items()},
            edges={name: self._edge(edge) for name, edge in folded.edges.items()},
        )

    def _itensor(self, value: str, itensor: ITensor) -> ITensor:
        """Of a stream between tasks, with what closes the loop aside."""
        if value in self.folded.graph.once:
            return itensor
        long = value in self.layers.read or is_long(self.folded.graph, self.folded.graph.value[value])
        return (long_itensor if long else repeated_itensor)(itensor, self.layers.count)

    def _edge(self, edge: Edge) -> Edge:
        if edge.target in _entering(self.folded) or edge.source in self._loading_once:
            return edge
        return edge._replace(itensor=self._itensor(edge.value, edge.itensor))

    def _made(self, value: str, itensor: ITensor) -> ITensor:
        """Of what an operation makes."""
        long = is_long(self.folded.graph, self.folded.graph.value[value])
        return long_itensor(itensor, self.layers.count) if long else itensor

    @cached_property
    def _loading_once(self) -> frozenset[str]:
        return _loading_once(self.folded)

    def _conversion(self, name: str, made: Conversion) -> Conversion:
        if not _flows(self.folded):
            return made
        if is_long(self.folded.graph, self.folded.graph.value[made.value]):
            return made._replace(converter=_long_converter(made.converter, self.layers.count))
        if _source(self.folded, name) in self._loading_once:
            source, target = made.converter.source, made.converter.target
            return made._replace(converter=plan_converter(source, repeated_itensor(target, self.layers.count)))
        return made

    def _load(self, name: str, load: Transfer) -> Transfer:
        if load.value in self.layers.read or name in self._loading_once:
            return load
        return load._replace(itensor=self._itensor(load.value, load.itensor))

    def _store(self, store: Transfer) -> Transfer:
        if store.value in self.layers.made:
            return store._replace(value=last_name(store.value))
        return store._replace(itensor=self._made(store.value, store.itensor))


def with_loop(
    folded: Design, tasks: Sequence[Task], streams: Sequence[Stream], *, each_load: bool
) -> tuple[list[Task], list[Stream]]:
    """Tasks and streams of `of_all_layers(folded)`, layer by layer, with those that close the loop. With `each_load`
    what moves a tensor of each layer also starts anew in each.

    Raises VerificationError where a carried value leaves a layer in another order than it enters one.
    """
    layers = folded.graph.layers
    assert layers is not None
    if _flows(folded):
        return _for_inputs(folded, layers, tasks), list(streams)
    once, known = _once(folded), {stream.name: stream for stream in streams}
    if each_load:
        moved = {**folded.loads, **folded.stores}
        tasks = [
            _each_transfer(task) if task.name in moved and in_layers(folded, moved[task.name]) else task
            for task in tasks
        ]
    made = [task if task.name in once else _each_layer(task, layers.count) for task in tasks]
    for carried in layers.carried:
        loop = _Loop.of(folded, carried, layers.count, apart=each_load)
        made = [loop.joined(task) for task in made]
        made += loop.tasks()
        known |= {stream.name: stream for stream in loop.streams(known, folded)}
    return made, list(known.values())


def _flows(folded: Design) -> bool:
    """Whether inputs follow each other without an end between them."""
    return folded.graph.layers is not None and bool(folded.graph.layers.told) and not folded.engines


def _long_converter(one: Converter, count: int) -> Converter:
    """That of inputs that follow each other: the rounds of one go on in those of the next, as they are; where there is
    one round, the next input comes in beside it.
    """
    source, target = long_itensor(one.source, count), long_itensor(one.target, count)
    if one.shared == 1:
        return plan_converter(source, target)
    return converter_of(source, target, replace(one.realisation, dim=one.realisation.dim + 1))


def _source(folded: Design, converter: str) -> str:
    """What brings a converter its tokens."""
    return folded.edges[input_stream(converter)].source


def _loading_once(folded: Design) -> frozenset[str]:
    """Loads of parameters, of which a converter keeps all, for all inputs that follow each other in a launch."""
    if not _flows(folded):
        return frozenset()
    feeding = [(_source(folded, name), made.value) for name, made in folded.converters.items()]
    return frozenset(
        name for name, value in feeding if name in folded.loads and not is_long(folded.graph, folded.graph.value[value])
    )


def _for_inputs(folded: Design, layers: Layers, tasks: Sequence[Task]) -> list[Task]:
    """The tasks of inputs that follow each other, as many as the launch says where all of them can follow that."""
    loading = _loading_once(folded)
    long = {name for name, made in folded.converters.items() if is_long(folded.graph, folded.graph.value[made.value])}
    keeping = {name for name in folded.converters if _source(folded, name) in loading}
    alike = [
        task
        if not task.turns and (task.name not in folded.converters or task.name in long | keeping)
        else _each_layer(task, layers.count)
        for task in tasks
    ]
    if any(task.turns or task.timing.restarts for task in alike):
        return alike
    told = Argument(layers.told, layers.count)
    return [task if task.name in loading else _counted(task, told, keeps=task.name in keeping) for task in alike]


def _counted(task: Task, told: Argument, *, keeps: bool) -> Task:
    """A task whose outermost loop is over inputs, or of a converter over the rounds of all of them, or the steps of one
    that `keeps` what it passes on for each, or of windows over the rows of all of them.
    """
    bound = BoundLoop(0, told)
    if isinstance(task, WindowTask) and task.walk.late:
        bound = BoundLoop(0, told, task.walk.late, (task.timing.trips[0] - task.walk.late) // told.most)
    if isinstance(task, ConverterTask):
        plan = task.converter
        fixed, all_inputs = (plan.fill, plan.drain) if keeps else (plan.realisation.delay, plan.shared)
        bound = BoundLoop(0, told, fixed, all_inputs // told.most)
    assert bound.most == task.timing.trips[0], (task.name, bound, task.timing)
    return replace(task, timing=replace(task.timing, bounds=(bound,)))


def _once(folded: Design) -> set[str]:
    """Tasks that are outside of layers."""
    movers = {name: node.value for nodes in (folded.converters, folded.forks) for name, node in nodes.items()}
    moving = {name for name, value in movers.items() if value in folded.graph.once}
    return {*map(c_name, folded.graph.outside), *moving, *_entering(folded)}


def _entering(folded: Design) -> set[str]:
    """Converters in front of the first layer."""
    return {converter_name(read, layer_streams(made, read)[0]) for made, read in folded.graph.carried}


def _each_layer(task: Task, count: int) -> Task:
    """The task with its pipeline started anew in each layer; loops of operations and forks have that over layers, turns
    of engines are of all of them, as loads are.
    """
    timing = task.timing
    if task.turns and not isinstance(task, WindowTask):
        return task
    match task:
        case ForkTask():
            return replace(task, timing=replace(timing, restarts=1))
        case ConverterTask():
            reads, writes = (tuple(access.inside(1) for access in side) for side in (task.reads, task.writes))
            timing = replace(timing, trips=(count, *timing.trips), restarts=1)
            return replace(task, timing=timing, reads=reads, writes=writes)
        case _:
            return task


def _each_transfer(task: Task) -> Task:
    """The load or store with its pipeline started anew in each layer."""
    return replace(task, timing=replace(task.timing, restarts=1))


@dataclass(frozen=True, slots=True)
class _Loop:
    """What closes the loop of one carried value: its streams, and its itensor in one layer. `entering` goes into the
    first layer, as `first`, `made` comes from all of them. A single layer, too, is a round where these are kept
    `apart`.
    """

    carried: Carried
    count: int
    kernel: int
    itensor: ITensor
    first: ITensor
    entering: str
    made: str
    apart: bool

    @staticmethod
    def of(folded: Design, carried: Carried, count: int, *, apart: bool) -> "_Loop":
        source, first = _front(folded, carried)
        streams = folded.leaving.get((source, carried.read), [])
        made, itensor = _behind(folded, carried.made)
        if first is None or len(streams) != 1 or made is None:
            raise VerificationError(
                f"{carried.made} must be stored or read outside of layers, and {carried.read} be loaded or made there, "
                "once each"
            )
        if not first.same_stream(itensor):
            raise VerificationError(f"{carried.made} leaves a layer in another order than {carried.read} enters one")
        kernel = folded.kernel_of[folded.graph.producer[carried.made][0].name]
        return _Loop(carried, count, kernel, itensor, first, streams[0], made, apart)

    @property
    def names(self) -> tuple[str, str, str]:
        return layer_streams(self.carried.made, self.carried.read)

    def joined(self, task: Task) -> Task:
        """A task with its streams led through those of the loop: what the first layer gets, and what all make."""
        first, _, leaving = self.names
        return task.writing({self.entering: first, self.made: leaving})

    def tasks(self) -> tuple[RouteTask, RouteTask]:
        first, back, leaving = self.names
        others = self.count - 1
        return (
            self._route(enter_name(self.carried.read), (1, first, self.entering), (others, back, self.entering)),
            self._route(leave_name(self.carried.made), (others, leaving, back), (1, leaving, self.made)),
        )

    def _route(self, name: str, *rounds: tuple[int, str, str]) -> RouteTask:
        """In turn, so many times the value from one stream to another."""
        _, *sides = zip(*rounds, strict=True)
        turns = tuple(self._turn(*turn) for turn in rounds)
        ports = (tuple(map(Access, dict.fromkeys(side))) for side in sides)
        return RouteTask(name, self.kernel, PASSING, *ports, turns=turns)

    def _turn(self, times: int, read: str, write: str) -> LoopNest | Repeat:
        nest = LoopNest((self.itensor.tokens,), (Access(read),), (Access(write),))
        return nest if times == 1 and not self.apart else Repeat(times, (nest,))

    def streams(self, known: dict[str, Stream], folded: Design) -> tuple[Stream, ...]:
        """Those that it adds, and those that have another end now."""
        first, back, leaving = self.names
        enter, leave = enter_name(self.carried.read), leave_name(self.carried.made)
        into, out = known[self.entering], known[self.made]

        def made(name: str, source: str, target: str, itensor: ITensor, *, feedback: bool = False) -> Stream:
            depth, reason = folded.depths.get(name, MIN_DEPTH), folded.reasons.get(name, "")
            return Stream(name, source, target, itensor, depth, None, reason, 0, feedback)

        return (
            made(first, into.source, enter, self.first),
            made(back, leave, enter, long_itensor(self.itensor, self.count - 1), feedback=True),
            made(leaving, out.source, leave, long_itensor(self.itensor, self.count)),
            into._replace(source=enter),
            out._replace(source=leave, itensor=self.itensor),
        )


def _front(folded: Design, carried: Carried) -> tuple[str, ITensor | None]:
    """What brings the value that the first layer is handed, and its order there; none, where nothing does."""
    converter = converter_name(carried.read, layer_streams(*carried)[0])
    if carried.read not in folded.graph.producer:
        load = load_name(carried.read, 0)
        return load, folded.loads[load].itensor if load in folded.loads else None
    if converter in folded.converters:
        return converter, folded.converters[converter].converter.target
    return c_name(folded.graph.producer[carried.read][0].name), folded.writes[carried.read]


def _behind(folded: Design, value: str) -> tuple[str | None, ITensor]:
    """The stream in which the last layer's `value` goes on, past its readers inside of a layer to HBM, or to all that
    is outside, and its order; none, where nothing reads it.
    """
    store, made = store_name(value), folded.writes[value]
    if value not in folded.graph.once:
        return (input_stream(store), folded.stores[store].itensor) if store in folded.stores else (None, made)
    streams = folded.leaving.get((c_name(folded.graph.producer[value][0].name), value), [])
    return streams[0] if len(streams) == 1 else None, made
