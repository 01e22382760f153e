"""Where a loop of a task is, as a number that its body computes with."""

from xdsl.dialects.builtin import I32, IntAttr, i32
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from compiler.graph.linalg_graph import INDEX


@irdl_op_definition
class IndexOp(IRDLOperation):
    """Where loop `loop` of the task is at the point that is computed, from 0.

    ```
    %at = dataflow.index d1 : i32
    ```
    """

    name = INDEX

    loop = prop_def(IntAttr)
    result = result_def(I32)

    traits = traits_def(Pure())

    def __init__(self, loop: int) -> None:
        super().__init__(properties={"loop": IntAttr(loop)}, result_types=[i32])

    @classmethod
    def parse(cls, parser: Parser) -> "IndexOp":
        name = parser.parse_identifier("a loop")
        if not name.startswith("d") or not name[1:].isdigit():
            parser.raise_error(f"{name} is no loop; they are called d0, d1 and so on")
        parser.parse_punctuation(":")
        if parser.parse_type() != i32:
            parser.raise_error("an index is an i32")
        return cls(int(name[1:]))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" d{self.loop.data} : i32")
