"""The cleaned linalg module as plain values: what the normal form is computed from.

Reads MLIR's generic text (torch-mlir's bindings print it, xDSL parses it). An operation carries the module path that
it came from in the attribute `path`; an argument of `@main` its name and role in `compiler.arguments`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, math, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    Builtin,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from compiler.errors import UnsupportedError, VerificationError
from compiler.frontend.lowering.scalars import as_f32
from compiler.frontend.lowering.windows import Index, Padding, Reader, Step, index_of, plain
from compiler.graph.linalg_graph import Iterator
from compiler.graph.windows import LineWalk

PATH_ATTRIBUTE = "millrace.path"


@dataclass(frozen=True, slots=True)
class Tensor:
    """An SSA tensor of the module; `number` identifies it."""

    number: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A scalar, or a tensor of equal elements."""

    value: float | int
    dtype: str


Source = Tensor | Constant


@dataclass(frozen=True, slots=True)
class ScalarStep:
    """One operation of a region: arguments and result are value numbers local to the region. `loop` is that of a
    `linalg.index`.
    """

    name: str
    args: tuple["int | Constant", ...]
    result: int
    dtype: str
    predicate: str | None
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class Generic:
    """linalg.generic. `maps` has one entry per input and output: the loop that walks each dimension, None for index 0.

    Region arguments are numbered from 0: inputs, then outputs. `yields` are the numbers (or constants) yielded.
    """

    path: str
    loops: tuple[int, ...]
    iterators: tuple[Iterator, ...]
    inputs: tuple[Source, ...]
    inits: tuple[Source | None, ...]
    maps: tuple[tuple[int | None, ...], ...]
    arg_dtypes: tuple[str, ...]
    steps: tuple[ScalarStep, ...]
    yields: tuple["int | Constant", ...]
    results: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """tensor.expand_shape or tensor.collapse_shape: `groups` pairs source dimensions with result dimensions."""

    path: str
    source: Tensor
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    result: Tensor


@dataclass(frozen=True, slots=True)
class Slice:
    """tensor.extract_slice with unit strides."""

    path: str
    source: Tensor
    offsets: tuple[int, ...]
    result: Tensor


@dataclass(frozen=True, slots=True)
class Concat:
    """tensor.concat along dimension `dim`."""

    path: str
    sources: tuple[Tensor, ...]
    dim: int
    result: Tensor


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of `source` along its dimension `dim`, in whose place the result has the windows, and their taps behind
    all others; no such dimension where there is one tap. `order`: the result's dimensions as they are walked.
    """

    path: str
    source: Tensor
    dim: int
    walk: LineWalk
    fill: float | int
    order: tuple[int, ...]
    result: Tensor


SourceOp = Generic | Reshape | Slice | Concat | Window


@dataclass(frozen=True)
class SourceModule:
    """@main: its arguments, its operations in order, what it returns."""

    arguments: tuple[Tensor, ...]
    ops: tuple[SourceOp, ...]
    results: tuple[Tensor, ...]


def parse_source(text: str) -> SourceModule:
    """Read a module in MLIR's generic form. Raises UnsupportedError for operations that have no place in the graph."""
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, func.Func, arith.Arith, math.Math, Linalg, tensor.Tensor, cf.Cf):
        context.load_dialect(dialect)
    try:
        module = Parser(context, text).parse_module()
    except ParseError as error:
        raise VerificationError(f"linalg text does not parse: {error}") from error
    return _Reader().read(module)


_RELATIONS = ("eq", "gt", "ge", "lt", "le", "ne")
CMPF = ("false", *(f"o{r}" for r in _RELATIONS), "ord", *(f"u{r}" for r in _RELATIONS), "uno", "true")
CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class _Padded(NamedTuple):
    """What a tensor.pad makes, which is no tensor that anything but a window may read."""

    path: str
    source: Tensor
    padding: Padding


