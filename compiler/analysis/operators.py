"""Scalar operations as operator cores: which core, how many, how deep the pipeline gets."""

from collections import Counter
from functools import lru_cache
from math import prod
from typing import Literal

from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import INDEX, NARROW, Body, LinalgOp, ScalarOp
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
    "arith.shrsi": "wire",
    "arith.andi": "wire",  # with a constant
    "arith.ori": "wire",  # of halves that have no bit in common
    "arith.bitcast": "wire",
    INDEX: "iadd",
    NARROW: "wire",
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
PACKED = ("_dsp_packed", "_dsp_summed")  # cores of two products
PAIR_ADDER = "iadd_pair"  # adds two pairs of products
FIELD_BITS = 18  # of the lower product of a pair, and of sums of such (`hls/mul2.h`)
FABRIC_ADDER = "fadd_fabric"
DSP_FACTORS = (27, 18)  # bits of what a DSP48E2 multiplies (UG579)
DSP_PRODUCT = "imul_27x18_dsp"  # whatever narrow ones are made of: in LUTs it would be hundreds of them

Realised = Multiplier | Literal["dsp_summed"]
"""What integer products are made of; `dsp_summed`: two a DSP, pairs summed, all or some, then taken apart."""
REGISTER_ACCUMULATORS = 1  # several are chosen by a loop index, which only a memory can do at full rate


def _width_before_extension(body: Body, value: int) -> int:
    """Bits of `value`, looking through a sign extension: an 8 x 4 product stays one after `extsi` to i32. A constant
    has those that it takes.
    """
    bits, first = DTYPE_BITS[body.dtype_of(value)], len(body.arg_dtypes)
    if value < first:
        return bits
    op = body.ops[value - first]
    if op.name == "arith.extsi":
        return _width_before_extension(body, op.args[0])
    if op.name == NARROW:
        return min(int(op.const or 0), _width_before_extension(body, op.args[0]))
    if op.name == "arith.constant":
        number = int(op.const or 0)
        return min(bits, (number if number >= 0 else ~number).bit_length() + 1)
    return bits


def _multiplier_core(body: Body, args: tuple[int, ...], multiplier: Realised) -> str:
    wide, narrow = sorted((_width_before_extension(body, a) for a in args), reverse=True)
    if 8 < wide <= DSP_FACTORS[0] and narrow <= DSP_FACTORS[1]:
        return DSP_PRODUCT
    if wide > 8:
        return f"imul_32x32_{multiplier}"
    return f"imul_8x{4 if narrow <= 4 else 8}_{multiplier}"


@lru_cache(maxsize=4096)
def body_cores(body: Body, multiplier: Realised) -> tuple[str, ...]:
    """The operator core of each operation of `body`, in order. Unknown operations raise KeyError by name.

    What is added to a product of a DSP slice is added in it, in the same three cycles (`mac_muladd` of csynth reports).
    """
    added = set(products_added_to(body).values())
    cores = (_core(body, op, multiplier) for op in body.ops)
    return tuple("wire" if number in added else core for number, core in enumerate(cores, len(body.arg_dtypes)))


@lru_cache(maxsize=4096)
def products_added_to(body: Body) -> dict[int, int]:
    """Values of `body` that are products of a DSP slice, with the one value that reads each: its sum with what is no
    such product.
    """
    first, readers = len(body.arg_dtypes), Counter(a for op in body.ops for a in op.args)

    def is_product(value: int) -> bool:
        op = body.ops[value - first] if value >= first else None
        return op is not None and op.name == "arith.muli" and _multiplier_core(body, op.args, "dsp") == DSP_PRODUCT

    sums = ((n, op.args) for n, op in enumerate(body.ops, first) if op.name == "arith.addi")
    products = ((n, [a for a in args if is_product(a)]) for n, args in sums)
    return {found[0]: n for n, found in products if len(found) == 1 and readers[found[0]] == 1}


def _core(body: Body, op: ScalarOp, multiplier: Realised) -> str:
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


def realised(op: LinalgOp, nest: Nest, multiplier: Multiplier) -> Realised:
    """What integer products of the operation are made of: only those whose lanes come in pairs can be packed, and pairs
    are summed as they are where no sum outgrows its field.
    """
    if multiplier != "dsp_packed":
        return multiplier
    if pair_dim(op, nest) is None:
        return "dsp"
    return "dsp_summed" if summed_as_pairs(op, reduction_lanes(op, nest)) > 1 else "dsp_packed"


