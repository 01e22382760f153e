"""`dataflow.layers`: the tasks of a design run once for each layer of its network."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.plain_data import parse_naturals
from compiler.graph.linalg_graph import Carried, Layers


@irdl_op_definition
class LayersOp(IRDLOperation):
    """A launch runs the tasks of the function so many times, each on what the one before made.

    ```
    dataflow.layers 24 carries ["h0.residual_2" to "hidden"] outside ["head"] depths [2, 16, 2]
    ```

    Tasks `outside` of layers run once, in front of the first or behind the last. Where nothing is carried, each is an
    input of its own, and the launch is `told` by this argument how many there are:

    ```
    dataflow.layers 8 carries [] told "count"
    ```

    `depths` are of the FIFOs of each value that is carried: what is loaded for the first layer, what leads back, what a
    layer makes. They are there when other streams are FIFOs.
    """

    name = "dataflow.layers"

    count = prop_def(IntAttr)
    made = prop_def(ArrayAttr[StringAttr])
    read = prop_def(ArrayAttr[StringAttr])
    outside = opt_prop_def(ArrayAttr[StringAttr])
    told = opt_prop_def(StringAttr)
    depths = opt_prop_def(ArrayAttr[IntAttr])

    def __init__(self, layers: Layers, depths: Sequence[int]) -> None:
        super().__init__(
            properties={
                "count": IntAttr(layers.count),
                "made": ArrayAttr(StringAttr(carried.made) for carried in layers.carried),
                "read": ArrayAttr(StringAttr(carried.read) for carried in layers.carried),
                "outside": ArrayAttr(map(StringAttr, layers.outside)) if layers.outside else None,
                "told": StringAttr(layers.told) if layers.told else None,
                "depths": ArrayAttr(map(IntAttr, depths)) if depths else None,
            }
        )

    @property
    def layers(self) -> Layers:
        pairs = zip(self.made, self.read, strict=True)
        carried = tuple(Carried(made.data, read.data) for made, read in pairs)
        told = "" if self.told is None else self.told.data
        return Layers(self.count.data, carried, tuple(name.data for name in self.outside or ()), told)

    @property
    def fifo_depths(self) -> tuple[int, ...]:
        return tuple(depth.data for depth in self.depths or ())

    def verify_(self) -> None:
        if self.count.data < 2 or bool(self.layers.carried) == bool(self.layers.told):
            raise VerifyException(
                "layers are at least two, and something is carried from one to the next, or a launch is told how many"
            )
        if any(depth < 1 for depth in self.fifo_depths):
            raise VerifyException("a FIFO between layers holds at least one token")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.count.data} carries ")
        with printer.in_square_brackets():
            printer.print_list(self.layers.carried, lambda carried: _print_carried(printer, carried))
        if outside := self.layers.outside:
            printer.print_string(" outside ")
            with printer.in_square_brackets():
                printer.print_list(outside, printer.print_string_literal)
        if self.told is not None:
            printer.print_string(" told ")
            printer.print_string_literal(self.told.data)
        if self.fifo_depths:
            printer.print_string(f" depths {list(self.fifo_depths)}")

    @classmethod
    def parse(cls, parser: Parser) -> "LayersOp":
        count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("carries")
        carried = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_carried(parser))
        names = parser.parse_optional_keyword("outside")
        outside = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal) if names else ()
        told = parser.parse_str_literal() if parser.parse_optional_keyword("told") else ""
        depths = parse_naturals(parser) if parser.parse_optional_keyword("depths") else ()
        return cls(Layers(count, tuple(carried), tuple(outside), told), depths)


def _print_carried(printer: Printer, carried: Carried) -> None:
    printer.print_string_literal(carried.made)
    printer.print_string(" to ")
    printer.print_string_literal(carried.read)


def _parse_carried(parser: Parser) -> Carried:
    made = parser.parse_str_literal()
    parser.parse_keyword("to")
    return Carried(made, parser.parse_str_literal())
