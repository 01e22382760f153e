"""The graphs of the decoder families compute what PyTorch computes, and hold nothing that hardware need not do."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.frontend.interpret import interpret, outputs_of
from compiler.frontend.models.config import BUILT_IN, config_from_fields
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, Phase, Precision
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim

SIZES: dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
}
ONE_KEY_HEAD = {"num_attention_heads": 4, "num_key_value_heads": 1}
SLIDING = {"sliding_window": 4, "sliding_window_pattern": 2}
FAMILIES = {
    "llama": config_from_fields({"model_type": "llama", **SIZES, "attention_bias": True, "mlp_bias": True}),
    "qwen2": config_from_fields({"model_type": "qwen2", **SIZES}),
    "qwen3": config_from_fields({"model_type": "qwen3", **SIZES}),
    "gemma2": config_from_fields({"model_type": "gemma2", **SIZES, **SLIDING}),
    "gemma3": config_from_fields({"model_type": "gemma3_text", **SIZES, **SLIDING, **ONE_KEY_HEAD}),
}


def worst(bundle: Any) -> float:
    """Largest difference between the interpreted graph and PyTorch."""
    bundle.graph.verify()
    network = bundle.network()
    made = outputs_of(network, interpret(network, bundle.tensors()))
    expected = bundle.expected()
    assert made.keys() == expected.keys()
    return max(float(np.abs(made[name] - expected[name]).max()) for name in made)


# Each family in both phases and at every precision, and every precision in both phases. All thirty find no more: a
# precision changes the linear layers, which the families share, and a phase the keys and values that attention reads.
PAIRS: tuple[tuple[str, Phase, Precision, int], ...] = (
    ("llama", "prefill", "f32", 1),
    ("llama", "decode", "w8a8", 1),
    ("llama", "prefill", "w4a8", 1),
    ("qwen2", "decode", "f32", 1),
    ("qwen2", "prefill", "w8a8", 1),
    ("qwen2", "decode", "w4a8", 1),
    ("qwen3", "decode", "f32", 1),
    ("qwen3", "prefill", "w8a8", 1),
    ("qwen3", "decode", "w4a8", 1),
    ("gemma2", "decode", "f32", 1),
    ("gemma2", "decode", "w8a8", 1),
    ("gemma2", "prefill", "w4a8", 1),
    ("gemma3", "prefill", "f32", 2),
    ("gemma3", "prefill", "w8a8", 1),
    ("gemma3", "decode", "w4a8", 1),
)


def test_every_pair_of_family_phase_and_precision_is_tried() -> None:
    families, phases, precisions = FAMILIES, ("prefill", "decode"), ("f32", "w8a8", "w4a8")
    tried = [case[:3] for case in PAIRS]
    assert {case[:2] for case in tried} == set(product(families, phases))
    assert {case[::2] for case in tried} == set(product(families, precisions))
    assert {case[1:] for case in tried} == set(product(phases, precisions))


@pytest.mark.parametrize(("family", "phase", "precision", "layers"), PAIRS)
def test_graph_equals_pytorch(make_bundle: Any, family: str, phase: Phase, precision: Precision, layers: int) -> None:
    assert worst(make_bundle(phase, precision, 8, layers, FAMILIES[family])) < 1e-4


def contractions(graph: LinalgGraph) -> dict[str, tuple[int, ...]]:
    return {op.name.removeprefix("h0."): op.loops for op in graph.ops if op.is_contraction}


def test_keys_are_shared_in_loops_not_repeated(make_bundle: Any) -> None:
    """2 key heads for 6 query heads: the products walk key head and group; the cache keeps 2 heads."""
    graph: LinalgGraph = make_bundle("decode", "w4a8", 8, 1, FAMILIES["qwen2"]).graph
    found = contractions(graph)
    assert found["attn.scores.matmul"] == (2, 3, 8, 2, 8)
    assert found["attn.context.matmul"] == (2, 3, 16, 8)
    assert found["attn.q_rotary.sum"] == (2, 3, 2, 2, 8)  # key head, group, to, from, half
    assert graph.value[graph.op["h0.attn.k_cache"].outputs[0].value].elements == 2 * 8 * 16
    assert {op.kind for op in graph.ops} == {"generic", "concat"}  # no chunk: nothing is cut


def test_an_input_is_quantised_once(make_bundle: Any) -> None:
    graph: LinalgGraph = make_bundle("decode", "w4a8", 8, 1, FAMILIES["qwen2"]).graph
    quantisers = [op for op in graph.ops if op.body and graph.value[op.outputs[0].value].dtype == "i8"]
    assert [op.name for op in quantisers] == [
        f"h0.{name}.quantise" for name in ("attn.qkv", "attn.proj", "mlp.gate_up", "mlp.proj")
    ]
    readers = [len(graph.consumers[op.outputs[0].value]) for op in quantisers]
    assert readers == [3, 1, 2, 1]
    products = [op for op in graph.ops if op.is_contraction and op.body and op.body.arg_dtypes == ("i8", "i4")]
    assert len(products) == 7
    assert {v.dtype for v in graph.values if v.name.endswith("matmul") and v.name.count("qkv")} == {"i32"}


def test_layers_of_two_kinds_have_their_own_inputs(make_bundle: Any) -> None:
    bundle = make_bundle("prefill", "f32", 8, 2, FAMILIES["gemma3"])
    network: LinalgGraph = bundle.network()
    inputs = [v.name for v in network.values if v.role == "input"]
    assert inputs == ["hidden", "mask_sliding", "rotary_sliding", "mask", "rotary"]
    readers = {name: {op.name[:2] for op, _ in network.consumers[name]} for name in inputs[1:]}
    assert readers == {"mask_sliding": {"h0"}, "rotary_sliding": {"h0"}, "mask": {"h1"}, "rotary": {"h1"}}
    folded = {v.name: v.sources for v in bundle.graph.values if v.role == "input"}
    assert folded == {
        "hidden": (),
        "mask_sliding": ("mask_sliding", "mask"),
        "rotary_sliding": ("rotary_sliding", "rotary"),
    }


@pytest.mark.parametrize(
    ("name", "ops"), [("gpt2-medium", 36), ("qwen2.5-0.5b", 39), ("llama-1.1b", 36), ("gemma3-1b", 46)]
)
def test_real_blocks_are_small(make_bundle: Any, name: str, ops: int) -> None:
    """Operations of a block at full size: a new one is a task more in hardware, and wants a reason."""
    bundle = make_bundle("decode", "w4a8", 8, 1, BUILT_IN[name])
    assert len(bundle.graph.ops) == ops
    assert worst(bundle) < 1e-4


@pytest.mark.parametrize(
    ("family", "phase", "precision"),
    [
        ("llama", "prefill", "f32"),
        ("qwen2", "decode", "w4a8"),
        ("qwen3", "prefill", "w8a8"),
        ("gemma2", "decode", "f32"),
        ("gemma3", "decode", "w4a8"),
    ],
)
def test_emitted_design_computes_it(
    make_bundle: Any, tmp_path: Path, family: str, phase: Phase, precision: Precision
) -> None:
    """The emitted C++ of a tiny block equals PyTorch. Once a family: each task is proven, and the graphs above are."""
    bundle = make_bundle(phase, precision, 8, 1, FAMILIES[family])
    compile_design(bundle, Knobs(), load_platform("u55c"), tmp_path / "design")
    verdict = csim(tmp_path / "design")
    assert verdict.passed, verdict.message
    assert verdict.tasks_checked == verdict.tasks


VOCABULARY = 97  # no tile divides it
HEADS: tuple[tuple[str, Precision], ...] = (
    ("gpt2", "w4a8"), ("llama", "w8a8"), ("qwen2", "f32"), ("gemma2", "w4a8"), ("gemma2", "f32"), ("gemma3", "w8a8"),
)  # fmt: skip


def head_of(family: str, precision: Precision, make_bundle: Any) -> Any:
    config = Gpt2Config(n_embd=64, n_head=4) if family == "gpt2" else FAMILIES[family]
    return make_bundle("head", precision, 1, config=replace(config, vocab_size=VOCABULARY))


@pytest.mark.parametrize(("family", "precision"), HEADS)
def test_a_head_gives_the_token_of_pytorch(family: str, precision: Precision, make_bundle: Any) -> None:
    bundle = head_of(family, precision, make_bundle)
    assert worst(bundle) == 0
    graph = bundle.graph
    assert [(o.name, o.shape, graph.value[o.value].dtype) for o in graph.outputs] == [("token", (1, 1), "i32")]
    (largest,) = (op for op in graph.ops if graph.value[op.outputs[0].value].dtype == "i64")
    assert largest.loops == (VOCABULARY,)
    caps = [op for op in graph.ops if op.body is not None and any(s.name == "math.tanh" for s in op.body.ops)]
    assert bool(caps) == (family == "gemma2")
    weight = next(v for v in graph.values if v.source == "head.weight")
    assert weight.dtype == {"f32": "f32", "w8a8": "i8", "w4a8": "i4"}[precision]  # i4: two digits


@pytest.mark.parametrize("family", ["gpt2", "gemma2"])
def test_the_c_of_a_head_is_proven(family: str, make_bundle: Any, tmp_path: Path) -> None:
    bundle = head_of(family, "w4a8", make_bundle)
    compile_design(bundle, Knobs(), load_platform("u55c"), tmp_path / "d")
    verdict = csim(tmp_path / "d")
    assert verdict.passed, verdict.message
    assert verdict.tasks_checked == verdict.tasks


def token_of(family: str, precision: Precision, make_bundle: Any) -> Any:
    """Two layers between embedding and head, at 15 positions: with the new row, 16 divide into tiles."""
    config = Gpt2Config(n_embd=64, n_head=4, n_positions=64) if family == "gpt2" else FAMILIES[family]
    return make_bundle("token", precision, 15, 2, replace(config, vocab_size=VOCABULARY))


@pytest.mark.parametrize("family", ["gpt2", *FAMILIES])
def test_a_token_is_layers_between_embedding_and_head(family: str, make_bundle: Any) -> None:
    bundle = token_of(family, "w4a8", make_bundle)
    graph: LinalgGraph = bundle.graph
    graph.verify()
    assert graph.layers is not None
    assert graph.layers.count == 2
    assert ("embed" in graph.op) == (family == "gpt2")
    (carried,) = graph.layers.carried
    rows = {v.source: (v.row.argument, v.row.count) for v in graph.values if v.row is not None and v.source}
    assert rows["embedding"] == ("token", VOCABULARY)
    assert rows.get("positions") == (("position", 15) if family == "gpt2" else None)
    assert all(name.startswith(("embed", "last.")) or name == "next_token" for name in graph.outside)
    assert graph.value[carried.read].source == ("" if family == "gpt2" else "embedding")
    assert [out.name for out in graph.outputs][:2] == ["token", "hidden_out"]
    tensors, network = bundle.tensors(), bundle.network()
    told = {
        v.source: tensors[v.source].take(-1, v.row.axis)
        for v in network.values
        if v.row is not None and v.role != "state"
    }
    made = outputs_of(network, interpret(network, {**tensors, **told}))
    for name, expected in bundle.expected().items():
        np.testing.assert_allclose(made[name], expected, atol=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma3"])
def test_the_c_of_a_token_is_proven(family: str, make_bundle: Any, tmp_path: Path) -> None:
    compile_design(token_of(family, "w4a8", make_bundle), Knobs(), load_platform("u55c"), tmp_path / "d")
    verdict = csim(tmp_path / "d")
    assert verdict.passed, verdict.message
    assert verdict.tasks_checked == verdict.tasks
