"""Single precision in any order stays within the bounds; what is wrong does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import elementwise, mlp, quantised, row_reduction, softmax

from compiler.frontend.interpret import interpret
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value
from compiler.proof.bounded import Bounded, evaluate, exact
from compiler.proof.checks import compare_bounded

SEEDS = st.integers(0, 2**32 - 1)


def values_of(graph: LinalgGraph, seed: int, scale: float = 1.0) -> dict[str, Any]:
    """Every value of the graph in single precision, for random inputs."""
    rng = np.random.default_rng(seed)
    tensors: dict[str, Any] = {}
    for value in graph.values:
        if value.source and value.dtype == "f32":
            tensors[value.source] = (scale * rng.normal(size=value.shape)).astype(np.float32)
        elif value.source:
            low, high = {"i4": (-8, 8), "i8": (-128, 128)}[value.dtype]
            tensors[value.source] = rng.integers(low, high, value.shape).astype(np.int8)
    return interpret(graph, tensors)


@given(SEEDS, st.sampled_from([mlp(), softmax(), quantised()]), st.sampled_from([0.01, 1.0, 10.0]))
def test_a_network_in_single_precision_is_within_the_bounds(seed: int, graph: LinalgGraph, scale: float) -> None:
    values = values_of(graph, seed, scale)
    for op in graph.ops:
        made = evaluate(op, graph, [exact(values[o.value]) for o in op.inputs])
        for operand, bounded in zip(op.outputs, made, strict=True):
            assert compare_bounded(values[operand.value], bounded)[0] == 0, operand.value


@given(SEEDS, st.sampled_from([mlp(), softmax()]))
def test_errors_carry_through_a_network(seed: int, graph: LinalgGraph) -> None:
    """The whole network from its inputs: nothing but those is exact."""
    values = values_of(graph, seed)
    bounded = {v.name: exact(values[v.name]) for v in graph.values if v.source}
    for op in graph.ops:
        made = evaluate(op, graph, [bounded[o.value] for o in op.inputs])
        bounded |= {o.value: b for o, b in zip(op.outputs, made, strict=True)}
    for out in graph.outputs:
        got, known = values[out.value], bounded[out.value]
        assert compare_bounded(got, known)[0] == 0
        assert known.bound.max() < 1e-3 * np.abs(got).max()  # not so wide that it says nothing


def test_what_single_precision_has_not_is_infinite() -> None:
    """The exponential of 90 is no f32: one over it is zero, whatever double precision makes of it."""
    loops, x = (3,), np.array([80, 90, 120], np.float32)
    ops = (
        ScalarOp("math.exp", (0,), "f32"),
        ScalarOp("arith.constant", (), "f32", const=1.0),
        ScalarOp("arith.divf", (2, 1), "f32"),
    )
    body = Body(("f32",), ops, 3)
    op = LinalgOp("op", "generic", loops, ("parallel",), (0,), (Operand("x", (0,)),), (Operand("y", (0,)),), body)
    graph = LinalgGraph("net", (Value("x", loops, "f32", "input", "x"), Value("y", loops, "f32")), (op,), ())
    (made,) = evaluate(op, graph, [exact(x)])
    assert compare_bounded(interpret(graph, {"x": x})["y"], made)[0] == 0
    assert made.value[0] > 0
    assert made.value[1:].tolist() == made.bound[1:].tolist() == [0, 0]


@given(SEEDS)
def test_a_sum_may_go_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = 4, 257
    graph = LinalgGraph(
        "sum",
        (Value("x", (rows, columns), "f32", "input", "x"), Value("y", (rows,), "f32")),
        (row_reduction("sum", rows, columns, "x", "y"),),
        (Output("y", "y", (0,), (rows,)),),
    )
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    [bounded] = evaluate(graph.ops[0], graph, [exact(x)])
    for order in (rng.permutation(columns), np.argsort(x[0]), np.argsort(-np.abs(x[0]))):
        total = np.zeros(rows, np.float32)
        for column in order:
            total += x[:, column]
        assert compare_bounded(total, bounded)[0] == 0
    without_last = x[:, :-1].sum(axis=1)
    assert compare_bounded(without_last, bounded)[0] > 0


def chain(*ops: ScalarOp, arguments: int = 2) -> tuple[LinalgGraph, LinalgOp]:
    """An elementwise operation on inputs of 64 elements."""
    body = Body(("f32",) * arguments, ops, arguments + len(ops) - 1)
    names = [f"x{i}" for i in range(arguments)]
    op = elementwise("op", (64,), [Operand(n, (0,)) for n in names], "y", body)
    values = (*(Value(n, (64,), "f32", "input", n) for n in names), Value("y", (64,), ops[-1].dtype))
    return LinalgGraph("chain", values, (op,), (Output("y", "y", (0,), (64,)),)), op


def run(graph: LinalgGraph, inputs: dict[str, Any]) -> tuple[Any, Bounded]:
    op = graph.ops[0]
    return interpret(graph, inputs)["y"], evaluate(op, graph, [exact(inputs[o.value]) for o in op.inputs])[0]


@given(SEEDS, st.sampled_from(["arith.addf", "arith.subf", "arith.mulf", "arith.divf"]))
def test_one_operation_on_exact_numbers_is_known_to_the_last_bit(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    graph, _ = chain(ScalarOp(name, (0, 1), "f32"))
    inputs = {n: (rng.normal(size=64) * 10.0 ** rng.integers(-4, 5, 64)).astype(np.float32) for n in ("x0", "x1")}
    made, bounded = run(graph, inputs)
    assert bounded.error is None
    assert np.array_equal(made.astype(np.float64), bounded.value)


@given(SEEDS)
def test_ties_of_a_rounding_are_known(seed: int) -> None:
    """Half to even, where the number before is exact: what rounds half up, or away from zero, is off."""
    rng = np.random.default_rng(seed)
    graph, _ = chain(
        ScalarOp("arith.mulf", (0, 1), "f32"),
        ScalarOp("math.roundeven", (2,), "f32"),
        ScalarOp("arith.fptosi", (3,), "i8"),
    )
    x = (rng.integers(-40, 40, 64) + 0.5).astype(np.float32)
    x[:2] = 0.5, 2.5
    made, bounded = run(graph, {"x0": x, "x1": np.ones(64, np.float32)})
    assert compare_bounded(made, bounded)[0] == 0
    assert compare_bounded(np.floor(x + 0.5), bounded)[0] > 0
    assert compare_bounded(np.trunc(x + np.copysign(0.5, x)), bounded)[0] > 0


@given(SEEDS, st.sampled_from([1.1, 1.01, 1 + 2**-10, 1 + 2**-18]))
def test_a_constant_that_is_off_is_seen(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    graph, op = chain(
        ScalarOp("math.exp", (0,), "f32"),
        ScalarOp("arith.constant", (), "f32", 0.7),
        ScalarOp("arith.mulf", (2, 3), "f32"),
        ScalarOp("arith.addf", (4, 1), "f32"),
    )
    inputs = {n: rng.normal(size=64).astype(np.float32) for n in ("x0", "x1")}
    _, bounded = run(graph, inputs)
    assert op.body is not None
    ops = tuple(replace(s, const=0.7 * factor) if s.const is not None else s for s in op.body.ops)
    wrong = replace(graph, ops=(replace(op, body=replace(op.body, ops=ops)),))
    assert compare_bounded(interpret(wrong, inputs)["y"], bounded)[0] > 0


def test_a_comparison_that_errors_leave_open_allows_both() -> None:
    graph, op = chain(
        ScalarOp("arith.cmpf", (0, 1), "i1", predicate="ogt"),
        ScalarOp("arith.select", (2, 0, 1), "f32"),
    )
    one, open_to_both = np.ones(64), Bounded(np.full(64, 1.25), np.full(64, 0.5))
    [made] = evaluate(op, graph, [Bounded(one), open_to_both])
    assert compare_bounded(one.astype(np.float32), made)[0] == 0
    assert compare_bounded(np.full(64, 1.7, np.float32), made)[0] == 0
    assert compare_bounded(np.full(64, 3.0, np.float32), made)[0] == 64


@pytest.mark.parametrize(("bits", "value", "expected"), [("i8", 130.0, -126.0), ("i32", 2.0**31, -(2.0**31))])
def test_integers_wrap(bits: str, value: float, expected: float) -> None:
    graph, op = chain(ScalarOp("arith.addi", (0, 1), bits))
    [made] = evaluate(op, graph, [Bounded(np.full(64, value - 1)), Bounded(np.ones(64))])
    assert np.all(made.value == expected)
