"""Iterative tensors and streams: tensors in the order in which their elements pass a FIFO (design 3.1).

Machine model. Dataflow processes run side by side and talk through FIFOs only: every token is pushed once and popped
once, in order. Before bufferisation a FIFO's content is a value of type `!itensor.itensor`, immutable, of which the
type alone says in which order the tensor passes; so a producer may feed a consumer directly exactly when their types
push the same tokens (`ITensor.same_stream`). `itensor.cast` states that two texts are one stream, `itensor.converter`
buys the difference with on-chip memory, `itensor.fork` copies. After bufferisation the FIFO is a value of type
`!itensor.stream` that knows token and depth; the order is kept on the `itensor.stream` operation that makes it.

Splitting and joining tensors (chunk, concat) are structured tasks of the dataflow dialect, because their loops are.
"""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.builtin import IntAttr, StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.element_types import dtype_name, token_type
from compiler.dialects.plain_data import PlainData, parse_dim, parse_field, parse_naturals
from compiler.dialects.process import ProcessOp
from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop


@irdl_attr_definition
class ITensorType(PlainData[ITensor], TypeAttribute):
    """A tensor as a stream of its elements; `data` is the frozen value with the mathematics.

    ```
    !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
    // for d0 in 0, 2, 4, 6:
    //   for d1 in 0, 4:
    //     push data[d1 : d1+4, d0 : d0+2]
    ```

    A loop that the map does not use re-reads. A data dimension that several loops walk is their sum (`d0+d2`), one
    without a loop is `0`.
    """

    name = "itensor.itensor"

    def verify(self) -> None:
        try:
            self.data.verify()
        except VerificationError as error:
            raise VerifyException(str(error)) from error

    def print_plain(self, printer: Printer) -> None:
        printer.print_string(str(self.data)[len("itensor<") : -1])

    @classmethod
    def parse_plain(cls, parser: AttrParser) -> ITensor:
        element, dtype = parser.parse_ranked_shape()
        trips, steps = _parse_space(parser)
        parser.parse_punctuation(",")
        parser.parse_keyword("iter_map")
        parser.parse_punctuation(":")
        at = parser.pos
        dims = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_dim(parser))
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_sum(parser))
        if dims != list(range(len(trips))) or len(steps) != len(trips) or len(results) != len(element):
            parser.raise_error("tripcounts, steps and iter_map differ in number of loops or dimensions", at)
        walked = {k: dim for dim, loops in enumerate(results) for k in loops}
        if any(k >= len(trips) for k in walked) or len(walked) != sum(map(len, results)):
            parser.raise_error("iter_map names a loop that does not exist or that walks two dimensions", at)
        loops = tuple(Loop(trip, step, walked.get(k)) for k, (trip, step) in enumerate(zip(trips, steps, strict=True)))
        return ITensor(tuple(element), dtype_name(dtype), loops)


def _parse_space(parser: AttrParser) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """`, iter_space: [trips]*[steps]`."""
    parser.parse_punctuation(",")
    parser.parse_keyword("iter_space")
    parser.parse_punctuation(":")
    trips = parse_naturals(parser)
    parser.parse_punctuation("*")
    return trips, parse_naturals(parser)


def _parse_sum(parser: AttrParser) -> list[int]:
    """`d0+d2`, or `0` for a dimension that no loop walks."""
    if parser.parse_optional_integer(allow_boolean=False, allow_negative=False) is not None:
        return []
    loops = [parse_dim(parser)]
    while parser.parse_optional_punctuation("+"):
        loops.append(parse_dim(parser))
    return loops


