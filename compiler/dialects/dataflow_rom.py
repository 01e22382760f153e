"""`dataflow.rom`: what a kernel has without HBM."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_attributes import PackingAttr
from compiler.dialects.dataflow_dma import verify_streamed
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.process import ProcessOp
from compiler.graph.itensor import ITensor


@irdl_op_definition
class RomOp(ProcessOp):
    """Holds a tensor on the chip, where it is from configuration on, and pushes its tokens; loops of the stream that
    re-read are read again. What is packed is there from the first launch on, which loads it from HBM.

    ```
    %w = dataflow.rom @load_w "w" ins(%w_given : tensor<768x16xi8>) -> (!itensor.itensor<4x16xi8, ...>)
    %u = dataflow.rom @load_u "u" packing<channels: 1, tokens_per_word: 1, words_per_token: 2>
           ins(%u_hbm : tensor<768x3072xi8>) -> (!itensor.itensor<4x32xi8, ...>)
    ```
    """

    name = "dataflow.rom"

    value = prop_def(StringAttr)
    packing = opt_prop_def(PackingAttr)

    @property
    def streamed(self) -> ITensor:
        return itensor_of(self.written[0])

    def print_header(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.value.data)
        if self.packing is not None:
            printer.print_string(" packing")
            self.packing.print_parameter(printer)

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {"value": StringAttr(parser.parse_str_literal())}
        if parser.parse_optional_keyword("packing"):
            found["packing"] = PackingAttr(PackingAttr.parse_parameter(parser))
        return found

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.written) != 1:
            raise VerifyException(f"rom @{self.process_name} holds one tensor and writes one stream")
        if self.packing is not None and self.packing.data.channels != 1:
            raise VerifyException(f"rom @{self.process_name} is loaded through one port, with all others")
        verify_streamed(self.process_name, self.inputs[0].type, self.streamed)
