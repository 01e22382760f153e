"""Scalar operations in C++: a table by MLIR name, and the element types that they work on."""

import math
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph.linalg_graph import INDEX, NARROW, Combiner, ScalarOp

C_TYPE = {"f32": "float", "i64": "int64_t", "i32": "int", "i8": "ap_int<8>", "i4": "ap_int<4>", "i1": "bool"}

# MLIR name -> expression over its arguments, and what a person would call the result.
EXPRESSIONS: dict[str, tuple[str, str]] = {
    "arith.addf": ("{0} + {1}", "sum"),
    "arith.subf": ("{0} - {1}", "difference"),
    "arith.mulf": ("{0} * {1}", "product"),
    "arith.divf": ("{0} / {1}", "quotient"),
    "arith.negf": ("-{0}", "negated"),
    "arith.maximumf": ("hls::fmax({0}, {1})", "larger"),
    "arith.minimumf": ("hls::fmin({0}, {1})", "smaller"),
    "arith.maxnumf": ("hls::fmax({0}, {1})", "larger"),
    "arith.minnumf": ("hls::fmin({0}, {1})", "smaller"),
    "arith.addi": ("{0} + {1}", "sum"),
    "arith.subi": ("{0} - {1}", "difference"),
    "arith.muli": ("{0} * {1}", "product"),
    "arith.maxsi": ("{0} > {1} ? {0} : {1}", "larger"),
    "arith.minsi": ("{0} < {1} ? {0} : {1}", "smaller"),
    "arith.select": ("{0} ? {1} : {2}", "selected"),
    INDEX: ("{0}", "place"),  # of the lane that is written, as the task says it
    "arith.shli": ("{0} * (1LL << {1})", "shifted"),  # of a negative number, a shift is not defined before C++20
    "arith.shrsi": ("{0} >> {1}", "shifted"),  # of a negative number, every compiler keeps the sign; C++20 says so
    "arith.andi": ("{0} & {1}", "masked"),
    "arith.ori": ("{0} | {1}", "joined"),
    "arith.bitcast": ("Element<float>::encode({0}).to_int()", "bits"),
    "math.exp": ("hls::exp({0})", "exponential"),
    "math.log": ("hls::log({0})", "logarithm"),
    "math.tanh": ("hls::tanh({0})", "hyperbolic"),
    "math.erf": ("hls::erf({0})", "error_function"),
    "math.sqrt": ("hls::sqrt({0})", "root"),
    "math.rsqrt": ("hls::rsqrt({0})", "inverse_root"),
    "math.roundeven": ("hls::rint({0})", "rounded"),
    "math.floor": ("hls::floor({0})", "floored"),
    "math.absf": ("hls::fabs({0})", "magnitude"),
    "math.sin": ("hls::sin({0})", "sine"),
    "math.cos": ("hls::cos({0})", "cosine"),
}

# Conversions, written in place. A true i1 is -1 to the signed ones.
CASTS = {
    "arith.extsi": "{type}({0})",
    "arith.trunci": "{type}({0})",
    "arith.extf": "{type}({0})",
    "arith.truncf": "{type}({0})",
    "arith.sitofp": "{type}(int({0}))",
    "arith.fptosi": "{type}(int({0}))",
}
CASTS_FROM_BOOL = {"arith.extsi": "{type}({0} ? -1 : 0)", "arith.sitofp": "({0} ? -1.0f : 0.0f)"}
CAST_TO_BOOL = "bool({0} & 1)"

# Compares; the unordered ones are true where an operand is not a number.
COMPARES_FLOAT = {
    "oeq": "{0} == {1}",
    "ogt": "{0} > {1}",
    "oge": "{0} >= {1}",
    "olt": "{0} < {1}",
    "ole": "{0} <= {1}",
    "one": "{0} < {1} || {0} > {1}",
    "ord": "{0} == {0} && {1} == {1}",
    "ueq": "!({0} < {1} || {0} > {1})",
    "ugt": "!({0} <= {1})",
    "uge": "!({0} < {1})",
    "ult": "!({0} >= {1})",
    "ule": "!({0} > {1})",
    "une": "{0} != {1}",
    "uno": "{0} != {0} || {1} != {1}",
}
COMPARES_INT = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "slt": "{0} < {1}",
    "sle": "{0} <= {1}",
    "sgt": "{0} > {1}",
    "sge": "{0} >= {1}",
}
COMPARES = {"arith.cmpf": COMPARES_FLOAT, "arith.cmpi": COMPARES_INT}