class _Reader:
    def __init__(self) -> None:
        self._values: dict[SSAValue, Source | None] = {}
        self._padded: dict[SSAValue, _Padded] = {}
        self._windows: dict[tuple[int, Step], Tensor] = {}
        self._ops: list[SourceOp] = []
        self._count = 0

    def read(self, module: ModuleOp) -> SourceModule:
        functions = [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]
        if len(functions) != 1:
            raise UnsupportedError(f"the module holds {len(functions)} functions; expected one, @main")
        block = functions[0].body.block
        arguments = tuple(self._tensor(arg) for arg in block.args)
        results: tuple[Tensor, ...] = ()
        for op in block.ops:
            if isinstance(op, func.ReturnOp):
                results = tuple(self._read_tensor(op, value) for value in op.operands)
            else:
                self._operation(op)
        return SourceModule(arguments, tuple(self._ops), results)

    def _operation(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp():
                self._values[op.result] = _constant(op)
            case arith.TruncFOp() if isinstance(wide := self._values[op.input], Constant):
                self._values[op.result] = Constant(as_f32(wide.value), _dtype(op.result.type))
            case tensor.EmptyOp():
                self._values[op.results[0]] = None
            case GenericOp():
                self._generic(op)
            case tensor.CollapseShapeOp() | tensor.ExpandShapeOp():
                self._reshape(op)
            case tensor.ExtractSliceOp():
                self._slice(op)
            case tensor.PadOp():
                self._pad(op)
            case _ if op.name == "tensor.concat":
                sources = tuple(self._read_tensor(op, v) for v in op.operands)
                result = self._tensor(op.results[0])
                self._ops.append(Concat(_path(op), sources, _integer(op.properties["dim"]), result))
            case _:
                raise UnsupportedError(f"{_name(op)} at {_path(op) or 'top level'} is not supported")

    def _generic(self, op: GenericOp) -> None:
        path = _path(op)
        iterators: tuple[Iterator, ...] = tuple(cast(Iterator, i.data.value) for i in op.iterator_types)
        indices = [tuple(index_of(path, e) for e in m.data.results) for m in op.indexing_maps]
        loops = [0] * op.indexing_maps.data[0].data.num_dims
        for value, dims in zip((*op.inputs, *op.outputs), indices, strict=True):
            for extent, index in zip(_shape(value.type), dims, strict=True):
                if isinstance(index, int):
                    loops[index] = extent
        used = [bool(op.body.block.args[n].uses) for n in range(len(op.inputs))]
        read: list[tuple[Source, tuple[int | None, ...]]] = []
        for n, value in enumerate(op.inputs):
            if not used[n]:  # a pooling says how large its windows are by a tensor without elements
                read.append((Constant(0, _dtype(value.type)), tuple(plain(path, e) for e in indices[n])))
                continue
            others = {e for k, dims in enumerate(indices[: len(op.inputs)]) if used[k] and k != n for e in dims}
            reader = Reader(path, tuple(loops), iterators, [e for e in others if isinstance(e, int)])
            read.append(self._windowed(op, value, indices[n], reader))
        inputs = tuple(source for source, _ in read)
        maps = (*(dims for _, dims in read), *(tuple(plain(path, e) for e in d) for d in indices[len(inputs) :]))
        block = op.body.block
        begun = zip(op.outputs, block.args[len(op.inputs) :], strict=True)
        inits = tuple(self._values[value] if arg.uses else None for value, arg in begun)  # else it is only written
        numbers: dict[SSAValue, int | Constant] = {arg: i for i, arg in enumerate(block.args)}
        steps: list[ScalarStep] = []
        yields: tuple[int | Constant, ...] = ()
        for inner in block.ops:
            if isinstance(inner, YieldOp):
                yields = tuple(self._scalar(numbers, v) for v in inner.operands)
            elif isinstance(inner, arith.ConstantOp):
                numbers[inner.result] = _constant(inner)
            elif inner.results:  # cf.assert guards a division against zero; it computes nothing
                number = len(block.args) + len(steps)
                args = tuple(self._scalar(numbers, v) for v in inner.operands)
                numbers[inner.results[0]] = number
                dtype = _dtype(inner.results[0].type)
                steps.append(ScalarStep(_name(inner), args, number, dtype, _predicate(inner), _index_loop(inner)))
        results = tuple(self._tensor(r) for r in op.results)
        arg_dtypes = tuple(_dtype(a.type) for a in block.args)
        self._ops.append(
            Generic(_path(op), tuple(loops), iterators, inputs, inits, maps, arg_dtypes, tuple(steps), yields, results)
        )

    def _windowed(
        self, op: GenericOp, value: SSAValue, indices: Sequence[Index], reader: Reader
    ) -> tuple[Source, tuple[int | None, ...]]:
        """What is read, as a tensor that single loops index: its windows, where it has some."""
        padded = self._padded.get(value)
        source = self._source(op, value) if padded is None else padded.source
        if not isinstance(source, Tensor):
            return source, tuple(plain(reader.path, e) for e in indices)
        plan = reader.plan(source.shape, indices, None if padded is None else padded.padding)
        for step in plan.steps:
            source = self._window(reader.path, source, step)
        return source, plan.loops

    def _window(self, path: str, source: Tensor, step: Step) -> Tensor:
        """The windows that were made before, where they are the same."""
        key = (source.number, step)
        if key not in self._windows:
            made = self._windows[key] = self._new(step.shape, source.dtype)
            self._ops.append(Window(path, source, step.dim, step.walk, step.fill, step.order, made))
        return self._windows[key]

    def _pad(self, op: tensor.PadOp) -> None:
        """What is padded is read by windows alone, which begin and end outside of it."""
        low, high = _integers(op.static_low), _integers(op.static_high)
        (last,) = op.region.block.ops
        fill = self._values.get(last.operands[0])
        if len(op.operands) > 1 or not isinstance(fill, Constant) or min((*low, *high)) < 0:
            raise UnsupportedError(f"tensor.pad at {_path(op)} pads by what is not a constant, or takes lines away")
        self._padded[op.results[0]] = _Padded(
            _path(op), self._read_tensor(op, op.source), Padding(low, high, fill.value)
        )

    def _scalar(self, numbers: dict[SSAValue, int | Constant], value: SSAValue) -> int | Constant:
        if value in numbers:
            return numbers[value]
        outer = self._values[value]
        assert isinstance(outer, Constant)
        return outer

    def _reshape(self, op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> None:
        padded = self._padded.get(op.operands[0])
        if padded is None and self._values[op.operands[0]] is None:
            self._values[op.results[0]] = None  # what is about to be written
            return
        source = self._read_tensor(op, op.operands[0]) if padded is None else padded.source
        reassociation = op.reassociation
        groups = tuple((tuple(k.value.data for k in g), (i,)) for i, g in enumerate(reassociation))
        if isinstance(op, tensor.ExpandShapeOp):
            groups = tuple((small, wide) for wide, small in groups)
        if padded is None:
            self._ops.append(Reshape(_path(op), source, groups, self._tensor(op.results[0])))
            return
        made = _shape(op.results[0].type)
        padding = padded.padding.reshaped(_path(op), groups, _shape(op.operands[0].type), made)
        around = zip(made, padding.low, padding.high, strict=True)
        result = self._new(tuple(extent - low - high for extent, low, high in around), source.dtype)
        self._ops.append(Reshape(_path(op), source, groups, result))
        self._padded[op.results[0]] = _Padded(padded.path, result, padding)

    def _slice(self, op: tensor.ExtractSliceOp) -> None:
        source = self._read_tensor(op, op.operands[0])
        offsets, strides = _integers(op.static_offsets), _integers(op.static_strides)
        if len(op.operands) > 1 or any(s != 1 for s in strides):
            raise UnsupportedError(f"tensor.extract_slice at {_path(op)} has strides or dynamic offsets")
        self._ops.append(Slice(_path(op), source, offsets, self._tensor(op.results[0])))

    def _tensor(self, value: SSAValue) -> Tensor:
        self._values[value] = made = self._new(_shape(value.type), _dtype(value.type))
        return made

    def _new(self, shape: tuple[int, ...], dtype: str) -> Tensor:
        self._count += 1
        return Tensor(self._count - 1, shape, dtype)

    def _source(self, op: Operation, value: SSAValue) -> Source:
        if value in self._padded:
            raise UnsupportedError(f"tensor.pad at {self._padded[value].path} pads what no window reads")
        source = self._values[value]
        if source is None:
            raise UnsupportedError(f"{_name(op)} at {_path(op)} reads a tensor that nothing wrote")
        return source

    def _read_tensor(self, op: Operation, value: SSAValue) -> Tensor:
        source = self._source(op, value)
        if not isinstance(source, Tensor):
            raise UnsupportedError(f"{_name(op)} at {_path(op)} reads a constant tensor")
        return source


def _name(op: Operation) -> str:
    unregistered = cast(Any, op).op_name.data if op.name == "builtin.unregistered" else op.name
    return str(unregistered)


def _path(op: Operation) -> str:
    attribute = op.attributes.get(PATH_ATTRIBUTE)
    return attribute.data if isinstance(attribute, StringAttr) else ""


def _shape(kind: Attribute) -> tuple[int, ...]:
    if not isinstance(kind, TensorType):
        return ()
    shape = cast(TensorType[Attribute], kind).get_shape()
    if any(extent < 0 for extent in shape):
        raise UnsupportedError(f"dynamic shape {kind} is not supported; export with fixed sizes")
    return tuple(shape)


def _dtype(kind: Attribute) -> str:
    element = cast(TensorType[Attribute], kind).element_type if isinstance(kind, TensorType) else kind
    if isinstance(element, IntegerType):
        return f"i{cast(IntegerType, element).width.data}"
    if isinstance(element, IndexType):
        return "index"
    if isinstance(element, AnyFloat):
        return f"f{element.bitwidth}"
    raise UnsupportedError(f"element type {element} is not supported")


def _constant(op: arith.ConstantOp) -> Constant:
    value = op.value
    if isinstance(value, IntegerAttr):
        return Constant(value.value.data, _dtype(value.type))
    if isinstance(value, FloatAttr):
        return Constant(value.value.data, _dtype(value.type))
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        return Constant(cast(float | int, value.get_values()[0]), _dtype(op.result.type))
    raise UnsupportedError(
        f"constant tensor {op.result.type} at {_path(op) or 'top level'} is not supported; make it a parameter"
    )


def _predicate(op: Operation) -> str | None:
    match op:
        case arith.CmpfOp():
            return CMPF[_integer(op.predicate)]
        case arith.CmpiOp():
            return CMPI[_integer(op.predicate)]
        case _:
            return None


def _index_loop(op: Operation) -> int | None:
    return _integer(op.properties["dim"]) if _name(op) == "linalg.index" else None


def _integer(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _integers(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    return tuple(attribute.get_values())
