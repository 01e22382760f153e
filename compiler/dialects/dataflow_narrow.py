"""A number of a task's body in fewer bits than its type has."""

from xdsl.dialects.builtin import I32, IntAttr, i32
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from compiler.graph.linalg_graph import NARROW


@irdl_op_definition
class NarrowOp(IRDLOperation):
    """So many of the lowest bits of a number, with the sign that they have: the number itself, where that fits. It says
    how wide a multiplier has to be.

    ```
    %n = dataflow.narrow %sum to 27 : i32
    ```
    """

    name = NARROW

    value = operand_def(I32)
    bits = prop_def(IntAttr)
    result = result_def(I32)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> "NarrowOp":
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        bits = IntAttr(parser.parse_integer(allow_boolean=False))
        parser.parse_punctuation(":")
        if parser.parse_type() != i32:
            parser.raise_error("what is narrowed is an i32")
        value = parser.resolve_operand(operand, i32)
        return cls.build(operands=[value], result_types=[i32], properties={"bits": bits})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" to {self.bits.data} : i32")

    def verify_(self) -> None:
        if not 1 < self.bits.data < 32:
            raise VerifyException(f"an i32 is narrowed to 2 to 31 bits, not to {self.bits.data}")
