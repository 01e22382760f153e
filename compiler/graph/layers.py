"""Layers of a network that do the same to tensors of their own, as one that a launch runs once for each.

*Folded*, a network has the operations of one layer: what differs between layers is which tensors they are given
(`Value.sources`), small ones several at once (`compiler.graph.joined_parameters`), and a value that a layer makes is an
input of the next (`Layers.carried`). Passes plan that layer, and the operations that are outside of layers, which a
launch runs once: they may make what the first layer is handed, and read what the last one hands on. *In a launch*
(`launched`) every value that layers have for themselves has a dimension for them in front, which the outermost loop of
each operation walks: what the accelerator streams, what lies in memory, what its proof compares.

Inputs that follow each other in a launch are layers too (`of_inputs`), which hand on nothing: what is given and made
has the dimension, parameters have not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.joined_parameters import joined
from compiler.graph.linalg_graph import Carried, Layers, LinalgGraph, LinalgOp, Operand, Output, Value
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.program import COUNT
from compiler.graph.same import Same
from compiler.graph.windows import Windows


def each_name(value: str) -> str:
    """What all layers read in place of the input `value`, which the first of them is given."""
    return f"{value}.each"


def last_name(value: str) -> str:
    """What the last layer makes of `value`, which the others hand on."""
    return f"{value}.last"


def folded(graph: LinalgGraph) -> LinalgGraph | None:
    """The network with the operations of its first layer and those of none; None where it has no layers, or they are
    not alike, or share more with what lies outside of them than what they hand on.

    Operations are of layer n where the first word of their name ends with n, and of one another what their names say
    beyond it. O(operations).
    """
    layers = _layers_of(graph)
    if layers is None:
        return None
    try:
        found = joined(_Folding(graph, layers).graph())
        found.verify()
    except (_DifferError, VerificationError):
        return None
    return found


def of_inputs(graph: LinalgGraph, count: int) -> LinalgGraph:
    """The network for up to `count` inputs that follow each other in a launch; itself for one."""
    return graph if count == 1 else replace(graph, layers=Layers(count, (), told=COUNT))


class _DifferError(Exception):
    """Two layers are not alike."""


def _require(holds: bool) -> None:
    if not holds:
        raise _DifferError


def _layers_of(graph: LinalgGraph) -> list[dict[str, LinalgOp]] | None:
    """Operations of each layer by what their names say beyond it."""
    found: dict[int, dict[str, LinalgOp]] = {}
    stems: set[str] = set()
    for op in graph.ops:
        word, _, rest = op.name.partition(".")
        stem = word.rstrip("0123456789")
        if stem == word or not rest:
            continue  # of no layer
        stems.add(stem)
        found.setdefault(int(word[len(stem) :]), {})[rest] = op
    in_order = sorted(found) == list(range(len(found)))
    return [found[number] for number in range(len(found))] if in_order and len(stems) == 1 and len(found) > 1 else None


class _Folding:
    """What values of the first layer are in the others. Raises _DifferError where that is not one thing."""

    def __init__(self, graph: LinalgGraph, layers: Sequence[Mapping[str, LinalgOp]]) -> None:
        self.network, self.layers = graph, layers
        self.made = [self._made(layer) for layer in layers]  # by layer, values that the first one makes: what it does
        self.given: dict[str, list[str]] = {}
        self.carried: dict[str, str] = {}
        for number, layer in enumerate(layers):
            _require(layer.keys() == layers[0].keys())
            for rest, op in layer.items():
                self._match(number, layers[0][rest], op)
        _require(all(len(self.given[read]) == 1 for read in self.carried))

    def graph(self) -> LinalgGraph:
        first, *others = ({op.name for op in layer.values()} for layer in self.layers)
        outside = tuple(op.name for op in self.network.ops if op.name not in first.union(*others))
        kept = [op for op in self.network.ops if op.name in first or op.name in outside]
        ops = tuple(op if op.name in first else self._behind(op) for op in kept)
        made = {out.value for op in ops for out in op.outputs}
        read = {operand.value for op in ops for operand in op.inputs}
        values = tuple(self._value(v) for v in self.network.values if v.name in made | read)
        carried = tuple(Carried(y, x) for x, y in self.carried.items())
        layers = Layers(len(self.layers), carried, outside)
        return LinalgGraph(self.network.name, values, ops, tuple(self._outputs()), layers)

    def _behind(self, op: LinalgOp) -> LinalgOp:
        """An operation outside of layers: what the last one hands on has the name that the first gives it."""
        last = {self.made[-1][made]: made for made in self.carried.values()}
        of_layers = {later for made in self.made for later in made.values()}
        _require(all(o.value in last or o.value not in of_layers for o in op.inputs))
        return replace(op, inputs=tuple(replace(o, value=last.get(o.value, o.value)) for o in op.inputs))

    def _made(self, layer: Mapping[str, LinalgOp]) -> dict[str, str]:
        first = self.layers[0]
        _require(layer.keys() == first.keys())
        pairs = ((first[rest], op) for rest, op in layer.items())
        return {a.value: b.value for one, other in pairs for a, b in zip(one.outputs, other.outputs, strict=False)}

    def _match(self, number: int, first: LinalgOp, op: LinalgOp) -> None:
        """`op` of layer `number` does what `first` does in the first layer, to the same values."""
        _require(replace(op, name=first.name, inputs=first.inputs, outputs=first.outputs) == first)
        pairs = [*zip(first.inputs, op.inputs, strict=True), *zip(first.outputs, op.outputs, strict=True)]
        for one, other in pairs:
            _require(one.dims == other.dims)
            self._same(number, self.network.value[one.value], self.network.value[other.value])

    def _same(self, number: int, first: Value, value: Value) -> None:
        one, other = ((v.shape, v.dtype, v.valid) for v in (first, value))
        _require(one == other)
        before = {later: name for name, later in self.made[number - 1].items()} if number else {}
        if first.name in self.made[0]:
            _require(self.made[number][first.name] == value.name and value.row == first.row)
        elif value.name in before:
            made = self.carried.setdefault(first.name, before[value.name])
            _require(made == before[value.name] and first.name in self.given)
        else:
            _require((value.role, value.row) == (first.role, first.row))
            known = self.given.setdefault(first.name, [])
            if len(known) == number:
                known.append(value.source)
            _require(known[number:] == [value.source])

    def _value(self, value: Value) -> Value:
        sources = tuple(self.given.get(value.name, ()))
        if len(set(sources)) < 2:
            return value
        role = "param" if value.role == "scalar" else value.role  # what differs by layer is no argument of the kernel
        return replace(value, role=role, source="", sources=sources)

    def _outputs(self) -> Iterator[Output]:
        place = {later: (name, number) for number, made in enumerate(self.made) for name, later in made.items()}
        for out in self.network.outputs:
            if out.value not in place:  # of what is outside of layers
                _require(out.value in self.network.producer)
                yield out
                continue
            value, number = place[out.value]
            if value in self.carried.values():
                _require(number == len(self.layers) - 1)
                yield replace(out, value=value)
            else:
                yield replace(out, value=value, layer=number)


def launched(graph: LinalgGraph) -> LinalgGraph:
    """What a launch runs: the network itself, where no layers are folded."""
    return graph if graph.layers is None else _launched(Same(graph))


@lru_cache(maxsize=64)
def _launched(same: Same[LinalgGraph]) -> LinalgGraph:
    graph = same.value
    assert graph.layers is not None
    return _Launch(graph, graph.layers).graph()


class _Launch:
    """A folded network with a dimension for its layers."""

    def __init__(self, graph: LinalgGraph, layers: Layers) -> None:
        self.folded, self.layers = graph, layers
        self.read, self.made = layers.read, layers.made

    def graph(self) -> LinalgGraph:
        values = tuple(made for value in self.folded.values for made in self._values(value))
        ops = tuple(map(self._op, self.folded.ops))
        return replace(self.folded, values=values, ops=ops, outputs=tuple(map(self._output, self.folded.outputs)))

    def _output(self, out: Output) -> Output:
        if self.layers.told:
            inner = tuple(dim + 1 for dim in out.permutation)
            return replace(out, permutation=(0, *inner), shape=(self.layers.count, *out.shape))
        return replace(out, value=last_name(out.value)) if out.value in self.made else out

    def _values(self, value: Value) -> Iterator[Value]:
        if value.name in self.read:
            yield value
            yield replace(self._long(value), name=each_name(value.name), role="intermediate", source="", row=None)
            return
        yield self._long(value) if is_long(self.folded, value) else value
        if value.name in self.made:
            yield replace(value, name=last_name(value.name))

    def _long(self, value: Value) -> Value:
        count = self.layers.count
        row = value.row and replace(value.row, axis=value.row.axis + 1)
        return replace(value, shape=(count, *value.shape), valid=(count, *value.valid) if value.valid else (), row=row)

    def _op(self, op: LinalgOp) -> LinalgOp:
        if op.name in self.layers.outside:
            renamed = {made: last_name(made) for made in self.made}
            return replace(op, inputs=tuple(replace(o, value=renamed.get(o.value, o.value)) for o in op.inputs))
        count = self.layers.count
        return replace(
            op,
            loops=(count, *op.loops),
            iterators=("parallel", *op.iterators),
            groups=(max(op.groups, default=-1) + 1, *op.groups),
            inputs=tuple(map(self._operand, op.inputs)),
            outputs=tuple(map(self._operand, op.outputs)),
            body=None if op.body is None else op.body.at_loops({dim: dim + 1 for dim in range(len(op.loops))}),
            axis=None if op.axis is None else op.axis + 1,
            valid=(count, *op.valid) if op.valid else (),
            masked=tuple(dim + 1 for dim in op.masked),
            windows=None if op.windows is None else _inside(op.windows),
        )

    def _operand(self, operand: Operand) -> Operand:
        value, inner = self.folded.value[operand.value], tuple(dim + 1 for dim in operand.dims)
        if value.name in self.read:
            return Operand(each_name(value.name), (0, *inner))
        return Operand(value.name, (0, *inner) if is_long(self.folded, value) else inner)


def _inside(windows: Windows) -> Windows:
    """The same with a loop around the others."""
    return windows if windows.loop is None else replace(windows, loop=windows.loop + 1)


def is_long(graph: LinalgGraph, value: Value) -> bool:
    """Whether every layer has a tensor of its own, the one that is carried aside."""
    made = value.name in graph.producer and graph.producer[value.name][0].name not in graph.outside
    given = graph.layers is not None and bool(graph.layers.told) and value.role in ("input", "state")
    return made or given or bool(value.sources)


def long_nest(nest: Nest, count: int, *, flows: bool = False) -> Nest:
    """The nest of an operation in a launch: that of one layer, once for each."""
    inner = tuple(NestLoop(loop.dim + 1, loop.trip, loop.step) for loop in nest.loops)
    return Nest((NestLoop(0, count, 1), *inner), (1, *nest.unroll), outer=1, flows=flows)


def long_itensor(itensor: ITensor, count: int) -> ITensor:
    """A tensor of each layer, one after the other, as each is streamed."""
    inner = (Loop(loop.trip, loop.step, None if loop.dim is None else loop.dim + 1) for loop in itensor.loops)
    return ITensor((1, *itensor.element), itensor.dtype, (Loop(count, 1, 0), *inner))


def repeated_itensor(itensor: ITensor, count: int) -> ITensor:
    """The same tensor for each layer."""
    return ITensor(itensor.element, itensor.dtype, (Loop(count, 1, None), *itensor.loops))
