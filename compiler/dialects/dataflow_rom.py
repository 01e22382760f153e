"""`dataflow.rom`: what a kernel has without HBM."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_dma import verify_streamed
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.process import ProcessOp
from compiler.graph.itensor import ITensor


@irdl_op_definition
class RomOp(ProcessOp):
    """Holds a tensor on the chip, where it is from configuration on, and pushes its tokens; loops of the stream that
    re-read are read again.

    ```
    %w = dataflow.rom @load_w "w" ins(%w_given : tensor<768x16xi8>) -> (!itensor.itensor<4x16xi8, ...>)
    ```
    """

    name = "dataflow.rom"

    value = prop_def(StringAttr)

    @property
    def streamed(self) -> ITensor:
        return itensor_of(self.written[0])

    def print_header(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.value.data)

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        return {"value": StringAttr(parser.parse_str_literal())}

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.written) != 1:
            raise VerifyException(f"rom @{self.process_name} holds one tensor and writes one stream")
        verify_streamed(self.process_name, self.inputs[0].type, self.streamed)
