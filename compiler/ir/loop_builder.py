"""Writes loop nests over tokens into the block of one task: constants, `scf.for`, lanes, index sums, token accesses.

Indices are `SSAValue`s or plain numbers; a number becomes a constant at the head of the task.
"""

from collections.abc import Callable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Block, Operation, OperationInvT, SSAValue
from xdsl.rewriter import InsertPoint

from compiler.dialects.element_types import ELEMENT_TYPES, zeros
from compiler.dialects.itensor_access import ReadOp, WriteOp
from compiler.dialects.itensor_stream import StreamReadOp, StreamWriteOp
from compiler.dialects.itensor_type import ITensorType

Index = SSAValue | int
Carried = SSAValue | None
Inside = Callable[[tuple[SSAValue, ...], Carried], Carried]
InLanes = Callable[[tuple[Index, ...], Carried], Carried]


class LoopBuilder:
    """Appends operations to `block`, inside the loops that are open."""

    def __init__(self, block: Block):
        self.head = block
        self._builder = Builder(InsertPoint.at_end(block))
        self._constants: dict[int, SSAValue] = {}

    def add(self, op: OperationInvT) -> OperationInvT:
        return self._builder.insert(op)

    def index(self, value: Index) -> SSAValue:
        """`value` as an operand."""
        if isinstance(value, SSAValue):
            return value
        if value not in self._constants:
            op = arith.ConstantOp.from_int_and_width(value, IndexType())
            self._at_head(op)
            op.result.name_hint = f"c{value}"
            self._constants[value] = op.result
        return self._constants[value]

    def _at_head(self, op: Operation) -> None:
        first = self.head.first_op
        if first is None:
            self.head.add_op(op)
        else:
            self.head.insert_op_before(op, first)

    def total(self, parts: Sequence[Index]) -> Index:
        """The sum of indices."""
        number = sum(part for part in parts if isinstance(part, int))
        values = [part for part in parts if isinstance(part, SSAValue)]
        if not values:
            return number
        result = values[0]
        for part in (*values[1:], *([self.index(number)] if number else [])):
            result = self.add(arith.AddiOp(result, part)).result
        return result

    def loop(self, high: int, step: int, carried: Carried, inside: Callable[[SSAValue, Carried], Carried]) -> Carried:
        """`for i in 0, step, ..., high-step` around what `inside` writes; gives what is carried out of it."""
        block = Block(arg_types=[IndexType(), *([carried.type] if carried is not None else [])])
        loop = scf.ForOp(
            self.index(0), self.index(high), self.index(step), [carried] if carried is not None else [], block
        )
        self.add(loop)
        outside, self._builder = self._builder, Builder(InsertPoint.at_end(block))
        result = inside(block.args[0], block.args[1] if carried is not None else None)
        self.add(scf.YieldOp(*([result] if result is not None else [])))
        self._builder = outside
        return loop.results[0] if loop.results else None

    def loops(self, spans: Sequence[tuple[int, int]], carried: Carried, inside: Inside) -> Carried:
        """A nest of loops, each of `(high, step)`, outermost first."""
        if not spans:
            return inside((), carried)
        (high, step), *rest = spans
        return self.loop(high, step, carried, lambda i, c: self.loops(rest, c, lambda j, d: inside((i, *j), d)))

    def lanes(self, extents: Sequence[int], carried: Carried, inside: InLanes) -> Carried:
        """Every element of a box of `extents`; an extent of 1 needs no loop."""
        spans = [(extent, 1) for extent in extents if extent > 1]

        def place(indices: tuple[SSAValue, ...], inner: Carried) -> Carried:
            left = iter(indices)
            return inside(tuple(next(left) if extent > 1 else 0 for extent in extents), inner)

        return self.loops(spans, carried, place)

    def token(self, element: Sequence[int], dtype: str, value: Callable[[tuple[Index, ...]], SSAValue]) -> SSAValue:
        """A token put together from what `value` gives for each of its elements."""
        if not element:
            return value(())
        empty = self.add(arith.ConstantOp(zeros(element, dtype))).result

        def put(at: tuple[Index, ...], carried: Carried) -> Carried:
            assert carried is not None
            return self.add(vector.InsertOp(value(at), carried, list(at))).result

        result = self.lanes(element, empty, put)
        assert result is not None
        return result

    def element(self, token: SSAValue, at: Sequence[Index], dtype: str) -> SSAValue:
        """One element of a token."""
        if not isinstance(token.type, VectorType):
            return token
        return self.add(vector.ExtractOp(token, list(at), ELEMENT_TYPES[dtype])).result

    def read(self, source: SSAValue) -> SSAValue:
        """The next token of an itensor or a FIFO."""
        op = ReadOp(source) if isinstance(source.type, ITensorType) else StreamReadOp(source)
        return self.add(op).value

    def write(self, value: SSAValue, stream: SSAValue, carried: Carried) -> Carried:
        """Push a token: into the itensor that is carried, or else into the FIFO `stream`."""
        if carried is not None:
            return self.add(WriteOp(value, carried)).result
        self.add(StreamWriteOp(value, stream))
        return None
