"""The scalar operations that a body may hold. The emitters, the estimator and the interpreter handle exactly these.

Floating point is f32; integers are two's complement. `arith.fptosi` truncates toward zero, `math.roundeven` rounds half
to even; `arith.shrsi` rounds down; `arith.extsi` and `arith.trunci` keep the value where it fits. `arith.bitcast` has
the bits of an f32 as an i32. `dataflow.index` is where a loop of the operation is. `dataflow.narrow` has so many of the
lowest bits of an i32, with the sign that they have: the number itself, where that fits.
"""

from compiler.graph.linalg_graph import INDEX, NARROW, Body

SCALAR_OPS: dict[str, int] = {
    # name: number of arguments
    "arith.constant": 0,
    INDEX: 0,
    NARROW: 1,
    "arith.addf": 2,
    "arith.subf": 2,
    "arith.mulf": 2,
    "arith.divf": 2,
    "arith.negf": 1,
    "arith.maximumf": 2,
    "arith.minimumf": 2,
    "arith.addi": 2,
    "arith.subi": 2,
    "arith.muli": 2,
    "arith.maxsi": 2,
    "arith.minsi": 2,
    "arith.shli": 2,
    "arith.shrsi": 2,
    "arith.andi": 2,
    "arith.ori": 2,
    "arith.bitcast": 1,
    "arith.extsi": 1,
    "arith.trunci": 1,
    "arith.sitofp": 1,
    "arith.fptosi": 1,
    "arith.cmpf": 2,
    "arith.cmpi": 2,
    "arith.select": 3,
    "math.exp": 1,
    "math.log": 1,
    "math.tanh": 1,
    "math.erf": 1,
    "math.sqrt": 1,
    "math.rsqrt": 1,
    "math.absf": 1,
    "math.floor": 1,
    "math.roundeven": 1,
    "math.powf": 2,
}
# The relation of a compare; ordered and unordered ones differ where an operand is not a number.
PREDICATES: dict[str | None, str] = {
    **{f"{order}{relation}": relation for order in "ou" for relation in ("eq", "ne", "gt", "ge", "lt", "le")},
    **{f"s{relation}": relation for relation in ("gt", "ge", "lt", "le")},
    "eq": "eq",
    "ne": "ne",
}
BODY_DTYPES = ("f32", "i64", "i32", "i8", "i4", "i1")
WIDENING = frozenset({"arith.extsi", "arith.sitofp"})


def is_widening(body: Body) -> bool:
    """Whether the body is one conversion to a wider type, or a chain of them: free to repeat in a consumer."""
    return len(body.arg_dtypes) == 1 and bool(body.ops) and all(op.name in WIDENING for op in body.ops)
