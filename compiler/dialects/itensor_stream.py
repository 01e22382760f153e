"""Streams after bufferisation: FIFOs, what reads and writes them, and the memory of a task."""

from typing import ClassVar

from xdsl.dialects.builtin import IntAttr, MemRefType, StringAttr, SymbolNameConstraint
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.itensor_type import ITensorType, StreamType, stream_type
from compiler.dialects.loop_nests import definition_block, loops_between
from compiler.dialects.process import ProcessOp
from compiler.graph.itensor import ITensor


@irdl_op_definition
class StreamOp(IRDLOperation):
    """A FIFO with one writer and one reader, named after the reader; `carries` is the order of its tokens, `because`
    the reason of its depth.

    ```
    %fc1_in0 = itensor.stream @fc1_in0 carries !itensor.itensor<...> : !itensor.stream<vector<4xf32>, depth: 2>
    ```
    """

    name = "itensor.stream"

    sym_name = prop_def(SymbolNameConstraint())
    carries = prop_def(ITensorType)
    reason = opt_prop_def(StringAttr)
    stream = result_def(StreamType)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name `carries` $carries (`because` $reason^)? attr-dict `:` type($stream)"

    def __init__(self, name: str, itensor: ITensor, depth: int, reason: str | None = None):
        why = StringAttr(reason) if reason is not None else None
        super().__init__(
            properties={"sym_name": StringAttr(name), "carries": ITensorType(itensor), "reason": why},
            result_types=[stream_type(itensor, depth)],
        )

    @property
    def stream_name(self) -> str:
        return self.sym_name.data

    @property
    def itensor(self) -> ITensor:
        return self.carries.data

    @property
    def type(self) -> StreamType:
        assert isinstance(self.stream.type, StreamType)
        return self.stream.type

    @property
    def writer(self) -> Operation:
        """The process that pushes. Raises VerifyException unless there is exactly one."""
        return self._end("writer", written=True)

    @property
    def reader(self) -> Operation:
        """The process that pops. Raises VerifyException unless there is exactly one."""
        return self._end("reader", written=False)

    def _end(self, role: str, *, written: bool) -> Operation:
        ends = stream_ends(self.stream, written=written)
        if len(ends) != 1:
            raise VerifyException(f"stream @{self.stream_name} has {len(ends)} {role}s; it needs exactly one")
        return ends[0]

    def verify_(self) -> None:
        expected = stream_type(self.itensor, self.type.depth.data)
        if self.type != expected:
            raise VerifyException(f"stream @{self.stream_name} is {self.type} where {self.carries} needs {expected}")
        _ = self.writer, self.reader


def stream_ends(stream: SSAValue, *, written: bool) -> list[Operation]:
    """The processes, reads and writes at one end of a FIFO, looking through casts."""
    ends: list[Operation] = []
    for use in stream.uses:
        match use.operation:
            case ProcessOp() as process if (use.index >= len(process.inputs)) == written:
                ends.append(process)
            case StreamCastOp() as cast:
                ends += stream_ends(cast.result, written=written)
            case StreamReadOp() | StreamWriteOp() as access if isinstance(access, StreamWriteOp) == written:
                ends.append(access)
            case _:
                pass
    return ends


@irdl_op_definition
class StreamReadOp(IRDLOperation):
    """Pops one token of a FIFO.

    ```
    // for i in 0, 2, 4, 6:  for j in 0, 4:
    %v = itensor.stream_read %s : !itensor.stream<vector<4x2xf32>, depth: 2>
    ```
    """

    name = "itensor.stream_read"

    source = operand_def(StreamType)
    value = result_def(AnyAttr())

    assembly_format = "$source attr-dict `:` type($source) `->` type($value)"

    def __init__(self, source: SSAValue):
        assert isinstance(source.type, StreamType)
        super().__init__(operands=[source], result_types=[source.type.token])

    def verify_(self) -> None:
        _verify_access(self, self.source, self.value)


