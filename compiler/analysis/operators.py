"""Scalar operations as operator cores: which core, how many, how deep the pipeline gets."""

from functools import lru_cache

from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import INDEX, Body, LinalgOp, ScalarOp
from compiler.graph.nest import Nest
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

CORE_OF = {
    "arith.addf": "fadd",
    "arith.subf": "fsub",
    "arith.negf": "wire",
    "arith.mulf": "fmul",
    "arith.divf": "fdiv",
    "arith.maximumf": "fcmp",
    "arith.minimumf": "fcmp",
    "arith.maxnumf": "fcmp",
    "arith.minnumf": "fcmp",
    "arith.cmpf": "fcmp",
    "arith.cmpi": "iadd",
    "arith.select": "select",
    "arith.addi": "iadd",
    "arith.subi": "iadd",
    "arith.maxsi": "iadd",
    "arith.minsi": "iadd",
    "arith.shli": "wire",  # by a constant
    "arith.andi": "wire",  # with a constant
    "arith.ori": "wire",  # of halves that have no bit in common
    "arith.bitcast": "wire",
    INDEX: "iadd",
    "arith.extsi": "wire",
    "arith.trunci": "wire",
    "arith.extf": "wire",
    "arith.truncf": "wire",
    "arith.sitofp": "itof",
    "arith.fptosi": "ftoi",
    "arith.constant": "wire",
    "math.exp": "fexp",
    "math.log": "flog",
    "math.tanh": "ftanh",
    "math.erf": "ferf",
    "math.sqrt": "fsqrt",
    "math.rsqrt": "frsqrt",
    "math.roundeven": "fround",
    "math.absf": "wire",
    "math.floor": "fround",
    "math.sin": "ferf",
    "math.cos": "ferf",
}
WIDE = {"iadd": "iadd_64", "select": "select_64"}  # of 64 bits instead of 32
COMBINER_CORE = {"add": "fadd", "mul": "fmul", "max": "fcmp", "min": "fcmp"}

READ_WRITE_CYCLES = 2  # a FIFO read and a FIFO write are one pipeline stage each
MEMORY_UPDATE_CYCLES = 2  # reading and writing an accumulator that lives in memory rather than in a register
PACKED = "_dsp_packed"  # a core of two products
REGISTER_ACCUMULATORS = 1  # several are chosen by a loop index, which only a memory can do at full rate


def _width_before_extension(body: Body, value: int) -> int:
    """Bits of `value`, looking through a sign extension: an 8 x 4 product stays one after `extsi` to i32."""
    first = len(body.arg_dtypes)
    if value >= first and body.ops[value - first].name == "arith.extsi":
        return _width_before_extension(body, body.ops[value - first].args[0])
    return DTYPE_BITS[body.dtype_of(value)]


def _multiplier_core(body: Body, args: tuple[int, ...], multiplier: Multiplier) -> str:
    wide, narrow = sorted((_width_before_extension(body, a) for a in args), reverse=True)
    if wide > 8:
        return f"imul_32x32_{multiplier}"
    return f"imul_8x{4 if narrow <= 4 else 8}_{multiplier}"


@lru_cache(maxsize=4096)
def body_cores(body: Body, multiplier: Multiplier) -> tuple[str, ...]:
    """The operator core of each operation of `body`, in order. Unknown operations raise KeyError by name."""
    return tuple(_core(body, op, multiplier) for op in body.ops)


def _core(body: Body, op: ScalarOp, multiplier: Multiplier) -> str:
    if op.name == "arith.muli":
        return _multiplier_core(body, op.args, multiplier)
    core = CORE_OF[op.name]
    return WIDE.get(core, core) if any(body.dtype_of(a) == "i64" for a in op.args) else core


def pair_dim(op: LinalgOp, nest: Nest) -> int | None:
    """The parallel loop whose lanes 2i and 2i+1 share a factor of an int8 product, if there is one: two such products
    fit one DSP (`hls/mul2.h`).
    """
    if op.body is None or op.reduction is None or op.masked or not op.body.is_product:
        return None
    if not set(op.body.arg_dtypes) <= {"i8", "i4"}:
        return None
    for dim in reversed(op.outputs[0].dims):
        if nest.unroll[dim] % 2 == 0 and sum(dim in operand.dims for operand in op.inputs) == 1:
            return dim
    return None


