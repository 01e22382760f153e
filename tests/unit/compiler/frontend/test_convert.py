"""The graph of a small GPT-2 computes what PyTorch computes, in every phase and precision."""

from typing import Any

import numpy as np
import pytest

from compiler.frontend.interpret import interpret, outputs_of
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Phase, Precision, Workload

TOLERANCE = {"f32": 1e-5, "w8a8": 1e-4, "w4a8": 1e-4}
WIDE_HEADS = Gpt2Config(n_embd=96, n_head=2, n_layer=1, n_inner=320, activation_function="gelu", n_positions=16)
RELU = Gpt2Config(
    n_embd=32, n_head=2, n_layer=3, n_inner=48, activation_function="relu", scale_attn_by_inverse_layer_idx=True
)


def worst(bundle: Any) -> float:
    """Largest difference between the interpreted graph and PyTorch."""
    bundle.graph.verify()
    network = bundle.network()
    made = outputs_of(network, interpret(network, bundle.tensors()))
    expected = bundle.expected()
    assert made.keys() == expected.keys()
    assert all(made[name].shape == expected[name].shape for name in made)
    return max(float(np.abs(made[name] - expected[name]).max()) for name in made)


@pytest.mark.parametrize("precision", ["f32", "w8a8", "w4a8"])
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_graph_equals_pytorch(make_bundle: Any, phase: Phase, precision: Precision) -> None:
    assert worst(make_bundle(phase, precision)) < TOLERANCE[precision]


@pytest.mark.parametrize(
    ("phase", "precision", "length", "layers", "config"),
    [
        ("decode", "f32", 2, 1, RELU),  # a cache of one row: its axis has extent 1
        ("prefill", "f32", 1, 1, RELU),  # every reduction over positions vanishes
        ("prefill", "w4a8", 5, 2, RELU),  # a length that no tile divides; heads of 16 in groups of 32
        ("decode", "w4a8", 3, 1, WIDE_HEADS),  # heads of 48 share a group; erf
    ],
)
def test_odd_shapes_equal_pytorch(
    make_bundle: Any, phase: Phase, precision: Precision, length: int, layers: int, config: Gpt2Config
) -> None:
    assert worst(make_bundle(phase, precision, length, layers, config)) < TOLERANCE[precision]


def test_integer_products_are_exact(make_bundle: Any) -> None:
    """The quantised activations and accumulators of the first layer are those of the torch module, bit for bit."""
    import torch

    bundle = make_bundle("prefill", "w4a8")
    tensors = bundle.tensors()
    values = interpret(bundle.graph, tensors)
    weight = torch.from_numpy(tensors["h0.mlp.proj.weight"])
    rows = values["h0.mlp.proj.quantise"]  # [rows, groups, size]
    assert rows.dtype == np.int8
    assert rows.min() >= -127
    expected = torch.bmm(torch.from_numpy(rows).transpose(0, 1).to(torch.int32), weight.to(torch.int32))
    made = values["h0.mlp.proj.matmul"]  # [rows, outputs, groups]
    assert made.dtype == np.int32
    np.testing.assert_array_equal(made, expected.permute(1, 2, 0).numpy())


