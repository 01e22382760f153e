"""The loop over layers in emitted C++: it computes the network, and what breaks it is caught."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from layered_networks import layered, tensors_of
from proved_designs import Edit, Made, edit_in, is_caught, make, verdict

from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs
from compiler.proof.runs import NETWORK, QUICK
from compiler.targets import tokens

pytestmark = pytest.mark.slow
LAYERS = 3


def made_with(knobs: Knobs, folder: Path) -> Made:
    network = layered(LAYERS)
    tensors = tensors_of(network)
    return make(folder, network, tensors, outputs_of(network, interpret(network, tensors)), knobs)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made_with(Knobs(overall_unroll=32), tmp_path_factory.mktemp("layers"))


def test_a_launch_computes_all_layers_and_every_task_is_checked(made: Made, tmp_path: Path) -> None:
    found = verdict(made, tmp_path, QUICK)
    assert found.passed, found.message
    assert (found.unchecked, found.tasks_checked) == ((), len(made.design.tasks.tasks))
    assert [out.name for out in found.outputs] == [*(f"h{n}.a" for n in range(LAYERS)), "x_out"]


def test_an_engine_in_slices_serves_every_layer(tmp_path: Path) -> None:
    knobs = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", slices=2)
    shared = made_with(knobs, tmp_path / "made")
    assert sum(task.kind == "engine" for task in shared.design.tasks.tasks) == 2
    found = verdict(shared, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message


JOINT = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made_with(JOINT, tmp_path_factory.mktemp("joint"))


@pytest.mark.parametrize("knobs", [JOINT, replace(JOINT, slices=2, hbm_channels=4)], ids=["whole", "in slices"])
def test_a_load_brings_the_weights_of_every_turn_and_layer(knobs: Knobs, tmp_path: Path) -> None:
    made = made_with(knobs, tmp_path / "made")
    loads = [task for task in made.design.tasks.tasks if task.kind == "load"]
    assert [task.name for task in loads] == ["load_engine0_in1", "load_h0_scale", "load_mask", "load_x"]
    assert "engine0_route1" not in made.design.tasks.task
    found = verdict(made, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message


def test_parts_of_tokens_wider_than_a_fifo_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_FIFO_BITS", 64)
    made = made_with(JOINT, tmp_path / "made")
    found = verdict(made, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message
    crossed = edit_in("load_engine0_in1", "out.write(token.parts[0])", "out.write(token.parts[1])")
    assert is_caught(made, tmp_path / "crossed", crossed)


Parts = list[bytes]  # of each channel, by layer and turn: all have as many bytes


@pytest.mark.parametrize(
    "edit",
    [
        lambda parts: [*parts[2:4], *parts[:2], *parts[4:]],
        lambda parts: [parts[1], parts[0], *parts[2:]],
        lambda parts: [parts[0], parts[3], parts[2], parts[1], *parts[4:]],
        lambda parts: [*parts[::2], *parts[1::2]],
        lambda parts: [*parts[:3], bytes(len(parts[3])), *parts[4:]],
        lambda parts: [b"".join(parts)[64:], bytes(64)],
    ],
    ids=[
        "two layers change places",
        "two weights of a layer",
        "a weight of two layers",
        "weights, not layers, one after the other",
        "a weight that is missing",
        "a word further on",
    ],
)
def test_an_image_in_another_order_is_caught(joint: Made, tmp_path: Path, edit: Callable[[Parts], Parts]) -> None:
    made = Made(tmp_path / "edited", joint.design)
    shutil.copytree(joint.folder, made.folder)
    files = sorted((made.folder / "params").glob("engine0_in1.*.bin"))
    assert files
    for file in files:
        content = file.read_bytes()
        size = len(content) // (2 * LAYERS)
        edited = b"".join(edit([content[n * size : (n + 1) * size] for n in range(2 * LAYERS)]))
        assert edited != content
        assert len(edited) == len(content)
        file.write_bytes(edited)
    found = verdict(made, tmp_path, (NETWORK,))
    assert not found.passed


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_engine0_in1", "[w]", "[w % 8]"),
        edit_in("load_engine0_in1", "[w]", "[w ^ 1]"),
        edit_in("load_engine0_in1", "w < ", "w < -1 + "),
    ],
    ids=["the first words again", "words in another order", "a word too few"],
)
def test_a_joint_load_that_is_wrong_is_caught(joint: Made, tmp_path: Path, edit: Edit) -> None:
    assert is_caught(joint, tmp_path, edit)


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_h0_up", "[w]", "[w % 32]"),
        edit_in("load_h0_scale", "(word, slot,", "(word, 0,"),
        edit_in("load_h0_down", "w < 96", "w < 64"),
        edit_in("enter_x", "{1, 2}", "{2, 1}"),
        edit_in("enter_x", "passed = in_1.read();", "in_1.read();"),
        edit_in("leave_h0_out", "{2, 1}", "{1, 2}"),
        edit_in("convert_x_to_h0_fc_in0", "drain0 == 3 ? 0 :", "drain0 == 3 ? 1 :"),
        edit_in("h0_out", "n0 < 3", "n0 < 2"),
    ],
    ids=[
        "every layer the first one's weights",
        "every layer the first one's scale",
        "a layer without weights",
        "the second layer from memory",
        "the input again in every layer",
        "the second layer's result given out",
        "a counter that begins anew at one",
        "a layer too few",
    ],
)
def test_a_loop_that_is_wrong_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    assert is_caught(made, tmp_path, edit)
