"""What an operation may give in single precision: its result in double precision, and how far off rounding may lead.

Running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 3.3). Additions, products, quotients and
roots are rounded correctly: of exact operands their result is known to the last bit, ties of a later rounding included.
Where the order of a sum is the design's choice, n terms may be off by 8 sqrt(n) 2^-24 times the sum of their
magnitudes, a probabilistic bound (Higham and Mary 2019); exponentials and their like by 4 units in the last place.
Integers are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod, sqrt

import numpy as np

from compiler.errors import UnsupportedError
from compiler.frontend.interpret import (
    Array,
    bits_of,
    compared,
    contract,
    erf_of,
    evaluate_op,
    evaluated_loops,
    gather,
    index_of,
    spread,
)
from compiler.graph.linalg_graph import INDEX, NARROW, LinalgGraph, LinalgOp, ScalarOp
from compiler.graph.padded_array import crop_array

ROUNDING = 2.0**-24  # of one operation in single precision, relative
LIBRARY = 4 * 2.0**-23  # of exp, tanh and their like: four units in the last place
SUM = 8.0
_TINY = 2.0**-149
_LARGEST = float(np.finfo(np.float32).max)
_FLAT = 2.0**-151
_WRAP = {"i4": 8, "i8": 8, "i32": 32}


@dataclass(frozen=True, slots=True)
class Bounded:
    """Numbers of which each is within `error` of `value`, both in double precision; None: exactly `value`."""

    value: Array
    error: Array | None = None

    def map(self, move: Callable[[Array], Array]) -> "Bounded":
        """Both moved alike."""
        return Bounded(move(self.value), None if self.error is None else move(self.error))

    @property
    def bound(self) -> Array:
        return np.zeros_like(self.value) if self.error is None else self.error


def exact(array: Array) -> Bounded:
    """What is known as it is."""
    with np.errstate(invalid="ignore"):  # a wrong design may hand on signalling NaNs
        return Bounded(array.astype(np.float64))


def evaluate(op: LinalgOp, graph: LinalgGraph, inputs: Sequence[Bounded], margin: float | None = None) -> list[Bounded]:
    """The outputs of one operation. What is within `margin` of a rounding boundary may fall on either side; None: what
    the error says.
    """
    with np.errstate(all="ignore"):
        if op.kind != "generic":
            values = evaluate_op(op, graph, [i.value for i in inputs])
            if all(i.error is None for i in inputs):
                return [Bounded(v) for v in values]
            exactly = op if op.windows is None else replace(op, windows=replace(op.windows, fill=0.0))  # no error there
            errors = evaluate_op(exactly, graph, [i.bound for i in inputs])
            return [Bounded(v, e) for v, e in zip(values, errors, strict=True)]
        return [_generic(op, inputs, margin)]


def _generic(op: LinalgOp, inputs: Sequence[Bounded], margin: float | None) -> Bounded:
    assert op.body is not None
    loops = evaluated_loops(op)

    def cropped(number: int) -> Bounded:
        dims = op.inputs[number].dims
        return inputs[number].map(lambda a: crop_array(a, [loops[d] for d in dims]))

    given = [cropped(i) for i in range(len(inputs))]
    dtype = op.body.dtype_of(op.body.result)
    if op.reduction is not None and op.reduction.combiner == "add" and op.body.is_product:
        return _start(_contraction(op, given[0], given[1], dtype, loops), op.reduction.init, dtype)
    values = [g.map(lambda a, o=o: spread(a, o, len(op.loops))) for g, o in zip(given, op.inputs, strict=True)]
    for scalar in op.body.ops:
        given = [values[a] for a in scalar.args]
        values.append(exact(index_of(scalar, loops)) if scalar.name == INDEX else _scalar(scalar, given, margin))
    points = values[op.body.result].map(lambda a: np.broadcast_to(a, loops))
    if op.reduction is not None:
        axes = tuple(d for d, kind in enumerate(op.iterators) if kind == "reduction")
        points = _reduced(points, axes, op.reduction.combiner, dtype)
        points = _start(points, op.reduction.init, dtype) if op.reduction.combiner == "add" else points
    return points.map(lambda a: gather(a, op.outputs[0]))


def _contraction(op: LinalgOp, a: Bounded, b: Bounded, dtype: str, loops: Sequence[int]) -> Bounded:
    value = contract(op, a.value, b.value, loops)
    if dtype != "f32":
        return Bounded(_wrapped(value, dtype))
    terms = prod(n for n, kind in zip(loops, op.iterators, strict=True) if kind == "reduction")
    left, right = np.abs(a.value), np.abs(b.value)
    error = SUM * sqrt(terms) * ROUNDING * contract(op, left, right, loops)
    if b.error is not None:
        error += contract(op, left + a.bound, b.error, loops)
    if a.error is not None:
        error += contract(op, a.error, right, loops)
    return Bounded(value, error + _TINY)


def _reduced(points: Bounded, axes: tuple[int, ...], combiner: str, dtype: str) -> Bounded:
    terms = prod(points.value.shape[d] for d in axes)
    if combiner in ("max", "min"):
        best = np.max if combiner == "max" else np.min
        error = None if points.error is None else np.max(points.error, axis=axes, keepdims=True)
        return Bounded(best(points.value, axis=axes, keepdims=True), error)
    if combiner != "add":
        raise UnsupportedError(f"reduction by {combiner} has no bound; add it to the proof")
    value = np.sum(points.value, axis=axes, keepdims=True)
    if dtype != "f32":
        return Bounded(_wrapped(value, dtype))
    if terms == 1:
        return Bounded(value, None if points.error is None else np.sum(points.error, axis=axes, keepdims=True))
    error = SUM * sqrt(terms) * ROUNDING * np.sum(np.abs(points.value), axis=axes, keepdims=True) + _TINY
    return Bounded(value, error if points.error is None else error + np.sum(points.error, axis=axes, keepdims=True))


def _start(sums: Bounded, init: float, dtype: str) -> Bounded:
    """Sums that did not begin at zero."""
    if not init:
        return sums
    return _scalar(ScalarOp("arith.addf" if dtype == "f32" else "arith.addi", (0, 1), dtype), [sums, _constant(init)])


def _constant(value: float) -> Bounded:
    return Bounded(np.asarray(np.float32(value) if isinstance(value, float) else value, np.float64))


def _scalar(op: ScalarOp, args: Sequence[Bounded], margin: float | None = None) -> Bounded:
    if op.name == "arith.constant":
        assert op.const is not None
        return _constant(op.const)
    values = [a.value for a in args]
    known = all(a.error is None for a in args)
    if op.name in _ROUNDED:
        value = np.asarray(_ROUNDED[op.name](*values))
        if known:  # in double precision it is as good as exact: what single precision makes of it is its rounding
            return Bounded(_single(value))
        moved = _propagated(op.name, args, value)
        rounded = moved + np.abs(value) * ROUNDING + _TINY
        return Bounded(np.where(moved == 0, _single(value), value), np.where(moved == 0, 0, rounded))
    if op.name in _LIBRARY:
        value = np.asarray(_LIBRARY[op.name](*values))
        moved = np.zeros_like(value) if known else _moved(_LIBRARY[op.name], args, value)
        # Where it is flat, or exp of nothing, libraries give the number itself: 0, 1 or -1.
        flat = (moved == 0) & (np.abs(value - np.rint(value)) < _FLAT) & (np.abs(value) < 1.5)
        error = np.where(flat, 0, moved + np.abs(value) * LIBRARY + _TINY)
        beyond = np.abs(value) > _LARGEST  # what single precision has is infinite
        value = np.where(flat, np.rint(value), np.where(beyond, np.copysign(np.inf, value), value))
        return Bounded(value, np.where(beyond, 0, error))
    if op.name in _STEPS:
        return _step(_STEPS[op.name], args[0], margin if op.name == "math.roundeven" else None)
    if op.name in ("arith.cmpf", "arith.cmpi"):
        return _compared(op, args)
    if op.name == "arith.select":
        return _selected(*args)
    if op.name not in _EXACT:
        raise UnsupportedError(f"scalar operation {op.name} has no bound; add it to the proof")
    value = _wrapped(np.asarray(_EXACT[op.name](*values)), op.dtype)
    value = _within(value, int(op.const or 0)) if op.name == NARROW else value
    value = _single(value) if op.name == "arith.sitofp" else value
    moved = reduce(np.add, [a.bound for a in args])
    moved = np.where(moved == 0, 0.0, np.inf) if op.name in _OF_BITS else moved
    return Bounded(value, None if known else moved)


def _propagated(name: str, args: Sequence[Bounded], value: Array) -> Array:
    """How far the result moves where its operands do."""
    if name in ("arith.addf", "arith.subf"):
        return args[0].bound + args[1].bound
    if name == "arith.mulf":
        (a, b), (x, y) = (np.abs(i.value) for i in args), (i.bound for i in args)
        return a * y + b * x + x * y
    if name == "arith.divf":
        divisor = np.abs(args[1].value) - args[1].bound
        moved = (args[0].bound + np.abs(value) * args[1].bound) / divisor
        return np.where(divisor > 0, moved, np.inf)
    return _moved(_ROUNDED[name], args, value)


def _moved(function: Callable[..., Array], args: Sequence[Bounded], value: Array) -> Array:
    """The same of a function that is monotonic in each of its arguments."""
    ends = [(a.value - a.bound, a.value + a.bound) for a in args]
    corners = [(low,) for low in ends[0]] if len(ends) == 1 else [(a, b) for a in ends[0] for b in ends[1]]
    moved = reduce(np.maximum, [np.abs(function(*corner) - value) for corner in corners])
    return np.where(np.isnan(moved) & ~np.isnan(value), np.inf, moved)


def _step(function: Callable[[Array], Array], of: Bounded, margin: float | None) -> Bounded:
    """A function of steps: what is near one may fall on either side."""
    near = of.error if margin is None else np.asarray(margin)
    if near is None:
        return Bounded(function(of.value))
    low, high = function(of.value - near), function(of.value + near)
    return Bounded((low + high) / 2, (high - low) / 2)


def _compared(op: ScalarOp, args: Sequence[Bounded]) -> Bounded:
    """True as 1; where errors leave it open, either."""
    value = compared(op, args[0].value, args[1].value).astype(np.float64)
    if all(a.error is None for a in args):
        return Bounded(value)
    near = np.abs(args[0].value - args[1].value) <= args[0].bound + args[1].bound
    return Bounded(value, near.astype(np.float64))


def _selected(condition: Bounded, yes: Bounded, no: Bounded) -> Bounded:
    value = np.where(condition.value != 0, yes.value, no.value)
    if condition.error is None and yes.error is None and no.error is None:
        return Bounded(value)
    error = np.where(condition.value != 0, yes.bound, no.bound)
    return Bounded(value, np.where(condition.bound > 0, np.abs(yes.value - no.value) + yes.bound + no.bound, error))


def _integers(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of integers that doubles hold."""
    return lambda *numbers: function(*(n.astype(np.int64) for n in numbers))


