"""The normal form: source operations over atoms, where reshapes, transposes, copies and fills have become maps.

A tensor of the source is a `View`: a value of the graph whose dimensions, in some order, are the tensor's atoms (a
broadcast atom belongs to no dimension). Only generic, chunk and concat operations are left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.argmax import KEY, LARGEST_KEY, index_bits, index_of, is_argmax, key_of
from compiler.frontend.lowering.atoms import Atoms
from compiler.frontend.lowering.repeats import with_repeats
from compiler.frontend.lowering.scalars import BodyBuilder, narrow
from compiler.frontend.lowering.source import (
    Concat,
    Constant,
    Generic,
    Reshape,
    ScalarStep,
    Slice,
    SourceModule,
    SourceOp,
    Tensor,
    Window,
)
from compiler.graph.linalg_graph import Body, Combiner, Iterator, LinalgOp, Operand, Output, Reduction, Value, ValueRole
from compiler.graph.windows import Windows

COMBINERS: dict[str, Combiner] = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.maximumf": "max",
    "arith.minimumf": "min",
}
IDENTITY: dict[Combiner, float] = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}
_SUFFIX: dict[Combiner, str] = {"add": ".sum", "mul": ".product", "max": ".max", "min": ".min"}


@dataclass(frozen=True, slots=True)
class Argument:
    """Name and role of an argument of `@main`."""

    name: str
    role: ValueRole


@dataclass(frozen=True, slots=True)
class View:
    """A source tensor as a value of the graph: flat atom j of the tensor is dimension `dims[j]` of `value`."""

    value: str
    dims: tuple[int | None, ...]


@dataclass
class Draft:
    """A graph under construction. `paths` gives the module path of every operation, `slices` of every chunk's part."""

    values: dict[str, Value] = field(default_factory=dict[str, Value])
    ops: list[LinalgOp] = field(default_factory=list[LinalgOp])
    outputs: list[Output] = field(default_factory=list[Output])
    paths: dict[str, str] = field(default_factory=dict[str, str])
    slices: dict[str, str] = field(default_factory=dict[str, str])


def normal_form(module: SourceModule, arguments: Sequence[Argument], output_names: Sequence[str]) -> Draft:
    """The draft graph of a module; operations and intermediate values have provisional names."""
    module = with_repeats(module)
    builder = _Builder(module, Atoms(module))
    for tensor, argument in zip(module.arguments, arguments, strict=True):
        builder.argument(tensor, argument)
    for op in module.ops:
        builder.operation(op)
    for tensor, name in zip(module.results, output_names, strict=True):
        builder.output(tensor, name)
    return builder.draft