@irdl_attr_definition
class StreamType(ParametrizedAttribute, TypeAttribute):
    """A FIFO: the type of one token and the depth in tokens.

    ```
    !itensor.stream<vector<4x2xf32>, depth: 64>
    ```
    """

    name = "itensor.stream"

    token: Attribute
    depth: IntAttr

    def verify(self) -> None:
        if self.depth.data < 1:
            raise VerifyException(f"{self}: a FIFO holds at least one token")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.token)
            printer.print_string(f", depth: {self.depth.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            token = parser.parse_type()
            parser.parse_punctuation(",")
            return token, IntAttr(parse_field(parser, "depth"))


def stream_type(itensor: ITensor, depth: int) -> StreamType:
    """The FIFO that carries `itensor`."""
    return StreamType(token_type(itensor.element, itensor.dtype), IntAttr(depth))


@irdl_op_definition
class StreamOp(IRDLOperation):
    """A FIFO with one writer and one reader, named after the reader; `carries` is the order of its tokens.

    ```
    %fc1_in0 = itensor.stream @fc1_in0 carries !itensor.itensor<...> : !itensor.stream<vector<4xf32>, depth: 2>
    ```
    """

    name = "itensor.stream"

    sym_name = prop_def(SymbolNameConstraint())
    carries = prop_def(ITensorType)
    stream = result_def(StreamType)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name `carries` $carries attr-dict `:` type($stream)"

    def __init__(self, name: str, itensor: ITensor, depth: int):
        super().__init__(
            properties={"sym_name": StringAttr(name), "carries": ITensorType(itensor)},
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
        ends = [
            use.operation
            for use in self.stream.uses
            if isinstance(use.operation, ProcessOp) and (use.index >= len(use.operation.inputs)) == written
        ]
        if len(ends) != 1:
            raise VerifyException(f"stream @{self.stream_name} has {len(ends)} {role}s; it needs exactly one")
        return ends[0]

    def verify_(self) -> None:
        expected = stream_type(self.itensor, self.type.depth.data)
        if self.type != expected:
            raise VerifyException(f"stream @{self.stream_name} is {self.type} where {self.carries} needs {expected}")
        _ = self.writer, self.reader


@irdl_op_definition
class CastOp(IRDLOperation):
    """Gives an itensor another text for the same stream: no hardware.

    ```
    %b = itensor.cast %a : !itensor.itensor<f32, iter_space: [2,4]*[4,1], iter_map: (d0,d1)->(d0+d1)>
                        to !itensor.itensor<f32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
    ```
    """

    name = "itensor.cast"

    source = operand_def(ITensorType)
    result = result_def(ITensorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, target: ITensorType):
        super().__init__(operands=[source], result_types=[target])

    def verify_(self) -> None:
        source, target = itensor_of(self.source), itensor_of(self.result)
        if not source.same_stream(target):
            raise VerifyException(
                f"itensor.cast from {source} to {target}: the streams differ; use itensor.converter instead"
            )


@irdl_op_definition
class ConverterOp(ProcessOp):
    """Re-orders a stream through on-chip memory; `compiler.graph.converter` says through how much.

    ```
    %c = itensor.converter @convert_x_to_fc1_in0 ins(%b : !itensor.itensor<4x2xf32, ...>)
           -> (!itensor.itensor<4x2xf32, ...>)
    ```
    """

    name = "itensor.converter"

    def __init__(self, name: str, source: SSAValue, target: ITensorType):
        super().__init__(operands=[[source], []], result_types=[[target]], properties={"sym_name": StringAttr(name)})

    @property
    def source(self) -> ITensor:
        return itensor_of(self.inputs[0])

    @property
    def target(self) -> ITensor:
        return itensor_of(self.written[0])

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.written) != 1:
            raise VerifyException(f"converter @{self.process_name} needs one input and one output")
        source, target = self.source, self.target
        if source.shape != target.shape or source.dtype != target.dtype:
            raise VerifyException(
                f"converter @{self.process_name}: {source} and {target} stream different tensors, "
                f"{list(source.shape)} {source.dtype} and {list(target.shape)} {target.dtype}"
            )
        if source.same_stream(target):
            raise VerifyException(f"converter @{self.process_name}: both streams are equal; use itensor.cast instead")


@irdl_op_definition
class ForkOp(ProcessOp):
    """Copies every token to each of several streams; with none it drops them.

    ```
    %a, %b = itensor.fork @fork_x ins(%x : !itensor.itensor<...>) -> (!itensor.itensor<...>, !itensor.itensor<...>)
    ```
    """

    name = "itensor.fork"

    def __init__(self, name: str, source: SSAValue, copies: int):
        super().__init__(
            operands=[[source], []],
            result_types=[[source.type] * copies],
            properties={"sym_name": StringAttr(name)},
        )

    def verify_(self) -> None:
        if len(self.inputs) != 1:
            raise VerifyException(f"fork @{self.process_name} needs one input")
        itensors = [itensor_of(value) for value in (*self.inputs, *self.written)]
        if any(a != b for a, b in pairwise(itensors)):
            raise VerifyException(f"fork @{self.process_name}: a copy has another type than what is copied")


def itensor_of(value: SSAValue) -> ITensor:
    """What a value streams as, whether it is an itensor or the FIFO that carries one."""
    if isinstance(value.type, ITensorType):
        return value.type.data
    if isinstance(value.owner, StreamOp):
        return value.owner.itensor
    raise VerifyException(f"a value of type {value.type} is no stream; expected an itensor or an itensor.stream")


ITENSOR = Dialect("itensor", [StreamOp, CastOp, ConverterOp, ForkOp], [ITensorType, StreamType])
