"""Other texts for the same tokens: `itensor.cast` and `itensor.reassociate`. Neither is hardware."""

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.plain_data import parse_naturals
from compiler.errors import VerificationError
from compiler.graph.rearrange import Groups, collapsed


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
class ReassociateOp(IRDLOperation):
    """A stream of the expanded or collapsed tensor: the same tokens, their places counted in another shape.

    Groups are those of `tensor.expand_shape` and `tensor.collapse_shape`: neighbouring dimensions of the side with more
    of them that make one dimension of the other, row-major. In each group the products of element extents, tripcounts
    and steps agree.

    ```
    %b = itensor.reassociate %a [[0, 1]]
           : !itensor.itensor<1x4xf32, iter_space: [2,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
          to !itensor.itensor<4xf32, iter_space: [4]*[4], iter_map: (d0)->(d0)>
    // for d0 in 0, 1:  for d1 in 0, 4:  push a[d0, d1 : d1+4]
    // for d0 in 0, 4, 8, 12:            push b[d0 : d0+4]
    ```
    """

    name = "itensor.reassociate"

    source = operand_def(ITensorType)
    groups = prop_def(ArrayAttr[ArrayAttr[IntAttr]])
    result = result_def(ITensorType)

    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, groups: Groups, target: ITensorType):
        super().__init__(operands=[source], properties={"groups": _groups_attr(groups)}, result_types=[target])

    @property
    def reassociation(self) -> Groups:
        return tuple(tuple(dim.data for dim in group) for group in self.groups)

    @classmethod
    def parse(cls, parser: Parser) -> "ReassociateOp":
        source = parser.parse_unresolved_operand()
        groups = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_naturals(parser))
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(source, parser.parse_type())
        parser.parse_keyword("to")
        return cls.build(
            operands=[operand], properties={"groups": _groups_attr(tuple(groups))}, result_types=[parser.parse_type()]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" {[list(group) for group in self.reassociation]} : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, target = itensor_of(self.source), itensor_of(self.result)
        more, fewer = (source, target) if len(source.element) >= len(target.element) else (target, source)
        try:
            reshaped = collapsed(more, self.reassociation)
        except VerificationError as error:
            raise VerifyException(f"itensor.reassociate: {error}") from error
        if reshaped.shape != fewer.shape or not reshaped.same_stream(fewer):
            raise VerifyException(f"itensor.reassociate: {more} collapses to {reshaped}, not to {fewer}")


def _groups_attr(groups: Groups) -> ArrayAttr[ArrayAttr[IntAttr]]:
    return ArrayAttr(ArrayAttr(IntAttr(dim) for dim in group) for group in groups)
