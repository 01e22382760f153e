"""`dataflow.task`: a structured operation as one pipelined loop nest."""

from collections.abc import Sequence
from typing import Any, ClassVar, get_args

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_attributes import MapAttr, NestAttr, Space, SpaceAttr, Valid, ValidAttr, WindowsAttr
from compiler.dialects.dataflow_kernel import YieldOp
from compiler.dialects.element_types import literal, literal_value
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType, StreamType
from compiler.dialects.plain_data import PlainData, parse_dim
from compiler.dialects.process import ProcessOp
from compiler.dialects.scalar_ops import body_region, region_body
from compiler.dialects.streamed import data_shape, element_name
from compiler.errors import VerificationError
from compiler.graph.linalg_graph import INDEX, OWN_EXTENT, Combiner, LinalgOp, Operand, OpKind, Reduction, line_walk
from compiler.graph.nest import Nest
from compiler.options import Multiplier

COMBINERS: tuple[Combiner, ...] = get_args(Combiner)
KINDS: tuple[OpKind, ...] = get_args(OpKind)
ROUTING_KINDS = ("chunk", "concat", "window")
MULTIPLIERS: tuple[Multiplier, ...] = get_args(Multiplier)


@irdl_op_definition
class TaskOp(ProcessOp):
    """One structured operation: a perfect loop nest with a scalar body, or one that moves tokens.

    ```
    %h = dataflow.task @fc1
        space<parallel 64 : 0, reduction 768 : 1>
        nest<[d0 16 x 4, d1 768 x 1], unroll: [4, 1]>
        reduce add from 0.000000e+00 : f32
        ins("x"[d1] = %x : !itensor.itensor<1xf32, iter_space: [16,768]*[1,1], iter_map: (d0,d1)->(d1)>,
            "w"[d0, d1] = %w : !itensor.itensor<4x1xf32, iter_space: [16,768]*[4,1], iter_map: (d0,d1)->(d0,d1)>)
        -> ("h"[d0] : !itensor.itensor<4xf32, iter_space: [16]*[4], iter_map: (d0)->(d0)>) {
      ^bb0(%a: f32, %b: f32):
        %p = arith.mulf %a, %b : f32
        dataflow.yield %p : f32
    }
    // for i in 0, 4, ..., 60:  acc[0:4] = 0
    //   for j in 0, 1, ..., 767:  pop x; pop w; acc[k] += x * w[k] for k in 0..3
    //   push acc
    ```

    `chunk d2`: output i is the input where loop d2 is i. `concat d2`: the inputs one after the other along d2.
    `window d2 <[d4], stride: 2, dilation: 1, padding: 1, fill: "0.0">`: window d2 of the input, and tap d4 of it.
    """

    name = "dataflow.task"
    LABEL: ClassVar[type[PlainData[Any]] | None] = MapAttr
    SEPARATOR: ClassVar[str] = "\n"

    kind = prop_def(StringAttr)
    space = prop_def(SpaceAttr)
    input_maps = prop_def(ArrayAttr[MapAttr])
    output_maps = prop_def(ArrayAttr[MapAttr])
    axis = opt_prop_def(IntAttr)
    windows = opt_prop_def(WindowsAttr)
    valid = opt_prop_def(ValidAttr)
    nest = opt_prop_def(NestAttr)
    combiner = opt_prop_def(StringAttr)
    init = opt_prop_def(Attribute)
    multiplier = opt_prop_def(StringAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove())

    @staticmethod
    def of(
        op: LinalgOp,
        nest: Nest | None,
        multiplier: Multiplier | None,
        inputs: Sequence[SSAValue],
        streams: Sequence[SSAValue],
        results: Sequence[Attribute],
    ) -> "TaskOp":
        """The task of `op`, which writes to `streams` or makes `results`. Every field of `op` is kept, see `linalg`."""
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(op.name),
            "kind": StringAttr(op.kind),
            "space": SpaceAttr(Space(op.loops, op.iterators, op.groups)),
            "input_maps": ArrayAttr(MapAttr(operand) for operand in op.inputs),
            "output_maps": ArrayAttr(MapAttr(operand) for operand in op.outputs),
            "axis": IntAttr(op.axis) if op.axis is not None else None,
            "windows": WindowsAttr(op.windows) if op.windows is not None else None,
            "valid": ValidAttr(Valid(op.valid, op.masked)) if op.valid else None,
            "nest": NestAttr(nest) if nest is not None else None,
            "multiplier": StringAttr(multiplier) if multiplier is not None else None,
        }
        if op.reduction is not None and op.body is not None:
            properties["combiner"] = StringAttr(op.reduction.combiner)
            properties["init"] = literal(op.reduction.init, op.body.dtype_of(op.body.result))
        region = body_region(op.body, YieldOp) if op.body is not None else Region()
        return TaskOp.build(operands=[inputs, streams], result_types=[results], properties=properties, regions=[region])

    @property
    def linalg(self) -> LinalgOp:
        """The operation that this task computes; the inverse of `of`."""
        space = self.space.data
        return LinalgOp(
            name=self.process_name,
            kind=self.op_kind,
            loops=space.loops,
            iterators=space.iterators,
            groups=space.groups,
            inputs=self.reads,
            outputs=self.writes,
            body=region_body(self.body) if self.body.blocks else None,
            reduction=self._reduction,
            axis=self.axis_loop,
            valid=self.valid.data.extents if self.valid is not None else (),
            masked=self.valid.data.masked if self.valid is not None else (),
            windows=self.windows.data if self.windows is not None else None,
        )

    @property
    def axis_loop(self) -> int | None:
        """The loop that a chunk or concat splits, or that over windows."""
        return self.axis.data if self.axis is not None else None

    @property
    def op_kind(self) -> OpKind:
        return KINDS[KINDS.index(self.kind.data)]

    @property
    def _reduction(self) -> Reduction | None:
        if self.combiner is None or self.init is None:
            return None
        return Reduction(COMBINERS[COMBINERS.index(self.combiner.data)], literal_value(self.init))

    @property
    def reads(self) -> tuple[Operand, ...]:
        return tuple(map_.data for map_ in self.input_maps)

    @property
    def writes(self) -> tuple[Operand, ...]:
        return tuple(map_.data for map_ in self.output_maps)

    @property
    def tiled(self) -> Nest:
        """The nest. Raises VerifyException where the task is not tiled yet."""
        if self.nest is None:
            raise VerifyException(f"task @{self.process_name} has no nest; run tile-tasks first")
        return self.nest.data

    def print_header(self, printer: Printer) -> None:
        if self.axis is not None:
            printer.print_string(f" {self.kind.data} d{self.axis.data}")
        if self.windows is not None:
            printer.print_string(" ")
            self.windows.print_parameter(printer)
        if self.multiplier is not None:
            printer.print_string(f" multiplier {self.multiplier.data}")
        printer.print_string("\nspace")
        self.space.print_parameter(printer)
        if self.valid is not None:
            printer.print_string("\nvalid")
            self.valid.print_parameter(printer)
        if self.nest is not None:
            printer.print_string("\nnest")
            self.nest.print_parameter(printer)
        if self.combiner is not None and self.init is not None:
            printer.print_string(f"\nreduce {self.combiner.data} from ")
            printer.print_attribute(self.init)

    @classmethod
    def parse_header(cls, parser: Parser) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {"kind": StringAttr("generic")}
        if (kind := parser.parse_optional_keyword_in(ROUTING_KINDS)) is not None:
            properties |= {"kind": StringAttr(kind), "axis": IntAttr(parse_dim(parser))}
        if kind == "window":
            properties["windows"] = WindowsAttr(WindowsAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("multiplier"):
            properties["multiplier"] = StringAttr(parser.parse_keyword_in(MULTIPLIERS))
        parser.parse_keyword("space")
        properties["space"] = SpaceAttr(SpaceAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("valid"):
            properties["valid"] = ValidAttr(ValidAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("nest"):
            properties["nest"] = NestAttr(NestAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("reduce"):
            properties["combiner"] = StringAttr(parser.parse_keyword_in(COMBINERS))
            parser.parse_keyword("from")
            properties["init"] = parser.parse_attribute()
        return properties

    def print_tail(self, printer: Printer) -> None:
        if self.body.blocks:
            printer.print_string(" ")
            printer.print_region(self.body)

    @classmethod
    def parse_tail(cls, parser: Parser) -> list[Region]:
        return [parser.parse_optional_region() or Region()]

    def verify_(self) -> None:
        self._verify_words()
        if len(self.inputs) != len(self.input_maps) or len(self.written) != len(self.output_maps):
            raise VerifyException(f"task @{self.process_name}: every port needs a map")
        if self.streams and self.outputs:
            raise VerifyException(f"task @{self.process_name}: a task has results or writes streams, not both")
        self._verify_loops()
        self._verify_body()
        self._verify_valid()
        self._verify_windows()
        for value, operand in zip(self.inputs, self.reads, strict=True):
            self._verify_port(value, operand, written=False)
        for value, operand in zip(self.written, self.writes, strict=True):
            self._verify_port(value, operand, written=True)

    def _verify_words(self) -> None:
        for word, known in ((self.kind, KINDS), (self.combiner, COMBINERS), (self.multiplier, MULTIPLIERS)):
            if word is not None and word.data not in known:
                raise VerifyException(f"task @{self.process_name}: {word} is not one of {', '.join(known)}")

    def _verify_loops(self) -> None:
        where, space = f"task @{self.process_name}", self.space.data
        rank = len(space.loops)
        if any(dim >= rank for operand in (*self.reads, *self.writes) for dim in operand.dims):
            raise VerifyException(f"{where}: a map names a loop beyond the {rank} of the space")
        if self.nest is not None and len(self.nest.data.unroll) != rank:
            raise VerifyException(f"{where}: the nest unrolls {len(self.nest.data.unroll)} dimensions, not {rank}")
        if (self.op_kind == "generic") == (self.axis is not None):
            raise VerifyException(f"{where}: chunk, concat and window need their loop, others have none")
        if self.axis is not None and self.axis.data >= rank:
            raise VerifyException(f"{where}: d{self.axis.data} is beyond the {rank} loops of the space")
        if (self.op_kind == "chunk" and len(self.reads) != 1) or (self.op_kind == "concat" and len(self.writes) != 1):
            raise VerifyException(f"{where}: a chunk splits one value, a concat makes one")
        if self.axis is not None and self.op_kind == "chunk" and space.loops[self.axis.data] != len(self.written):
            raise VerifyException(f"{where}: loop d{self.axis.data} needs one iteration for each output")
        for dim, (extent, iterator) in enumerate(zip(space.loops, space.iterators, strict=True)):
            self._verify_loop(dim, extent)
            if self.op_kind == "generic" and (iterator == "parallel") != (dim in self.writes[0].dims):
                raise VerifyException(f"{where}: the output must be indexed by exactly the parallel loops")

    def _verify_loop(self, dim: int, extent: int) -> None:
        """The loops in time and the points in space cover a loop of the space exactly."""
        if self.nest is None:
            return
        covered = self.nest.data.unroll[dim]
        for loop in reversed(self.nest.data.loops):
            if loop.dim == dim and loop.step != covered:
                raise VerifyException(
                    f"task @{self.process_name}: a loop of the nest over d{dim} advances by {loop.step} "
                    f"where {covered} points are covered"
                )
            covered *= loop.trip if loop.dim == dim else 1
        if covered != extent:
            raise VerifyException(f"task @{self.process_name}: the nest covers {covered} of {extent} points of d{dim}")

    def _verify_body(self) -> None:
        where = f"task @{self.process_name}"
        if (self.op_kind == "generic") != bool(self.body.blocks):
            raise VerifyException(f"{where}: generic tasks have a body, chunk, concat and window have none")
        if not self.body.blocks:
            return
        if len(self.output_maps) != 1 or len(self.body.block.args) != len(self.inputs):
            raise VerifyException(f"{where}: a body has an argument for each input and makes one output")
        body = region_body(self.body)
        loops = len(self.space.data.loops)
        for scalar in body.ops:
            if scalar.name == INDEX and not 0 <= int(scalar.const or 0) < loops:
                raise VerifyException(f"{where}: the body asks for loop d{scalar.const}; there are {loops}")
        for value, dtype in zip(self.inputs, body.arg_dtypes, strict=True):
            if _element(value) != dtype:
                raise VerifyException(f"{where}: the body reads {dtype} from a port of {_element(value)}")
        if _element(self.written[0]) != body.dtype_of(body.result):
            raise VerifyException(f"{where}: the body yields {body.dtype_of(body.result)} to another port type")
        if ("reduction" in self.space.data.iterators) != (self._reduction is not None):
            raise VerifyException(f"{where}: reduction loops need `reduce`, and nothing else does")

    def _verify_valid(self) -> None:
        """No padded point reaches a result: masked, or a product of integers, of which the memory makes one zero."""
        if self.valid is None:
            return
        where, op = f"task @{self.process_name}", self.linalg
        if len(op.valid) != len(op.loops) or not all(
            1 <= n <= loop for n, loop in zip(op.valid, op.loops, strict=True)
        ):
            raise VerifyException(f"{where}: valid {list(op.valid)} must lie within the loops {list(op.loops)}")
        padded = {d for d, it in enumerate(op.iterators) if it == "reduction" and op.valid[d] < op.loops[d]}
        if not set(op.masked) <= padded:
            raise VerifyException(f"{where}: masked {list(op.masked)} must be padded reduction loops {sorted(padded)}")
        exact = op.body is not None and op.body.is_product and op.body.dtype_of(op.body.result) != "f32"
        if padded - set(op.masked) and not exact:
            raise VerifyException(f"{where}: padded points reach the reduction; mask loops {sorted(padded)}")

    def _verify_windows(self) -> None:
        """Their lines pass as `LineWalk` says, and nothing but the last loop of the nest is over taps."""
        where = f"task @{self.process_name}"
        if (self.op_kind == "window") != (self.windows is not None):
            raise VerifyException(f"{where}: a window, and nothing else, says where its taps lie")
        if self.windows is None:
            return
        if len(self.inputs) != 1:
            raise VerifyException(f"{where}: windows are of one input")
        try:
            line_walk(self.linalg, _data_shape(self.inputs[0])).verify(where)
        except VerificationError as error:
            raise VerifyException(str(error)) from error
        if self.nest is None:
            return
        walked = [loop.dim for loop in self.nest.data.loops]
        if walked != sorted(set(walked)) or self.nest.data.unroll[self.axis_loop or 0] != 1:
            raise VerifyException(
                f"{where}: windows are walked loop by loop as the space has them, one after the other"
            )

    def _verify_port(self, value: SSAValue, operand: Operand, *, written: bool) -> None:
        where = f"task @{self.process_name}, port {operand.value}"
        if not isinstance(value.type, ITensorType | StreamType):
            if data_shape(value.type) != (shape := self._shape(operand, data_shape(value.type))):
                raise VerifyException(f"{where}: {value.type} where the loops span {list(shape)}")
            return
        streamed = itensor_of(value)
        nest, dims = self.tiled, operand.dims
        if self.op_kind in OWN_EXTENT and not written:
            wanted = nest.part_itensor(dims, streamed.shape, self.axis_loop, streamed.dtype)
        else:
            walk = nest.write_itensor if written else nest.read_itensor
            wanted = walk(dims, streamed.dtype)
        same = streamed == wanted if isinstance(value.type, ITensorType) else streamed.same_stream(wanted)
        if not same:
            raise VerifyException(
                f"{where}: streams as {streamed} where the nest walks {wanted}; "
                "insert itensor.converter, or itensor.cast where the streams are equal"
            )

    def _shape(self, operand: Operand, actual: tuple[int, ...]) -> tuple[int, ...]:
        """Extents that the loops give a tensor; along the axis of a concat or windows each input brings its own."""
        axis = self.axis_loop if operand in self.reads and self.op_kind in OWN_EXTENT else None
        if len(actual) != len(operand.dims):
            return tuple(self.space.data.loops[dim] for dim in operand.dims)
        return tuple(
            own if dim == axis else self.space.data.loops[dim] for own, dim in zip(actual, operand.dims, strict=True)
        )


def _data_shape(value: SSAValue) -> tuple[int, ...]:
    """Shape of the tensor that a port reads, streamed or not."""
    streamed = isinstance(value.type, ITensorType | StreamType)
    return itensor_of(value).shape if streamed else data_shape(value.type)


def _element(value: SSAValue) -> str:
    if isinstance(value.type, StreamType):
        return itensor_of(value).dtype
    return element_name(value.type)
