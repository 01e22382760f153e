"""What every dataflow process has in common: a name, what it reads, what it writes.

A process has two forms. On *values* it consumes tensors or itensors and its results are what it makes; on *streams*
it has no results and pushes into the FIFOs that it names:

    %h = dataflow.task @fc1 ... ins(%x : !itensor.itensor<...>) -> (!itensor.itensor<...>)
    dataflow.task @fc1 ... ins(%fc1_in0 : !itensor.stream<...>) outs(%gelu_in0 : !itensor.stream<...>)

`size-fifos` takes the first to the second. A store keeps a tensor as its result in both.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import ArrayAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface

from compiler.dialects.plain_data import PlainData


class ProcessOp(IRDLOperation):
    """A named process. A subclass adds properties in `print_header` and `parse_header`.

    Where `LABEL` is set, every port carries such an attribute, in the properties `input_maps` and `output_maps`.
    `SEPARATOR` is printed between the parts: a space, or a new line.
    """

    LABEL: ClassVar[type[PlainData[Any]] | None] = None
    SEPARATOR: ClassVar[str] = " "

    sym_name = prop_def(SymbolNameConstraint())
    inputs = var_operand_def()
    streams = var_operand_def()
    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(SymbolOpInterface())

    @property
    def process_name(self) -> str:
        return self.sym_name.data

    @property
    def written(self) -> tuple[SSAValue, ...]:
        """What the process writes, in either form."""
        return (*self.streams, *self.outputs)

    def print_header(self, printer: Printer) -> None:
        """Print what comes between the name and the ports."""

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:  # noqa: ARG003 # for subclasses
        """Read what `print_header` printed, as properties."""
        return {}

    def print_tail(self, printer: Printer) -> None:
        """Print what follows the ports."""

    @classmethod
    def parse_tail(cls, parser: Parser) -> list[Region]:  # noqa: ARG003 # for subclasses
        """Read what `print_tail` printed, as regions."""
        return []

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.process_name)
        with printer.indented(2):
            self.print_header(printer)
            printer.print_string(f"{self.SEPARATOR}ins")
            self._print_ports(printer, self.inputs, "input_maps", " = ")
            if self.streams:
                printer.print_string(f"{self.SEPARATOR}outs")
                self._print_ports(printer, self.streams, "output_maps", " = ")
            if self.outputs:
                printer.print_string(f"{self.SEPARATOR}-> ")
                self._print_ports(printer, self.outputs, "output_maps", " : ")
        self.print_tail(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        properties: dict[str, Attribute] = {"sym_name": name, **cls.parse_header(parser)}
        reads, inputs = cls._parse_operands(parser, "ins")
        writes, streams = cls._parse_operands(parser, "outs")
        made, results = cls._parse_results(parser)
        if cls.LABEL is not None:
            properties["input_maps"] = ArrayAttr(reads)
            properties["output_maps"] = ArrayAttr([*writes, *made])
        regions = cls.parse_tail(parser)
        return cls.build(operands=[inputs, streams], result_types=[results], properties=properties, regions=regions)

    def _print_ports(self, printer: Printer, values: Sequence[SSAValue], maps: str, between: str) -> None:
        """Ports in parentheses, one a line where they are labelled and several; results show their type only."""
        labels = tuple(cast(Iterable[PlainData[Any]], self.properties.get(maps, ())))

        def port(index: int) -> None:
            if labels:
                labels[index].print_plain(printer)
                printer.print_string(between)
            if maps == "input_maps" or self.streams:
                printer.print_ssa_value(values[index])
                printer.print_string(" : ")
            printer.print_attribute(values[index].type)

        with printer.in_parens(), printer.indented():
            printer.print_list(range(len(values)), port, f",{self.SEPARATOR}")

    @classmethod
    def _parse_label(cls, parser: Parser) -> list[Attribute]:
        return [cls.LABEL.new(cls.LABEL.parse_plain(parser))] if cls.LABEL is not None else []

    @classmethod
    def _parse_operands(cls, parser: Parser, keyword: str) -> tuple[list[Attribute], list[SSAValue]]:
        labels: list[Attribute] = []
        values: list[SSAValue] = []

        def port() -> None:
            labels.extend(cls._parse_label(parser))
            if cls.LABEL is not None:
                parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(operand, parser.parse_type()))

        if parser.parse_optional_keyword(keyword):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, port)
        return labels, values

    @classmethod
    def _parse_results(cls, parser: Parser) -> tuple[list[Attribute], list[Attribute]]:
        labels: list[Attribute] = []
        types: list[Attribute] = []

        def port() -> None:
            labels.extend(cls._parse_label(parser))
            if cls.LABEL is not None:
                parser.parse_punctuation(":")
            types.append(parser.parse_type())

        if parser.parse_optional_punctuation("->"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, port)
        return labels, types
