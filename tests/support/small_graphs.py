"""Small networks in the normal form of the front end, made by hand for tests."""

from collections.abc import Sequence

from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, ScalarOp, Value

F32_PRODUCT = Body(("f32", "f32"), (ScalarOp("arith.mulf", (0, 1), "f32"),), 2)
INT_PRODUCT = Body(
    ("i8", "i4"),
    (
        ScalarOp("arith.extsi", (0,), "i32"),
        ScalarOp("arith.extsi", (1,), "i32"),
        ScalarOp("arith.muli", (2, 3), "i32"),
    ),
    4,
)
PASS = Body(("f32",), (), 0)


def matmul(name: str, m: int, k: int, n: int, x: str, w: str, y: str, body: Body = F32_PRODUCT) -> LinalgOp:
    """y[m,n] = sum over k of x[m,k] w[k,n]."""
    zero = 0.0 if body is F32_PRODUCT else 0
    return LinalgOp(
        name,
        "generic",
        (m, n, k),
        ("parallel", "parallel", "reduction"),
        (0, 1, 2),
        (Operand(x, (0, 2)), Operand(w, (2, 1))),
        (Operand(y, (0, 1)),),
        body,
        Reduction("add", zero),
    )


def elementwise(name: str, shape: Sequence[int], inputs: Sequence[Operand], out: str, body: Body) -> LinalgOp:
    """out[all loops] = body(inputs)."""
    dims = tuple(range(len(shape)))
    return LinalgOp(
        name, "generic", tuple(shape), ("parallel",) * len(dims), dims, tuple(inputs), (Operand(out, dims),), body
    )


def row_reduction(name: str, m: int, n: int, x: str, y: str, combiner: str = "add", init: float = 0.0) -> LinalgOp:
    """y[m] = combine over n of x[m,n]."""
    return LinalgOp(
        name,
        "generic",
        (m, n),
        ("parallel", "reduction"),
        (0, 1),
        (Operand(x, (0, 1)),),
        (Operand(y, (0,)),),
        PASS,
        Reduction(combiner, init),  # pyright: ignore[reportArgumentType] # tests pass literals
    )


def chain(*widths: int) -> LinalgGraph:
    """Products one behind the other, of 4 rows."""
    steps = range(1, len(widths))
    values = [Value("v0", (4, widths[0]), "f32", "input", "v0")]
    values += [Value(f"w{n}", widths[n - 1 : n + 1], "f32", "param", f"w{n}") for n in steps]
    values += [Value(f"v{n}", (4, widths[n]), "f32") for n in steps]
    ops = tuple(matmul(f"m{n}", 4, widths[n - 1], widths[n], f"v{n - 1}", f"w{n}", f"v{n}") for n in steps)
    last = f"v{len(widths) - 1}"
    return LinalgGraph("chain", tuple(values), ops, (Output(last, last, (0, 1), (4, widths[-1])),))


def mlp(rows: int = 8, hidden: int = 16, inner: int = 64) -> LinalgGraph:
    """x -> matmul -> tanh, scaled by a scalar -> matmul -> + x: a residual around two products."""
    tanh = Body(("f32", "f32"), (ScalarOp("math.tanh", (0,), "f32"), ScalarOp("arith.mulf", (2, 1), "f32")), 3)
    add = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)
    full = (0, 1)
    return LinalgGraph(
        "mlp",
        (
            Value("x", (rows, hidden), "f32", "input", "x"),
            Value("up.weight", (hidden, inner), "f32", "param", "up.weight"),
            Value("h", (rows, inner), "f32"),
            Value("scale", (), "f32", "scalar", "scale"),
            Value("g", (rows, inner), "f32"),
            Value("down.weight", (inner, hidden), "f32", "param", "down.weight"),
            Value("y", (rows, hidden), "f32"),
            Value("z", (rows, hidden), "f32"),
        ),
        (
            matmul("up", rows, hidden, inner, "x", "up.weight", "h"),
            elementwise("act", (rows, inner), (Operand("h", full), Operand("scale", ())), "g", tanh),
            matmul("down", rows, inner, hidden, "g", "down.weight", "y"),
            elementwise("add", (rows, hidden), (Operand("x", full), Operand("y", full)), "z", add),
        ),
        (Output("z", "z", full, (1, rows, hidden)),),
    )


def softmax(rows: int = 4, columns: int = 16) -> LinalgGraph:
    """Row softmax: the input is read twice and meets its own maximum, then its own sum."""
    shift = Body(("f32", "f32"), (ScalarOp("arith.subf", (0, 1), "f32"), ScalarOp("math.exp", (2,), "f32")), 3)
    divide = Body(("f32", "f32"), (ScalarOp("arith.divf", (0, 1), "f32"),), 2)
    full = (0, 1)
    return LinalgGraph(
        "softmax",
        (
            Value("x", (rows, columns), "f32", "input", "x"),
            Value("max", (rows,), "f32"),
            Value("exp", (rows, columns), "f32"),
            Value("sum", (rows,), "f32"),
            Value("p", (rows, columns), "f32"),
        ),
        (
            row_reduction("max", rows, columns, "x", "max", "max", float("-inf")),
            elementwise("exp", (rows, columns), (Operand("x", full), Operand("max", (0,))), "exp", shift),
            row_reduction("sum", rows, columns, "exp", "sum"),
            elementwise("div", (rows, columns), (Operand("exp", full), Operand("sum", (0,))), "p", divide),
        ),
        (Output("p", "p", full, (rows, columns)),),
    )


