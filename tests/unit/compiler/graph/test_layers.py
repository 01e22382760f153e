"""Folded layers compute what the layers did; what is not alike stays apart."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from layered_networks import SCALED, layered, tensors_of, with_op, with_outside
from several_inputs import several
from small_graphs import mlp
from window_networks import greatest, larger

from compiler.errors import VerificationError
from compiler.frontend.interpret import Array, evaluate_op, interpret, outputs_of
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import (
    each_name,
    folded,
    last_name,
    launched,
    long_itensor,
    long_nest,
    of_inputs,
    repeated_itensor,
)
from compiler.graph.linalg_graph import INDEX, Body, Carried, Layers, LinalgGraph, Operand, Output, ScalarOp, Value
from compiler.graph.nest import Nest, NestLoop


def fold(graph: LinalgGraph) -> LinalgGraph:
    found = folded(graph)
    assert found is not None
    return found


def test_layers_that_are_alike_are_one_with_the_tensors_of_all() -> None:
    graph = fold(layered(3))
    graph.verify()
    assert graph.layers == Layers(3, (Carried("h0.out", "x"),))
    assert [op.name for op in graph.ops] == ["h0.fc", "h0.act", "h0.proj", "h0.out"]
    assert graph.value["h0.up"].sources == ("h0.up", "h1.up", "h2.up")
    assert (graph.value["h0.scale"].role, graph.value["h0.scale"].tensors[-1]) == ("param", "h2.scale")
    assert (graph.value["mask"].source, graph.value["mask"].sources) == ("m", ())
    assert [(o.name, o.value, o.layer) for o in graph.outputs] == [
        *((f"h{n}.a", "h0.act", n) for n in range(3)),
        ("x_out", "h0.out", None),
    ]


def layer_by_layer(graph: LinalgGraph, tensors: dict[str, Array]) -> list[dict[str, Array]]:
    """Slow and obvious: the folded operations, once for each layer, on its tensors and what the one before made."""
    assert graph.layers is not None
    found: list[dict[str, Array]] = []
    for number in range(graph.layers.count):
        given = {v.name: tensors[v.sources[number] if v.sources else v.source] for v in graph.values if v.tensors}
        if found:
            given |= {read: found[-1][made] for made, read in graph.layers.carried}
        plain = replace(graph, values=tuple(replace(v, source=v.name if v.tensors else "") for v in graph.values))
        found.append(interpret(plain, given))
    return found


@pytest.mark.parametrize("count", [2, 3])
def test_what_is_outside_of_layers_is_in_front_of_the_first_or_behind_the_last(count: int) -> None:
    graph = fold(with_outside(count))
    graph.verify()
    assert graph.layers == Layers(count, (Carried("h0.out", "x"),), ("embed", "scores", "best"))
    assert [op.name for op in graph.ops] == ["embed", "h0.fc", "h0.act", "h0.proj", "h0.out", "scores", "best"]
    assert graph.once == {"token", "place", "h0.out", "head", "scores", "best"}
    assert [(o.name, o.value, o.layer) for o in graph.outputs[-2:]] == [
        ("x_out", "h0.out", None),
        ("best_out", "best", None),
    ]
    whole = launched(graph)
    assert (whole.value["x"].shape, whole.value[each_name("x")].shape) == ((4, 16), (count, 4, 16))
    assert [whole.op[name].loops for name in ("embed", "h0.fc", "scores")] == [(4, 16), (count, 4, 32, 16), (4, 24, 16)]
    assert whole.op["scores"].inputs[0].value == last_name("h0.out")
    assert [out.value for out in whole.outputs[-2:]] == [last_name("h0.out"), "best"]


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: with_op(graph, "embed", inputs=(Operand("token", (0, 1)), Operand("h0.out", (0, 1)))),
        lambda graph: with_op(graph, "scores", inputs=(Operand("h0.out", (0, 2)), Operand("head", (2, 1)))),
        lambda graph: with_op(graph, "scores", inputs=(Operand("x", (0, 2)), Operand("head", (2, 1)))),
        lambda graph: with_op(graph, "best", inputs=(Operand("h1.fc", (0, 1)),)),
        lambda graph: with_op(graph, "h1.out", inputs=(*graph.op["h1.out"].inputs[:2], Operand("x", (0, 1)))),
        lambda graph: with_op(graph, "h1.fc", inputs=(Operand("token", (0, 2)), Operand("h1.up", (2, 1)))),
    ],
    ids=[
        "in front reads a layer",
        "behind reads a layer but the last",
        "behind reads what is in front",
        "behind reads what a layer keeps",
        "a layer reads what is in front again",
        "a layer reads a table of what is in front",
    ],
)
def test_layers_that_share_more_with_what_is_outside_stay_apart(change: Callable[[LinalgGraph], LinalgGraph]) -> None:
    for count in (2, 3):
        assert folded(change(with_outside(count))) is None


@pytest.mark.parametrize("count", [2, 3, 5])
def test_folded_layers_one_after_the_other_are_the_network(count: int) -> None:
    network = layered(count)
    tensors, graph = tensors_of(network, count), fold(network)
    values, layers = interpret(network, tensors), layer_by_layer(graph, tensors)
    for out, whole in zip(graph.outputs, network.outputs, strict=True):
        layer = layers[-1 if out.layer is None else out.layer]
        np.testing.assert_array_equal(layer[out.value], values[whole.value])


def test_a_launch_computes_every_layer_in_a_dimension_in_front() -> None:
    network = layered(3)
    graph = fold(network)
    tensors, whole = tensors_of(network), launched(graph)
    layers = layer_by_layer(graph, tensors)
    found = {
        v.name: np.stack([tensors[s] for s in v.sources]) if v.sources else tensors[v.source]
        for v in whole.values
        if v.tensors
    }
    found[each_name("x")] = np.stack([tensors["x"], *(layer["h0.out"] for layer in layers[:-1])])
    for op in whole.ops:
        (found[op.outputs[0].value],) = evaluate_op(op, whole, [found[o.value] for o in op.inputs])
    for name in ("h0.fc", "h0.act", "h0.out"):
        expected = np.stack([layer[name] for layer in layers])
        np.testing.assert_allclose(found[name], expected, rtol=1e-5)
        assert whole.value[name].shape == found[name].shape
    assert whole.outputs[-1].value == last_name("h0.out")
    assert whole.value[last_name("h0.out")].shape == (4, 16)


def test_where_a_loop_is_stays_that_loop_behind_the_one_over_layers() -> None:
    graph = fold(layered(2))
    place = Body(("f32", "f32"), (ScalarOp(INDEX, (), "i32", const=1),), 2)
    assert launched(with_op(graph, "h0.act", body=place)).op["h0.act"].body == place.at_loops({1: 2})
    assert place.at_loops({1: 2}).ops[0].const == 2


def test_a_network_without_layers_is_launched_as_it_is() -> None:
    graph = mlp()
    assert launched(graph) is graph


def _wider(graph: LinalgGraph) -> LinalgGraph:
    """Weights of layer 1 are of another type."""
    values = tuple(replace(v, dtype="i8") if v.name == "h1.up" else v for v in graph.values)
    return replace(graph, values=values)


def _skipping(graph: LinalgGraph) -> LinalgGraph:
    """Layer 2 reads what layer 0 made, past layer 1."""
    inputs = tuple(Operand("h0.out", o.dims) if o.value == "h1.out" else o for o in graph.op["h2.fc"].inputs)
    return with_op(graph, "h2.fc", inputs=inputs)


def _from_outside(graph: LinalgGraph) -> LinalgGraph:
    """The residual of layer 1 is of the network's input."""
    inputs = tuple(Operand("x", o.dims) if o.value == "h0.out" else o for o in graph.op["h1.out"].inputs)
    return with_op(graph, "h1.out", inputs=inputs)


