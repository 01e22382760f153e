"""`dataflow.kernel`: processes that run at once, with HBM at the boundary; and the `dataflow.yield` that ends it."""

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint, TensorType
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.streamed import data_shape, element_name

VALUE_ATTRIBUTE = "dataflow.value"  # of the arguments of a design's function
OUTPUT_ATTRIBUTE = "dataflow.output"  # of its results
ENDS_WITH_YIELD = ("dataflow.kernel", "dataflow.task", "dataflow.expanded_task")


def _same_data(outer: Attribute, inner: Attribute) -> bool:
    return data_shape(outer) == data_shape(inner) and element_name(outer) == element_name(inner)


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends a kernel with what leaves it, or the body of a task with the result of one point.

    ```
    dataflow.yield %sum : f32
    ```
    """

    name = "dataflow.yield"

    traits = traits_def(IsTerminator())

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in ENDS_WITH_YIELD:
            raise VerifyException(f"dataflow.yield ends one of {', '.join(ENDS_WITH_YIELD)}, not {parent.name}")


@irdl_op_definition
class KernelOp(IRDLOperation):
    """Processes that run at once. Tensors at its boundary are in HBM; block arguments say how each is streamed.

    ```
    %y = dataflow.kernel @kernel0 (%a : !itensor.itensor<4xf32, ...> = %x : tensor<64xf32>) {
      ...
      dataflow.yield %b : !itensor.itensor<4xf32, ...>
    } : tensor<64xf32>
    ```

    is `load %x into a FIFO; run the processes; store what comes out as %y`. With `dataflow.load` and `dataflow.store`
    inside, block arguments and what is yielded are the tensors themselves.
    """

    name = "dataflow.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolTable())

    def __init__(self, name: str, inputs: Sequence[SSAValue], block: Block, results: Sequence[Attribute]):
        super().__init__(
            operands=[inputs],
            result_types=[results],
            properties={"sym_name": StringAttr(name)},
            regions=[Region(block)],
        )

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def yielded(self) -> YieldOp:
        last = self.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"kernel @{self.sym_name.data} must end with dataflow.yield")
        return last

    def verify_(self) -> None:
        where = f"kernel @{self.sym_name.data}"
        if len(self.inputs) != len(self.block.args) or len(self.outputs) != len(self.yielded.arguments):
            raise VerifyException(f"{where}: operands and block arguments, or results and yields, differ in number")
        inner = (*self.block.args, *self.yielded.arguments)
        for outer, value in zip((*self.inputs, *self.outputs), inner, strict=True):
            if not _same_data(outer.type, value.type):
                raise VerifyException(f"{where}: {value.type} inside does not stream {outer.type} outside")

    def print(self, printer: Printer) -> None:
        def port(index: int) -> None:
            printer.print_block_argument(self.block.args[index])
            printer.print_string(" = ")
            printer.print_ssa_value(self.inputs[index])
            printer.print_string(" : ")
            printer.print_attribute(self.inputs[index].type)

        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        with printer.in_parens(), printer.indented(2):
            if self.inputs:
                printer.print_string("\n")
            printer.print_list(range(len(self.inputs)), port, ",\n")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        if self.outputs:
            printer.print_string(" : ")
            printer.print_list(self.outputs.types, printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> "KernelOp":
        def port() -> tuple[Parser.Argument, SSAValue]:
            argument = parser.parse_argument()
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            return argument, parser.resolve_operand(operand, parser.parse_type())

        name = parser.parse_symbol_name()
        ports = parser.parse_comma_separated_list(parser.Delimiter.PAREN, port)
        region = parser.parse_region([argument for argument, _ in ports])
        results: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            results.extend(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        return cls.build(
            operands=[[operand for _, operand in ports]],
            result_types=[results],
            properties={"sym_name": name},
            regions=[region],
        )
