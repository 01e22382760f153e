"""The itensor dialect means what it says: the loops of an expanded design compute what the network does."""

import numpy as np
import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from networks import argmax
from plans import plans
from random_networks import networks
from small_graphs import attention_front, mlp, quantised, softmax
from stream_interpreter import run_module
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from compiler.analysis.padding import pad
from compiler.dialects.context import design_context
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_routing import JoinOp
from compiler.frontend.interpret import NUMPY_DTYPE, Array, interpret
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Value
from compiler.graph.padded_array import crop_array
from compiler.ir.expand_tasks import expanded_text
from compiler.ir.write import module_text
from compiler.options import Knobs

STAGES = ("linalg-to-dataflow", "insert-forks", "materialize-dmas", "size-fifos")


def in_turn() -> LinalgGraph:
    """Two tensors side by side along a new innermost dimension: one token of each in turn."""
    zipped = LinalgOp(
        "zip", "concat", (6, 2), ("parallel",) * 2, (0, 1), (Operand("x", (0,)), Operand("y", (0,))),
        (Operand("z", (0, 1)),), axis=1,
    )  # fmt: skip
    values = (Value("x", (6,), "f32", "input", "x"), Value("y", (6,), "f32", "input", "y"), Value("z", (6, 2), "f32"))
    return LinalgGraph("zip", values, (zipped,), (Output("z", "z", (0, 1), (6, 2)),))


SMALL = {
    "in_turn": in_turn(),
    "argmax": argmax().graph(),
    "mlp": mlp(2, 4, 8),
    "softmax": softmax(2, 8),
    "attention_front": attention_front(2, 4, 3),
    "quantised": quantised(2, 8, 4),
}
KNOBS = st.builds(
    Knobs,
    default_tile_size=st.integers(1, 16),
    overall_unroll=st.integers(1, 64),
    order=st.sampled_from(["reduction-inner", "reduction-outer"]),
    fusion_budget=st.sampled_from([0, 256, 1 << 20]),
    stream_width=st.sampled_from([32, 64, 512]),
    max_padding=st.sampled_from([0, 30]),
)


def expanded(graph: LinalgGraph, knobs: Knobs, stage: str) -> ModuleOp:
    """The design after the pass `stage`, expanded, printed, parsed and verified."""
    text = expanded_text(plans(graph, knobs)[stage])
    parsed = Parser(design_context(), text).parse_module()
    parsed.verify()
    assert module_text(parsed) == text
    return parsed


def check(graph: LinalgGraph, knobs: Knobs, stage: str, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    tensors = {
        v.source: rng.integers(-7, 8, v.shape).astype(NUMPY_DTYPE[v.dtype])
        for v in graph.values
        if v.role != "intermediate"
    }
    padded = pad(graph, knobs)
    values = interpret(padded, tensors)
    module = expanded(graph, knobs, stage)
    assert all(op.op_kind == "concat" for op in module.walk() if isinstance(op, TaskOp))
    if any(isinstance(op, TaskOp) for op in module.walk()):
        return  # a concat that is padded stays a task
    results = run_module(module, values)
    for made, output in zip(results, padded.outputs, strict=True):
        true = padded.value[output.value].true_shape
        assert_close(crop_array(made, true), crop_array(values[output.value], true))


def assert_close(made: Array, expected: Array) -> None:
    with np.errstate(all="ignore"):
        scale = np.nanmax(np.abs(np.where(np.isfinite(expected), expected, 0)), initial=1.0)
    np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-4 * min(float(scale), 1e30))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", sorted(SMALL))
def test_small_graphs(name: str, stage: str) -> None:
    for knobs in (Knobs(), Knobs(default_tile_size=2, overall_unroll=4, order="reduction-outer")):
        check(SMALL[name], knobs, stage)


def test_tokens_in_turn_are_joined() -> None:
    assert any(isinstance(op, JoinOp) for op in expanded(SMALL["in_turn"], Knobs(), "insert-forks").walk())


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks((2, 4, 6)), KNOBS, st.sampled_from(STAGES), st.integers(0, 9))
def test_random_networks(graph: LinalgGraph, knobs: Knobs, stage: str, seed: int) -> None:
    check(graph, knobs, stage, seed)
