"""`dataflow.die`: tasks of a design that lie on one die of the board."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class DieOp(IRDLOperation):
    """The processes that it names lie on one die, as the board calls it.

    ```
    dataflow.die @SLR1 holds [@fc1, @fork_hidden]
    ```

    Every process lies on some die, those that an engine is made of and that close a loop over layers too, or none does.
    Where a stream leaves a die, relays carry it over the border (`compiler.analysis.relays`).
    """

    name = "dataflow.die"

    die = prop_def(StringAttr)
    tasks = prop_def(ArrayAttr[StringAttr])

    def __init__(self, die: str, tasks: Sequence[str]) -> None:
        super().__init__(properties={"die": StringAttr(die), "tasks": ArrayAttr(map(StringAttr, tasks))})

    @property
    def held(self) -> tuple[str, ...]:
        return tuple(task.data for task in self.tasks)

    def verify_(self) -> None:
        if not self.held or len(set(self.held)) < len(self.held):
            raise VerifyException(f"die @{self.die.data} holds at least one process, each of them once")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.die.data)
        printer.print_string(" holds ")
        with printer.in_square_brackets():
            printer.print_list(self.held, printer.print_symbol_name)

    @classmethod
    def parse(cls, parser: Parser) -> "DieOp":
        die = parser.parse_symbol_name().data
        parser.parse_keyword("holds")
        held = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_symbol_name().data)
        return cls(die, held)
