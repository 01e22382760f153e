"""ONNX files: what imports computes what onnx says; what does not is named with its node."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_models
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, shape_inference
from onnx_models import followed, integers, single, weights

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.bundle import Bundle
from compiler.frontend.inputs.onnx_checks import check_cost, check_indices, check_shapes
from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim

ImportOnnx = Callable[[ModelProto], Bundle]
X = {"x": (1, 6, 8)}
Y = {"y": (1, 6, 8)}
SQUARE: Any = {"x": (6, 6)}


def assert_computes(bundle: Bundle) -> None:
    """The graph gives what the reference gave, to the rounding of f32 sums."""
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    expected = bundle.expected()
    assert set(made) == set(expected)
    for name, result in expected.items():
        np.testing.assert_allclose(made[name], result, rtol=0, atol=5e-5 * np.abs(result).max(), err_msg=name)


def test_mlp_of_prime_sizes(import_onnx: ImportOnnx) -> None:
    bundle = import_onnx(onnx_models.mlp())
    assert_computes(bundle)
    assert [op.name for op in bundle.graph.ops] == ["fc1.gemm.matmul", "act.relu", "fc2.gemm.matmul", "fc2.gemm"]
    roles = {v.name: v.role for v in bundle.graph.values if v.role != "intermediate"}
    stored = dict.fromkeys(("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"), "param")
    assert roles == {"x": "input", **stored}
    assert bundle.meta["reference"] == "onnx.reference.ReferenceEvaluator"
    assert bundle.meta["config"] == {"format": "onnx"}
    assert set(bundle.expected()) == {"y"}


def test_vit_block(import_onnx: ImportOnnx) -> None:
    bundle = import_onnx(onnx_models.vit_block())
    assert_computes(bundle)
    names = [op.name for op in bundle.graph.ops]
    assert names[-1] == "residual2.add"
    assert {"attn.qkv.matmul", "attn.softmax.max", "attn.scores.matmul", "mlp.act.gelu"} <= set(names)
    chunks = [op for op in bundle.graph.ops if op.kind == "chunk"]
    assert [len(op.outputs) for op in chunks] == [3]
    # One axis of extent 1 is no loop: the batch.
    assert all(1 not in op.loops for op in bundle.graph.ops)


def test_mixer(import_onnx: ImportOnnx) -> None:
    bundle = import_onnx(onnx_models.mixer())
    assert_computes(bundle)
    # A transpose is how a value is read, not an operation.
    assert not any(op.kind != "generic" or op.name.startswith("tokens.back") for op in bundle.graph.ops)


@pytest.mark.slow
@pytest.mark.parametrize("build", [onnx_models.mlp, onnx_models.mixer, onnx_models.vit_block])
def test_designs_pass_c_simulation(build: Callable[[], ModelProto], import_onnx: ImportOnnx, tmp_path: Path) -> None:
    estimate = compile_design(import_onnx(build()), Knobs(), load_platform("u55c"), tmp_path / "design")
    assert estimate.feasible
    verdict = csim(tmp_path / "design")
    assert verdict.passed, verdict.message


@pytest.mark.slow
@pytest.mark.parametrize("slices", [1, 2])
def test_a_compiled_design_has_the_fifos_in_front_of_what_puts_tokens_together(
    slices: int, import_onnx: ImportOnnx, tmp_path: Path
) -> None:
    """Which no text of it names: C simulation holds the design to those that were certified."""
    knobs = Knobs(default_tile_size=64, engines="shared", loads="joint", stream_width=2048, slices=slices)
    bundle = import_onnx(onnx_models.mlp(1, (128, 128, 128)))
    compile_design(bundle, replace(knobs, overall_unroll=256), load_platform("u55c"), tmp_path / "design")
    dataflow = json.loads((tmp_path / "design" / "dataflow.json").read_text())
    widened = [task["name"] for task in dataflow["tasks"] if task.get("pieces")]
    assert widened == (["engine0_in1_widening"] if slices == 1 else [f"engine0_slice{n}_in1_widening" for n in (0, 1)])
    verdict = csim(tmp_path / "design")
    assert verdict.passed, verdict.message


UNARY = (
    "Abs Ceil Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Mish Neg Reciprocal Relu Round Selu Sigmoid Sign "
    "Softmax LogSoftmax Softplus Softsign Tanh ThresholdedRelu"
)


@pytest.mark.parametrize("kind", UNARY.split())
def test_unary_nodes(kind: str, import_onnx: ImportOnnx) -> None:
    assert_computes(import_onnx(single(kind, X, Y, opset=22)))


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
@pytest.mark.parametrize(
    "other", [weights(0, 8), np.float32(2.5), weights(1, 1, 6, 1)], ids=["row", "scalar", "column"]
)
def test_binary_nodes(kind: str, other: Any, import_onnx: ImportOnnx) -> None:
    assert_computes(import_onnx(single(kind, X, Y, {"w": other})))


NODES: dict[str, ModelProto] = {
    "matmul of rank 2": single("MatMul", {"x": (6, 8)}, {"y": (6, 5)}, {"w": weights(0, 8, 5)}),
    "matmul of rank 3": single("MatMul", {"x": (3, 6, 8)}, {"y": (3, 6, 5)}, {"w": weights(0, 8, 5)}),
    "matmul of a vector": single("MatMul", {"x": (8,)}, {"y": (5,)}, {"w": weights(0, 8, 5)}),
    "dot product": single("MatMul", {"x": (1, 8), "z": (8, 1)}, {"y": (1, 1)}),
    "batched matmul": single("MatMul", {"x": (2, 3, 6, 8), "z": (2, 3, 8, 5)}, {"y": (2, 3, 6, 5)}),
    "gemm": single(
        "Gemm", {"x": (8, 6)}, {"y": (6, 5)}, {"w": weights(0, 5, 8), "b": weights(1, 5)}, transA=1, transB=1, alpha=0.5
    ),
    "einsum": single("Einsum", {"x": (3, 6, 8), "z": (3, 5, 8)}, {"y": (3, 6, 5)}, equation="bij,bkj->bik"),
    "square": single("Pow", X, Y, {"two": np.float32(2)}),
    "clip": single("Clip", X, Y, {"low": np.float32(-0.5), "high": np.float32(6)}),
    "layer norm without bias": single("LayerNormalization", X, Y, {"w": weights(0, 8)}),
    "group norm": single(
        "GroupNormalization",
        {"x": (1, 8, 5)},
        {"y": (1, 8, 5)},
        {"s": weights(0, 8), "b": weights(1, 8)},
        21,
        num_groups=2,
    ),
    "batch norm": single(
        "BatchNormalization",
        {"x": (6, 8)},
        {"y": (6, 8)},
        {"s": weights(0, 8), "b": weights(1, 8), "m": weights(2, 8), "v": np.abs(weights(3, 8))},
    ),
    "greatest of padded windows": single(
        "MaxPool", {"x": (1, 6, 8, 8)}, {"y": (1, 6, 4, 4)}, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]
    ),
    "one window, with lines left over": single(
        "Conv", {"x": (1, 3, 3, 3)}, {"y": (1, 5, 1, 1)}, {"w": weights(0, 5, 3, 2, 2)}, strides=[2, 2]
    ),
    "one window, which reaches out": single(
        "Conv",
        {"x": (1, 3, 2, 2)},
        {"y": (1, 5, 1, 1)},
        {"w": weights(0, 5, 3, 3, 3)},
        strides=[2, 2],
        pads=[1, 1, 1, 1],
    ),
    "windows of one line": single(
        "Conv", {"x": (1, 3, 1, 4)}, {"y": (1, 5, 1, 4)}, {"w": weights(0, 5, 3, 3, 3)}, pads=[1, 1, 1, 1]
    ),
    "windows of one line alone": single(
        "Conv", {"x": (1, 3, 1)}, {"y": (1, 5, 3)}, {"w": weights(0, 5, 3, 3)}, pads=[2, 2]
    ),
    "one line in strides": single(
        "Conv", {"x": (1, 3, 1, 1)}, {"y": (1, 5, 1, 1)}, {"w": weights(0, 5, 3, 1, 1)}, strides=[2, 2]
    ),
    "one pixel of four": single(
        "MaxPool", {"x": (1, 3, 2, 2)}, {"y": (1, 3, 1, 1)}, kernel_shape=[1, 1], strides=[2, 2]
    ),
    "nearest neighbours, then windows": followed(
        ("Resize", ["x", "", "by"], ["a"], {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
        ("Conv", ["a", "w"], ["y"], {"pads": [1, 1, 1, 1]}),
        inputs={"x": (1, 3, 4, 5)},
        outputs={"y": (1, 2, 8, 15)},
        by=np.array([1, 1, 2, 3], np.float32),
        w=weights(0, 2, 3, 3, 3),
    ),
    "nearest neighbours of nearest neighbours, beside others": followed(
        ("Resize", ["x", "", "", "four"], ["a"], {}),
        ("Resize", ["a", "", "by"], ["b"], {"axes": [2]}),
        ("Concat", ["b", "z"], ["c"], {"axis": 2}),
        ("Relu", ["c"], ["y"], {}),
        inputs={"x": (1, 3, 2), "z": (1, 3, 5)},
        outputs={"y": (1, 3, 17)},
        four=integers(1, 3, 4),
        by=np.array([3], np.float32),
    ),
    "rows twice, then every other column": followed(
        ("Resize", ["x", "", "by"], ["a"], {}),
        ("MaxPool", ["a"], ["y"], {"kernel_shape": [1, 1], "strides": [1, 2]}),
        inputs={"x": (1, 3, 2, 4)},
        outputs={"y": (1, 3, 4, 2)},
        by=np.array([1, 1, 2, 1], np.float32),
    ),
    "nearest neighbours alone": followed(
        ("Resize", ["x", "", "by"], ["a"], {}),
        ("Relu", ["a"], ["y"], {}),
        inputs={"x": (1, 3, 4)},
        outputs={"y": (1, 3, 8)},
        by=np.array([1, 1, 2], np.float32),
    ),
    "lines between": followed(
        ("Resize", ["x", "", "by"], ["a"], {"mode": "linear"}),
        ("Relu", ["a"], ["y"], {}),
        inputs={"x": (1, 3, 4, 5)},
        outputs={"y": (1, 3, 8, 15)},
        by=np.array([1, 1, 2, 3], np.float32),
    ),
    "lines between of one dimension": followed(
        (
            "Resize",
            ["x", "", "", "four"],
            ["y"],
            {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
        ),
        inputs={"x": (1, 3, 4)},
        outputs={"y": (1, 3, 16)},
        four=integers(1, 3, 16),
    ),
    "lines between of a single line": followed(
        ("Resize", ["x", "", "by"], ["a"], {"mode": "linear"}),
        ("Relu", ["a"], ["y"], {}),
        inputs={"x": (1, 3, 1, 2)},
        outputs={"y": (1, 3, 4, 4)},
        by=np.array([1, 1, 4, 2], np.float32),
    ),
    "transposed convolution": single(
        "ConvTranspose",
        {"x": (1, 4, 5, 3)},
        {"y": (1, 6, 10, 8)},
        {"w": weights(0, 4, 6, 4, 3), "b": weights(1, 6)},
        strides=[2, 3],
        pads=[1, 1, 1, 0],
    ),
    "transposed convolution without strides": single(
        "ConvTranspose", {"x": (1, 3, 7)}, {"y": (1, 2, 9)}, {"w": weights(0, 3, 2, 3)}, dilations=[2], pads=[1, 1]
    ),
    "global maximum": single("GlobalMaxPool", {"x": (1, 6, 8, 8)}, {"y": (1, 6, 1, 1)}),
    "softmax over the middle": single("Softmax", X, Y, axis=1),
    "mean": single("ReduceMean", X, {"y": (1, 6)}, {"axes": integers(-1)}, keepdims=0),
    "maximum": single("ReduceMax", X, {"y": (1, 1, 8)}, {"axes": integers(1)}),
    "norm": single("ReduceL2", X, {"y": (1, 6, 1)}, {"axes": integers(-1)}),
    "gelu by tanh": single("Gelu", X, Y, approximate="tanh"),
    "swish, which onnx defines by others": single("Swish", X, Y, opset=24),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes(name: str, import_onnx: ImportOnnx) -> None:
    assert_computes(import_onnx(NODES[name]))


DATA_MOVEMENT: dict[str, ModelProto] = {
    "transpose": followed(
        ("Transpose", ["x"], ["a"], {"perm": [0, 2, 1]}), ("Relu", ["a"], ["y"], {}), outputs={"y": (1, 8, 6)}
    ),
    "reshape": followed(
        ("Relu", ["x"], ["a"], {}), ("Reshape", ["a", "s"], ["y"], {}), outputs={"y": (6, 2, 4)}, s=integers(6, 2, 4)
    ),
    "flatten": followed(
        ("Flatten", ["x"], ["a"], {}), ("MatMul", ["a", "w"], ["y"], {}), outputs={"y": (1, 5)}, w=weights(0, 48, 5)
    ),
    "split": followed(
        ("Split", ["x"], ["a", "b"], {"axis": -1, "num_outputs": 2}),
        ("Mul", ["a", "b"], ["y"], {}),
        outputs={"y": (1, 6, 4)},
    ),
    "slice": followed(
        ("Slice", ["x", "from", "to", "axis"], ["a"], {}),
        ("Relu", ["a"], ["y"], {}),
        inputs={"x": (1, 6, 8)},
        outputs={"y": (1, 6, 4)},
        **{"from": integers(4), "to": integers(8), "axis": integers(2)},
    ),
    "one of equal parts": followed(
        ("Gather", ["x", "i"], ["a"], {"axis": 2}),
        ("Relu", ["a"], ["y"], {}),
        inputs={"x": (1, 6, 4)},
        outputs={"y": (1, 6)},
        i=np.array(-2, np.int64),
    ),
    "class token": followed(
        ("Relu", ["x"], ["a"], {}),
        ("Concat", ["token", "a"], ["b"], {"axis": 1}),
        ("Exp", ["b"], ["y"], {}),
        outputs={"y": (1, 7, 8)},
        token=weights(0, 1, 1, 8),
    ),
    "expand": followed(
        ("Expand", ["x", "s"], ["a"], {}),
        ("Mul", ["a", "z"], ["y"], {}),
        inputs={"x": (1, 6, 1), "z": (1, 6, 8)},
        outputs=Y,
        s=integers(1, 6, 8),
    ),
    "sizes by arithmetic, as PyTorch writes unflatten": followed(  # of nn.MultiheadAttention
        ("Mod", ["minus", "three"], ["last"], {}),
        ("Reshape", ["last", "one"], ["at"], {}),
        ("Add", ["last", "one"], ["behind"], {}),
        ("Shape", ["x"], ["s"], {}),
        ("Slice", ["s", "zero", "at"], ["before"], {}),
        ("Slice", ["s", "behind", "end"], ["after"], {}),
        ("Concat", ["before", "parts", "after"], ["to"], {"axis": 0}),
        ("Reshape", ["x", "to"], ["a"], {}),
        ("Relu", ["a"], ["y"], {}),
        outputs={"y": (1, 6, 2, 4)},
        minus=integers(-1),
        zero=integers(0),
        one=integers(1),
        three=integers(3),
        end=integers(2**63 - 1),
        parts=integers(2, 4),
    ),
    "two results": followed(("Relu", ["x"], ["y"], {}), ("Exp", ["y"], ["z"], {}), outputs={**Y, "z": (1, 6, 8)}),
    "constant nodes": onnx_models.model(
        [
            helper.make_node("Constant", [], ["c"], value_float=2.0),
            helper.make_node("Constant", [], ["d"], value_floats=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
            helper.make_node("Constant", [], ["s"], value_ints=[6, 8]),
            helper.make_node("Mul", ["x", "c"], ["a"]),
            helper.make_node("Add", ["a", "d"], ["b"]),
            helper.make_node("Reshape", ["b", "s"], ["y"]),
        ],
        X,
        {"y": (6, 8)},
    ),
}


@pytest.mark.parametrize("name", DATA_MOVEMENT)
def test_data_movement(name: str, import_onnx: ImportOnnx) -> None:
    assert_computes(import_onnx(DATA_MOVEMENT[name]))


def test_layer_norm_as_older_exporters_write_it(import_onnx: ImportOnnx) -> None:
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["m"], name="/ln/ReduceMean", axes=[-1]),
        helper.make_node("Sub", ["x", "m"], ["c"], name="/ln/Sub"),
        helper.make_node("Pow", ["c", "two"], ["p"], name="/ln/Pow"),
        helper.make_node("ReduceMean", ["p"], ["v"], name="/ln/ReduceMean_1", axes=[-1]),
        helper.make_node("Add", ["v", "epsilon"], ["s"], name="/ln/Add"),
        helper.make_node("Sqrt", ["s"], ["d"], name="/ln/Sqrt"),
        helper.make_node("Div", ["c", "d"], ["y"], name="/ln/Div"),
    ]
    made = onnx_models.model(nodes, X, Y, {"two": np.float32(2), "epsilon": np.float32(1e-5)}, opset=13)
    bundle = import_onnx(made)
    assert_computes(bundle)
    assert not any(op.name == "math.powf" for o in bundle.graph.ops if o.body for op in o.body.ops)


def test_names_from_outside_become_plain_and_stay_apart(import_onnx: ImportOnnx) -> None:
    nodes = [
        helper.make_node("Add", ["x", "file"], ["a"], name="main"),
        helper.make_node("Relu", ["a"], ["b"], name="../../Évil name\n"),
        helper.make_node("Exp", ["b"], ["c"], name="a.b"),
        helper.make_node("MatMul", ["c", "W"], ["d"], name="a_b"),
        helper.make_node("Neg", ["d"], ["int"], name=""),
    ]
    bundle = import_onnx(
        onnx_models.model(nodes, X, {"int": (1, 6, 8)}, {"file": weights(0, 8), "W": weights(1, 8, 8)})
    )
    assert_computes(bundle)
    graph = bundle.graph
    assert {v.name for v in graph.values if v.role == "param"} == {"n_file", "w"}
    assert graph.outputs[0].name == "n_int"
    names = [op.name.replace(".", "_") for op in graph.ops]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.replace("_", "").isalnum() for name in names)


REFUSED: dict[str, tuple[ModelProto, str]] = {
    "transposed convolution that leaves gaps": (
        single(
            "ConvTranspose", {"x": (1, 3, 8, 8)}, {"y": (1, 5, 15, 15)}, {"w": weights(0, 3, 5, 1, 1)}, strides=[2, 2]
        ),
        r"ConvTranspose at net.convtranspose is not supported: its kernel is smaller than its stride",
    ),
    "upsampling by curves": (
        followed(
            ("Resize", ["x", "", "by"], ["y"], {"mode": "cubic"}),
            inputs={"x": (1, 3, 4, 4)},
            outputs={"y": (1, 3, 8, 8)},
            by=np.array([1, 1, 2, 2], np.float32),
        ),
        r"Resize at net.resize is not supported: it interpolates \('cubic'\).*\[ONNX node '/net/Resize'",
    ),
    "padding that no window reads": (
        single("Conv", {"x": (1, 3, 8, 8)}, {"y": (1, 5, 10, 10)}, {"w": weights(0, 5, 3, 1, 1)}, pads=[1, 1, 1, 1]),
        r"windows of 1 lines that lie outside of all lines \[ONNX node '/net/Conv'",
    ),
    "gather": (
        followed(("Gather", ["x", "i"], ["y"], {}), inputs=SQUARE, outputs={"y": (2, 6)}, i=integers(0, 1)),
        r"Gather at net.gather is not supported: .* depends on the data.*\[ONNX node '/net/Gather'",
    ),
    "sine": (single("Sin", X, Y), r"scalar operation math.sin .*\[ONNX node '/net/Sin' \(Sin\)\]"),
    "unequal split": (
        followed(
            ("Split", ["x", "s"], ["a", "b"], {"axis": -1}),
            ("Relu", ["a"], ["y"], {}),
            ("Relu", ["b"], ["z"], {}),
            outputs={"y": (1, 6, 2), "z": (1, 6, 6)},
            s=integers(2, 6),
        ),
        r"only equal parts work \[ONNX node '/net/Split'",
    ),
    "strided slice": (
        followed(
            ("Slice", ["x", "from", "to", "axis", "step"], ["a"], {}),
            ("Relu", ["a"], ["y"], {}),
            inputs={"x": (1, 6, 8)},
            outputs={"y": (1, 6, 4)},
            **{"from": integers(0), "to": integers(8), "axis": integers(2), "step": integers(2)},
        ),
        r"strides .*\[ONNX node '/net/Slice'",
    ),
    "regrouping": (
        followed(
            ("Relu", ["x"], ["a"], {}),
            ("Reshape", ["a", "s"], ["b"], {}),
            ("Add", ["b", "w"], ["y"], {}),
            inputs={"x": (6, 10)},
            outputs={"y": (4, 15)},
            s=integers(4, 15),
            w=weights(0, 15),
        ),
        r"the reshape .*\[ONNX node '/net/Reshape'",
    ),
    "padding": (
        single("Pad", X, {"y": (1, 7, 8)}, {"pads": integers(0, 0, 0, 0, 1, 0)}),
        r"tensor.pad .*\[ONNX node '/net/Pad'",
    ),
    "without a lowering": (
        single("Attention", dict.fromkeys("qkv", (1, 6, 8)), Y, opset=23, q_num_heads=2, kv_num_heads=2),
        r"failed to legalize .*\[ONNX node '/net/Attention'",
    ),
    "symbolic batch": (single("Relu", {"x": ("batch", 8)}, {"y": ("batch", 8)}), "'batch' without a size"),
    "nothing computed": (single("Identity", X, Y), "unchanged"),
    "other domain": (
        followed(("Thing", ["x"], ["y"], {"domain": "com.example"}), outputs=Y),
        "domain 'com.example'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_named(name: str, import_onnx: ImportOnnx) -> None:
    model, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        import_onnx(model)


def test_token_ids_are_refused_by_name(import_onnx: ImportOnnx) -> None:
    made = single("Cast", X, Y, to=TensorProto.FLOAT)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    with pytest.raises(UnsupportedError, match="x is INT64; inputs and outputs must be FLOAT"):
        import_onnx(made)


def test_half_precision_is_refused_by_name(import_onnx: ImportOnnx) -> None:
    with pytest.raises(UnsupportedError, match="tensor 'w' is FLOAT16"):
        import_onnx(single("Add", X, Y, {"w": np.ones(8, np.float16)}))


WRONG: dict[str, tuple[ModelProto, str]] = {
    "external data": (onnx_models.external("/etc/passwd"), "'/etc/passwd'; files beside an upload are never read"),
    "external data above": (onnx_models.external("../../secret"), "'../../secret'"),
    "NaN": (onnx_models.with_weight(float("nan")), r"'fc1.weight' holds values that are not finite"),
    "infinity": (onnx_models.with_weight(float("inf")), r"'fc1.weight' holds values that are not finite"),
    "size is a lie": (onnx_models.lying_about_size(), r"'fc1.weight' has the shape .*1099511627776 elements"),
    "huge intermediate": (
        followed(
            ("Expand", ["x", "s"], ["a"], {}),
            ("ReduceSum", ["a"], ["y"], {"keepdims": 0}),
            inputs={"x": (1, 1)},
            outputs={"y": ()},
            s=integers(1 << 20, 1 << 20),
        ),
        "1099511627776 elements; at most",
    ),
    "shapes that clash": (single("MatMul", {"x": (2, 3)}, {"y": (2, 5)}, {"w": weights(0, 4, 5)}), "do not fit"),
    "cycle": (followed(("Add", ["x", "y"], ["y"], {}), outputs=Y), "made or read before it"),
    "no nodes": (onnx_models.model([], X, Y), "no nodes"),
    "not finite": (single("Log", X, Y), "'y' is not finite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(name: str, import_onnx: ImportOnnx) -> None:
    model, message = WRONG[name]
    with pytest.raises(InvalidInputError, match=message):
        import_onnx(model)


def test_data_shorter_than_declared(import_onnx: ImportOnnx) -> None:
    made = onnx_models.mlp(1, (2, 2, 2))
    made.graph.initializer[0].raw_data = b"1234"
    with pytest.raises(InvalidInputError):
        import_onnx(made)


def test_control_flow_is_refused(import_onnx: ImportOnnx) -> None:
    body = onnx_models.mlp().graph
    node = helper.make_node("If", ["c"], ["y"], name="/net/If", then_branch=body, else_branch=body)
    with pytest.raises(UnsupportedError, match=r"'/net/If' \(If\)"):
        import_onnx(onnx_models.model([node], X, Y, {"c": np.array(True)}))


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08" * 100, bytes(1000)])
def test_what_is_no_onnx(content: bytes, tmp_path: Path, import_file: Callable[[Path], Bundle]) -> None:
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(InvalidInputError, match="ONNX file"):
        import_file(tmp_path / "net.onnx")


def test_a_truncated_file_is_refused(tmp_path: Path, import_file: Callable[[Path], Bundle]) -> None:
    whole = onnx_models.mlp().SerializeToString()
    (tmp_path / "net.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInputError, match="no ONNX file"):
        import_file(tmp_path / "net.onnx")


def test_the_reference_is_onnx_itself(import_onnx: ImportOnnx) -> None:
    """Not our graph: the expected results are those of the model as it was."""
    made = onnx_models.mlp(2, (3, 5, 7))
    bundle = import_onnx(made)
    from onnx.reference import ReferenceEvaluator

    checked = onnx.load_from_string(made.SerializeToString())
    [result] = ReferenceEvaluator(checked).run(None, {"x": bundle.tensors()["x"]})
    np.testing.assert_array_equal(bundle.expected()["y"], result)


def test_what_grows_within_the_network_is_refused_before_it_is_computed() -> None:
    """Each value is small enough; all of them are not. And an equation that takes long to read."""
    x = helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1 << 14, 1 << 14])
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(6)]
    y = helper.make_tensor_value_info("v6", TensorProto.FLOAT, [1 << 14, 1 << 14])
    made = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))
    with pytest.raises(InvalidInputError, match=r"computes 1879048192 elements in all; at most 1073741824"):
        check_shapes(shape_inference.infer_shapes(made))
    del made.graph.node[3:]
    made.graph.output[0].name = "v3"
    with pytest.raises(InvalidInputError, match=r"holds 536870912 elements at once; at most 402653184"):
        check_cost(shape_inference.infer_shapes(made))


@pytest.mark.parametrize(
    ("node", "products"),
    [
        (helper.make_node("MatMul", ["x", "x"], ["y"]), 1 << 42),
        (helper.make_node("Gemm", ["x", "x"], ["y"], transA=1), 1 << 42),
        (helper.make_node("Einsum", ["x", "x"], ["y"], equation="ij,kl->ik"), 1 << 56),
        (helper.make_node("Einsum", ["x", "x"], ["y"], equation="...j,...j->..."), 0),
    ],
)
def test_products_are_counted_before_they_are_computed(node: NodeProto, products: int) -> None:
    made = onnx_models.model([node], {"x": (1 << 14, 1 << 14)}, {"y": (1 << 14, 1 << 14)})
    if products:
        with pytest.raises(InvalidInputError, match=rf"multiplies {products} times"):
            check_cost(made)
    else:
        with pytest.raises(InvalidInputError, match="elements at once"):
            check_cost(made)


def test_shapes_that_double_are_refused_before_they_are_followed() -> None:
    """Forty concatenations of a shape with itself would be a list of 2^40 numbers."""
    nodes = [helper.make_node("Concat", [f"s{i}"] * 2, [f"s{i + 1}"], axis=0) for i in range(40)]
    nodes.append(helper.make_node("Reshape", ["x", "s40"], ["y"]))
    made = onnx_models.model(nodes, X, Y, {"s0": integers(1)})
    with pytest.raises(UnsupportedError, match="'s13' has 8192 elements"):
        check_indices(shape_inference.infer_shapes(made))
