"""Networks of a few layers that are alike: a product, an activation with a scale of the layer, a residual."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_graphs import elementwise, matmul

from compiler.frontend.interpret import NUMPY_DTYPE
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import (
    Body,
    LinalgGraph,
    LinalgOp,
    Operand,
    Output,
    Reduction,
    Row,
    ScalarOp,
    Value,
)

Array = NDArray[Any]

SCALED = Body(("f32", "f32"), (ScalarOp("math.tanh", (0,), "f32"), ScalarOp("arith.mulf", (2, 1), "f32")), 3)
MASKED = Body(("f32", "f32", "f32"), (ScalarOp("arith.mulf", (0, 1), "f32"), ScalarOp("arith.addf", (3, 2), "f32")), 4)

SUM = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)


def layered(layers: int = 3, rows: int = 4, hidden: int = 16, inner: int = 32) -> LinalgGraph:
    """x -> product -> scaled tanh, which each layer also gives out as `hN.a` -> product, weighed by a mask that all
    layers share, + x.
    """
    values: list[Value] = [
        Value("x", (rows, hidden), "f32", "input", "x"),
        Value("mask", (hidden,), "f32", "input", "m"),
    ]
    ops: list[LinalgOp] = []
    outputs: list[Output] = []
    before = "x"
    for n in range(layers):
        h, full = f"h{n}", (0, 1)
        values += [
            Value(f"{h}.up", (hidden, inner), "f32", "param", f"{h}.up"),
            Value(f"{h}.scale", (), "f32", "scalar", f"{h}.scale"),
            Value(f"{h}.down", (inner, hidden), "f32", "param", f"{h}.down"),
            *(Value(f"{h}.{name}", (rows, inner), "f32") for name in ("fc", "act")),
            *(Value(f"{h}.{name}", (rows, hidden), "f32") for name in ("proj", "out")),
        ]
        made = Operand(f"{h}.fc", full), Operand(f"{h}.scale", ())
        added = Operand(f"{h}.proj", full), Operand("mask", (1,)), Operand(before, full)
        ops += [
            matmul(f"{h}.fc", rows, hidden, inner, before, f"{h}.up", f"{h}.fc"),
            elementwise(f"{h}.act", (rows, inner), made, f"{h}.act", SCALED),
            matmul(f"{h}.proj", rows, inner, hidden, f"{h}.act", f"{h}.down", f"{h}.proj"),
            elementwise(f"{h}.out", (rows, hidden), added, f"{h}.out", MASKED),
        ]
        outputs.append(Output(f"{h}.a", f"{h}.act", full, (1, rows, inner)))
        before = f"{h}.out"
    outputs.append(Output("x_out", before, (0, 1), (rows, hidden)))
    graph = LinalgGraph("layered", tuple(values), tuple(ops), tuple(outputs))
    graph.verify()
    return graph


def products(layers: int = 3, rows: int = 4, width: int = 16) -> LinalgGraph:
    """Two products a layer, one behind the other, folded: what is carried is made by what an engine can serve."""
    values, ops = [Value("x", (rows, width), "f32", "input", "x")], list[LinalgOp]()
    before = "x"
    for n in range(layers):
        for name in ("a", "b"):
            made, weight = f"h{n}.{name}", f"h{n}.{name}.weight"
            values += [Value(weight, (width, width), "f32", "param", weight), Value(made, (rows, width), "f32")]
            ops.append(matmul(made, rows, width, width, before, weight, made))
            before = made
    network = LinalgGraph("products", tuple(values), tuple(ops), (Output("x_out", before, (0, 1), (rows, width)),))
    graph = folded(network)
    assert graph is not None
    return graph


def tensors_of(graph: LinalgGraph, seed: int = 0) -> dict[str, Array]:
    """Content of all that a network is given."""
    rng = np.random.default_rng(seed)
    given = [value for value in graph.values if value.source]
    return {v.source: rng.normal(size=v.in_memory.shape).astype(NUMPY_DTYPE[v.dtype]) for v in given}


def with_op(graph: LinalgGraph, which: str, **changes: Any) -> LinalgGraph:
    """The network with one operation changed."""
    ops = tuple(replace(op, **changes) if op.name == which else op for op in graph.ops)
    return replace(graph, ops=ops)


def folded_layers(layers: int = 3, rows: int = 4, hidden: int = 16, inner: int = 32) -> LinalgGraph:
    """The same, folded."""
    graph = folded(layered(layers, rows, hidden, inner))
    assert graph is not None
    return graph


def with_outside(
    layers: int = 3, rows: int = 4, hidden: int = 16, inner: int = 32, vocabulary: int = 24
) -> LinalgGraph:
    """The same layers behind the sum of a row of each of two tables, in front of a product and the largest of a row of
    it, all in one network.
    """
    inside, full = layered(layers, rows, hidden, inner), (0, 1)
    tables = [
        Value("token", (rows, hidden), "f32", "param", "wte", row=Row("token", 5)),
        Value("place", (rows, hidden), "f32", "param", "wpe", row=Row("place", 3)),
    ]
    head = [
        Value("head", (hidden, vocabulary), "f32", "param", "head"),
        Value("scores", (rows, vocabulary), "f32"),
        Value("best", (rows,), "f32"),
    ]
    embedded = elementwise("embed", (rows, hidden), (Operand("token", full), Operand("place", full)), "x", SUM)
    best = LinalgOp(
        "best",
        "generic",
        (rows, vocabulary),
        ("parallel", "reduction"),
        (0, 1),
        (Operand("scores", full),),
        (Operand("best", (0,)),),
        Body(("f32",), (), 0),
        Reduction("max", float("-inf")),
    )
    last = f"h{layers - 1}.out"
    behind = matmul("scores", rows, hidden, vocabulary, last, "head", "scores"), best
    others = [value for value in inside.values if value.name != "x"]
    values = (*tables, Value("x", (rows, hidden), "f32"), *others, *head)
    outputs = (*inside.outputs, Output("best_out", "best", (0,), (rows,)))
    graph = LinalgGraph("whole", values, (embedded, *inside.ops, *behind), outputs)
    graph.verify()
    return graph


def folded_whole(layers: int = 3) -> LinalgGraph:
    """The same, folded."""
    graph = folded(with_outside(layers))
    assert graph is not None
    return graph


def biased(layers: int = 3, rows: int = 1, hidden: int = 16, inner: int = 32) -> LinalgGraph:
    """x -> product + a vector -> product, weighed by another vector, + x in each layer; behind them a product + a
    vector: small parameters of two lengths, of layers and of what lies behind.
    """
    values, ops = [Value("x", (rows, hidden), "f32", "input", "x")], list[LinalgOp]()
    full, before = (0, 1), "x"

    def vector(name: str, length: int) -> Operand:
        values.append(Value(name, (length,), "f32", "param", name))
        return Operand(name, (1,))

    def product(name: str, of: str, inputs: int, outputs: int) -> Operand:
        weight = f"{name}.weight"
        values.extend((Value(weight, (inputs, outputs), "f32", "param", weight), Value(name, (rows, outputs), "f32")))
        ops.append(matmul(name, rows, inputs, outputs, of, weight, name))
        return Operand(name, full)

    def made(name: str, length: int, operands: tuple[Operand, ...], body: Body) -> str:
        values.append(Value(name, (rows, length), "f32"))
        ops.append(elementwise(name, (rows, length), operands, name, body))
        return name

    for n in range(layers):
        up = product(f"h{n}.up", before, hidden, inner)
        wide = made(f"h{n}.wide", inner, (up, vector(f"h{n}.bias", inner)), SUM)
        down = product(f"h{n}.down", wide, inner, hidden)
        before = made(f"h{n}.out", hidden, (down, vector(f"h{n}.gain", hidden), Operand(before, full)), MASKED)
    last = made("shifted", hidden, (product("scores", before, hidden, hidden), vector("shift", hidden)), SUM)
    graph = LinalgGraph("biased", tuple(values), tuple(ops), (Output("y", last, full, (rows, hidden)),))
    graph.verify()
    return graph


def folded_biased(layers: int = 3) -> LinalgGraph:
    """The same, folded."""
    graph = folded(biased(layers))
    assert graph is not None
    return graph


def at_rows(graph: LinalgGraph, tensors: dict[str, Array], **told: int) -> dict[str, Array]:
    """What the network has in a launch with these arguments, or their largest, of those tensors."""
    rows = {value.source: value.row for value in graph.values if value.row is not None}
    return tensors | {n: tensors[n].take(told.get(r.argument, r.count - 1), r.axis) for n, r in rows.items()}