class _Builder:
    def __init__(self, module: SourceModule, atoms: Atoms) -> None:
        self.draft = Draft()
        self._atoms = atoms
        self._views: dict[int, View | Constant] = {}
        self._used = _used_results(module)
        self._chunks: dict[tuple[str, int], tuple[str, ...]] = {}

    def argument(self, tensor: Tensor, argument: Argument) -> None:
        shape = self._atoms.flat(tensor)
        role = "scalar" if argument.role == "param" and not shape else argument.role
        dtype = narrow(tensor.dtype)
        self.draft.values[argument.name] = Value(argument.name, shape, dtype, role, argument.name)
        self._views[tensor.number] = View(argument.name, tuple(range(len(shape))))

    def operation(self, op: SourceOp) -> None:
        match op:
            case Generic():
                self._generic(op)
            case Reshape():
                self._views[op.result.number] = self._views[op.source.number]
            case Slice():
                self._slice(op)
            case Concat():
                self._concat(op)
            case Window():
                self._window(op)

    def output(self, tensor: Tensor, name: str) -> None:
        groups = tuple(dim for dim in range(len(tensor.shape)) for _ in self._atoms.of(tensor, dim))
        view = self._spread_out(self._view(tensor, "the results"), self._atoms.flat(tensor), groups, name)
        self.draft.outputs.append(Output(name, view.value, _all_dims(view), tensor.shape))

    def _generic(self, op: Generic) -> None:
        """One operation per result that something reads: torch-mlir's maximum also yields an unread index."""
        for position, result in enumerate(op.results):
            if result.number in self._used and position == 1 and is_argmax(op):
                self._argmax(op, result)
            elif result.number in self._used:
                self._one_result(op, position, result)

    def _argmax(self, op: Generic, result: Tensor) -> None:
        """The largest key, then the index in it."""
        loops, groups = self._loops(op)
        first_loop = _starts(op, groups)
        source = op.inputs[0]
        assert isinstance(source, Tensor)
        operand = self._operand(op, source, self._view(source, op.path), op.maps[0], first_loop)
        reduced = [loop for loop, group in enumerate(groups) if op.iterators[group] == "reduction"]
        strides = [prod(loops[inner] for inner in reduced[n + 1 :]) for n in range(len(reduced))]
        bits = index_bits(prod(loops[loop] for loop in reduced), op.path)
        builder = BodyBuilder()
        key, _ = builder.finish(key_of(builder, builder.arg("f32"), list(zip(reduced, strides, strict=True)), bits))
        written = self._written(op.maps[2], result, first_loop)
        self._emit_generic(op.path, loops, groups, op.iterators, key, [operand], written, LARGEST_KEY, result)
        rows = tuple(range(len(written)))
        keys = Operand(self._view(result, op.path).value, rows)
        builder = BodyBuilder()
        index, _ = builder.finish(index_of(builder, builder.arg(KEY), bits))
        kept: tuple[Iterator, ...] = ("parallel",) * len(rows)
        extents = tuple(loops[loop] for loop in written)
        self._emit_generic(op.path, extents, rows, kept, index, [keys], rows, None, result)

    def _one_result(self, op: Generic, position: int, result: Tensor) -> None:
        loops, groups = self._loops(op)
        first_loop = _starts(op, groups)
        builder = BodyBuilder()
        operands: list[Operand] = []
        values: list[int | None] = []
        for source, dims in zip((*op.inputs, *op.inits), op.maps, strict=True):
            view = self._views[source.number] if isinstance(source, Tensor) else source
            if view is None:
                values.append(None)
            elif isinstance(view, Constant):
                values.append(builder.constant(view.value, narrow(view.dtype)))
            else:
                assert isinstance(source, Tensor)
                operand = self._operand(op, source, view, dims, first_loop)
                if operand not in operands:  # x * x reads x once
                    operands.append(operand)
                    builder.arg(self.draft.values[view.value].dtype)
                values.append(operands.index(operand))
        out = len(op.inputs) + position
        reduced = [loop for loop, group in enumerate(groups) if op.iterators[group] == "reduction"]
        init = values[out]
        accumulator = builder.arg(narrow(op.arg_dtypes[out])) if any(i == "reduction" for i in op.iterators) else None
        if accumulator is not None:
            values[out] = accumulator
        computed = _replay(builder, op, values, op.yields[position])
        reduction: Reduction | None = None
        start: Operand | None = None
        if accumulator is not None:
            if init is not None and reduced and builder.op(init) is None:
                start, init = operands[init], _identity_of(op, builder, computed)
            computed, reduction = _split_reduction(op, builder, computed, accumulator, init, bool(reduced))
        written = self._written(op.maps[out], result, first_loop)
        if reduction is None and self._is_alias(builder, computed, operands, written, result):
            return
        body, used = builder.finish(computed)
        self._emit_generic(
            op.path, loops, groups, op.iterators, body, [operands[i] for i in used], written, reduction, result
        )
        if start is not None and reduction is not None:
            self._from_start(op.path, loops, groups, start, written, reduction, result)

    def _from_start(
        self,
        path: str,
        loops: tuple[int, ...],
        groups: tuple[int, ...],
        start: Operand,
        written: tuple[int, ...],
        reduction: Reduction,
        result: Tensor,
    ) -> None:
        """What was reduced from nothing, combined with the tensor that it is to start from: a bias."""
        value = self._view(result, path).value
        rows = tuple(range(len(written)))
        builder = BodyBuilder()
        dtypes = [self.draft.values[name].dtype for name in (value, start.value)]
        args = tuple(builder.arg(dtype) for dtype in dtypes)
        name = next(n for n, c in COMBINERS.items() if c == reduction.combiner and n.endswith(dtypes[0][0]))
        body, _ = builder.finish(builder.emit(name, args, dtypes[0]))
        read = [Operand(value, rows), Operand(start.value, tuple(written.index(d) for d in start.dims))]
        iterators: tuple[Iterator, ...] = ("parallel",) * (max(groups, default=-1) + 1)
        kept = tuple(groups[loop] for loop in written)
        self._emit_generic(path, tuple(loops[w] for w in written), kept, iterators, body, read, rows, None, result)

    def _written(self, dims: tuple[int | None, ...], result: Tensor, first_loop: dict[int, int]) -> tuple[int, ...]:
        """The loops that walk the atoms of a result."""
        return tuple(
            first_loop[loop] + k
            for dim, loop in enumerate(dims)
            if loop is not None
            for k in range(len(self._atoms.of(result, dim)))
        )

    def _is_alias(
        self, builder: BodyBuilder, computed: int, operands: list[Operand], written: tuple[int, ...], result: Tensor
    ) -> bool:
        """A copy, transpose or broadcast is a view of its operand; a fill is a constant."""
        made = builder.op(computed)
        if made is None:
            operand = operands[computed]
            dims = tuple(operand.dims.index(loop) if loop in operand.dims else None for loop in written)
            self._views[result.number] = View(operand.value, dims)
            return True
        if made.name == "arith.constant":
            assert made.const is not None
            self._views[result.number] = Constant(made.const, made.dtype)
            return True
        return False

    def _emit_generic(
        self,
        path: str,
        loops: tuple[int, ...],
        groups: tuple[int, ...],
        iterators: tuple[Iterator, ...],
        body: Body,
        inputs: list[Operand],
        written: tuple[int, ...],
        reduction: Reduction | None,
        result: Tensor,
    ) -> None:
        value = self._new_value(tuple(loops[loop] for loop in written), body.dtype_of(body.result))
        kinds: tuple[Iterator, ...] = tuple(iterators[group] for group in groups)
        op = LinalgOp(
            f"%op{len(self.draft.ops)}",
            "generic",
            loops,
            kinds,
            _consecutive(groups),
            tuple(inputs),
            (Operand(value, written),),
            body,
            reduction,
        )
        self._append(op, path.removesuffix(_suffix(op)) + _suffix(op))  # ONNX nodes may be called so already
        self._views[result.number] = View(value, tuple(range(len(written))))

    def _slice(self, op: Slice) -> None:
        view = self._view(op.source, op.path)
        cut = [d for d, (n, m) in enumerate(zip(op.source.shape, op.result.shape, strict=True)) if n != m]
        if not cut:
            self._views[op.result.number] = view
            return
        (dim,) = cut if len(cut) == 1 else (None,)
        if dim is None:
            raise UnsupportedError(f"the slice at {op.path} cuts more than one dimension; chunk one at a time")
        flat = sum(len(self._atoms.of(op.source, d)) for d in range(dim))
        axis = view.dims[flat]
        if axis is None:
            raise UnsupportedError(f"the slice at {op.path} cuts a broadcast dimension")
        parts = self._chunk(view.value, axis, op.path)
        part = parts[op.offsets[dim] // op.result.shape[dim]]
        self.draft.slices.setdefault(part, op.path)
        kept = (d for j, d in enumerate(view.dims) if j != flat)
        self._views[op.result.number] = View(part, tuple(None if d is None else d - (d > axis) for d in kept))

    def _chunk(self, value: str, axis: int, path: str) -> tuple[str, ...]:
        """The values of the chunk of `value` along `axis`, made at its first slice."""
        if (value, axis) in self._chunks:
            return self._chunks[value, axis]
        source = self.draft.values[value]
        dims = tuple(range(len(source.shape)))
        kept = tuple(d for d in dims if d != axis)
        shape = tuple(source.shape[d] for d in kept)
        parts = tuple(self._new_value(shape, source.dtype) for _ in range(source.shape[axis]))
        op = LinalgOp(
            f"%op{len(self.draft.ops)}",
            "chunk",
            source.shape,
            ("parallel",) * len(dims),
            dims,
            (Operand(value, dims),),
            tuple(Operand(part, kept) for part in parts),
            axis=axis,
        )
        self._append(op, path)
        self._chunks[value, axis] = parts
        return parts

    def _concat(self, op: Concat) -> None:
        atoms = [self._atoms.of(op.result, d) for d in range(len(op.result.shape))]
        axis = sum(len(a) for a in atoms[: op.dim])
        loops = tuple(a for dim in atoms for a in dim)
        groups = tuple(d for d, dim in enumerate(atoms) for _ in dim)
        inputs: list[Operand] = []
        for source in op.sources:
            view = self._view(source, op.path)
            skipped = () if source.shape[op.dim] > 1 else (axis,)
            walked = [loop for loop in range(len(loops)) if loop not in skipped]
            extents = self._atoms.flat(source)
            view = self._spread_out(view, extents, tuple(groups[loop] for loop in walked), op.path)
            inputs.append(Operand(view.value, _invert(view, walked, op.path)))
        dtype = self.draft.values[inputs[0].value].dtype
        value = self._new_value(loops, dtype)
        output = Operand(value, tuple(range(len(loops))))
        name = f"%op{len(self.draft.ops)}"
        kinds: tuple[Iterator, ...] = ("parallel",) * len(loops)
        self._append(
            LinalgOp(name, "concat", loops, kinds, _consecutive(groups), tuple(inputs), (output,), axis=axis), op.path
        )
        self._views[op.result.number] = View(value, output.dims)

    def _spread_out(self, view: View, extents: tuple[int, ...], groups: tuple[int, ...], path: str) -> View:
        """A view that is a broadcast, written out by an operation of its own; `extents` and `groups` of its atoms."""
        if None not in view.dims:
            return view
        walked, dtype = tuple(range(len(extents))), self.draft.values[view.value].dtype
        value, read = self._new_value(extents, dtype), Operand(view.value, _invert(view, list(walked), path))
        body = Body((dtype,), (), 0)
        kinds: tuple[Iterator, ...] = ("parallel",) * len(walked)
        name, made = f"%op{len(self.draft.ops)}", (Operand(value, walked),)
        spread = LinalgOp(name, "generic", extents, kinds, _consecutive(groups), (read,), made, body)
        self._append(spread, f"{path}.broadcast")
        return View(value, walked)

    def _window(self, op: Window) -> None:
        """Loops over the result as it is walked; along the windows, the source has its lines instead."""
        if op.result.number not in self._used:
            return
        view, taps = self._view(op.source, op.path), len(op.source.shape)
        walked = [
            (dim, atom)
            for dim in op.order
            for atom in self._atoms.of(op.result, dim) or ((1,) if dim == op.dim else ())
        ]
        loops, groups = tuple(atom for _, atom in walked), tuple(dim for dim, _ in walked)
        starts = {dim: groups.index(dim) for dim in reversed(groups)}

        def over(dim: int) -> range:
            return range(starts.get(dim, 0), starts.get(dim, 0) + groups.count(dim))

        one_line, one_window = op.walk.lines == 1, op.walk.windows == 1
        lines = [loop for dim in range(taps) if not (one_line and dim == op.dim) for loop in over(dim)]
        if starts[op.dim] not in _invert(view, lines, op.path) and not one_line:
            raise UnsupportedError(f"the window at {op.path} slides along a dimension that is only a broadcast")
        view = self._spread_out(view, self._atoms.flat(op.source), tuple(groups[loop] for loop in lines), op.path)
        read = Operand(view.value, _invert(view, lines, op.path))
        left = [loop for loop in range(len(loops)) if not (one_window and loop == starts[op.dim])]
        value = self._new_value(tuple(loops[loop] for loop in left), self.draft.values[view.value].dtype)
        walk = op.walk
        taps_loop = len(loops) - 1 if walk.kernel > 1 else None
        windows = Windows(taps_loop, walk.stride, walk.dilation, walk.padding, op.fill, walk.repeat)
        made = Operand(value, tuple(left))
        kinds: tuple[Iterator, ...] = ("parallel",) * len(loops)
        name, axis = f"%op{len(self.draft.ops)}", starts[op.dim]
        new = LinalgOp(name, "window", loops, kinds, _consecutive(groups), (read,), (made,), axis=axis, windows=windows)
        self._append(new, f"{op.path}.window")
        walks = (loop for dim in range(len(op.result.shape)) for loop in over(dim))
        self._views[op.result.number] = View(value, tuple(left.index(loop) for loop in walks if loop in left))

    def _loops(self, op: Generic) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The atoms of the operation's loops, and which source loop each comes from."""
        found: dict[int, tuple[int, ...]] = {}
        outputs = zip(op.results, op.maps[len(op.inputs) :], strict=True)
        for tensor, dims in (*zip(op.inputs, op.maps, strict=False), *outputs):
            for dim, loop in enumerate(dims):
                if isinstance(tensor, Tensor) and loop is not None:
                    found.setdefault(loop, self._atoms.of(tensor, dim))
        if unknown := [loop for loop, extent in enumerate(op.loops) if loop not in found and extent > 1]:
            raise UnsupportedError(f"linalg.generic at {op.path}: no tensor is indexed by loop d{unknown[0]}")
        pairs = [(atom, loop) for loop in range(len(op.loops)) for atom in found.get(loop, ())]
        return tuple(atom for atom, _ in pairs), tuple(loop for _, loop in pairs)

    def _operand(
        self, op: Generic, source: Tensor, view: View, dims: tuple[int | None, ...], first_loop: dict[int, int]
    ) -> Operand:
        walked: list[int] = []
        for dim, loop in enumerate(dims):
            atoms = self._atoms.of(source, dim)
            if loop is None and atoms:
                raise UnsupportedError(f"linalg.generic at {op.path} reads one index of a dimension of {source.shape}")
            if loop is not None:
                walked += range(first_loop[loop], first_loop[loop] + len(atoms))
        if len(set(walked)) != len(walked):
            raise UnsupportedError(f"linalg.generic at {op.path} reads a diagonal; only permutations are supported")
        return Operand(view.value, _invert(view, walked, op.path))

    def _view(self, tensor: Tensor, where: str) -> View:
        view = self._views[tensor.number]
        if isinstance(view, Constant):
            raise UnsupportedError(f"{where}: a constant tensor where a computed one is needed")
        return view

    def _new_value(self, shape: tuple[int, ...], dtype: str) -> str:
        name = f"%{len(self.draft.values)}"
        self.draft.values[name] = Value(name, shape, dtype)
        return name

    def _append(self, op: LinalgOp, path: str) -> None:
        self.draft.ops.append(op)
        self.draft.paths[op.name] = path


def _used_results(module: SourceModule) -> set[int]:
    used = {t.number for t in module.results}
    for op in reversed(module.ops):
        match op:
            case Generic():
                if any(r.number in used for r in op.results):
                    used |= {t.number for t in (*op.inputs, *op.inits) if isinstance(t, Tensor)}
            case Concat():
                used |= {t.number for t in op.sources}
            case _:
                used.add(op.source.number)
    return used


def _suffix(op: LinalgOp) -> str:
    """What a reduction is called below its module: decided before fusion, which may turn a sum into a product's."""
    if op.reduction is None or op.body is None:
        return ""
    return ".matmul" if op.reduction.combiner == "add" and op.body.is_product else _SUFFIX[op.reduction.combiner]


def _consecutive(groups: tuple[int, ...]) -> tuple[int, ...]:
    """Groups numbered from 0 without holes: source loops of extent 1 are gone."""
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    return tuple(number[group] for group in groups)


def _starts(op: Generic, groups: tuple[int, ...]) -> dict[int, int]:
    """Number of the first atom loop of each source loop."""
    return {loop: sum(g < loop for g in groups) for loop in range(len(op.loops))}


def _invert(view: View, walked: list[int], where: str) -> tuple[int, ...]:
    """The loop of each dimension of the view's value, given the loop of each flat atom of the tensor."""
    loops = {dim: loop for dim, loop in zip(view.dims, walked, strict=True) if dim is not None}
    if sorted(loops) != list(range(len(loops))):
        raise UnsupportedError(f"{where} reads a part of {view.value}")
    return tuple(loops[dim] for dim in range(len(loops)))


def _all_dims(view: View) -> tuple[int, ...]:
    return tuple(d for d in view.dims if d is not None)


def _replay(builder: BodyBuilder, op: Generic, values: list[int | None], result: int | Constant) -> int:
    """Append the steps that `result` needs to the builder; the id of the result."""
    steps: dict[int, ScalarStep] = {step.result: step for step in op.steps}
    made: dict[int, int] = {}

    def value_of(source: int | Constant) -> int:
        if isinstance(source, Constant):
            return builder.constant(source.value, narrow(source.dtype))
        if source < len(values):
            value = values[source]
            if value is None:
                raise UnsupportedError(f"linalg.generic at {op.path} reads an output that nothing initialised")
            return value
        if source not in made:
            step = steps[source]
            args = tuple(value_of(a) for a in step.args)
            try:
                made[source] = builder.emit(step.name, args, narrow(step.dtype), step.predicate)
            except UnsupportedError as error:
                raise UnsupportedError(f"linalg.generic at {op.path}: {error}") from error
        return made[source]

    return value_of(result)


def _identity_of(op: Generic, builder: BodyBuilder, computed: int) -> int:
    """What a reduction starts from that changes nothing."""
    last = builder.op(computed)
    combiner = COMBINERS.get(last.name) if last is not None else None
    if last is None or combiner is None:
        raise UnsupportedError(f"linalg.generic at {op.path} does not reduce by one of {', '.join(COMBINERS)}")
    value = IDENTITY[combiner]
    return builder.constant(value if last.dtype == "f32" else int(value), last.dtype)


def _split_reduction(
    op: Generic, builder: BodyBuilder, computed: int, accumulator: int, init: int | None, loops_left: bool
) -> tuple[int, Reduction | None]:
    """What is reduced, and how. A reduction over loops of one iteration only is no reduction."""
    last = builder.op(computed)
    start = builder.op(init) if init is not None else None
    combiner = COMBINERS.get(last.name) if last is not None else None
    if last is None or combiner is None or accumulator not in last.args:
        raise UnsupportedError(f"linalg.generic at {op.path} does not reduce by one of {', '.join(COMBINERS)}")
    if init is not None and start is None and not loops_left:
        return _combine_once(builder, last.name, init, _reduced(op, builder, last.args, accumulator)), None
    if start is None or start.name != "arith.constant" or start.const is None:
        raise UnsupportedError(f"the reduction at {op.path} starts from a tensor; only constants are supported")
    reduced = _reduced(op, builder, last.args, accumulator)
    if loops_left:
        return reduced, Reduction(combiner, start.const)
    assert init is not None
    return (reduced if start.const == IDENTITY[combiner] else _combine_once(builder, last.name, init, reduced)), None


def _reduced(op: Generic, builder: BodyBuilder, args: tuple[int, ...], accumulator: int) -> int:
    """What is combined with the accumulator."""
    reduced = args[0] if args[1] == accumulator else args[1]
    if builder.depends_on(reduced, accumulator):
        raise UnsupportedError(f"the reduction at {op.path} uses its accumulator twice")
    return reduced


def _combine_once(builder: BodyBuilder, name: str, init: int, reduced: int) -> int:
    """The combiner applied once, on the initial value."""
    return builder.emit(name, (init, reduced), builder.dtype(reduced))
