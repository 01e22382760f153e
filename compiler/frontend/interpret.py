"""What a LinalgGraph means, in numpy: float32 arithmetic, exact integers. Slow and obvious; the reference of csim.

An operation is evaluated on its whole loop nest at once: every operand is spread over the loops by broadcasting. The
products of contractions go through `einsum`, which is the same sum without the memory. In a padded graph, values hold
their padding: zeros in what the network is given, whatever comes out of the operations in the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from math import erf, prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.scalar_ops import PREDICATES
from compiler.graph.linalg_graph import INDEX, NARROW, Body, LinalgGraph, LinalgOp, Operand, ScalarOp, line_walk
from compiler.graph.padded_array import crop_array, pad_array

Array = NDArray[Any]
_einsum = cast(Callable[..., Array], np.einsum)  # its stub knows only the form with a string

NUMPY_DTYPE: dict[str, type[np.generic]] = {
    "f32": np.float32,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "i4": np.int8,
    "i1": np.bool_,
}


def interpret(graph: LinalgGraph, tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Every value of the graph, by name, in the value's shape. `tensors` holds each `Value.source` of the bundle."""
    values = {v.name: source_array(graph, v.name, tensors) for v in graph.values if v.role != "intermediate"}
    for op in graph.ops:
        made = evaluate_op(op, graph, [values[o.value] for o in op.inputs])
        values |= {o.value: array for o, array in zip(op.outputs, made, strict=True)}
    return values


def outputs_of(graph: LinalgGraph, values: Mapping[str, Array]) -> dict[str, Array]:
    """The results of the network, by `Output.name`, in the shapes of the reference."""
    true = {o.value: crop_array(values[o.value], graph.value[o.value].true_shape) for o in graph.outputs}
    return {o.name: true[o.value].transpose(o.permutation).reshape(o.shape) for o in graph.outputs}


def source_array(graph: LinalgGraph, name: str, tensors: Mapping[str, Array]) -> Array:
    """The bundle's tensor of value `name` in the value's shape and type, zeros where that is padded. Raises
    InvalidInputError if it is missing.
    """
    value = graph.value[name]
    if value.source not in tensors:
        raise InvalidInputError(f"the bundle has no tensor {value.source!r} for value {name}")
    array = np.asarray(tensors[value.source])
    if array.size != prod(value.true_shape) or array.dtype != NUMPY_DTYPE[value.dtype]:
        raise InvalidInputError(
            f"tensor {value.source!r} is {array.dtype}{list(array.shape)}; value {name} is "
            f"{value.dtype}{list(value.true_shape)}"
        )
    return pad_array(array.reshape(value.true_shape), value.shape)