def _single(value: Array) -> Array:
    return value.astype(np.float32).astype(np.float64)


def _wrapped(value: Array, dtype: str) -> Array:
    """Integers as their type holds them: two's complement."""
    bits = _WRAP.get(dtype)
    return value if bits is None else _within(value, bits)


def _within(value: Array, bits: int) -> Array:
    """So many of the lowest bits of integers, with their sign."""
    if not np.any(np.abs(value) >= 2.0 ** (bits - 1)):
        return value
    half = 2.0 ** (bits - 1)
    return np.mod(value + half, 2 * half) - half


def _inverse_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _identity(x: Array) -> Array:
    return x


_ROUNDED: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "math.sqrt": np.sqrt,
}
_LIBRARY: dict[str, Callable[..., Array]] = {
    "math.exp": np.exp,
    "math.log": np.log,
    "math.tanh": np.tanh,
    "math.erf": erf_of,
    "math.rsqrt": _inverse_root,
    "math.powf": np.power,
}
_STEPS: dict[str, Callable[[Array], Array]] = {
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "arith.fptosi": np.trunc,
}
# Off by a little, these are anything.
_OF_BITS = frozenset({NARROW, "arith.bitcast", "arith.shli", "arith.shrsi", "arith.andi", "arith.ori"})
_EXACT: dict[str, Callable[..., Array]] = {
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "math.absf": np.abs,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.bitcast": bits_of,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.shli": _integers(np.left_shift),
    "arith.shrsi": _integers(np.right_shift),
    "arith.andi": _integers(np.bitwise_and),
    "arith.ori": _integers(np.bitwise_or),
    "arith.extsi": _identity,
    "arith.trunci": _identity,
    "arith.sitofp": _identity,
    NARROW: _identity,
}
