"""Processes that pass tokens on without computing: converter, fork, chunk, concat, join."""

from itertools import pairwise

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp
from compiler.dialects.realisation_attribute import RealisationAttr
from compiler.errors import VerificationError
from compiler.graph.box import verify_realisation
from compiler.graph.converter import box_of
from compiler.graph.itensor import ITensor
from compiler.graph.rearrange import joined, part_of


@irdl_op_definition
class ConverterOp(ProcessOp):
    """Re-orders a stream through on-chip memory: how much of it and when it is filled and drained is its realisation.

    ```
    %c = itensor.converter @convert_x_to_fc1_in0
           ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]>
           ins(%b : !itensor.itensor<4x2xf32, ...>) -> (!itensor.itensor<4x2xf32, ...>)
    ```
    """

    name = "itensor.converter"

    realisation = prop_def(RealisationAttr)

    def print_header(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.realisation.print_plain(printer)

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        return {"realisation": RealisationAttr.new(RealisationAttr.parse_plain(parser))}

    @property
    def source(self) -> ITensor:
        return itensor_of(self.inputs[0])

    @property
    def target(self) -> ITensor:
        return itensor_of(self.written[0])

    def verify_(self) -> None:
        if len(self.inputs) != 1 or len(self.written) != 1:
            raise VerifyException(f"converter @{self.process_name} needs one input and one output")
        source, target = self.source, self.target
        if source.shape != target.shape or source.dtype != target.dtype:
            raise VerifyException(
                f"converter @{self.process_name}: {source} and {target} stream different tensors, "
                f"{list(source.shape)} {source.dtype} and {list(target.shape)} {target.dtype}"
            )
        if source.same_stream(target):
            raise VerifyException(f"converter @{self.process_name}: both streams are equal; use itensor.cast instead")
        try:
            verify_realisation(box_of(source, target), self.realisation.data)
        except VerificationError as error:
            raise VerifyException(f"converter @{self.process_name}: {error}") from error


@irdl_op_definition
class ForkOp(ProcessOp):
    """Copies every token to each of several streams; with none it drops them.

    ```
    %a, %b = itensor.fork @fork_x ins(%x : !itensor.itensor<...>) -> (!itensor.itensor<...>, !itensor.itensor<...>)
    ```
    """

    name = "itensor.fork"

    def verify_(self) -> None:
        if len(self.inputs) != 1:
            raise VerifyException(f"fork @{self.process_name} needs one input")
        itensors = [itensor_of(value) for value in (*self.inputs, *self.written)]
        if any(a != b for a, b in pairwise(itensors)):
            raise VerifyException(f"fork @{self.process_name}: a copy has another type than what is copied")


class _SplittingOp(ProcessOp):
    """Common to chunk, concat and join: the data dimension along which parts lie side by side."""

    dim = prop_def(IntAttr)

    def print_header(self, printer: Printer) -> None:
        printer.print_string(f" dim {self.dim.data}")

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("dim")
        return {"dim": IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))}

    def _verify_parts(self, whole: ITensor, parts: list[ITensor]) -> None:
        """Every part streams as it is cut out of the whole, and together they are the whole."""
        dim = self.dim.data
        if not parts or any(len(part.element) <= dim for part in parts):
            raise VerifyException(f"{self.name} @{self.process_name}: every part needs dimension {dim}")
        if sum(part.shape[dim] for part in parts) != whole.shape[dim]:
            raise VerifyException(f"{self.name} @{self.process_name}: the parts do not add up to {whole}")
        for part in parts:
            try:
                wanted = part_of(whole, dim, part.shape[dim])
            except VerificationError as error:
                raise VerifyException(f"{self.name} @{self.process_name}: {error}") from error
            if not part.same_stream(wanted):
                raise VerifyException(
                    f"{self.name} @{self.process_name}: a part streams as {part} where it is cut as {wanted}"
                )


@irdl_op_definition
class ChunkOp(_SplittingOp):
    """Routes the tokens of a tensor that is cut into equal parts along `dim` to one stream for each part.

    ```
    %q, %k = itensor.chunk @split dim 0 ins(%x : !itensor.itensor<1x4xf32, iter_space: [2,3]*[1,4], ...>)
               -> (!itensor.itensor<1x4xf32, iter_space: [1,3]*[1,4], ...>, ...)
    // for d0 in 0, 1:  for d1 in 0, 4, 8:  pop x; push it to output d0
    ```
    """

    name = "itensor.chunk"

    @staticmethod
    def of(name: str, dim: int, source: SSAValue, parts: int) -> "ChunkOp":
        whole = itensor_of(source)
        part = ITensorType(part_of(whole, dim, whole.shape[dim] // parts))
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name), "dim": IntAttr(dim)}
        return ChunkOp.build(operands=[[source], []], result_types=[[part] * parts], properties={**properties})

    def verify_(self) -> None:
        if len(self.inputs) != 1:
            raise VerifyException(f"chunk @{self.process_name} needs one input")
        parts = [itensor_of(value) for value in self.written]
        if any(a.shape != b.shape for a, b in pairwise(parts)):
            raise VerifyException(f"chunk @{self.process_name}: the parts differ in shape")
        self._verify_parts(itensor_of(self.inputs[0]), parts)


@irdl_op_definition
class ConcatOp(_SplittingOp):
    """Passes on the tokens of several tensors in the order of the one that they make along `dim`.

    ```
    %keys = itensor.concat @append dim 0 ins(%past : !itensor.itensor<1x4xf32, iter_space: [3,2]*[1,4], ...>, %k : ...)
              -> (!itensor.itensor<1x4xf32, iter_space: [4,2]*[1,4], ...>)
    // for d0 in 0, 1, 2, 3:  for d1 in 0, 4:  pop past while d0 < 3, else k; push it
    ```
    """

    name = "itensor.concat"

    def verify_(self) -> None:
        if len(self.written) != 1:
            raise VerifyException(f"concat @{self.process_name} makes one stream")
        self._verify_parts(itensor_of(self.written[0]), [itensor_of(value) for value in self.inputs])


@irdl_op_definition
class JoinOp(_SplittingOp):
    """Takes one token of each input in turn (round-robin); they lie side by side along `dim`.

    ```
    %y = itensor.join @zip dim 1
           ins(%a : !itensor.itensor<1x4xf32, iter_space: [8]*[1], iter_map: (d0)->(d0,0)>, %b : ...)
           -> (!itensor.itensor<1x4xf32, iter_space: [8,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>)
    // for d0 in 0, ..., 7:  push pop a; push pop b
    ```
    """

    name = "itensor.join"

    def verify_(self) -> None:
        if len(self.written) != 1 or not self.inputs:
            raise VerifyException(f"join @{self.process_name} reads at least one stream and makes one")
        parts = [itensor_of(value) for value in self.inputs]
        if any(a != b for a, b in pairwise(parts)):
            raise VerifyException(f"join @{self.process_name}: the inputs stream differently")
        try:
            wanted = joined(parts[0], self.dim.data, len(parts))
        except VerificationError as error:
            raise VerifyException(f"join @{self.process_name}: {error}") from error
        if not itensor_of(self.written[0]).same_stream(wanted):
            raise VerifyException(f"join @{self.process_name} makes {wanted}, not {itensor_of(self.written[0])}")