def summed_as_pairs(op: LinalgOp, lanes: int) -> int:
    """How many of the `lanes` of a sum of int8 products are added up before pairs are taken apart: as many as divide
    them and can not outgrow a field, whatever the factors are. 1: none.
    """
    assert op.body is not None
    assert op.reduction is not None
    if op.reduction.combiner != "add":
        return 1
    largest = prod(1 << (DTYPE_BITS[dtype] - 1) for dtype in op.body.arg_dtypes)
    most = ((1 << (FIELD_BITS - 1)) - 1) // largest
    return next(n for n in range(min(lanes, most), 0, -1) if lanes % n == 0)


def sums_float_products(op: LinalgOp) -> bool:
    return op.is_contraction and op.body is not None and op.body.dtype_of(op.body.result) == "f32"


def combiner_core(op: LinalgOp, multiplier: Multiplier) -> str:
    """Core that combines two partial results of a reduction. Where products take DSPs, float sums of products take
    none: such an adder is 140 LUTs larger, which are a lesser share of a board than two DSPs.
    """
    assert op.reduction is not None
    assert op.body is not None
    if sums_float_products(op) and multiplier != "fabric":
        return FABRIC_ADDER
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


def count_operators(op: LinalgOp, nest: Nest, multiplier: Multiplier, kept: int) -> tuple[tuple[str, int], ...]:
    """Operator cores side by side in space: the body once a lane, adder trees, accumulators where partial results are
    `kept`, masks of padded loops. Sorted by name.
    """
    if op.body is None:
        return ()
    counts: dict[str, int] = {}
    made = realised(op, nest, multiplier)
    for core in body_cores(op.body, made):
        counts[core] = counts.get(core, 0) + nest.lanes // (2 if core.endswith(PACKED) else 1)
    if op.reduction is not None:  # a tree of n leaves has n-1 combiners, and one more accumulates
        core, combined = combiner_core(op, multiplier), nest.lanes
        if made == "dsp_summed":  # a pair is taken apart by an adder of its own
            sums = nest.lanes // summed_as_pairs(op, reduction_lanes(op, nest))
            counts[PAIR_ADDER], combined = nest.lanes // 2 - sums // 2, sums + sums // 2
        if not _accumulates(op, kept):
            combined -= nest.lanes // reduction_lanes(op, nest)
        counts[core] = counts.get(core, 0) + combined
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
    operators, made = platform.operators, realised(op, nest, multiplier)
    ready = [0] * len(op.body.arg_dtypes)
    for scalar, core in zip(op.body.ops, body_cores(op.body, made), strict=True):
        ready.append(max((ready[a] for a in scalar.args), default=0) + operators[core].latency)
    depth = READ_WRITE_CYCLES + ready[op.body.result]
    if op.reduction is not None:
        depth += operators["select"].latency if op.masked else 0  # the comparison needs only the loop indices
        levels = (reduction_lanes(op, nest) - 1).bit_length() + (made == "dsp_summed") + _accumulates(op, kept)
        depth += levels * operators[combiner_core(op, multiplier)].latency + _update_cycles(kept)
    return depth


def _accumulates(op: LinalgOp, kept: int) -> bool:
    """Whether something is added to what the tree makes: a sum from nothing of an iteration of its own is none."""
    assert op.reduction is not None
    return kept > 0 or op.reduction.combiner != "add" or bool(op.reduction.init)


def _update_cycles(kept: int) -> int:
    """Cycles that an accumulator's memory adds to each update; none where one vector of them is kept in registers."""
    return MEMORY_UPDATE_CYCLES if kept > REGISTER_ACCUMULATORS else 0


def initiation_interval(op: LinalgOp, nest: Nest, multiplier: Multiplier, platform: Platform, kept: int) -> int:
    """Cycles between iterations: an accumulator, of `kept` vectors, can not be updated again before its last update is
    done.
    """
    if op.reduction is None:
        return 1
    latency = platform.operators[combiner_core(op, multiplier)].latency + _update_cycles(kept)
    return -(-latency // nest.reuse_distance(op.iterators))


def run_cycles(op: LinalgOp, nest: Nest, platform: Platform) -> int:
    """About how long a task of the operation runs: its iterations, slowed where an accumulator is updated too often (by
    an adder in DSPs: what products are made of is not known yet, and these take longer).
    """
    if op.reduction is None:
        return nest.iterations
    return nest.iterations * initiation_interval(op, nest, "fabric", platform, nest.accumulators(op.iterators))
