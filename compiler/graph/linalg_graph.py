"""LinalgGraph: the network as the search sees it, frozen values (design section 3, representation 2).

Every operation is a perfect loop nest over `loops`; every operand's map is a projected permutation: data dimension i of
the operand is walked by loop `dims[i]`. The front end brings a network into this form by expanding all shapes to their
common *atoms* (2304 = 3 x 12 x 64 where a fused QKV of 12 heads is chunked), so that reshapes and transposes vanish
into maps. `groups` remembers which loops came from one loop of the source: they are tiled together.

A dimension may be padded (`compiler.analysis.padding`): shapes and loops then hold the padded extents, `valid` the true
ones. What lies behind a true extent is zero in what the network is given, and arbitrary in what it computes.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Literal, NamedTuple

from compiler.errors import VerificationError
from compiler.graph.hashed_once import hashed_once
from compiler.graph.windows import LineWalk, Windows

ValueRole = Literal["input", "state", "param", "scalar", "intermediate"]
OpKind = Literal["generic", "chunk", "concat", "window"]
Iterator = Literal["parallel", "reduction"]
Combiner = Literal["add", "max", "min", "mul"]
OWN_EXTENT: tuple[OpKind, ...] = ("concat", "window")  # along their axis, an input has another extent than the loop
INDEX = "dataflow.index"  # the scalar operation whose result is where a loop is
NARROW = "dataflow.narrow"  # the one whose result is so many of the lowest bits of a number, with their sign


@dataclass(frozen=True, slots=True)
class Row:
    """One of `count` rows that a tensor in memory has, along its dimension `axis`: the one whose number a launch is
    given as its `argument`.
    """

    argument: str
    count: int
    axis: int = 0

    def joined(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of all rows, of that of one."""
        return (*shape[: self.axis], self.count, *shape[self.axis :])


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor. `role`: `input` activations and masks, `state` KV cache read, `param` weights, `scalar` a rank-0 param
    (passed by value, not streamed), `intermediate` the rest.

    `source` is the name of the tensor in the workload's bundle; `true_shape` is a row-major reshape of that tensor.
    `valid` is empty where no dimension is padded. `sources`, where layers are folded (`compiler.graph.layers`): that of
    each layer, if they are not one and the same; then `source` is empty; of each layer as many as `shape` begins with
    where these are joined (`compiler.graph.joined_parameters`). `row`: the tensor has a dimension more, of
    which a launch reads one row.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: ValueRole = "intermediate"
    source: str = ""
    valid: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    row: Row | None = None

    @property
    def in_memory(self) -> "Value":
        """What its tensor is: itself, or with all rows."""
        if self.row is None:
            return self
        return self.with_rows(self.row)

    def with_rows(self, row: Row) -> "Value":
        """All rows of what is one of them, or of a result of which a launch makes one."""
        return replace(self, shape=row.joined(self.shape), valid=row.joined(self.valid) if self.valid else (), row=None)

    @property
    def true_shape(self) -> tuple[int, ...]:
        """The shape without padding."""
        return self.valid or self.shape

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def tensors(self) -> tuple[str, ...]:
        """Names in the bundle of the tensors that it holds."""
        return self.sources or ((self.source,) if self.source else ())


@dataclass(frozen=True, slots=True)
class Operand:
    """Use of value `value`: its data dimension i is walked by loop `dims[i]` of the operation."""

    value: str
    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """One scalar operation of a body, by its MLIR name (`arith.addf`). `args` number the values before it: first the
    body's arguments, then the operations. `const` is the value of an `arith.constant`, the loop of a
    `dataflow.index`, whose result is where that loop is, or the bits of a `dataflow.narrow`; `predicate` is that of a
    compare.
    """

    name: str
    args: tuple[int, ...]
    dtype: str
    const: float | int | None = None
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """What is computed for one point of the nest: arguments are one element of each input, in order."""

    arg_dtypes: tuple[str, ...]
    ops: tuple[ScalarOp, ...]
    result: int

    @property
    def is_product(self) -> bool:
        """Whether the result is the product of the two arguments, sign extension aside."""
        first = len(self.arg_dtypes)

        def argument(value: int) -> int:
            extended = value >= first and self.ops[value - first].name == "arith.extsi"
            return argument(self.ops[value - first].args[0]) if extended else value

        if self.result < first or self.ops[self.result - first].name not in {"arith.mulf", "arith.muli"}:
            return False
        return sorted(argument(a) for a in self.ops[self.result - first].args) == [0, 1]

    def at_loops(self, loops: Mapping[int, int]) -> "Body":
        """The same body where loop i of the operation is loop `loops[i]`."""
        ops = (
            replace(o, const=loops[int(o.const)]) if o.name == INDEX and o.const is not None else o for o in self.ops
        )
        return replace(self, ops=tuple(ops))

    def dtype_of(self, value: int) -> str:
        return self.arg_dtypes[value] if value < len(self.arg_dtypes) else self.ops[value - len(self.arg_dtypes)].dtype


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a body's results are combined over the reduction loops, from `init`."""

    combiner: Combiner
    init: float | int