def turned_product(size: int) -> LinalgGraph:
    """x -> matmul -> its result and that with rows as columns, added up."""
    square, add = (size, size), Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)
    return LinalgGraph(
        "turned",
        (
            Value("x", square, "f32", "input", "x"),
            Value("w", square, "f32", "param", "w"),
            Value("h", square, "f32"),
            Value("y", square, "f32"),
        ),
        (
            matmul("product", size, size, size, "x", "w", "h"),
            elementwise("turn", square, (Operand("h", (0, 1)), Operand("h", (1, 0))), "y", add),
        ),
        (Output("y", "y", (0, 1), square),),
    )


def attention_front(heads: int = 2, size: int = 8, past: int = 3) -> LinalgGraph:
    """Decode: a fused product chunked into q, k, v; k joins its cache; scores of q against all keys; v and k leave."""
    hidden, length = heads * size, past + 1
    return LinalgGraph(
        "attention_front",
        (
            Value("x", (hidden,), "f32", "input", "x"),
            Value("w", (hidden, 3, heads, size), "f32", "param", "w"),
            Value("fused", (3, heads, size), "f32"),
            Value("q", (heads, size), "f32"),
            Value("k", (heads, size), "f32"),
            Value("v", (heads, size), "f32"),
            Value("past", (heads, past, size), "f32", "state", "past"),
            Value("keys", (heads, length, size), "f32"),
            Value("s", (heads, length), "f32"),
        ),
        _front_ops(heads, size, past),
        (
            Output("s", "s", (0, 1), (heads, length)),
            Output("k", "k", (0, 1), (1, hidden)),
            Output("v", "v", (0, 1), (1, hidden)),
        ),
    )


def _front_ops(heads: int, size: int, past: int) -> tuple[LinalgOp, ...]:
    hidden, length = heads * size, past + 1
    product = LinalgOp(
        "qkv",
        "generic",
        (3, heads, size, hidden),
        ("parallel", "parallel", "parallel", "reduction"),
        (0, 0, 0, 1),
        (Operand("x", (3,)), Operand("w", (3, 0, 1, 2))),
        (Operand("fused", (0, 1, 2)),),
        F32_PRODUCT,
        Reduction("add", 0.0),
    )
    split = LinalgOp(
        "split",
        "chunk",
        (3, heads, size),
        ("parallel",) * 3,
        (0, 1, 2),
        (Operand("fused", (0, 1, 2)),),
        (Operand("q", (1, 2)), Operand("k", (1, 2)), Operand("v", (1, 2))),
        axis=0,
    )
    append = LinalgOp(
        "append",
        "concat",
        (heads, length, size),
        ("parallel",) * 3,
        (0, 1, 2),
        (Operand("past", (0, 1, 2)), Operand("k", (0, 2))),
        (Operand("keys", (0, 1, 2)),),
        axis=1,
    )
    scores = LinalgOp(
        "scores",
        "generic",
        (heads, length, size),
        ("parallel", "parallel", "reduction"),
        (0, 1, 2),
        (Operand("q", (0, 2)), Operand("keys", (0, 1, 2))),
        (Operand("s", (0, 1)),),
        F32_PRODUCT,
        Reduction("add", 0.0),
    )
    return product, split, append, scores


def quantised(rows: int = 4, inner: int = 32, columns: int = 16) -> LinalgGraph:
    """int8 x int4 product into int32, dequantised by a scale a column: the shape of W4A8."""
    dequantise = Body(("i32", "f32"), (ScalarOp("arith.sitofp", (0,), "f32"), ScalarOp("arith.mulf", (2, 1), "f32")), 3)
    return LinalgGraph(
        "quantised",
        (
            Value("xq", (rows, inner), "i8", "input", "xq"),
            Value("wq", (inner, columns), "i4", "param", "wq"),
            Value("acc", (rows, columns), "i32"),
            Value("scales", (columns,), "f32", "param", "scales"),
            Value("y", (rows, columns), "f32"),
        ),
        (
            matmul("product", rows, inner, columns, "xq", "wq", "acc", INT_PRODUCT),
            elementwise(
                "dequantise", (rows, columns), (Operand("acc", (0, 1)), Operand("scales", (1,))), "y", dequantise
            ),
        ),
        (Output("y", "y", (0, 1), (rows, columns)),),
    )


ALL = {"mlp": mlp, "softmax": softmax, "attention_front": attention_front, "quantised": quantised}
