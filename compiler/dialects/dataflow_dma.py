"""`dataflow.load` and `dataflow.store`: where a kernel meets HBM."""

from typing_extensions import override
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_attributes import PackingAttr
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.process import ProcessOp
from compiler.dialects.streamed import data_shape, element_name
from compiler.graph.design import Packing
from compiler.graph.itensor import ITensor


class DmaOp(ProcessOp):
    """Common to load and store: the value that moves, and how its tokens are packed in HBM."""

    value = prop_def(StringAttr)
    packing = prop_def(PackingAttr)

    @property
    def streamed(self) -> ITensor:
        raise NotImplementedError

    def print_header(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.value.data)
        printer.print_string(" packing")
        self.packing.print_parameter(printer)

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        value = StringAttr(parser.parse_str_literal())
        parser.parse_keyword("packing")
        return {"value": value, "packing": PackingAttr(PackingAttr.parse_parameter(parser))}


def verify_streamed(process: str, tensor: Attribute, streamed: ITensor) -> None:
    """Raise VerifyException where what the process streams is not `tensor`."""
    if data_shape(tensor) != streamed.shape or element_name(tensor) != streamed.dtype:
        raise VerifyException(f"@{process} moves {tensor} but streams {streamed}")


def dma_properties(value: str, packing: Packing) -> dict[str, Attribute]:
    """Of the transfer of a value."""
    return {"value": StringAttr(value), "packing": PackingAttr(packing)}


@irdl_op_definition
class LoadOp(DmaOp):
    """Reads the words of a tensor from HBM and pushes its tokens; loops of the stream that re-read are read again.

    ```
    %w = dataflow.load @load_w "w" packing<channels: 2, tokens_per_word: 4, words_per_token: 1>
           ins(%w_hbm : tensor<768x3072xi4>) -> (!itensor.itensor<4x16xi4, ...>)
    ```

    Loads that come `through` one process have its ports in turn.
    """

    name = "dataflow.load"
    through = opt_prop_def(StringAttr)

    @property
    def shared(self) -> str:
        """The process through which it comes with others; empty where that is itself."""
        return "" if self.through is None else self.through.data

    @override
    def print_header(self, printer: Printer) -> None:
        super().print_header(printer)
        if self.through is not None:
            printer.print_string(" through ")
            printer.print_symbol_name(self.shared)

    @override
    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        found = super().parse_header(parser)
        return found | ({"through": parser.parse_symbol_name()} if parser.parse_optional_keyword("through") else {})

    @property
    def streamed(self) -> ITensor:
        return itensor_of(self.written[0])

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.written) != 1:
            raise VerifyException(f"load @{self.process_name} reads one tensor and writes one stream")
        verify_streamed(self.process_name, self.inputs[0].type, self.streamed)


@irdl_op_definition
class StoreOp(DmaOp):
    """Packs the tokens of a stream into words and writes them to HBM; the result is the tensor that is then there.

    ```
    %y_hbm = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 16, words_per_token: 1>
               ins(%y : !itensor.itensor<1x1xf32, ...>) -> (tensor<64x768xf32>)
    ```
    """

    name = "dataflow.store"

    @property
    def streamed(self) -> ITensor:
        return itensor_of(self.inputs[0])

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.outputs) != 1:
            raise VerifyException(f"store @{self.process_name} reads one stream and makes one tensor")
        verify_streamed(self.process_name, self.outputs[0].type, self.streamed)
