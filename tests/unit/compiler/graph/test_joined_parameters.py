"""Small parameters of layers that come from memory as one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from layered_networks import SUM, Array
from proved_designs import edit_in, is_caught, make, verdict
from small_graphs import F32_PRODUCT, elementwise

from compiler.errors import VerificationError
from compiler.frontend.interpret import interpret, outputs_of
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Reduction, Value
from compiler.graph.task_graph import LoadTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.runs import QUICK

WIDTH, LAYERS = 32, 3
U55C = load_platform("u55c")


def scaled_and_shifted() -> LinalgGraph:
    """x -> x * scale + shift in each layer; parameters stand in the other order than they are used."""
    values, ops = [Value("x", (WIDTH,), "f32", "input", "x")], list[LinalgOp]()
    before = "x"
    for h in (f"h{n}" for n in range(LAYERS)):
        values += [Value(f"{h}.{name}", (WIDTH,), "f32", "param", f"{h}.{name}") for name in ("shift", "scale")]
        values += [Value(f"{h}.{name}", (WIDTH,), "f32") for name in ("scaled", "out")]
        for name, read, by, body in (("scaled", before, "scale", F32_PRODUCT), ("out", f"{h}.scaled", "shift", SUM)):
            inputs = Operand(read, (0,)), Operand(f"{h}.{by}", (0,))
            ops.append(elementwise(f"{h}.{name}", (WIDTH,), inputs, f"{h}.{name}", body))
        before = f"{h}.out"
    graph = LinalgGraph("scaled", tuple(values), tuple(ops), (Output("y", before, (0,), (WIDTH,)),))
    graph.verify()
    return graph


def test_they_are_one_parameter_in_the_order_of_their_use() -> None:
    graph = folded(scaled_and_shifted())
    assert graph is not None
    (whole,) = (value for value in graph.values if value.role == "param")
    assert whole.shape == (2, WIDTH)
    assert whole.sources == tuple(f"h{n}.{name}" for n in range(LAYERS) for name in ("scale", "shift"))
    assert (graph.ops[0].kind, [out.value for out in graph.ops[0].outputs]) == ("chunk", ["h0.scale", "h0.shift"])


def test_what_engines_may_read_comes_by_itself() -> None:
    """Scales of parts that are added up: one load brings those of all that take turns, straight to the engine."""
    values, ops = [Value("x", (4, WIDTH), "f32", "input", "x")], list[LinalgOp]()
    before = "x"
    for name in (f"h{n}.{part}" for n in range(LAYERS) for part in ("a", "b")):
        values += [Value(f"{name}.scale", (WIDTH,), "f32", "param", f"{name}.scale"), Value(name, (4, WIDTH), "f32")]
        reads = Operand(before, (0, 1)), Operand(f"{name}.scale", (1,))
        summed = replace(elementwise(name, (4, WIDTH), reads, name, F32_PRODUCT), reduction=Reduction("add", 0.0))
        ops.append(replace(summed, loops=(4, WIDTH, 1), iterators=(*summed.iterators, "reduction"), groups=(0, 1, 2)))
        before = name
    network = LinalgGraph("sums", tuple(values), tuple(ops), (Output("y", before, (0, 1), (4, WIDTH)),))
    network.verify()
    graph = folded(network)
    assert graph is not None
    assert sorted(v.name for v in graph.values if v.role == "param") == ["h0.a.scale", "h0.b.scale"]


def test_they_take_one_load() -> None:
    graph = folded(scaled_and_shifted())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(overall_unroll=8), U55C)
    assert sum(isinstance(task, LoadTask) for task in tasks.tasks) == 2  # and that of x
    chunk = next(task for task in tasks.tasks if task.kind == "chunk")
    assert tasks.stream[chunk.reads[0].stream].width > 32  # in lanes of those that read them


def test_tensors_of_no_whole_number_of_parts_are_refused() -> None:
    graph = folded(scaled_and_shifted())
    assert graph is not None
    values = tuple(replace(v, sources=v.sources[:-1]) if v.sources else v for v in graph.values)
    with pytest.raises(VerificationError, match="must hold a tensor of each of 3 layers"):
        replace(graph, values=values).verify()


@pytest.mark.slow
def test_each_reader_gets_what_is_its_own(tmp_path: Path) -> None:
    network, rng = scaled_and_shifted(), np.random.default_rng(0)
    tensors: dict[str, Array] = {
        v.source: rng.normal(size=v.shape).astype(np.float32) for v in network.values if v.source
    }
    made = make(tmp_path / "made", network, tensors, outputs_of(network, interpret(network, tensors)), Knobs())
    found = verdict(made, tmp_path / "right", QUICK)
    assert found.passed, found.message
    load, chunk = "load_h0_small0", "h0_small0_chunk"
    wrong = (
        edit_in(load, "[w]", "[w ^ 2]"),  # the other parameter of the layer
        edit_in(load, "[w]", "[w % 4]"),  # those of the first layer
        edit_in(chunk, "n1 = 0; n1 < 2; ++n1", "n1 = 1; n1 >= 0; --n1"),  # to each reader what is the other's
    )
    assert all(is_caught(made, tmp_path / f"wrong{n}", edit) for n, edit in enumerate(wrong))