@irdl_op_definition
class StreamWriteOp(IRDLOperation):
    """Pushes one token into a FIFO.

    ```
    // for i in 0, 2, 4, 6:  for j in 0, 4:
    itensor.stream_write %v into %s : vector<4x2xf32> into !itensor.stream<vector<4x2xf32>, depth: 2>
    ```
    """

    name = "itensor.stream_write"

    value = operand_def(AnyAttr())
    dest = operand_def(StreamType)

    assembly_format = "$value `into` $dest attr-dict `:` type($value) `into` type($dest)"

    def __init__(self, value: SSAValue, dest: SSAValue):
        super().__init__(operands=[value, dest])

    def verify_(self) -> None:
        _verify_access(self, self.dest, self.value)


def _verify_access(op: Operation, stream: SSAValue, value: SSAValue) -> None:
    """The token's type, and as many iterations around the access as tokens pass."""
    assert isinstance(stream.type, StreamType)
    if value.type != stream.type.token:
        raise VerifyException(f"{op.name} moves a {value.type} through {stream.type}; expected {stream.type.token}")
    iterations = 1
    for trip, _ in loops_between(definition_block(stream), op):
        iterations *= trip
    if iterations != (tokens := itensor_of(stream).tokens):
        raise VerifyException(f"{op.name} runs {iterations} times on a FIFO that {tokens} tokens pass")


@irdl_op_definition
class StreamCastOp(IRDLOperation):
    """Another text for the tokens and the order of a FIFO: the same bits, no hardware. `carries` is the new text.

    ```
    %b = itensor.stream_cast %a carries <4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
           : !itensor.stream<vector<1x4xf32>, depth: 2> to !itensor.stream<vector<4xf32>, depth: 2>
    ```
    """

    name = "itensor.stream_cast"

    carries = prop_def(ITensorType)
    source = operand_def(StreamType)
    result = result_def(StreamType)

    traits = traits_def(Pure())

    assembly_format = "$source `carries` $carries attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, target: ITensor):
        assert isinstance(source.type, StreamType)
        super().__init__(
            operands=[source],
            properties={"carries": ITensorType(target)},
            result_types=[stream_type(target, source.type.depth.data)],
        )

    def verify_(self) -> None:
        assert isinstance(self.source.type, StreamType)
        source, target = itensor_of(self.source), self.carries.data
        if self.result.type != stream_type(target, self.source.type.depth.data):
            raise VerifyException(f"itensor.stream_cast to {self.result.type} does not carry {target}")
        if source.tokens != target.tokens or source.width != target.width or source.dtype != target.dtype:
            raise VerifyException(
                f"itensor.stream_cast from {source} to {target}: the tokens differ; use itensor.converter instead"
            )


@irdl_op_definition
class BufferOp(IRDLOperation):
    """On-chip memory of a task: partial results, or what a converter holds. `halves` 2 is a ping-pong pair.

    ```
    %acc = itensor.buffer : memref<16x4xi32>
    %box = itensor.buffer ping_pong : memref<8x2xf32>
    ```
    """

    name = "itensor.buffer"

    T: ClassVar = VarConstraint("T", MemRefType.constr())

    halves = prop_def(IntAttr)
    memory = result_def(T)

    def __init__(self, type_: MemRefType, halves: int = 1):
        super().__init__(result_types=[type_], properties={"halves": IntAttr(halves)})

    @classmethod
    def parse(cls, parser: Parser) -> "BufferOp":
        halves = 2 if parser.parse_optional_keyword("ping_pong") else 1
        parser.parse_punctuation(":")
        return cls.build(result_types=[parser.parse_type()], properties={"halves": IntAttr(halves)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ping_pong : " if self.halves.data == 2 else " : ")
        printer.print_attribute(self.memory.type)

    def verify_(self) -> None:
        if self.halves.data not in (1, 2):
            raise VerifyException(f"itensor.buffer has {self.halves.data} halves; it is one memory or a ping-pong pair")
        if any(extent < 1 for extent in self.memory.type.get_shape()):
            raise VerifyException("itensor.buffer needs a static shape")


def itensor_of(value: SSAValue) -> ITensor:
    """What a value streams as, whether it is an itensor or the FIFO that carries one."""
    if isinstance(value.type, ITensorType):
        return value.type.data
    if isinstance(value.owner, StreamOp | StreamCastOp):
        return value.owner.carries.data
    raise VerifyException(f"a value of type {value.type} is no stream; expected an itensor or an itensor.stream")
