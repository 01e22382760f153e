"""`dataflow.expanded_task`: a task spelled out as loops over tokens (paper, "Structure operations")."""

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
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
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_kernel import YieldOp
from compiler.dialects.itensor_type import ITensorType


@irdl_op_definition
class ExpandedTaskOp(IRDLOperation):
    """Any operations that run as one process: transparent (it sees the values around it), and may hold others.

    On itensors it is destination-carried: what it writes begins as an init and is yielded. On streams it has no
    results, because it pushes into FIFOs.

    ```
    %e = itensor.instance : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
    %h = dataflow.expanded_task @double inits(%d = %e : !itensor.itensor<...>) {
      %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %d) -> (!itensor.itensor<...>) {
        %v = itensor.read %x : !itensor.itensor<...> -> vector<4xf32>
        ...
        %b = itensor.write %w into %a : vector<4xf32> into !itensor.itensor<...>
        scf.yield %b : !itensor.itensor<...>
      }
      dataflow.yield %r : !itensor.itensor<...>
    }
    ```
    """

    name = "dataflow.expanded_task"

    sym_name = prop_def(SymbolNameConstraint())
    inits = var_operand_def(ITensorType)
    outputs = var_result_def(ITensorType)
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, inits: Sequence[SSAValue], block: Block):
        super().__init__(
            operands=[inits],
            result_types=[[value.type for value in inits]],
            properties={"sym_name": StringAttr(name)},
            regions=[Region(block)],
        )

    @property
    def task_name(self) -> str:
        return self.sym_name.data

    @property
    def yielded(self) -> YieldOp:
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"task @{self.task_name} must end with dataflow.yield")
        return last

    def verify_(self) -> None:
        types = [tuple(v.type for v in values) for values in (self.inits, self.body.block.args, self.yielded.arguments)]
        if any(found != tuple(self.outputs.types) for found in types):
            raise VerifyException(
                f"task @{self.task_name}: inits, their block arguments, what is yielded and the results must have the "
                "same types: every destination is written and yielded"
            )

    def print(self, printer: Printer) -> None:
        def init(pair: tuple[BlockArgument, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        printer.print_string(" ")
        printer.print_symbol_name(self.task_name)
        if self.inits:
            printer.print_string(" inits")
            with printer.in_parens():
                printer.print_list(zip(self.body.block.args, self.inits, strict=True), init)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> "ExpandedTaskOp":
        def init() -> tuple[Parser.Argument, SSAValue]:
            name = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
            return name.resolve(type_), parser.resolve_operand(operand, type_)

        name = parser.parse_symbol_name()
        pairs: list[tuple[Parser.Argument, SSAValue]] = []
        if parser.parse_optional_keyword("inits"):
            pairs.extend(parser.parse_comma_separated_list(parser.Delimiter.PAREN, init))
        types: list[Attribute] = [operand.type for _, operand in pairs]
        region = parser.parse_region([argument for argument, _ in pairs])
        return cls.build(
            operands=[[operand for _, operand in pairs]],
            result_types=[types],
            properties={"sym_name": name},
            regions=[region],
        )