COMBINE_FLOAT = {"add": "{0} + {1}", "mul": "{0} * {1}", "max": "hls::fmax({0}, {1})", "min": "hls::fmin({0}, {1})"}
COMBINE_INT = {
    "add": "{0} + {1}",
    "mul": "{0} * {1}",
    "max": "{0} > {1} ? {0} : {1}",
    "min": "{0} < {1} ? {0} : {1}",
}
TREE = {"add": "Add", "mul": "Multiply", "max": "Maximum", "min": "Minimum"}
NEUTRAL_FLOAT = {"add": 0.0, "mul": 1.0, "max": -math.inf, "min": math.inf}
RANGE = {f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (64, 32, 8, 4)}


def literal(value: float, dtype: str) -> str:
    """A constant of element type `dtype` in C++; a float round-trips to the same 32 bits."""
    if dtype == "i1":
        return "true" if value else "false"
    if dtype == "i64":
        return "(-9223372036854775807LL - 1)" if value == RANGE[dtype][0] else f"{int(value)}LL"
    if dtype != "f32":
        return str(int(value)) if dtype == "i32" else f"{C_TYPE[dtype]}({int(value)})"
    if math.isinf(value):
        return "-INFINITY" if value < 0 else "INFINITY"
    if math.isnan(value):
        return "NAN"
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def is_inline(op: ScalarOp) -> bool:
    """Whether the operation is written where it is used: constants and conversions are wires."""
    return op.name in {"arith.constant", NARROW} or op.name in CASTS


def hint(op: ScalarOp) -> str:
    """What to call the result."""
    return "condition" if op.name in COMPARES else EXPRESSIONS[op.name][1]


def expression(op: ScalarOp, args: Sequence[str], arg_dtypes: Sequence[str]) -> str:
    """`op` applied to C++ expressions `args`. Raises UnsupportedError that names the operation."""
    if op.name == "arith.constant":
        assert op.const is not None
        return literal(op.const, op.dtype)
    if op.name == NARROW:
        return f"ap_int<{op.const}>({args[0]})"
    if op.name in CASTS:
        template = CASTS[op.name]
        if arg_dtypes[0] == "i32" and op.name == "arith.sitofp":
            template = "{type}({0})"
        elif arg_dtypes[0] == "i1":
            template = CASTS_FROM_BOOL.get(op.name, template)
        elif op.dtype == "i1":
            template = CAST_TO_BOOL
        return template.format(*args, type=C_TYPE[op.dtype])
    if op.name in COMPARES and op.predicate in COMPARES[op.name]:
        return COMPARES[op.name][op.predicate].format(*args)
    if op.name in EXPRESSIONS:
        return EXPRESSIONS[op.name][0].format(*args)
    known = ", ".join(sorted({*EXPRESSIONS, *CASTS, *COMPARES}))
    predicate = f" {op.predicate}" if op.predicate else ""
    raise UnsupportedError(f"no C++ for scalar operation {op.name}{predicate}; known are {known}")


def combine(combiner: Combiner, dtype: str, left: str, right: str) -> str:
    """Two partial results of a reduction as one."""
    return (COMBINE_FLOAT if dtype == "f32" else COMBINE_INT)[combiner].format(left, right)


def neutral(combiner: Combiner, dtype: str) -> str:
    """What `combiner` ignores, in C++."""
    return literal(_neutral(combiner, dtype), dtype)


def is_neutral(combiner: Combiner, dtype: str, init: float) -> bool:
    """Whether combining with `init` changes nothing, so that the first term needs no combiner."""
    return init == _neutral(combiner, dtype)


def _neutral(combiner: Combiner, dtype: str) -> float | int:
    if dtype == "f32":
        return NEUTRAL_FLOAT[combiner]
    low, high = RANGE[dtype]
    return {"add": 0, "mul": 1, "max": low, "min": high}[combiner]