def test_int4_weights_fit_four_bits(make_bundle: Any) -> None:
    bundle = make_bundle("decode", "w4a8")
    weights = [v for v in bundle.graph.values if v.dtype == "i4"]
    assert [v.name for v in weights] == [f"h0.{n}.weight" for n in ("attn.qkv", "attn.proj", "mlp.fc", "mlp.proj")]
    assert all(np.abs(bundle.tensors()[v.source]).max() == 7 for v in weights)
    for op in bundle.graph.ops:
        if any(o.value in {v.name for v in weights} for o in op.inputs):
            assert op.body is not None
            assert op.body.arg_dtypes == ("i8", "i4")
            assert [o.name for o in op.body.ops] == ["arith.extsi", "arith.extsi", "arith.muli"]


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_normal_form(make_bundle: Any, phase: Phase) -> None:
    """Only generic, chunk and concat are left; no unit dimensions; names are readable and stable."""
    graph: LinalgGraph = make_bundle(phase, "f32").graph
    assert {op.kind for op in graph.ops} == {"generic", "chunk"} | ({"concat"} if phase == "decode" else set())
    assert all(extent > 1 for v in graph.values for extent in v.shape)
    assert all(set("abcdefghijklmnopqrstuvwxyz0123456789_.") >= set(op.name) for op in graph.ops)
    assert all(sorted(set(op.groups)) == list(range(len(set(op.groups)))) for op in graph.ops)
    expected = "qkv.matmul qkv qkv.chunk scores.matmul softmax.max softmax.exp softmax.sum context.matmul proj.matmul"
    assert {f"h0.attn.{n}" for n in expected.split()} <= graph.op.keys()
    assert {"h0.ln_1.mean", "h0.ln_1", "h0.mlp.gelu", "h0.residual_1", "h0.residual_2"} <= graph.op.keys()
    assert [o.value for o in graph.outputs] == ["h0.residual_2", "h0.attn.k", "h0.attn.v"]


def test_roles(make_bundle: Any) -> None:
    graph: LinalgGraph = make_bundle("decode", "w4a8").graph
    assert {v.name for v in graph.values if v.role == "state"} == {"h0.k_past", "h0.v_past"}
    assert {v.name for v in graph.values if v.role == "input"} == {"hidden", "mask"}
    assert {v.name for v in graph.values if v.role == "scalar"} == {
        f"h0.{n}.quantise.inv_scale" for n in ("attn.qkv", "attn.proj", "mlp.fc", "mlp.proj")
    }


def test_heads_are_one_group(make_bundle: Any) -> None:
    """12 = 6 x 2 heads where two heads share a quantisation group: two loops, tiled together."""
    op = make_bundle("decode", "w4a8", 8, 1, Gpt2Config()).graph.op["h0.attn.scores.matmul"]
    assert op.loops == (6, 2, 8, 64)
    assert op.groups == (0, 0, 1, 2)


@pytest.mark.parametrize("precision", ["f32", "w4a8"])
def test_real_gpt2_block_is_small(make_bundle: Any, precision: Precision) -> None:
    source = resolve_model("gpt2")
    graph = make_bundle("decode", precision, 8, 1, source.config).graph
    assert 25 <= len(graph.ops) <= 36


def test_same_workload_same_bytes(make_bundle: Any, tmp_path: Any) -> None:
    from compiler.frontend.convert import convert

    first = make_bundle("decode", "w4a8")
    convert(ModelSource("tiny", Gpt2Config(**_fields(first))), first.workload, tmp_path, lambda _: None)
    for file in ("graph.json", "linalg.mlir", "tensors.npz", "expected.npz", "meta.json"):
        assert (tmp_path / file).read_bytes() == (first.directory / file).read_bytes(), file


def _fields(bundle: Any) -> dict[str, Any]:
    return {name: value for name, value in bundle.meta["config"].items() if name != "model_type"}


def test_layers_keep_their_weights(make_bundle: Any) -> None:
    """The first layer of two is the first layer of one."""
    one, two = make_bundle("decode", "f32").tensors(), make_bundle("decode", "f32", 8, 2).tensors()
    np.testing.assert_array_equal(one["h0.mlp.fc.weight"], two["h0.mlp.fc.weight"])
    assert worst(make_bundle("decode", "f32", 8, 2)) < 1e-5


def test_declared_parameters_are_those_stored(make_bundle: Any) -> None:
    bundle = make_bundle("decode", "f32")
    assert bundle.meta["parameter_bytes"] == 4 * Gpt2Config(**_fields(bundle)).layer_parameters


def test_workload_name(make_bundle: Any) -> None:
    bundle = make_bundle("decode", "f32")
    assert bundle.graph.name == "tiny-decode8-f32"
    assert bundle.workload == Workload("tiny", "decode", 8, "f32")
