"""C++ of the points of a token, side by side: what the lanes of a task do in each iteration of its loops."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from compiler.analysis.operators import FABRIC_ADDER, reduction_lanes, summed_as_pairs
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.task_graph import ComputeTask, EngineTask
from compiler.targets.body import emit_body
from compiler.targets.nest_code import NestNames, guarded, row_major, subscript, unrolled
from compiler.targets.parameters import scalars_of
from compiler.targets.scalar_ops import C_TYPE, TREE, combine, is_neutral, literal, neutral
from compiler.targets.tasks.frame import Frame, bind_storage
from compiler.targets.tasks.products import emit_products, emit_sums
from compiler.targets.writer import Namer


@dataclass(frozen=True)
class Accumulators:
    """Memory of partial results: `extents` of its dimensions in time, each with the C++ of its `index`; `first` says
    when the running one starts anew, `distance` after how many iterations at least it comes round again.
    """

    extents: Sequence[int]
    index: Sequence[str]
    first: str
    distance: int


@dataclass(frozen=True)
class _Accumulator:
    """A partial result: `target` is the running lane's, `first` the condition when it starts anew."""

    target: str
    first: str


class Points:
    """The lanes of a task, while it is written to `frame`. `op` and `nest` say what each does and how many there are;
    `params` are the function's parameters, streams first; `reads` says of each token that is read when, as C++, empty
    for in every iteration: otherwise it is kept. Declares what outlives an iteration, so it is made before the loops.
    """

    def __init__(
        self,
        frame: Frame,
        task: ComputeTask | EngineTask,
        turn: tuple[LinalgOp, Nest],
        names: NestNames,
        namer: Namer,
        params: Sequence[str],
        reads: Sequence[str],
        accumulators: Accumulators | None,
    ) -> None:
        self._frame, self._task, self._names, self._namer = frame, task, names, namer
        self._op, self._nest = turn
        assert self._op.body is not None
        self._body, self._out = self._op.body, frame.out
        self._streams, self._conditions = params[: len(task.reads)], reads
        self._result_stream, self._scalars = params[len(task.reads)], params[len(task.reads) + 1 :]
        self._products = namer.name("product") if self._multiplier in {"dsp_packed", "dsp_summed"} else None
        self._registers = self._declare_tokens()
        self._accumulator = self._declare(accumulators) if accumulators is not None else None
        self._result = namer.name(f"{self._result_stream}_token")

    @property
    def _multiplier(self) -> str | None:
        """Realisation of the task's integer products, as its operator cores name it (`imul_8x4_dsp`)."""
        cores = [core for core, _ in self._task.operators if core.startswith("imul_")]
        return cores[0].split("_", 2)[2] if cores else None

    @property
    def _summed_whole(self) -> bool:
        """Whether all reduction lanes are summed as pairs."""
        lanes = reduction_lanes(self._op, self._nest)
        return self._multiplier == "dsp_summed" and summed_as_pairs(self._op, lanes) == lanes

    @property
    def _adds_in_fabric(self) -> bool:
        return any(core == FABRIC_ADDER for core, _ in self._task.operators)

    @property
    def _tree(self) -> str:
        assert self._op.reduction is not None
        return f"reduce_tree<{'AddInFabric' if self._adds_in_fabric else TREE[self._op.reduction.combiner]}>"

    def emit(self, write: str) -> None:
        """What an iteration does; it writes its result where `write` holds."""
        self._read_tokens()
        if self._products is not None:
            where = self._out, self._op, self._nest, self._names, self._registers, self._products
            if self._multiplier == "dsp_summed":
                emit_sums(*where, self._namer)
            else:
                emit_products(*where)
        result = self._token_of_points(self._arguments())
        with guarded(self._out, write):
            self._frame.write(self._task.writes[0], self._result_stream, result)

    def _declare_tokens(self) -> list[str]:
        """Names of the tokens that are read. Those that some iterations do not read, but reuse, are declared here."""
        registers = [self._namer.name(f"{stream}_token") for stream in self._streams]
        for access, register, condition in zip(self._task.reads, registers, self._conditions, strict=True):
            if condition:
                self._frame.declare(access, register, self._frame.each_turn(self._task, access))
        turns = (self._frame.own_turn(self._task, access) for access in self._task.reads)
        return [
            f"{register}{turn if condition else ''}"
            for register, condition, turn in zip(registers, self._conditions, turns, strict=True)
        ]

    def _read_tokens(self) -> None:
        reads = zip(self._task.reads, self._streams, self._registers, self._conditions, strict=True)
        for condition, group in groupby(reads, lambda read: read[3]):
            with guarded(self._out, condition):
                for access, stream, register, _ in group:
                    self._frame.read(access, stream, register, declare=not condition)

    def _arguments(self) -> list[str]:
        """The body's arguments: the running lane of each token, scalars as they are."""
        tokens, scalars, by_value = iter(self._registers), iter(self._scalars), scalars_of(self._task)
        return [
            next(scalars) if operand.value in by_value else subscript(next(tokens), self._names.element(operand.dims))
            for operand in self._op.inputs
        ]

    def _declare(self, accumulators: Accumulators) -> _Accumulator:
        """Memory of the partial results, one for every lane."""
        out, buffers = self._out, self._task.buffers
        lanes = self._names.lanes(self._op.outputs[0].dims)
        name = self._namer.name("acc")
        kept = len(accumulators.extents)
        extents = [*accumulators.extents, *(trip for _, trip in lanes)]
        out.line(f"{C_TYPE[self._body.dtype_of(self._body.result)]} {name}{''.join(f'[{e}]' for e in extents)};")
        if extents and not buffers:
            out.pragma(f"array_partition variable={name} type=complete dim=0")
        for buffer in buffers:
            for dim in range(kept + 1, len(extents) + 1):
                out.pragma(f"array_partition variable={name} type=complete dim={dim}")
            bind_storage(out, name, buffer)
        if kept:
            distance = accumulators.distance
            out.pragma(f"dependence variable={name} type=inter direction=RAW distance={distance} dependent=true")
        index = "".join(f"[{i}]" for i in (*accumulators.index, *(lane for lane, _ in lanes)))
        return _Accumulator(f"{name}{index}", accumulators.first)

    def _token_of_points(self, args: Sequence[str]) -> str:
        """The output token, its elements side by side; a lone element is the expression itself."""
        dims = self._op.outputs[0].dims
        lanes = self._names.lanes(dims)
        if not lanes:
            return self._point(args)
        self._frame.declare(self._task.writes[0], self._result)
        with unrolled(self._out, lanes):
            value = self._point(args)
            self._out.line(f"{self._result}[{self._names.element(dims)}] = {value};")
        return self._result

    def _point(self, args: Sequence[str]) -> str:
        """One element of the output token: body over the reduction's lanes, their tree, the accumulation."""
        op, out, body = self._op, self._out, self._body
        if op.reduction is None:
            return emit_body(out, body, args, self._multiplier, self._namer, self._place)
        lanes = self._names.lanes([d for d, it in enumerate(op.iterators) if it == "reduction"])
        if self._products is not None:
            product = f"{self._products}[{self._names.element(op.outputs[0].dims)}]"
            summed = not lanes or self._summed_whole
            return self._accumulate(product if summed else f"{self._tree}({product})")
        if not lanes:
            return self._accumulate(self._term(args))
        terms = self._namer.name("terms")
        out.line(f"{C_TYPE[body.dtype_of(body.result)]} {terms}[{prod(trip for _, trip in lanes)}];")
        out.pragma(f"array_partition variable={terms} type=complete")
        with unrolled(out, lanes):
            value = self._term(args)
            out.line(f"{terms}[{row_major(lanes)}] = {value};")
        return self._accumulate(f"{self._tree}({terms})")

    def _term(self, args: Sequence[str]) -> str:
        """One term of a reduction: the body, or what the combiner ignores where the point is padding."""
        op, body = self._op, self._body
        value = emit_body(self._out, body, args, self._multiplier, self._namer, self._place)
        if not op.masked:
            return value
        assert op.reduction is not None
        dtype = body.dtype_of(body.result)
        inside = " && ".join(f"{self._place(dim)} < {op.true_loops[dim]}" for dim in op.masked)
        term = self._namer.name("term")
        ignored = neutral(op.reduction.combiner, dtype)
        self._out.line(f"const {C_TYPE[dtype]} {term} = {inside} ? {value} : {ignored};")
        return term

    def _place(self, dim: int) -> str:
        """Which point of loop `dim` the running lane is at."""
        loops = zip(self._names.loops, self._nest.loops, strict=True)
        terms = [f"{name} * {loop.step}" if loop.step > 1 else name for name, loop in loops if loop.dim == dim]
        return " + ".join([*terms, *(lane for lane, _ in self._names.lanes([dim]))])

    def _accumulate(self, term: str) -> str:
        """`term` added to the accumulator, if there is one; returns the name of the sum."""
        assert self._op.reduction is not None
        dtype, out, accumulator = self._body.dtype_of(self._body.result), self._out, self._accumulator
        combiner, init = self._op.reduction.combiner, self._op.reduction.init
        ignorable = is_neutral(combiner, dtype, init)
        start = literal(init, dtype)
        if accumulator is None:
            return term if ignorable else combine(combiner, dtype, start, term)
        if term.startswith("reduce_tree"):  # written once, used twice
            partial = self._namer.name("partial")
            out.line(f"const {C_TYPE[dtype]} {partial} = {term};")
            term = partial
        first = term if ignorable else combine(combiner, dtype, start, term)
        later = combine(combiner, dtype, accumulator.target, term)
        if " ? " in later:
            later = f"({later})"
        total = self._namer.name("total")
        out.line(f"const {C_TYPE[dtype]} {total} = {accumulator.first} ? {first} : {later};")
        if self._adds_in_fabric:
            out.pragma(f"bind_op variable={total} op=fadd impl=fabric")
        out.line(f"{accumulator.target} = {total};")
        return total
