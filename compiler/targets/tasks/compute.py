"""C++ of a compute task: reads, the points of one token side by side, accumulation, write."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from compiler.graph.linalg_graph import Body, LinalgOp, Operand
from compiler.graph.nest import Nest
from compiler.graph.program import Access
from compiler.graph.task_graph import ComputeTask
from compiler.targets.body import describe_body, emit_body
from compiler.targets.nest_code import (
    NestNames,
    gate_condition,
    guarded,
    pipelined_nest,
    row_major,
    subscript,
    unrolled,
)
from compiler.targets.parameters import short_names
from compiler.targets.scalar_ops import C_TYPE, TREE, combine, is_neutral, literal, neutral
from compiler.targets.tasks.frame import Frame, bind_storage, rate
from compiler.targets.tasks.products import emit_products
from compiler.targets.writer import CppWriter, Namer

# What a reduction is called in a comment.
COMBINED = {"add": "sum", "mul": "product", "max": "largest", "min": "smallest"}


@dataclass(frozen=True)
class _Accumulator:
    """Partial results of a reduction: `target` is the running lane's, `first` the condition when it starts anew."""

    target: str
    first: str


@dataclass(frozen=True)
class _Code:
    """One compute task while it is written."""

    frame: Frame
    task: ComputeTask
    op: LinalgOp
    nest: Nest
    body: Body
    names: NestNames
    namer: Namer
    products: str | None

    @property
    def out(self) -> CppWriter:
        return self.frame.out


def emit_compute(frame: Frame, task: ComputeTask) -> None:
    """The nest of an operation over its tokens."""
    op, nest, out = task.op, task.nest, frame.out
    assert op.body is not None
    with frame.function(task, _summary(op, nest, task)) as (params, namer):
        names = NestNames.of(op, nest, namer)
        products = namer.name("product") if _multiplier(task) == "dsp_packed" else None
        code = _Code(frame, task, op, nest, op.body, names, namer, products)
        registers = _declare_tokens(code, params)
        args = _arguments(code, params, registers)
        accumulator = _declare_accumulator(code)
        with pipelined_nest(out, names.loops, nest.trips, task.timing):
            _read_tokens(code, params, registers)
            if products is not None:
                emit_products(out, op, nest, names, registers, products)
            (write,), stream = task.writes, params[len(task.reads)]
            result = _token_of_points(code, args, accumulator, namer.name(f"{stream}_token"))
            with guarded(out, gate_condition(write.gates, names.loops, nest.trips)):
                frame.write(write, stream, result)


def _declare_tokens(code: _Code, params: Sequence[str]) -> list[str]:
    """Names of the tokens that are read. Those that some iterations do not read, but reuse, are declared here."""
    reads = code.task.reads
    registers = [code.namer.name(f"{stream}_token") for stream in params[: len(reads)]]
    for access, register in zip(reads, registers, strict=True):
        if _read_condition(code, access):
            code.frame.declare(access, register)
    return registers


def _read_condition(code: _Code, access: Access) -> str:
    """When the token is read anew, as a condition; empty where every iteration reads one."""
    return gate_condition(access.gates, code.names.loops, code.nest.trips)


def _read_tokens(code: _Code, params: Sequence[str], registers: Sequence[str]) -> None:
    reads = zip(code.task.reads, params, registers, strict=False)
    for condition, group in groupby(reads, lambda read: _read_condition(code, read[0])):
        with guarded(code.out, condition):
            for access, stream, register in group:
                code.frame.read(access, stream, register, declare=not condition)


def _arguments(code: _Code, params: Sequence[str], registers: Sequence[str]) -> list[str]:
    """The body's arguments: the running lane of each token, scalars as they are."""
    task = code.task
    tokens, scalars = iter(registers), iter(params[len(task.reads) + len(task.writes) :])
    return [
        next(scalars) if operand.value in task.scalars else subscript(next(tokens), code.names.element(operand.dims))
        for operand in code.op.inputs
    ]


def _declare_accumulator(code: _Code) -> _Accumulator | None:
    """Memory of the partial results, one for every parallel point inside the outermost reduction loop."""
    op, nest, names, out = code.op, code.nest, code.names, code.out
    reductions = nest.reduction_loops(op.iterators)
    if not reductions:
        return None
    kept = [k for k in range(reductions[0], len(nest.loops)) if op.iterators[nest.loops[k].dim] == "parallel"]
    lanes = names.lanes(op.outputs[0].dims)
    name = code.namer.name("acc")
    extents = [*(nest.trips[k] for k in kept), *(trip for _, trip in lanes)]
    out.line(f"{C_TYPE[code.body.dtype_of(code.body.result)]} {name}{''.join(f'[{e}]' for e in extents)};")
    if extents and not code.task.buffers:
        out.pragma(f"array_partition variable={name} type=complete dim=0")
    for buffer in code.task.buffers:
        for dim in range(len(kept) + 1, len(extents) + 1):
            out.pragma(f"array_partition variable={name} type=complete dim={dim}")
        bind_storage(out, name, buffer)
    if kept:
        # An accumulator comes round again after the loops inside the innermost reduction loop.
        distance = nest.reuse_distance(op.iterators)
        out.pragma(f"dependence variable={name} type=inter direction=RAW distance={distance} dependent=true")
    index = "".join(f"[{i}]" for i in (*(names.loops[k] for k in kept), *(lane for lane, _ in lanes)))
    return _Accumulator(f"{name}{index}", " && ".join(f"{names.loops[k]} == 0" for k in reductions))


