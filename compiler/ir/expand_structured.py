"""A structured task as the loop nest that it stands for: read tokens, compute points, write tokens.

Without a reduction every iteration reads, computes and writes. With one, the loops outside the first reduction loop
enclose three nests: set the partial results, accumulate over all loops inside, write them. So the loops around every
read and write are exactly the iteration space of its itensor.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import prod

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import SSAValue

from compiler.dialects.dataflow_index import IndexOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.element_types import ELEMENT_TYPES, literal
from compiler.dialects.itensor_stream import BufferOp
from compiler.dialects.streamed import element_name
from compiler.graph.linalg_graph import Body
from compiler.ir.loop_builder import Carried, Index, LoopBuilder

COMBINE_FLOAT = {"add": arith.AddfOp, "mul": arith.MulfOp, "max": arith.MaximumfOp, "min": arith.MinimumfOp}
COMBINE_INTEGER = {"add": arith.AddiOp, "mul": arith.MuliOp, "max": arith.MaxSIOp, "min": arith.MinSIOp}

Tokens = Mapping[int, SSAValue]
PointValue = Callable[[tuple[Index, ...]], SSAValue]


def _by_value(value: SSAValue) -> bool:
    """Whether an input is a scalar that is passed by value, not streamed."""
    return isinstance(value.type, TensorType)


class StructuredExpansion:
    """Writes the loops of a generic task with `build`; `written` is its FIFO, on itensors its destination."""

    def __init__(self, task: TaskOp, build: LoopBuilder, written: SSAValue):
        self.op, self.nest = task.linalg, task.tiled
        self.task, self.build, self.written = task, build, written
        reductions = self.nest.reduction_loops(self.op.iterators)
        self.first = reductions[0] if reductions else len(self.nest.loops)
        self.out_dims = self.op.outputs[0].dims

    @cached_property
    def body(self) -> Body:
        assert self.op.body is not None
        return self.op.body

    @cached_property
    def dtype(self) -> str:
        return self.body.dtype_of(self.body.result)

    @cached_property
    def inner_parallels(self) -> list[int]:
        """Loops inside the first reduction loop that tell partial results apart."""
        loops = range(self.first, len(self.nest.loops))
        return [k for k in loops if self.op.iterators[self.nest.loops[k].dim] == "parallel"]

    def write(self, carried: Carried) -> Carried:
        """The whole nest; gives what was written."""
        scalars = {i: self._scalar(value) for i, value in enumerate(self.task.inputs) if _by_value(value)}
        return self._walk(0, (), scalars, carried)

    def _scalar(self, value: SSAValue) -> SSAValue:
        return self.build.add(tensor.ExtractOp(value, [], ELEMENT_TYPES[element_name(value.type)])).result

    def _walk(self, level: int, at: tuple[SSAValue, ...], tokens: Tokens, carried: Carried) -> Carried:
        """Loops from `level` on; `at` are the iterations of those outside."""
        tokens = {**tokens, **self._reads(level)}
        if level == self.first and self.op.reduction is not None:
            return self._reduce(at, tokens, carried)
        if level == len(self.nest.loops):
            return self._push(carried, lambda lanes: self._point(tokens, at, self._lane_of(lanes)))
        loop = self.nest.loops[level]
        return self.build.loop(
            loop.trip * loop.step, loop.step, carried, lambda i, c: self._walk(level + 1, (*at, i), tokens, c)
        )

    def _reads(self, level: int) -> Tokens:
        return {
            i: self.build.read(value)
            for i, (value, operand) in enumerate(zip(self.task.inputs, self.op.inputs, strict=True))
            if not _by_value(value) and self.nest.read_level(operand.dims) == level
        }

    def _push(self, carried: Carried, value: PointValue) -> Carried:
        token = self.build.token([self.nest.unroll[d] for d in self.out_dims], self.dtype, value)
        return self.build.write(token, self.written, carried)

    def _lane_of(self, lanes: tuple[Index, ...]) -> dict[int, Index]:
        """Lane of each dimension of the output."""
        return dict(zip(self.out_dims, lanes, strict=True))

    def _point(self, tokens: Tokens, at: tuple[SSAValue, ...], lane: Mapping[int, Index]) -> SSAValue:
        """The body at one point: a `lane` of the iteration `at`."""
        arguments = [
            self.build.element(tokens[i], [lane[d] for d in operand.dims], self.body.arg_dtypes[i])
            for i, operand in enumerate(self.op.inputs)
        ]
        block = self.task.body.block
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
        *scalars, end = block.ops
        for op in scalars:
            if isinstance(op, IndexOp):
                where = self._where(op.loop.data, at, lane)
                values[op.result] = self.build.add(arith.IndexCastOp(where, op.result.type)).result
            else:
                self.build.add(op.clone(values))
        return values.get(end.operands[0], end.operands[0])

    # Reductions

    def _reduce(self, at: tuple[SSAValue, ...], tokens: Tokens, carried: Carried) -> Carried:
        acc = self.build.add(BufferOp(MemRefType(ELEMENT_TYPES[self.dtype], self._accumulator_shape()))).memory
        acc.name_hint = "acc"
        outputs = [self.nest.unroll[d] for d in self.out_dims]
        spans = [(loop.trip * loop.step, loop.step) for loop in (self.nest.loops[k] for k in self.inner_parallels)]

        def start(inner: tuple[SSAValue, ...], _: Carried) -> Carried:
            assert self.op.reduction is not None
            value = self.build.add(arith.ConstantOp(literal(self.op.reduction.init, self.dtype))).result
            return self.build.lanes(
                outputs, None, lambda lanes, _: self._store(value, acc, self._place(inner, self._lane_of(lanes)))
            )

        def drain(inner: tuple[SSAValue, ...], dest: Carried) -> Carried:
            return self._push(dest, lambda lanes: self._load(acc, self._place(inner, self._lane_of(lanes))))

        self.build.loops(spans, None, start)
        self._accumulate(self.first, at, tokens, acc)
        return self.build.loops(spans, carried, drain)

    def _accumulator_shape(self) -> list[int]:
        return [
            self.nest.unroll[d] * prod(self.nest.loops[k].trip for k in self.inner_parallels if self._walks(k, d))
            for d in self.out_dims
        ]

    def _walks(self, loop: int, dim: int) -> bool:
        return self.nest.loops[loop].dim == dim

    def _place(self, inner: tuple[SSAValue, ...], lane: Mapping[int, Index]) -> list[SSAValue]:
        """Where the partial result of a point lies; `inner` are the iterations of `inner_parallels`."""
        return [
            self.build.index(
                self.build.total(
                    [*(i for i, k in zip(inner, self.inner_parallels, strict=True) if self._walks(k, d)), lane[d]]
                )
            )
            for d in self.out_dims
        ]

    def _accumulate(self, level: int, at: tuple[SSAValue, ...], tokens: Tokens, acc: SSAValue) -> Carried:
        if level > self.first:  # the tokens of that level are read already
            tokens = {**tokens, **self._reads(level)}
        if level == len(self.nest.loops):
            return self.build.lanes(self.nest.unroll, None, lambda lanes, _: self._update(at, tokens, lanes, acc))
        loop = self.nest.loops[level]
        return self.build.loop(
            loop.trip * loop.step, loop.step, None, lambda i, _: self._accumulate(level + 1, (*at, i), tokens, acc)
        )

    def _update(self, at: tuple[SSAValue, ...], tokens: Tokens, lanes: tuple[Index, ...], acc: SSAValue) -> Carried:
        assert self.op.reduction is not None
        lane = dict(enumerate(lanes))
        place = self._place(tuple(at[k] for k in self.inner_parallels), lane)
        old = self._load(acc, place)
        table = COMBINE_FLOAT if self.dtype == "f32" else COMBINE_INTEGER
        new = self.build.add(table[self.op.reduction.combiner](old, self._point(tokens, at, lane))).result
        for dim in self.op.masked:
            where, end = self._where(dim, at, lane), self.build.index(self.op.true_loops[dim])
            true = self.build.add(arith.CmpiOp(where, end, "slt"))
            new = self.build.add(arith.SelectOp(true.result, new, old)).result
        return self._store(new, acc, place)

    def _where(self, dim: int, at: tuple[SSAValue, ...], lane: Mapping[int, Index]) -> SSAValue:
        """Where loop `dim` of the operation is."""
        walks = [i for i, k in zip(at, self.nest.loops, strict=True) if k.dim == dim]
        return self.build.index(self.build.total([*walks, lane[dim]]))

    def _load(self, acc: SSAValue, place: list[SSAValue]) -> SSAValue:
        return self.build.add(memref.LoadOp.get(acc, place)).res

    def _store(self, value: SSAValue, acc: SSAValue, place: list[SSAValue]) -> None:
        self.build.add(memref.StoreOp.get(value, acc, place))
