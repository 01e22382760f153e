"""Scalar bodies as IR: `ScalarOp`s of a `Body` and operations of the arith and math dialects, by one table each way."""

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from compiler.dialects.dataflow_index import IndexOp
from compiler.dialects.dataflow_narrow import NarrowOp
from compiler.dialects.element_types import ELEMENT_TYPES, dtype_name, literal, literal_value
from compiler.errors import UnsupportedError
from compiler.graph.linalg_graph import INDEX, NARROW, Body, ScalarOp

SCALAR_OPS: dict[str, type[IRDLOperation]] = {
    op.name: op
    for op in (
        arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, arith.MaximumfOp, arith.MinimumfOp,
        arith.MaxnumfOp, arith.MinnumfOp, arith.CmpfOp, arith.CmpiOp, arith.SelectOp, arith.AddiOp, arith.SubiOp,
        arith.MuliOp, arith.MaxSIOp, arith.MinSIOp, arith.ExtSIOp, arith.TruncIOp, arith.ExtFOp, arith.TruncFOp,
        arith.SIToFPOp, arith.FPToSIOp, arith.ShLIOp, arith.ShRSIOp, arith.AndIOp, arith.OrIOp, arith.BitcastOp,
        arith.ConstantOp, math.ExpOp, math.LogOp, math.TanhOp, math.ErfOp, math.SqrtOp,
        math.RsqrtOp, math.RoundEvenOp, math.AbsFOp, math.FloorOp, math.SinOp, math.CosOp, IndexOp, NarrowOp,
    )
}  # fmt: skip
PREDICATES = {
    arith.CmpfOp.name: tuple(arith.CMPF_COMPARISON_OPERATIONS),
    arith.CmpiOp.name: tuple(arith.CMPI_COMPARISON_OPERATIONS),
}


def _build(scalar: ScalarOp, operands: Sequence[SSAValue]) -> Operation:
    if scalar.name not in SCALAR_OPS:
        raise UnsupportedError(f"a body uses {scalar.name}, which has no operation in SCALAR_OPS; add it there")
    properties: dict[str, Attribute] = {}
    if scalar.name == INDEX:
        properties["loop"] = IntAttr(int(scalar.const or 0))
    elif scalar.name == NARROW:
        properties["bits"] = IntAttr(int(scalar.const or 0))
    elif scalar.const is not None:
        properties["value"] = literal(scalar.const, scalar.dtype)
    if scalar.predicate is not None:
        properties["predicate"] = IntegerAttr(PREDICATES[scalar.name].index(scalar.predicate), 64)
    return SCALAR_OPS[scalar.name].build(
        operands=list(operands), result_types=[ELEMENT_TYPES[scalar.dtype]], properties=properties
    )


def body_region(body: Body, terminator: type[IRDLOperation]) -> Region:
    """The body as a block whose arguments are one element of each input; `terminator` yields the result."""
    block = Block(arg_types=[ELEMENT_TYPES[dtype] for dtype in body.arg_dtypes])
    values: list[SSAValue] = list(block.args)
    for scalar in body.ops:
        op = _build(scalar, [values[a] for a in scalar.args])
        block.add_op(op)
        values.append(op.results[0])
    block.add_op(terminator.build(operands=[[values[body.result]]]))
    return Region(block)


def read_scalar(op: Operation, args: tuple[int, ...]) -> ScalarOp:
    """One operation of a body, as a value; `args` number its operands."""
    if op.name not in SCALAR_OPS:
        raise VerifyException(f"{op.name} in the body of a task; a body holds operations of SCALAR_OPS only")
    if isinstance(op, IndexOp):
        return ScalarOp(INDEX, args, dtype_name(op.result.type), const=op.loop.data)
    if isinstance(op, NarrowOp):
        return ScalarOp(NARROW, args, dtype_name(op.result.type), const=op.bits.data)
    value, predicate = op.properties.get("value"), op.properties.get("predicate")
    return ScalarOp(
        name=op.name,
        args=args,
        dtype=dtype_name(op.results[0].type),
        const=literal_value(value) if value is not None else None,
        predicate=PREDICATES[op.name][int(literal_value(predicate))] if predicate is not None else None,
    )


def region_body(region: Region) -> Body:
    """The inverse of `body_region`."""
    block = region.block
    numbers: dict[SSAValue, int] = {arg: i for i, arg in enumerate(block.args)}
    terminator = block.last_op
    if terminator is None or len(terminator.operands) != 1:
        raise VerifyException("the body of a task yields one result")
    ops: list[ScalarOp] = []
    for op in list(block.ops)[:-1]:
        ops.append(read_scalar(op, _numbers_of(op, numbers)))
        numbers[op.results[0]] = len(numbers)
    (result,) = _numbers_of(terminator, numbers)
    return Body(tuple(dtype_name(arg.type) for arg in block.args), tuple(ops), result)


def _numbers_of(op: Operation, numbers: Mapping[SSAValue, int]) -> tuple[int, ...]:
    if any(operand not in numbers for operand in op.operands):
        raise VerifyException(f"{op.name} in the body of a task reads what is not made before it")
    return tuple(numbers[operand] for operand in op.operands)