def _token_of_points(code: _Code, args: Sequence[str], accumulator: _Accumulator | None, result: str) -> str:
    """The output token `result`, its elements side by side; a lone element is the expression itself."""
    dims = code.op.outputs[0].dims
    lanes = code.names.lanes(dims)
    if not lanes:
        return _point(code, args, accumulator)
    code.frame.declare(code.task.writes[0], result)
    with unrolled(code.out, lanes):
        value = _point(code, args, accumulator)
        code.out.line(f"{result}[{code.names.element(dims)}] = {value};")
    return result


def _point(code: _Code, args: Sequence[str], accumulator: _Accumulator | None) -> str:
    """One element of the output token: body over the reduction's lanes, their tree, the accumulation."""
    op, out, body = code.op, code.out, code.body
    multiplier = _multiplier(code.task)
    if op.reduction is None:
        return emit_body(out, body, args, multiplier, code.namer)
    lanes = code.names.lanes([d for d, it in enumerate(op.iterators) if it == "reduction"])
    if code.products is not None:
        product = f"{code.products}[{code.names.element(op.outputs[0].dims)}]"
        tree = f"reduce_tree<{TREE[op.reduction.combiner]}>"
        return _accumulate(code, f"{tree}({product})" if lanes else product, accumulator)
    if not lanes:
        return _accumulate(code, _term(code, args, multiplier), accumulator)
    terms = code.namer.name("terms")
    out.line(f"{C_TYPE[body.dtype_of(body.result)]} {terms}[{prod(trip for _, trip in lanes)}];")
    out.pragma(f"array_partition variable={terms} type=complete")
    with unrolled(out, lanes):
        value = _term(code, args, multiplier)
        out.line(f"{terms}[{row_major(lanes)}] = {value};")
    return _accumulate(code, f"reduce_tree<{TREE[op.reduction.combiner]}>({terms})", accumulator)


def _term(code: _Code, args: Sequence[str], multiplier: str | None) -> str:
    """One term of a reduction: the body, or what the combiner ignores where the point is padding."""
    op, body = code.op, code.body
    value = emit_body(code.out, body, args, multiplier, code.namer)
    if not op.masked:
        return value
    assert op.reduction is not None
    dtype = body.dtype_of(body.result)
    inside = " && ".join(f"{_index(code, dim)} < {op.true_loops[dim]}" for dim in op.masked)
    term = code.namer.name("term")
    ignored = neutral(op.reduction.combiner, dtype)
    code.out.line(f"const {C_TYPE[dtype]} {term} = {inside} ? {value} : {ignored};")
    return term


def _index(code: _Code, dim: int) -> str:
    """Which point of loop `dim` the running lane is at."""
    loops = zip(code.names.loops, code.nest.loops, strict=True)
    terms = [f"{name} * {loop.step}" if loop.step > 1 else name for name, loop in loops if loop.dim == dim]
    return " + ".join([*terms, *(lane for lane, _ in code.names.lanes([dim]))])


def _accumulate(code: _Code, term: str, accumulator: _Accumulator | None) -> str:
    """`term` added to the accumulator, if there is one; returns the name of the sum."""
    assert code.op.reduction is not None
    dtype, out = code.body.dtype_of(code.body.result), code.out
    combiner, init = code.op.reduction.combiner, code.op.reduction.init
    ignorable = is_neutral(combiner, dtype, init)
    start = literal(init, dtype)
    if accumulator is None:
        return term if ignorable else combine(combiner, dtype, start, term)
    if term.startswith("reduce_tree"):  # written once, used twice
        partial = code.namer.name("partial")
        out.line(f"const {C_TYPE[dtype]} {partial} = {term};")
        term = partial
    first = term if ignorable else combine(combiner, dtype, start, term)
    later = combine(combiner, dtype, accumulator.target, term)
    if " ? " in later:
        later = f"({later})"
    total = code.namer.name("total")
    out.line(f"const {C_TYPE[dtype]} {total} = {accumulator.first} ? {first} : {later};")
    out.line(f"{accumulator.target} = {total};")
    return total


def _multiplier(task: ComputeTask) -> str | None:
    """Realisation of the task's integer products, as its operator cores name it (`imul_8x4_dsp`)."""
    cores = [core for core, _ in task.operators if core.startswith("imul_")]
    return cores[0].split("_", 2)[2] if cores else None


def _summary(op: LinalgOp, nest: Nest, task: ComputeTask) -> str:
    names = NestNames.of(op, nest, Namer())
    assert op.body is not None
    what = describe_body(op.body, [_indexed(o, op, names) for o in op.inputs])
    if op.reduction is not None:
        over = ", ".join(n for n, it in zip(names.dims, op.iterators, strict=True) if it == "reduction")
        what = f"{COMBINED[op.reduction.combiner]} over {over} of {what}"
    lanes = f"{nest.lanes} points side by side" if nest.lanes > 1 else "one point at a time"
    return f"{op.name}: {_indexed(op.outputs[0], op, names)} = {what}. {rate(task)}, {lanes}."


def _indexed(operand: Operand, op: LinalgOp, names: NestNames) -> str:
    """An operand with its indices, as a comment shows it."""
    index = ", ".join(names.dims[d] for d in operand.dims)
    return subscript(short_names(op)[operand.value], index)