@pytest.mark.parametrize(
    "change",
    [
        lambda _graph: mlp(),
        lambda _graph: layered(1),
        lambda graph: with_op(graph, "h1.act", body=replace(SCALED, result=2)),
        lambda graph: with_op(graph, "h2.fc", groups=(0, 1, 1)),
        lambda graph: with_op(graph, "h1.act", name="h1.other"),
        lambda graph: with_op(graph, "h1.act", name="g1.act"),
        lambda graph: replace(graph, ops=graph.ops[:-1]),
        _wider,
        _skipping,
        _from_outside,
        lambda graph: replace(graph, outputs=(*graph.outputs, Output("early", "h0.out", (0, 1), (4, 16)))),
    ],
    ids=[
        "no layers",
        "one layer",
        "another body",
        "other loop groups",
        "another name",
        "another stem",
        "a layer cut short",
        "another type",
        "a layer skipped",
        "the input again",
        "a carried value given out early",
    ],
)
def test_what_is_not_alike_stays_apart(change: Callable[[LinalgGraph], LinalgGraph]) -> None:
    assert folded(change(layered(3))) is None


def test_nests_and_itensors_of_all_layers() -> None:
    nest = Nest((NestLoop(1, 4, 2), NestLoop(0, 3, 1)), (1, 2))
    assert long_nest(nest, 5) == Nest((NestLoop(0, 5, 1), NestLoop(2, 4, 2), NestLoop(1, 3, 1)), (1, 1, 2), 1)
    itensor = ITensor((1, 2), "f32", (Loop(4, 2, 1), Loop(3, 1, None)))
    made = long_itensor(itensor, 5)
    assert made == ITensor((1, 1, 2), "f32", (Loop(5, 1, 0), Loop(4, 2, 2), Loop(3, 1, None)))
    assert (made.tokens, made.shape) == (5 * itensor.tokens, (5, *itensor.shape))
    again = repeated_itensor(itensor, 5)
    assert (again.tokens, again.shape, again.rereads) == (5 * itensor.tokens, itensor.shape, 15)


def test_a_value_that_is_no_tensor_of_the_bundle_holds_none() -> None:
    assert Value("y", (4,), "f32").tensors == ()


@pytest.mark.parametrize("network", [mlp(), greatest(6, 2, kernel=3, padding=1), larger(4, 2, 2)], ids=lambda g: g.name)
def test_a_launch_of_several_inputs_gives_what_each_gives(network: LinalgGraph) -> None:
    rng = np.random.default_rng(3)
    parameters = {
        v.source: rng.standard_normal(v.shape).astype("f4") for v in network.values if v.role in ("param", "scalar")
    }
    tensors, expected = several(network, parameters, 3)
    graph = launched(of_inputs(network, 3))
    graph.verify()
    assert [out.shape[0] for out in graph.outputs] == [3] * len(graph.outputs)
    for name, made in outputs_of(graph, interpret(graph, tensors)).items():
        np.testing.assert_allclose(made, expected[name], rtol=1e-5, atol=1e-5)


def test_one_input_is_the_network_itself() -> None:
    network = mlp()
    assert of_inputs(network, 1) is network


def test_what_takes_several_inputs_hands_on_nothing() -> None:
    graph = of_inputs(mlp(), 3)
    graph.verify()
    assert graph.layers is not None
    with pytest.raises(VerificationError, match="hand on nothing"):
        replace(graph, layers=replace(graph.layers, outside=(graph.ops[0].name,))).verify()