def evaluate_op(op: LinalgOp, graph: LinalgGraph, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of one operation for given inputs, each in its value's shape. Raises InvalidInputError for others."""
    for operand, array in zip(op.inputs, inputs, strict=True):
        if array.shape != (shape := graph.value[operand.value].shape):
            raise InvalidInputError(f"{op.name} reads {operand.value}{list(shape)}; it was given {list(array.shape)}")
    if op.kind == "chunk":
        return _chunk(op, inputs[0])
    if op.kind == "concat":
        return (_concat(op, inputs),)
    if op.kind == "window":
        return (_window(op, inputs[0]),)
    assert op.body is not None
    loops = evaluated_loops(op)
    inputs = [crop_array(a, [loops[d] for d in o.dims]) for a, o in zip(inputs, op.inputs, strict=True)]
    if op.reduction is not None and op.reduction.combiner == "add" and op.body.is_product:
        return (_contract(op, op.body, inputs),)
    arguments = [spread(a, o, len(op.loops)) for a, o in zip(inputs, op.inputs, strict=True)]
    points = np.broadcast_to(evaluate_body(op.body, arguments, loops), loops)
    if op.reduction is not None:
        axes = tuple(d for d, kind in enumerate(op.iterators) if kind == "reduction")
        start = points.dtype.type(op.reduction.init)
        combine = _REDUCE[op.reduction.combiner]
        points = combine(points, axis=axes, initial=start, dtype=points.dtype, keepdims=True)
        points = points.reshape([1 if d in axes else n for d, n in enumerate(loops)])
    return (gather(points, op.outputs[0]),)


def evaluated_loops(op: LinalgOp) -> tuple[int, ...]:
    """Extents of the points that the operation computes: those that are masked stay out."""
    return tuple(op.true_loops[d] if d in op.masked else extent for d, extent in enumerate(op.loops))


def evaluate_body(body: Body, arguments: Sequence[Array], loops: Sequence[int] = ()) -> Array:
    """The body on arrays: one argument and one result per point of `loops`, which a body without indices needs not."""
    values = [np.asarray(a) for a in arguments]
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for op in body.ops:
            values.append(index_of(op, loops) if op.name == INDEX else _scalar(op, [values[a] for a in op.args]))
    return values[body.result]


def index_of(op: ScalarOp, loops: Sequence[int]) -> Array:
    """Where the loop of an index is, spread over the loops."""
    assert op.const is not None
    shape = [extent if dim == op.const else 1 for dim, extent in enumerate(loops)]
    return np.arange(loops[int(op.const)], dtype=NUMPY_DTYPE[op.dtype]).reshape(shape)


def compared(op: ScalarOp, left: Array, right: Array) -> Array:
    """Whether the relation holds. Where an operand is not a number, an unordered one does, and no ordered one."""
    holds = _COMPARE[PREDICATES[op.predicate]](left, right)
    if op.name == "arith.cmpi" or op.predicate is None:
        return holds
    unordered = np.isnan(left) | np.isnan(right)
    return holds | unordered if op.predicate.startswith("u") else holds & ~unordered


def bits_of(x: Array) -> Array:
    """The bits of numbers in single precision, as integers."""
    return np.asarray(x, np.float32).view(np.int32)


def _scalar(op: ScalarOp, args: list[Array]) -> Array:
    dtype = NUMPY_DTYPE[op.dtype]
    if op.name == "arith.constant":
        return np.asarray(op.const, dtype)
    if op.name in {"arith.cmpf", "arith.cmpi"}:
        return compared(op, *args)
    if op.name == NARROW:
        spare = 32 - int(op.const or 0)
        return np.right_shift(np.left_shift(args[0].astype(dtype), spare), spare)
    if op.name not in _NUMPY:
        raise UnsupportedError(f"scalar operation {op.name} has no reference; add it to the interpreter")
    return np.asarray(_NUMPY[op.name](*args)).astype(dtype)


def _contract(op: LinalgOp, body: Body, inputs: Sequence[Array]) -> Array:
    """Sum of products, accumulated in the body's type."""
    assert op.reduction is not None
    dtype = NUMPY_DTYPE[body.dtype_of(body.result)]
    # Integers in double precision: those of a design stay far below 2^53, and numpy multiplies no others quickly.
    computing = np.float32 if dtype is np.float32 else np.float64
    a, b = (x.astype(computing) for x in inputs)
    with np.errstate(over="ignore", invalid="ignore"):  # of points that are padding
        made = contract(op, a, b, op.loops) + op.reduction.init
    return made.astype(dtype) if dtype is np.float32 else made.astype(np.int64).astype(dtype)


def contract(op: LinalgOp, a: Array, b: Array, loops: Sequence[int]) -> Array:
    """Sums of products of the operation's two inputs; as often as they have points along `loops` that only the output
    indexes.
    """
    written = op.outputs[0].dims
    out = [d for d in written if d in op.inputs[0].dims or d in op.inputs[1].dims]
    made, alone = _contracted(op, a, b, out), [at for at, d in enumerate(written) if d not in out]
    return made if not alone else np.array(np.broadcast_to(np.expand_dims(made, alone), [loops[d] for d in written]))


def _contracted(op: LinalgOp, a: Array, b: Array, out: Sequence[int]) -> Array:
    """The same over loops of inputs, as a batch of matrix products where they are such."""
    left, right = (operand.dims for operand in op.inputs)
    batch = [d for d in out if d in left and d in right]
    rows, columns = [d for d in out if d not in right], [d for d in out if d not in left]
    inner = [d for d in left if d in right and d not in out]
    if {*left} != {*batch, *rows, *inner} or {*right} != {*batch, *columns, *inner}:
        return np.asarray(_einsum(a, list(left), b, list(right), list(out), optimize=True))
    extent = dict(zip((*left, *right), (*a.shape, *b.shape), strict=True))

    def matrices(array: Array, dims: Sequence[int], *groups: list[int]) -> Array:
        order = array.transpose([dims.index(d) for group in groups for d in group])
        return order.reshape([prod(extent[d] for d in group) for group in groups])

    product = matrices(a, left, batch, rows, inner) @ matrices(b, right, batch, inner, columns)
    made = [*batch, *rows, *columns]
    shaped = product.reshape([extent[d] for d in made]).transpose([made.index(d) for d in out])
    return np.array(shaped, order="C")


def _chunk(op: LinalgOp, array: Array) -> tuple[Array, ...]:
    """Part i is the input at index i of loop `axis`."""
    assert op.axis is not None
    position = op.inputs[0].dims.index(op.axis)
    rest = [d for d in op.inputs[0].dims if d != op.axis]
    parts = np.moveaxis(array, position, 0)
    return tuple(
        np.array(part.transpose([rest.index(d) for d in o.dims]), order="C")
        for part, o in zip(parts, op.outputs, strict=True)
    )


def _concat(op: LinalgOp, inputs: Sequence[Array]) -> Array:
    """An input that loop `axis` does not index has extent one along it. Zeros follow the last where it is padded."""
    parts = [spread(a, o, len(op.loops)) for a, o in zip(inputs, op.inputs, strict=True)]
    return gather(pad_array(np.concatenate(parts, axis=op.axis), op.loops), op.outputs[0])


def _window(op: LinalgOp, array: Array) -> Array:
    """Every tap of every window, which lies `padding` lines further on among lines with as many more in front; each of
    these is there as often as it repeats.
    """
    walk, windows, axis = line_walk(op, array.shape), op.windows, op.axis
    assert windows is not None
    assert axis is not None
    lines = np.moveaxis(spread(array, op.inputs[0], len(op.loops) - (windows.loop is not None)), axis, 0)
    around = [(walk.padding, walk.behind), *[(0, 0)] * (lines.ndim - 1)]
    padded = np.pad(lines.repeat(walk.repeat, axis=0), around, constant_values=array.dtype.type(windows.fill))
    starts = np.arange(walk.windows) * walk.stride
    taps = [np.moveaxis(padded[starts + k * walk.dilation], 0, axis) for k in range(walk.kernel)]
    return gather(taps[0] if windows.loop is None else np.stack(taps, axis=-1), op.outputs[0])


def spread(array: Array, operand: Operand, rank: int) -> Array:
    """The operand with one dimension per loop, of extent 1 where it is not indexed."""
    order = sorted(range(len(operand.dims)), key=lambda i: operand.dims[i])
    shape = [1] * rank
    for i in order:
        shape[operand.dims[i]] = array.shape[i]
    return array.transpose(order).reshape(shape)


def gather(points: Array, operand: Operand) -> Array:
    """The inverse of `spread`: loops that the operand does not index have extent 1."""
    kept = sorted(operand.dims)
    squeezed = points.reshape([points.shape[d] for d in kept])
    return np.array(squeezed.transpose([kept.index(d) for d in operand.dims]), order="C")


def erf_of(x: Array) -> Array:
    """The error function in double precision; numpy has none."""
    return np.asarray(np.frompyfunc(erf, 1, 1)(x), np.float64)


def _rsqrt(x: Array) -> Array:
    return np.float32(1.0) / np.sqrt(x)


def _identity(x: Array) -> Array:
    return x


_REDUCE: dict[str, Callable[..., Array]] = {
    "add": np.add.reduce,
    "mul": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
}
_COMPARE: dict[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
_NUMPY: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.bitcast": bits_of,
    "arith.extsi": _identity,
    "arith.trunci": _identity,
    "arith.sitofp": _identity,
    "arith.fptosi": np.trunc,
    "arith.select": np.where,
    "math.exp": np.exp,
    "math.log": np.log,
    "math.tanh": np.tanh,
    "math.erf": erf_of,
    "math.sqrt": np.sqrt,
    "math.rsqrt": _rsqrt,
    "math.absf": np.abs,
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "math.powf": np.power,
}
