"""A network of f32 in integers: static scales, weights of 8 or 4 bits, activations of 8, sums of 32.

Symmetric: a number is an integer times a scale, of each output channel for weights, of a set of values for activations
(`alike`), which is the largest magnitude found by calibration at the end of the range. What lies between two products
is fixed point (`fixed_point`) where it is made of sums of multiples and bounds, such as bias, ReLU, the addition of a
residual, or the division of an average pooling. Anything else reads f32, integers times their scales, and is rounded to
int8, half to even, where integers follow.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import InvalidInputError
from compiler.frontend.integers.affine import Affine, Bounded, affine_of, constant
from compiler.frontend.integers.fixed_point import LARGEST, fixed_point
from compiler.frontend.integers.plan import Plan, planned, weight_of
from compiler.frontend.integers.weights import quantise_weight
from compiler.frontend.interpret import NUMPY_DTYPE, interpret, source_array, spread
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, Value
from compiler.options import Ports, Precision

Array = NDArray[Any]
WEIGHT_BITS: dict[Precision, int] = {"w8a8": 8, "w4a8": 4}
LEAST_PEAK = 1e-6  # of an activation that was never anything but zero


@dataclass(frozen=True)
class Quantised:
    """The network in integers with its tensors. `products` of it are of integers, `left` the names of products with
    weights or of two activations that are not; `ports` has the scale of inputs and results that are int8, by name.
    """

    graph: LinalgGraph
    tensors: dict[str, Array]
    products: int
    left: tuple[str, ...]
    ports: dict[str, float]


@dataclass(frozen=True)
class Integers:
    """A value in integers: `scale` of one step and `reach`, what none is beyond, over its dimensions."""

    value: str
    scale: Array
    reach: Array


def check_floats(graph: LinalgGraph) -> None:
    """Raise InvalidInputError where the network is quantised already."""
    if found := next((v for v in graph.values if v.dtype != "f32"), None):
        raise InvalidInputError(
            f"{found.name} is {found.dtype}: the network is quantised already, and is compiled as it is; choose f32"
        )


def quantise(
    graph: LinalgGraph,
    tensors: Mapping[str, Array],
    samples: Iterable[Mapping[str, Array]],
    precision: Precision,
    ports: Ports = "f32",
) -> Quantised:
    """`graph` in integers, with scales of what it computes of `samples`, each the tensors of its inputs. With `ports`
    of int8, so are inputs that are read as such, and results that are made of integers. Raises InvalidInputError where
    it is quantised already, or there is no product with a weight.
    """
    check_floats(graph)
    plan = planned(graph, ports)
    if not plan.products:
        raise InvalidInputError(f"{graph.name} has no products with weights: nothing to quantise; choose f32")
    return _Writer(plan, tensors, _peaks(plan, tensors, samples), WEIGHT_BITS[precision], ports).write()


def _peaks(plan: Plan, tensors: Mapping[str, Array], samples: Iterable[Mapping[str, Array]]) -> dict[str, float]:
    """The largest magnitude of each value that becomes int8. Raises InvalidInputError where one is not finite."""
    peaks = {v.name: LEAST_PEAK for v in plan.graph.values if plan.is_int8(v.name)}
    for sample in samples:
        found = interpret(plan.graph, {**tensors, **sample})
        peaks = {name: max(peak, _largest(name, found[name])) for name, peak in peaks.items()}
    return peaks


def _largest(name: str, array: Array) -> float:
    finite = array[array != -np.inf]  # what fills up in front of a maximum
    largest = float(np.abs(finite).max(initial=0))
    if not np.isfinite(largest):
        raise InvalidInputError(f"{name} is not finite on the calibration data; check these, and the weights")
    return largest


@dataclass
class _Writer:
    plan: Plan
    given: Mapping[str, Array]
    peaks: Mapping[str, float]
    bits: int
    ports: Ports
    scales: dict[str, float] = field(default_factory=dict[str, float])  # of ports
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    ops: list[LinalgOp] = field(default_factory=list[LinalgOp])
    tensors: dict[str, Array] = field(default_factory=dict[str, Array])
    integers: dict[str, Integers] = field(default_factory=dict[str, Integers])  # of values of the network
    floats: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.graph = self.plan.graph
        self._scales = self._scales_of_sets()

    def write(self) -> Quantised:
        for value in self.graph.values:
            if value.role != "intermediate":
                self._enter(value)
        for op in self.graph.ops:
            self._operation(op)
        outputs = tuple(map(self._output, self.graph.outputs))
        read = {o.value for o in outputs} | {o.value for op in self.ops for o in op.inputs}
        values = tuple(v for v in self.values.values() if v.name in read or v.role in ("input", "intermediate"))
        made = LinalgGraph(self.graph.name, values, tuple(self.ops), outputs).in_order
        made.verify()
        left = [op.name for op in self.graph.ops if op.is_contraction and op.name not in self.plan.products]
        tensors = {v.source: self.tensors[v.source] for v in values if v.source}
        return Quantised(made, tensors, len(self.plan.products), tuple(left), self.scales)

    def _output(self, output: Output) -> Output:
        """A result as its port has it: int8 in whole steps, or f32."""
        read = self.integers.get(output.value)
        if self.ports == "f32" or read is None or self.values[read.value].dtype != "i8":
            return replace(output, value=self._as_float(output.value))
        self.scales[output.name] = self._scale(output.value)
        return replace(output, value=read.value)

    def _scales_of_sets(self) -> dict[str, float]:
        scales = dict[str, float]()
        for value in self.graph.values:
            root = self.plan.alike.root(value.name)
            scales[root] = max(scales.get(root, 0.0), float(np.float32(self.peaks.get(value.name, 0) / LARGEST)))
        return scales

    def _scale(self, value: str) -> float:
        return self._scales[self.plan.alike.root(value)]

    def _int8(self, name: str, of: str) -> Integers:
        return Integers(name, np.asarray(self._scale(of)), np.asarray(float(LARGEST)))

    def _enter(self, value: Value) -> None:
        self.values[value.name] = value
        self.tensors[value.source] = self.given[value.source]
        self.floats[value.name] = value.name
        if not self.plan.is_int8(value.name):
            return
        if value.role == "input" and self.ports == "i8":
            self.values[value.name] = replace(value, dtype="i8")
            self.scales[value.source] = self._scale(value.name)
            self.tensors[value.source] = in_steps(self.given[value.source], self._scale(value.name))
            self.integers[value.name] = self._int8(value.name, value.name)
            del self.floats[value.name]
        elif value.role == "param":
            integers = in_steps(self._array(value.name), self._scale(value.name))
            self.integers[value.name] = self._int8(self._tensor(f"{value.name}.int8", integers, "i8"), value.name)
        else:
            self._quantised(value.name)

    def _operation(self, op: LinalgOp) -> None:
        made = [out.value for out in op.outputs]
        if op.name in self.plan.products:
            self._product(op)
        elif op.name in self.plan.sums:
            self._sum(op)
        elif self._moves_integers(op):
            self._moved(op)
        elif op.kind != "generic" or self._is_float_product(op):
            self._append(replace(op, inputs=tuple(replace(o, value=self._as_float(o.value)) for o in op.inputs)), "f32")
        else:
            self._generic(op)
        for name in made:
            if self.plan.is_int8(name) and self.values[name].dtype != "i8":
                self._quantised(name)

    def _moves_integers(self, op: LinalgOp) -> bool:
        alike = {self.plan.alike.root(o.value) for o in (*op.inputs, *op.outputs)}
        plain = op.kind != "generic" or (op.body is not None and not op.body.ops)
        return len(alike) == 1 and alike <= self.plan.int8 and plain

    def _is_float_product(self, op: LinalgOp) -> bool:
        return op.body is not None and op.body.is_product and op.reduction is not None

    def _moved(self, op: LinalgOp) -> None:
        """Elements as they are, in int8."""
        inputs = tuple(replace(o, value=self.integers[o.value].value) for o in op.inputs)
        scale = self._scale(op.outputs[0].value)
        windows, reduction, body = op.windows, op.reduction, op.body
        if windows is not None:
            windows = replace(windows, fill=_filled(windows.fill, scale))
        if reduction is not None and body is not None:
            reduction, body = Reduction(reduction.combiner, _filled(reduction.init, scale)), Body(("i8",), (), 0)
        self._append(replace(op, inputs=inputs, windows=windows, reduction=reduction, body=body), "i8")
        for out in op.outputs:
            self.integers[out.value] = self._int8(out.value, out.value)

    def _product(self, op: LinalgOp) -> None:
        number = weight_of(self.graph, op)
        assert number is not None
        operand, activation = op.inputs[number], self.integers[op.inputs[1 - number].value]
        made = quantise_weight(op, operand, self._array(operand.value), self.bits)
        dtype = f"i{self.bits}"
        weight = self._tensor(f"{operand.value}.int{self.bits}", made.integers, dtype)
        both = [Operand(weight, operand.dims), replace(op.inputs[1 - number], value=activation.value)]
        dtypes = [dtype, "i8"]
        order = (0, 1) if number == 0 else (1, 0)
        builder = BodyBuilder()
        wide = [builder.emit("arith.extsi", (builder.arg(dtypes[i]),), "i32") for i in order]
        body, _ = builder.finish(builder.emit("arith.muli", (wide[0], wide[1]), "i32"))
        inputs = tuple(both[i] for i in order)
        self._append(replace(op, inputs=inputs, body=body, reduction=Reduction("add", 0)), "i32")
        name = op.outputs[0].value
        self.integers[name] = Integers(name, made.scale * activation.scale, made.reach)

    def _sum(self, op: LinalgOp) -> None:
        """Of int8 numbers, in int32."""
        (operand,), name = op.inputs, op.outputs[0].value
        builder = BodyBuilder()
        body, _ = builder.finish(builder.emit("arith.extsi", (builder.arg("i8"),), "i32"))
        read = self.integers[operand.value]
        terms = np.prod([n for n, kind in zip(op.loops, op.iterators, strict=True) if kind == "reduction"])
        inputs = (replace(operand, value=read.value),)
        self._append(replace(op, inputs=inputs, body=body, reduction=Reduction("add", 0)), "i32")
        self.integers[name] = Integers(name, read.scale, read.reach * float(terms))

    def _generic(self, op: LinalgOp) -> None:
        name = op.outputs[0].value
        if op.reduction is not None or not self.plan.is_int8(name):
            self._append(self._scaled(op) or self._in_floats(op), "f32")
            return
        self._append(self._in_integers(op) or self._in_floats(op, self._scale(name)), "i8")
        self.integers[name] = self._int8(name, name)

    def _affine(self, op: LinalgOp) -> tuple[Affine, dict[int, Array]] | None:
        """The operation as sums of multiples of integers, and the reach of each; None where it is no such thing."""
        assert op.body is not None
        terms, reach = dict[int, Affine](), dict[int, Array]()
        for number, operand in enumerate(op.inputs):
            if self.graph.value[operand.value].role in ("param", "scalar"):
                terms[number] = constant(spread(self._array(operand.value), operand, len(op.loops)))
            elif (read := self.integers.get(operand.value)) is not None:
                terms[number] = Affine({number: self._over(read.scale, operand, op)}, np.zeros(()))
                reach[number] = self._over(read.reach, operand, op)
            else:
                return None
        made = affine_of(op.body, terms)
        return None if made is None else (made, reach)

    def _scaled(self, op: LinalgOp) -> LinalgOp | None:
        """Sums of a product and a bias, times a scale: the bias is added in whole steps of the sums, by an adder of
        integers. None where the operation is something else, or the bias is none.
        """
        found = None if op.reduction is not None else self._affine(op)
        if found is None or len(found[0].terms) != 1 or not found[0].constant.any():
            return None
        made, reach = found
        ((number, scale),) = made.terms.items()
        if isinstance(number, Bounded) or not scale.all():
            return None
        read, steps = self.integers[op.inputs[number].value], np.rint(made.constant / scale)
        if self.values[read.value].dtype != "i32" or np.max(np.abs(steps) + reach[number]) >= 2.0**31:
            return None
        builder = BodyBuilder()
        summed = builder.emit("arith.addi", (builder.arg("i32"), builder.arg("i32")), "i32")
        floated = builder.emit("arith.sitofp", (summed,), "f32")
        body, _ = builder.finish(builder.emit("arith.mulf", (floated, builder.arg("f32")), "f32"))
        bias = self._spread_tensor(f"{op.name}.steps", steps.astype(np.int32), "i32")
        factor = self._spread_tensor(f"{op.name}.scale", scale.astype(np.float32), "f32")
        return replace(op, inputs=(replace(op.inputs[number], value=read.value), bias, factor), body=body)

    def _in_integers(self, op: LinalgOp) -> LinalgOp | None:
        """The operation in fixed point; None where it can not be."""
        if (found := self._affine(op)) is None:
            return None
        made, reach = found
        dtypes = {number: self.values[self.integers[op.inputs[number].value].value].dtype for number in reach}
        fixed = fixed_point(made, dtypes, reach, self._scale(op.outputs[0].value))
        if fixed is None:
            return None
        inputs = [replace(op.inputs[i], value=self.integers[op.inputs[i].value].value) for i in fixed.arguments]
        for number, array in enumerate(fixed.numbers):
            inputs.append(self._spread_tensor(f"{op.name}.fixed{number}", array, "i32"))
        return replace(op, inputs=tuple(inputs), body=fixed.body)

    def _in_floats(self, op: LinalgOp, scale: float | None = None) -> LinalgOp:
        """The operation on integers times their scales, and where `scale` is given rounded to int8."""
        assert op.body is not None
        builder, inputs, values = BodyBuilder(), list[Operand](), list[int]()
        for number, operand in enumerate(op.inputs):
            read = self.integers.get(operand.value)
            if read is None:
                values.append(builder.arg("f32"))
                inputs.append(replace(operand, value=self.floats[operand.value]))
                continue
            argument, factor = builder.arg(self.values[read.value].dtype), builder.arg("f32")
            inputs.append(replace(operand, value=read.value))
            scales = self._over(read.scale, operand, op)
            inputs.append(self._spread_tensor(f"{op.name}.scale{number}", scales.astype(np.float32), "f32"))
            number_of = builder.emit("arith.sitofp", (argument,), "f32")
            values.append(builder.emit("arith.mulf", (number_of, factor), "f32"))
        made = builder.replay(op.body, values)
        if scale is not None:
            inverse = np.float32(1) / np.float32(scale)
            inputs.append(self._spread_tensor(f"{op.name}.inv_scale", np.asarray(inverse), "f32"))
            made = _rounded(builder, made, builder.arg("f32"))
        body, used = builder.finish(made)
        return replace(op, inputs=tuple(inputs[i] for i in used), body=body)

    def _quantised(self, name: str) -> None:
        """An operation that makes int8 of a value."""
        op = self._alone(name, f"{name}.quantise")
        made = op.outputs[0].value
        known = self._in_integers(replace(op, outputs=(Operand(name, op.outputs[0].dims),)))
        op = self._in_floats(op, self._scale(name)) if known is None else replace(known, outputs=op.outputs)
        self.values[made] = Value(made, self.values[name].shape, "i8")
        self.ops.append(op)
        self.integers[name] = self._int8(made, name)

    def _as_float(self, name: str) -> str:
        """The value in f32: an operation makes it, where it is integers."""
        if name not in self.floats:
            made = self._in_floats(self._alone(name, f"{name}.dequantise"))
            self.ops.append(made)
            self.floats[name] = made.outputs[0].value
            self.values[self.floats[name]] = Value(self.floats[name], self.values[name].shape, "f32")
        return self.floats[name]

    def _alone(self, name: str, made: str) -> LinalgOp:
        """An operation that makes the value `made` of another, as it is."""
        shape = self.graph.value[name].shape
        walked, body = tuple(range(len(shape))), Body(("f32",), (), 0)
        read, written = (Operand(name, walked),), (Operand(made, walked),)
        return LinalgOp(made, "generic", shape, ("parallel",) * len(walked), self._groups(name), read, written, body)

    def _groups(self, name: str) -> tuple[int, ...]:
        """Which dimensions of a value came from one, as who makes or reads it has it."""
        maker = self.graph.producer.get(name)
        op, operand = (maker[0], maker[0].outputs[maker[1]]) if maker is not None else self._first_use(name)
        number = {group: i for i, group in enumerate(dict.fromkeys(op.groups[d] for d in operand.dims))}
        return tuple(number[op.groups[d]] for d in operand.dims)

    def _first_use(self, name: str) -> tuple[LinalgOp, Operand]:
        op, number = self.graph.consumers[name][0]
        return op, op.inputs[number]

    def _append(self, op: LinalgOp, dtype: str) -> None:
        for out in op.outputs:
            self.values[out.value] = replace(self.graph.value[out.value], dtype=dtype)
            if dtype == "f32":
                self.floats[out.value] = out.value
        self.ops.append(op)

    def _array(self, name: str) -> Array:
        return source_array(self.graph, name, self.given)

    @staticmethod
    def _over(numbers: Array, operand: Operand, op: LinalgOp) -> Array:
        """What lies over the dimensions of a value, over the loops of an operation that reads it."""
        return numbers if not numbers.ndim else spread(numbers, operand, len(op.loops))

    def _tensor(self, name: str, array: Array, dtype: str) -> str:
        """A tensor that the network is given, by its name."""
        assert array.dtype == NUMPY_DTYPE[dtype]
        while name in self.tensors and not np.array_equal(self.tensors[name], array):
            name += "_"
        self.values[name] = Value(name, array.shape, dtype, "param" if array.ndim else "scalar", name)
        self.tensors[name] = array
        return name

    def _spread_tensor(self, name: str, array: Array, dtype: str) -> Operand:
        """A tensor that is read over loops: along those in which it is not alike."""
        dims = tuple(d for d, extent in enumerate(array.shape) if extent > 1)
        return Operand(self._tensor(name, array.reshape([array.shape[d] for d in dims]), dtype), dims)


def in_steps(array: Array, scale: float) -> Array:
    """Numbers as int8, in steps of `scale`."""
    return np.clip(np.rint(array / scale), -LARGEST, LARGEST).astype(np.int8)


def _filled(number: float | int, scale: float) -> int:
    return int(np.clip(np.rint(number / scale), -LARGEST - 1, LARGEST))


def _rounded(builder: BodyBuilder, number: int, inverse: int) -> int:
    """Half to even, and clamped."""
    made = builder.emit("math.roundeven", (builder.emit("arith.mulf", (number, inverse), "f32"),), "f32")
    made = builder.emit("arith.maximumf", (made, builder.constant(-float(LARGEST), "f32")), "f32")
    made = builder.emit("arith.minimumf", (made, builder.constant(float(LARGEST), "f32")), "f32")
    return builder.emit("arith.fptosi", (made,), "i8")