def realised(op: LinalgOp, nest: Nest, multiplier: Multiplier) -> Multiplier:
    """What integer products of the operation are made of: only those whose lanes come in pairs can be packed."""
    return "dsp" if multiplier == "dsp_packed" and pair_dim(op, nest) is None else multiplier


def combiner_core(op: LinalgOp) -> str:
    """Core that combines two partial results of a reduction."""
    assert op.reduction is not None
    assert op.body is not None
    match op.body.dtype_of(op.body.result), op.reduction.combiner:
        case "f32", combiner:
            return COMBINER_CORE[combiner]
        case "i64", "max" | "min":
            return "imax_64"
        case "i64", _:
            return WIDE["iadd"]
        case _:
            return "iadd"


def reduction_lanes(op: LinalgOp, nest: Nest) -> int:
    """Points of the reduction dimensions side by side: an adder tree of that many leaves."""
    lanes = 1
    for unroll, iterator in zip(nest.unroll, op.iterators, strict=True):
        lanes *= unroll if iterator == "reduction" else 1
    return lanes


def count_operators(op: LinalgOp, nest: Nest, multiplier: Multiplier) -> tuple[tuple[str, int], ...]:
    """Operator cores side by side in space: the body once a lane, adder trees, accumulators, masks of padded loops.
    Sorted by name.
    """
    if op.body is None:
        return ()
    counts: dict[str, int] = {}
    for core in body_cores(op.body, realised(op, nest, multiplier)):
        counts[core] = counts.get(core, 0) + nest.lanes // (2 if core.endswith(PACKED) else 1)
    if op.reduction is not None:  # a tree of n leaves has n-1 combiners, and one more accumulates
        core = combiner_core(op)
        counts[core] = counts.get(core, 0) + nest.lanes
    if op.masked:  # each lane selects; lanes at the same place of a loop share the comparison
        counts["select"] = counts.get("select", 0) + nest.lanes
        counts["iadd"] = counts.get("iadd", 0) + sum(nest.unroll[d] for d in op.masked)
    counts.pop("wire", None)
    return tuple(sorted(counts.items()))


def pipeline_depth(op: LinalgOp, nest: Nest, multiplier: Multiplier, platform: Platform, kept: int) -> int:
    """Cycles from reading a token to writing the result that depends on it: body, adder tree, accumulation in one of
    `kept` vectors of partial results.
    """
    if op.body is None:
        return READ_WRITE_CYCLES
    operators = platform.operators
    ready = [0] * len(op.body.arg_dtypes)
    for scalar, core in zip(op.body.ops, body_cores(op.body, realised(op, nest, multiplier)), strict=True):
        ready.append(max((ready[a] for a in scalar.args), default=0) + operators[core].latency)
    depth = READ_WRITE_CYCLES + ready[op.body.result]
    if op.reduction is not None:
        depth += operators["select"].latency if op.masked else 0  # the comparison needs only the loop indices
        levels = (reduction_lanes(op, nest) - 1).bit_length() + 1
        depth += levels * operators[combiner_core(op)].latency + _update_cycles(kept)
    return depth


def _update_cycles(kept: int) -> int:
    """Cycles that an accumulator's memory adds to each update; none where one vector of them is kept in registers."""
    return MEMORY_UPDATE_CYCLES if kept > REGISTER_ACCUMULATORS else 0


def initiation_interval(op: LinalgOp, nest: Nest, platform: Platform, kept: int) -> int:
    """Cycles between iterations: an accumulator, of `kept` vectors, can not be updated again before its last update is
    done.
    """
    if op.reduction is None:
        return 1
    latency = platform.operators[combiner_core(op)].latency + _update_cycles(kept)
    return -(-latency // nest.reuse_distance(op.iterators))


def run_cycles(op: LinalgOp, nest: Nest, platform: Platform) -> int:
    """About how long a task of the operation runs: its iterations, slowed where an accumulator is updated too often."""
    if op.reduction is None:
        return nest.iterations
    return nest.iterations * initiation_interval(op, nest, platform, nest.accumulators(op.iterators))
