"""Small networks, built by hand, with tensors and their results in numpy: what emitted designs are checked against."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.lowering.argmax import KEY, LARGEST_KEY, index_bits, index_of, key_of
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import (
    Body,
    Iterator,
    LinalgGraph,
    LinalgOp,
    Operand,
    Output,
    Reduction,
    ScalarOp,
    Value,
)

Array = NDArray[Any]
ADD, MUL = "arith.addf", "arith.mulf"


@dataclass
class Network:
    """A LinalgGraph under construction, the content of its tensors and the results to expect."""

    name: str
    values: dict[str, Value] = field(default_factory=dict)
    ops: list[LinalgOp] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    tensors: dict[str, Array] = field(default_factory=dict)
    expected: dict[str, Array] = field(default_factory=dict)

    def tensor(self, name: str, content: Array, dtype: str = "f32", role: str = "param") -> Array:
        self.values[name] = Value(name, content.shape, dtype, role, f"src.{name}")  # pyright: ignore[reportArgumentType]
        self.tensors[f"src.{name}"] = content
        return content

    def generic(
        self,
        out: str,
        loops: Sequence[int],
        inputs: Sequence[tuple[str, str]],
        output: str,
        body: Body,
        reduction: Reduction | None = None,
        dtype: str = "f32",
    ) -> None:
        """`inputs` are (value, dims) with dims as letters, a = loop 0."""
        dims = tuple(ord(c) - ord("a") for c in output)
        iterators: tuple[Iterator, ...] = tuple("parallel" if d in dims else "reduction" for d in range(len(loops)))
        self.values[out] = Value(out, tuple(loops[d] for d in dims), dtype)
        operands = tuple(Operand(v, tuple(ord(c) - ord("a") for c in letters)) for v, letters in inputs)
        self.ops.append(
            LinalgOp(
                f"op_{out}",
                "generic",
                tuple(loops),
                iterators,
                tuple(range(len(loops))),
                operands,
                (Operand(out, dims),),
                body,
                reduction,
            )
        )

    def result(self, value: str, expected: Array) -> None:
        rank = len(self.values[value].shape)
        self.outputs.append(Output(value, value, tuple(range(rank)), self.values[value].shape))
        self.expected[value] = expected

    def graph(self) -> LinalgGraph:
        graph = LinalgGraph(self.name, tuple(self.values.values()), tuple(self.ops), tuple(self.outputs))
        graph.verify()
        return graph


def body(arg_dtypes: Sequence[str], *ops: tuple[Any, ...]) -> Body:
    """Operations as (name, args, dtype?, const?, predicate?); dtype defaults to f32; the last one is the result."""
    scalar_ops = tuple(ScalarOp(o[0], tuple(o[1]), o[2] if len(o) > 2 else "f32", *o[3:]) for o in ops)
    return Body(tuple(arg_dtypes), scalar_ops, len(arg_dtypes) + len(ops) - 1)


def _f32(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


BINARY_ADD = body(["f32", "f32"], (ADD, (0, 1)))
BINARY_MUL = body(["f32", "f32"], (MUL, (0, 1)))
SUM = Reduction("add", 0.0)


def mlp() -> Network:
    """matmul, bias, tanh-GELU, matmul."""
    n, rng = Network("mlp"), np.random.default_rng(1)
    x = n.tensor("x", _f32(rng, 4, 24), role="input")
    w, b, v = n.tensor("w", _f32(rng, 24, 48)), n.tensor("b", _f32(rng, 48)), n.tensor("v", _f32(rng, 48, 24))
    n.generic("h", (4, 48, 24), [("x", "ac"), ("w", "cb")], "ab", BINARY_MUL, SUM)
    gelu = body(
        ["f32", "f32"],
        (ADD, (0, 1)), (MUL, (2, 2)), (MUL, (3, 2)), ("arith.constant", (), "f32", 0.044715), (MUL, (4, 5)),
        (ADD, (2, 6)),
        ("arith.constant", (), "f32", math.sqrt(2 / math.pi)), (MUL, (7, 8)), ("math.tanh", (9,)),
        ("arith.constant", (), "f32", 1.0), (ADD, (10, 11)), ("arith.constant", (), "f32", 0.5), (MUL, (2, 13)),
        (MUL, (14, 12)),
    )  # fmt: skip
    n.generic("g", (4, 48), [("h", "ab"), ("b", "b")], "ab", gelu)
    n.generic("y", (4, 24, 48), [("g", "ac"), ("v", "cb")], "ab", BINARY_MUL, SUM)
    h = x @ w + b
    g = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    n.result("y", g @ v)
    return n


def softmax() -> Network:
    """Masked row softmax: max, subtract and exponential, sum, divide; the mask selects."""
    n, rng = Network("softmax"), np.random.default_rng(2)
    x = n.tensor("x", _f32(rng, 6, 16), role="input")
    mask = n.tensor("mask", rng.random((6, 16)) < 0.7, "i1", "input")
    mask[:, 0] = True
    lowest = float(np.finfo(np.float32).min)
    masked = body(["i1", "f32"], ("arith.constant", (), "f32", lowest), ("arith.select", (0, 1, 2)))
    n.generic("s", (6, 16), [("mask", "ab"), ("x", "ab")], "ab", masked)
    identity = Body(("f32",), (), 0)
    n.generic("m", (6, 16), [("s", "ab")], "a", identity, Reduction("max", -math.inf))
    n.generic(
        "e", (6, 16), [("s", "ab"), ("m", "a")], "ab", body(["f32", "f32"], ("arith.subf", (0, 1)), ("math.exp", (2,)))
    )
    n.generic("t", (6, 16), [("e", "ab")], "a", identity, SUM)
    n.generic("p", (6, 16), [("e", "ab"), ("t", "a")], "ab", body(["f32", "f32"], ("arith.divf", (0, 1))))
    s = np.where(mask, x, np.float32(lowest))
    e = np.exp(s - s.max(axis=1, keepdims=True))
    n.result("p", e / e.sum(axis=1, keepdims=True))
    return n


def layer_norm() -> Network:
    """Mean and variance from sums, epsilon by value, scale and shift, and the input added again."""
    n, rng = Network("layer-norm"), np.random.default_rng(3)
    x = n.tensor("x", _f32(rng, 5, 12), role="input")
    g, b = n.tensor("gamma", _f32(rng, 12)), n.tensor("beta", _f32(rng, 12))
    eps = n.tensor("eps", np.array(1e-5, np.float32), role="scalar")
    n.generic("total", (5, 12), [("x", "ab")], "a", Body(("f32",), (), 0), SUM)
    twelfth = ("arith.constant", (), "f32", 1 / 12)
    centre = body(["f32", "f32"], twelfth, (MUL, (1, 2)), ("arith.subf", (0, 3)))
    n.generic("c", (5, 12), [("x", "ab"), ("total", "a")], "ab", centre)
    n.generic("squares", (5, 12), [("c", "ab")], "a", body(["f32"], (MUL, (0, 0))), SUM)
    scale = body(
        ["f32", "f32", "f32", "f32", "f32", "f32"],
        twelfth, (MUL, (1, 6)), (ADD, (7, 2)), ("math.rsqrt", (8,)), (MUL, (0, 9)), (MUL, (10, 3)), (ADD, (11, 4)),
        (ADD, (12, 5)),
    )  # fmt: skip
    inputs = [("c", "ab"), ("squares", "a"), ("eps", ""), ("gamma", "b"), ("beta", "b"), ("x", "ab")]
    n.generic("y", (5, 12), inputs, "ab", scale)
    c = x - x.mean(axis=1, keepdims=True)
    n.result("y", c / np.sqrt((c**2).mean(axis=1, keepdims=True) + eps) * g + b + x)
    return n


def attention() -> Network:
    """QKV in one matrix product, chunked; the new key is appended to the cache; scores over heads; two results."""
    n, rng = Network("attention"), np.random.default_rng(4)
    heads, width, past, model = 2, 4, 7, 8
    x = n.tensor("x", _f32(rng, 1, model), role="input")
    w = n.tensor("w", _f32(rng, model, 3, heads, width))
    cache = n.tensor("cache", _f32(rng, heads, past, width), role="state")
    n.generic("qkv", (1, 3, heads, width, model), [("x", "ae"), ("w", "ebcd")], "abcd", BINARY_MUL, SUM)
    n.ops[-1] = LinalgOp(**{**_fields(n.ops[-1]), "groups": (0, 1, 1, 1, 2)})
    names = ("q", "k", "v")
    for name in names:
        n.values[name] = Value(name, (1, heads, width), "f32")
    n.ops.append(
        LinalgOp(
            "split",
            "chunk",
            (1, 3, heads, width),
            ("parallel",) * 4,
            (0, 1, 1, 1),
            (Operand("qkv", (0, 1, 2, 3)),),
            tuple(Operand(name, (0, 2, 3)) for name in names),
            axis=1,
        )
    )
    n.values["keys"] = Value("keys", (heads, past + 1, width), "f32")
    n.ops.append(
        LinalgOp(
            "append",
            "concat",
            (heads, past + 1, width),
            ("parallel",) * 3,
            (0, 1, 2),
            (Operand("cache", (0, 1, 2)), Operand("k", (1, 0, 2))),
            (Operand("keys", (0, 1, 2)),),
            axis=1,
        )
    )
    n.generic("scores", (1, heads, past + 1, width), [("q", "abd"), ("keys", "bcd")], "abc", BINARY_MUL, SUM)
    n.generic("mixed", (1, heads, width), [("v", "abc"), ("q", "abc")], "abc", BINARY_ADD)
    qkv = np.einsum("ae,ebcd->abcd", x, w)
    keys = np.concatenate([cache, qkv[:, 1].transpose(1, 0, 2)], axis=1)
    n.result("scores", np.einsum("abd,bcd->abc", qkv[:, 0], keys))
    n.result("mixed", qkv[:, 2] + qkv[:, 0])
    n.result("k", qkv[:, 1])
    return n


def _fields(op: LinalgOp) -> dict[str, Any]:
    return {name: getattr(op, name) for name in LinalgOp.__dataclass_fields__}


def quantised() -> Network:
    """W4A8: quantise, 8 x 4 bit products in int32 for each group of the reduction, dequantise and add up the groups."""
    n, rng = Network("quantised"), np.random.default_rng(5)
    rows, groups, inner, cols = 3, 2, 16, 20
    x = n.tensor("x", _f32(rng, rows, groups, inner), role="input")
    w = n.tensor("w", rng.integers(-8, 8, (groups, inner, cols)).astype(np.int8), "i4")
    s = n.tensor("s", np.abs(_f32(rng, groups, cols)) + np.float32(0.1))
    inverse = n.tensor("inverse", np.array(40.0, np.float32), role="scalar")
    quantise = body(
        ["f32", "f32"],
        (MUL, (0, 1)), ("math.roundeven", (2,)), ("arith.constant", (), "f32", 127.0), ("arith.minimumf", (3, 4)),
        ("arith.constant", (), "f32", -128.0), ("arith.maximumf", (5, 6)), ("arith.fptosi", (7,), "i8"),
    )  # fmt: skip
    n.generic("q", (rows, groups, inner), [("x", "abc"), ("inverse", "")], "abc", quantise, dtype="i8")
    product = body(
        ["i8", "i4"], ("arith.extsi", (0,), "i32"), ("arith.extsi", (1,), "i32"), ("arith.muli", (2, 3), "i32")
    )
    n.generic(
        "acc", (rows, groups, cols, inner), [("q", "abd"), ("w", "bdc")], "abc", product, Reduction("add", 0), "i32"
    )
    n.generic(
        "y", (rows, cols, groups), [("acc", "acb"), ("s", "cb")], "ab",
        body(["i32", "f32"], ("arith.sitofp", (0,)), (MUL, (2, 1))), SUM,
    )  # fmt: skip
    q = np.clip(np.rint(x * inverse), -128, 127).astype(np.int32)
    acc = np.einsum("abd,bdc->abc", q, w.astype(np.int32))
    n.result("acc", acc)
    n.result("y", (acc * s).sum(axis=1).astype(np.float32))
    return n


def argmax(rows: Array | None = None) -> Network:
    """Where the largest number of each row is; ties, all below zero, both zeros, infinite, and what is no number."""
    n = Network("argmax")
    x = n.tensor("x", _ties() if rows is None else rows, role="input")
    bits = index_bits(x.shape[1], "op_key")
    key, index = BodyBuilder(), BodyBuilder()
    largest, _ = key.finish(key_of(key, key.arg("f32"), [(1, 1)], bits))
    n.generic("key", x.shape, [("x", "ab")], "a", largest, LARGEST_KEY, KEY)
    chosen, _ = index.finish(index_of(index, index.arg(KEY), bits))
    n.generic("token", x.shape[:1], [("key", "a")], "a", chosen, dtype="i32")
    n.result("token", np.argmax(x, 1).astype(np.int32))
    return n


def _ties() -> Array:
    rows = np.full((6, 13), -2.0, np.float32)
    rows[0, 1:] = -1.5
    rows[1, [4, 9]] = -0.0, 0.0
    rows[2, [3, 8]] = 1.0
    rows[3, [0, 12]] = math.inf, -math.inf
    rows[4, [2, 5, 7]] = math.inf, math.nan, -math.nan
    rows[5, 12] = 0.0
    return rows


NETWORKS: dict[str, Callable[[], Network]] = {
    f.__name__: f for f in (mlp, softmax, layer_norm, attention, quantised, argmax)
}