@hashed_once
@dataclass(frozen=True)
class LinalgOp:
    """One structured operation.

    `generic`: output[dims] = reduce over reduction loops of body(inputs). One output.
    `chunk`: loop `axis` has as many iterations as there are outputs; output i is the input at `axis` = i.
    `concat`: inputs one after the other along loop `axis`; input extents are those of their values.
    `window`: windows of the input along loop `axis`, as `windows` says; along it the input has its own extent. Loops
    outside of `axis` are walked outside of all lines, those inside within a line, and the taps, the last loop, within
    an element of it. A value of one line has no dimension `axis`, nor has what is made of one window.

    `valid` holds the true extent of each loop, and is empty where none is padded. A reduction skips the padded points
    of the loops in `masked`; those of its other loops add nothing, because an operand is zero there.
    """

    name: str
    kind: OpKind
    loops: tuple[int, ...]
    iterators: tuple[Iterator, ...]
    groups: tuple[int, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    body: Body | None = None
    reduction: Reduction | None = None
    axis: int | None = None
    valid: tuple[int, ...] = ()
    masked: tuple[int, ...] = ()
    windows: Windows | None = None

    @property
    def true_loops(self) -> tuple[int, ...]:
        """The loops' extents without padding."""
        return self.valid or self.loops

    @cached_property
    def iterations(self) -> int:
        return prod(self.loops)

    @cached_property
    def padded_iterations(self) -> int:
        """Iterations that are padding."""
        return self.iterations - prod(self.true_loops)

    def own_extent(self, operand: Operand, dim: int) -> bool:
        """Whether an input has another extent along loop `dim` than the loop: its own."""
        return self.kind in OWN_EXTENT and dim == self.axis and operand in self.inputs

    @cached_property
    def is_contraction(self) -> bool:
        """A matrix product in the wide sense: sums products of two streamed tensors, one of them used repeatedly."""
        ranked = [o for o in self.inputs if o.dims]
        return (
            self.reduction is not None
            and self.reduction.combiner == "add"
            and self.body is not None
            and self.body.is_product
            and len(ranked) == len(self.inputs) == 2
            and any(len(o.dims) < len(self.loops) for o in ranked)
        )


@dataclass(frozen=True, slots=True)
class Output:
    """A result of the network: `permutation` of the value's dimensions, then a row-major reshape to `shape`. `layer`:
    the one that makes it, where all make such a value. `row`: it stays in memory, as one row of the state that it joins
    (`compiler.analysis.boundary`).
    """

    name: str
    value: str
    permutation: tuple[int, ...]
    shape: tuple[int, ...]
    layer: int | None = None
    row: Row | None = None


class Carried(NamedTuple):
    """Value `made` of a layer is the input `read` of the next one."""

    made: str
    read: str


@dataclass(frozen=True, slots=True)
class Layers:
    """The operations of a network run `count` times in a launch, once for each layer; those `outside` of layers once,
    in front of the first, where they make what that is handed, or behind the last, where they read what that made.

    Where they hand on nothing, they are one network for inputs that follow each other: each has an input and a result
    of its own, all the same parameters, and `told` is the argument of the launch that says how many there are.
    """

    count: int
    carried: tuple[Carried, ...]
    outside: tuple[str, ...] = ()
    told: str = ""

    @property
    def made(self) -> frozenset[str]:
        """Values that a layer hands on."""
        return frozenset(carried.made for carried in self.carried)

    @property
    def read(self) -> frozenset[str]:
        """Inputs that a layer is handed."""
        return frozenset(carried.read for carried in self.carried)


@dataclass(frozen=True)
class LinalgGraph:
    """A network: values by name, operations in topological order; those of one layer, and those outside of layers,
    where `layers` are folded.
    """

    name: str
    values: tuple[Value, ...]
    ops: tuple[LinalgOp, ...]
    outputs: tuple[Output, ...]
    layers: Layers | None = None

    @property
    def iterations(self) -> int:
        """Of the loops of all operations, in all layers; those outside of layers are taken for ones of each."""
        return sum(op.iterations for op in self.ops) * (1 if self.layers is None else self.layers.count)

    @property
    def carried(self) -> tuple[Carried, ...]:
        """From one layer to the next; nothing, where no layers are folded."""
        return () if self.layers is None else self.layers.carried

    @property
    def outside(self) -> tuple[str, ...]:
        """Names of operations that are of no layer; none, where no layers are folded."""
        return () if self.layers is None else self.layers.outside

    @cached_property
    def in_front(self) -> frozenset[str]:
        """Names of operations outside of layers that do not wait for what the last of these hands on."""
        found, made = set(self.outside), {made for made, _ in self.carried}
        for op in (self.op[name] for name in self.outside):
            if any(read.value in made for read in op.inputs):
                found.remove(op.name)
                made |= {out.value for out in op.outputs}
        return frozenset(found)

    def runs_of(self, op: str) -> int:
        """How many times a launch runs an operation: once for each layer, or once, where it is of none."""
        return 1 if self.layers is None or op in self.layers.outside else self.layers.count

    @cached_property
    def once(self) -> frozenset[str]:
        """Values that operations outside of layers read or make, and no operation of a layer makes for another."""
        ops = [self.op[name] for name in self.outside]
        found = {operand.value for op in ops for operand in (*op.inputs, *op.outputs)}
        return frozenset(found if self.layers is None else found - self.layers.read)

    @cached_property
    def value(self) -> dict[str, Value]:
        return {v.name: v for v in self.values}

    @cached_property
    def op(self) -> dict[str, LinalgOp]:
        return {o.name: o for o in self.ops}

    @cached_property
    def producer(self) -> dict[str, tuple[LinalgOp, int]]:
        """Operation and output number that make each intermediate value."""
        return {out.value: (op, i) for op in self.ops for i, out in enumerate(op.outputs)}

    @cached_property
    def consumers(self) -> dict[str, tuple[tuple[LinalgOp, int], ...]]:
        """Operations and input numbers that read each value, in program order."""
        uses: dict[str, list[tuple[LinalgOp, int]]] = {v.name: [] for v in self.values}
        for op in self.ops:
            for i, operand in enumerate(op.inputs):
                uses[operand.value].append((op, i))
        return {name: tuple(u) for name, u in uses.items()}

    @cached_property
    def _behind(self) -> dict[str, int]:
        """By value that is made, iterations of all that is computed one after the other for it, at most."""
        found: dict[str, int] = {}
        for op in self.ops:
            before = max((found.get(operand.value, 0) for operand in op.inputs), default=0)
            found |= dict.fromkeys((out.value for out in op.outputs), before + op.iterations)
        return found

    def widest_input(self, op: "LinalgOp", among: Container[str]) -> Operand | None:
        """That of most dimensions of those that read one of these values. Of several the first one of a product; of
        what takes each once the one that comes last: what waits for it waits for the others, too.
        """
        known = [operand for operand in op.inputs if operand.value in among]

        def key(operand: Operand) -> tuple[int, int]:
            return len(operand.dims), 0 if op.is_contraction else self._behind.get(operand.value, 0)

        return max(known, key=key, default=None)

    def sources(self, op: "LinalgOp") -> list["LinalgOp"]:
        """Operations that make what it reads, one for each such input."""
        return [self.producer[read.value][0] for read in op.inputs if read.value in self.producer]

    def ordered(self, ops: Iterable["LinalgOp"]) -> "LinalgGraph":
        """The network with its operations in this order, and values: what it is given, then as they are made."""
        ops = tuple(ops)
        made = [self.value[out.value] for op in ops for out in op.outputs]
        values = (*(v for v in self.values if v.role != "intermediate"), *made)
        same = ops == self.ops and values == self.values
        return self if same else replace(self, values=values, ops=ops)

    @cached_property
    def in_order(self) -> "LinalgGraph":
        """The network with its values in the order in which its operations make them."""
        return self.ordered(self.ops)

    def verify(self) -> None:
        """Raise VerificationError where a map, extent or order is inconsistent."""
        made = {v.name for v in self.values if v.role != "intermediate"}
        for op in self.ops:
            _verify_op(self, op)
            if missing := {o.value for o in op.inputs} - made:
                raise VerificationError(f"{op.name} reads {sorted(missing)} before they are made")
            made |= {o.value for o in op.outputs}
        for out in self.outputs:
            if out.value not in made or sorted(out.permutation) != list(range(len(self.value[out.value].shape))):
                raise VerificationError(f"output {out.name} does not name a value and a permutation of its dimensions")
        _verify_layers(self)


def _verify_layers(graph: LinalgGraph) -> None:
    """Each layer has its tensors, what is carried is made and read, and the last layer alone gives that out."""
    if graph.layers is not None and graph.layers.told and (graph.layers.carried or graph.layers.outside):
        raise VerificationError("networks for inputs that follow each other hand on nothing, and nothing is outside")
    count = 1 if graph.layers is None else graph.layers.count
    for value in graph.values:
        parts = (1, *value.shape[:1])  # several in a row where small ones are joined
        held = not value.sources or len(value.sources) in [count * number for number in parts]
        if not held or (value.sources and (value.source or value.role in ("intermediate", "scalar"))):
            raise VerificationError(f"{value.name} must hold a tensor of each of {count} layers, or one of all")
    for made, read in graph.carried:
        if not _in_layer(graph, made) or read not in graph.value or not _enters(graph, read):
            raise VerificationError(
                f"{made} is carried to {read}: a layer must make it, and that be given once, or made outside of layers"
            )
        one, other = graph.value[made], graph.value[read]
        if (one.shape, one.valid, one.dtype) != (other.shape, other.valid, other.dtype):
            raise VerificationError(f"{made} is carried to {read}, which has another shape or type")
    _verify_outside(graph)
    for out in graph.outputs:
        layers = graph.layers
        once = layers is None or bool(layers.told) or out.value in layers.made or not _in_layer(graph, out.value)
        if (out.layer is None) != once or (out.layer is not None and out.layer >= count):
            raise VerificationError(f"output {out.name} must be of one of {count} layers, or of the last")


def _in_layer(graph: LinalgGraph, value: str) -> bool:
    """Whether an operation of a layer makes the value."""
    return value in graph.producer and graph.producer[value][0].name not in graph.outside


def _enters(graph: LinalgGraph, value: str) -> bool:
    """Whether the value is there before the first layer."""
    given = graph.value[value]
    if value in graph.producer:
        return not _in_layer(graph, value)
    return given.role == "input" or (given.role == "param" and not given.sources)


def _verify_outside(graph: LinalgGraph) -> None:
    """Layers and what lies outside of them hand each other what is carried, and share nothing that is streamed."""
    if graph.layers is None:
        return
    if unknown := [name for name in graph.outside if name not in graph.op]:
        raise VerificationError(f"{unknown[0]} is outside of layers, but is no operation")
    carried = graph.layers
    for op in graph.ops:
        outside = op.name in graph.outside
        for name in (operand.value for operand in op.inputs):
            if graph.value[name].role == "scalar":
                continue
            if outside and (name in carried.read or graph.value[name].sources):
                raise VerificationError(f"{op.name} is outside of layers and reads {name}, which is of each layer")
            if outside and _in_layer(graph, name) and name not in carried.made:
                raise VerificationError(f"{op.name} is outside of layers and reads {name}, which is not handed on")
            if not outside and name in graph.once:
                raise VerificationError(f"{op.name} is of a layer and reads {name}, which is outside of layers")


def _verify_op(graph: LinalgGraph, op: LinalgOp) -> None:
    if not len(op.loops) == len(op.iterators) == len(op.groups):
        raise VerificationError(f"{op.name}: loops, iterators and groups differ in number")
    for operand in (*op.inputs, *op.outputs):
        shape = graph.value[operand.value].shape
        if len(set(operand.dims)) != len(operand.dims) or len(operand.dims) != len(shape):
            raise VerificationError(
                f"{op.name}: map {operand.dims} of {operand.value}{list(shape)} is not a permutation"
            )
        for dim, extent in zip(operand.dims, shape, strict=True):
            if extent != op.loops[dim] and not op.own_extent(operand, dim):
                raise VerificationError(f"{op.name}: {operand.value} has extent {extent} on a loop of {op.loops[dim]}")
    if op.kind == "window":
        line_walk(op, graph.value[op.inputs[0].value].shape).verify(op.name)
    _verify_valid(graph, op)
    if op.kind == "generic":
        written = set(op.outputs[0].dims)
        if any((it == "parallel") != (d in written) for d, it in enumerate(op.iterators)):
            raise VerificationError(f"{op.name}: the output must be indexed by exactly the parallel loops")
        if op.body is None or len(op.body.arg_dtypes) != len(op.inputs) or len(op.outputs) != 1:
            raise VerificationError(f"{op.name}: a generic operation has one output and a body argument per input")


def line_walk(op: LinalgOp, shape: tuple[int, ...]) -> LineWalk:
    """How the lines of an input of this shape pass a window operation. Raises VerificationError where it is none."""
    windows, axis = op.windows, op.axis
    if windows is None or axis is None or len(op.inputs) != 1 or len(op.outputs) != 1:
        raise VerificationError(f"{op.name}: windows have an axis, one input and one output")
    last = len(op.loops) - 1
    if windows.loop not in (None, last) or axis == windows.loop:
        raise VerificationError(f"{op.name}: the taps of windows must be the last loop, d{last}")
    single = [op.axis] if op.loops[axis] == 1 else []
    read, made = ([d for d in range(len(op.loops)) if d not in left_out] for left_out in ((windows.loop,), single))
    one_line = axis not in op.inputs[0].dims
    if sorted((*op.inputs[0].dims, *[axis] * one_line)) != read or sorted(op.outputs[0].dims) != made:
        raise VerificationError(f"{op.name}: windows have all loops, and what they are of has all but the taps")
    if any(op.true_loops[d] != op.loops[d] for d in (axis, windows.loop) if d is not None):
        raise VerificationError(f"{op.name}: neither the number of windows nor that of taps can be padded")
    kernel = 1 if windows.loop is None else op.loops[windows.loop]
    lines = 1 if one_line else shape[op.inputs[0].dims.index(axis)]
    return LineWalk.of(windows, lines, op.loops[axis], kernel)


def _verify_valid(graph: LinalgGraph, op: LinalgOp) -> None:
    """True extents fit the padded ones, operands agree with the loops, and no padded point reaches a result."""
    if op.valid and (len(op.valid) != len(op.loops) or op.valid == op.loops):
        raise VerificationError(f"{op.name}: valid {op.valid} needs an extent for each loop, one of them smaller")
    if any(not 1 <= true <= extent for true, extent in zip(op.true_loops, op.loops, strict=True)):
        raise VerificationError(f"{op.name}: valid {op.true_loops} does not lie within the loops {op.loops}")
    for operand in (*op.inputs, *op.outputs):
        for dim, true in zip(operand.dims, graph.value[operand.value].true_shape, strict=True):
            if true != op.true_loops[dim] and not op.own_extent(operand, dim):
                raise VerificationError(
                    f"{op.name}: {operand.value} is valid to {true} on a loop that is valid to {op.true_loops[dim]}"
                )
    padded = {d for d, it in enumerate(op.iterators) if it == "reduction" and op.true_loops[d] < op.loops[d]}
    if not set(op.masked) <= padded:
        raise VerificationError(f"{op.name}: masked {op.masked} must be padded reduction loops, those are {padded}")
    if missing := sorted(d for d in padded - set(op.masked) if not adds_nothing(graph, op, d)):
        raise VerificationError(f"{op.name}: padded points of loops {missing} reach the reduction; mask them")


def adds_nothing(graph: LinalgGraph, op: LinalgOp, dim: int) -> bool:
    """Whether padded points of reduction loop `dim` are exact zeros: an integer product with a factor from memory,
    which is padded with zeros. Not so in f32, where the other factor may be infinite or not a number.
    """
    if op.body is None or op.reduction is None or op.reduction.combiner != "add":
        return False
    if not op.body.is_product or op.body.dtype_of(op.body.result) == "f32":
        return False
    return any(dim in operand.dims and graph.value[operand.value].role != "intermediate" for operand in op.inputs)
