import pytest

from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, ScalarOp, Value
from compiler.platforms.platform import Platform, load_platform


def _matmul(name: str, x: str, w: str, out: str, rows: int, outs: int, ins: int) -> LinalgOp:
    body = Body(("f32", "f32"), (ScalarOp("arith.mulf", (0, 1), "f32"),), 2)
    operands = (Operand(x, (0, 2)), Operand(w, (2, 1)))
    iterators = ("parallel", "parallel", "reduction")
    return LinalgOp(
        name,
        "generic",
        (rows, outs, ins),
        iterators,
        (0, 1, 2),
        operands,
        (Operand(out, (0, 1)),),
        body,
        Reduction("add", 0.0),
    )


def _mlp(rows: int = 16, width: int = 64, hidden: int = 128) -> LinalgGraph:
    """x -> x w1 + b1 -> tanh -> h w2."""
    bias = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)
    gelu = Body(("f32",), (ScalarOp("math.tanh", (0,), "f32"), ScalarOp("arith.mulf", (0, 1), "f32")), 2)
    both = ("parallel", "parallel")
    graph = LinalgGraph(
        "mlp",
        (
            Value("x", (rows, width), "f32", "input", "x"),
            Value("w1", (width, hidden), "f32", "param", "w1"),
            Value("b1", (hidden,), "f32", "param", "b1"),
            Value("w2", (hidden, width), "f32", "param", "w2"),
            Value("up", (rows, hidden), "f32"),
            Value("biased", (rows, hidden), "f32"),
            Value("active", (rows, hidden), "f32"),
            Value("y", (rows, width), "f32"),
        ),
        (
            _matmul("fc1", "x", "w1", "up", rows, hidden, width),
            LinalgOp(
                "bias",
                "generic",
                (rows, hidden),
                both,
                (0, 1),
                (Operand("up", (0, 1)), Operand("b1", (1,))),
                (Operand("biased", (0, 1)),),
                bias,
            ),
            LinalgOp(
                "gelu",
                "generic",
                (rows, hidden),
                both,
                (0, 1),
                (Operand("biased", (0, 1)),),
                (Operand("active", (0, 1)),),
                gelu,
            ),
            _matmul("fc2", "active", "w2", "y", rows, width, hidden),
        ),
        (Output("y", "y", (0, 1), (rows, width)),),
    )
    graph.verify()
    return graph


@pytest.fixture(scope="session")
def mlp() -> LinalgGraph:
    return _mlp()


@pytest.fixture(scope="session")
def u55c() -> Platform:
    return load_platform("u55c")
