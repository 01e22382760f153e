"""LinalgGraph: the network as the search sees it, frozen values (design section 3, representation 2).

Every operation is a perfect loop nest over `loops`; every operand's map is a projected permutation: data dimension i of
the operand is walked by loop `dims[i]`. The front end brings a network into this form by expanding all shapes to their
common *atoms* (2304 = 3 x 12 x 64 where a fused QKV of 12 heads is chunked), so that reshapes and transposes vanish
into maps. `groups` remembers which loops came from one loop of the source: they are tiled together.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

from compiler.errors import VerificationError

ValueRole = Literal["input", "state", "param", "scalar", "intermediate"]
OpKind = Literal["generic", "chunk", "concat"]
Iterator = Literal["parallel", "reduction"]
Combiner = Literal["add", "max", "min", "mul"]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor. `role`: `input` activations and masks, `state` KV cache read, `param` weights, `scalar` a rank-0 param
    (passed by value, not streamed), `intermediate` the rest.

    `source` is the name of the tensor in the workload's bundle; `shape` is a row-major reshape of that tensor.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: ValueRole = "intermediate"
    source: str = ""

    @property
    def elements(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Operand:
    """Use of value `value`: its data dimension i is walked by loop `dims[i]` of the operation."""

    value: str
    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """One scalar operation of a body, by its MLIR name (`arith.addf`). `args` number the values before it: first the
    body's arguments, then the operations. `const` is the value of an `arith.constant`, `predicate` that of a compare.
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

    def dtype_of(self, value: int) -> str:
        return self.arg_dtypes[value] if value < len(self.arg_dtypes) else self.ops[value - len(self.arg_dtypes)].dtype


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a body's results are combined over the reduction loops, from `init`."""

    combiner: Combiner
    init: float | int


@dataclass(frozen=True)
class LinalgOp:
    """One structured operation.

    `generic`: output[dims] = reduce over reduction loops of body(inputs). One output.
    `chunk`: loop `axis` has as many iterations as there are outputs; output i is the input at `axis` = i.
    `concat`: inputs one after the other along loop `axis`; input extents are those of their values.
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

    @cached_property
    def iterations(self) -> int:
        return prod(self.loops)

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
    """A result of the network: `permutation` of the value's dimensions, then a row-major reshape to `shape`."""

    name: str
    value: str
    permutation: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class LinalgGraph:
    """A network: values by name, operations in topological order."""

    name: str
    values: tuple[Value, ...]
    ops: tuple[LinalgOp, ...]
    outputs: tuple[Output, ...]

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
            if extent != op.loops[dim] and not (op.kind == "concat" and dim == op.axis):
                raise VerificationError(f"{op.name}: {operand.value} has extent {extent} on a loop of {op.loops[dim]}")
    if op.kind == "generic":
        written = set(op.outputs[0].dims)
        if any((it == "parallel") != (d in written) for d, it in enumerate(op.iterators)):
            raise VerificationError(f"{op.name}: the output must be indexed by exactly the parallel loops")
        if op.body is None or len(op.body.arg_dtypes) != len(op.inputs) or len(op.outputs) != 1:
            raise VerificationError(f"{op.name}: a generic operation has one output and a body argument per input")
