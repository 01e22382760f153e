"""A reply of a design of the phase `token`: a launch is told the token that the one before gave, and keeps its rows."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from compiler.analysis.build import task_graph
from compiler.analysis.choice import choice_loops
from compiler.analysis.padding import pad
from compiler.errors import VerificationError
from compiler.frontend.bundle import Bundle
from compiler.frontend.interpret import interpret
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.graph.layers import launched
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import CHOOSE, FIRST
from compiler.options import Knobs, LoopOrder
from compiler.passes.design_passes import planned, planned_tasks
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.memory import Memory
from compiler.proof.runs import MISMATCH
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.simulator.timing.simulate import simulate
from compiler.targets.interface import plan_interface

Tensors = dict[str, NDArray[Any]]
SLOTS, BEGINNING = 6, 5
SMALL = Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256, n_positions=64, vocab_size=97)
WHOLE_WORDS = replace(SMALL, vocab_size=90)  # padded to 96, where words of scales and tiles end; 97 would be 112

JOINT = Knobs(overall_unroll=512, engines="shared", loads="joint", order="reduction-outer")


class Reference:
    """The network, a token at a time: keys and values of the positions before are rows of its caches."""

    def __init__(self, network: LinalgGraph, tensors: Tensors) -> None:
        self.network, self.tensors = network, dict(tensors)
        self.states = {value.source: value for value in network.values if value.role == "state"}
        self.tensors |= {name: np.zeros_like(tensors[name]) for name in self.states}

    def step(self, token: int, position: int) -> dict[str, NDArray[Any]]:
        """The results of a launch, by name."""
        told = {"token": token, "position": position}
        tables = [value for value in self.network.values if value.row is not None and value.role != "state"]
        rows = {v.source: self.tensors[v.source].take(told[v.row.argument], v.row.axis) for v in tables if v.row}
        values = interpret(self.network, {**self.tensors, **rows})
        results = {out.name: values[out.value] for out in self.network.outputs}
        for name, value in self.states.items():
            ((reader, operand),) = self.network.consumers[value.name]
            axis = reader.inputs[operand].dims.index(reader.axis or 0)
            held = self.tensors[name].reshape(value.true_shape).copy()
            row = np.moveaxis(held, axis, 0)[position]
            row[...] = results[name.removesuffix("_past")].reshape(row.shape)
            self.tensors[name] = held.reshape(self.tensors[name].shape)
        return results


@pytest.mark.parametrize("prompt", [0, 3], ids=["each chosen", "behind a prompt"])
def test_every_token_of_a_context_is_the_networks(prompt: int, make_bundle: Any, tmp_path: Path) -> None:
    """From the first position, whose cache holds nothing that is finite, to the last; `prompt` of them choose none. On
    a board whose channels are too small for the embedding and some weights, which lie in several; or by an engine,
    whose ports also bring the weights of the head, and over integers, whose cache holds what it may.
    """
    precision = "w4a8kv8" if prompt else "w4a8"
    bundle: Bundle = make_bundle("token", precision, SLOTS, 2, WHOLE_WORDS if prompt else SMALL)
    whole, design, work = load_platform("u55c"), tmp_path / "design", tmp_path / "work"
    knobs = JOINT if prompt else Knobs()
    platform = whole if prompt else replace(whole, hbm=replace(whole.hbm, channel_bytes=10_000))
    compile_design(bundle, knobs, platform, design)
    work.mkdir()
    program = build(design / "hls", work, calls_of(design))
    interface = plan_interface(planned_tasks(bundle.graph, knobs, platform), launched(pad(bundle.graph, knobs)))
    channels = {image.name: image.dma.channels for image in interface.images}
    if prompt:
        assert "last_head_weight" not in channels
    else:
        assert (channels["embedding"], channels["h0_mlp_fc_weight"], channels["positions"]) == (4, 2, 1)
    assert all(image.dma.channel_bytes <= platform.hbm.channel_bytes for image in interface.images)
    kept = [image for image in interface.images if image.role == "kept"]
    files = [(design / image.file(c), image.result(c)) for image in kept for c in range(image.dma.channels)]
    for file, _ in files:
        file.write_bytes(np.full(file.stat().st_size // 4, np.nan, np.float32).tobytes())
    made = {image.value.name: image for image in interface.images if image.role == "output"}
    (hidden,) = (image for name, image in made.items() if name.endswith(".last"))
    reference, token, tokens = Reference(bundle.network(), dict(bundle.tensors())), BEGINNING, set[int]()
    for position in range(SLOTS):
        results = tmp_path / f"out{position}"
        told = {"token": token, "position": position, FIRST: prompt}
        arguments = str(design), str(results), *(f"{name}={number}" for name, number in told.items())
        run(program, design, None, 60, arguments, accepted=(0, MISMATCH))
        memory, expected = Memory(design, results, interface), reference.step(token, position)
        state = memory.content(hidden).reshape(SLOTS, -1)[position]
        np.testing.assert_allclose(state, expected["hidden_out"].reshape(-1), rtol=1e-4, atol=1e-5)
        token = int(expected["token"].reshape(()))
        if position >= prompt:
            assert int(memory.content(made["next_token"]).reshape(-1)[position]) == token
        tokens.add(token)
        for file, result in files:
            shutil.copyfile(results / result, file)
    assert len(tokens) > 1


def test_where_no_token_is_wanted_the_vocabulary_is_not_walked(make_bundle: Any, tmp_path: Path) -> None:
    """Of the head a tile, and less time; rows and hidden state are those of any launch, and so is the next token."""
    bundle: Bundle = make_bundle("token", "w4a8", SLOTS, 2, WHOLE_WORDS)
    platform, knobs = load_platform("u55c"), Knobs()
    tasks = planned_tasks(bundle.graph, knobs, platform)
    tasks.verify()
    following = {task.name for task in tasks.tasks if any(b.argument.name == CHOOSE for b in task.timing.bounds)}
    assert following == {
        "load_last_head_weight", "load_last_head_weight_scale", "last_head_matmul", "last_max",
        "convert_last_head_quantise_to_last_head_matmul_in0", "last_head_dequantise_sum",
        "convert_last_head_matmul_to_last_head_dequantise_sum_in0", "convert_last_head_dequantise_sum_to_last_max_in0",
    }  # fmt: skip
    for name in following:
        flawed = tuple(task.at({}) if task.name == name else task for task in tasks.tasks)
        with pytest.raises(VerificationError):
            replace(tasks, tasks=flawed).verify()
    both = [simulate(tasks, platform, launches=({CHOOSE: chosen},), buckets=0) for chosen in (0, 1)]
    assert not any(found.deadlock for found in both)
    assert both[0].cycles < both[1].cycles
    mixed = simulate(tasks, platform, launches=({CHOOSE: 0}, {CHOOSE: 1}, {CHOOSE: 0}), buckets=0)
    assert not mixed.deadlock


def test_wherever_reductions_are_the_vocabulary_is_walked_outside(make_bundle: Any) -> None:
    bundle: Bundle = make_bundle("token", "w4a8", SLOTS, 2, WHOLE_WORDS)
    for order in get_args(LoopOrder):
        design = planned(bundle.graph, replace(JOINT, order=order, default_tile_size=16), load_platform("u55c"))
        assert CHOOSE in {argument.name for argument in task_graph(design).arguments}
        for op, dim in choice_loops(design.graph).items():
            assert design.nests[op].loops[0].dim == dim


def test_a_vocabulary_of_parts_of_words_is_walked_by_all(make_bundle: Any) -> None:
    tasks = planned_tasks(
        make_bundle("token", "w4a8", SLOTS, 2, SMALL).graph, Knobs(max_padding=0), load_platform("u55c")
    )
    assert CHOOSE not in {argument.name for argument in tasks.arguments}
