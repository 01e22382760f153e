"""The types of the itensor dialect: a tensor as a stream, and the FIFO that carries one."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.element_types import dtype_name, token_type
from compiler.dialects.plain_data import PlainData, parse_dim, parse_field, parse_naturals
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
