"""Operations in front of and behind layers, in emitted C++: a launch computes all, and what breaks it is caught."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from layered_networks import at_rows, tensors_of, with_outside
from proved_designs import Edit, Made, built, edit_in, is_caught, make, verdict

from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs, TaskOverride
from compiler.proof.memory import Memory
from compiler.proof.runs import MISMATCH, QUICK
from compiler.simulator.csim.execute import run

pytestmark = pytest.mark.slow
LAYERS = 3
JOINT = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")
TURNED = TaskOverride("embed", tile=16, unroll=1, order=(1, 0))


def made_with(knobs: Knobs, folder: Path) -> Made:
    network = with_outside(LAYERS)
    tensors = tensors_of(network)
    expected = outputs_of(network, interpret(network, at_rows(network, tensors)))
    return make(folder, network, tensors, expected, knobs)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made_with(Knobs(overall_unroll=32), tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    ("knobs", "kinds"),
    [
        (Knobs(overall_unroll=32), {"compute", "route"}),
        (replace(JOINT, slices=2, loads="own"), {"engine"}),
        (replace(JOINT, hbm_channels=2), {"engine"}),
        (Knobs(default_tile_size=4, overall_unroll=8, overrides=(TURNED,)), {"converter"}),
    ],
    ids=["own lanes", "an engine for layers and head", "one load for them", "made in another order"],
)
def test_a_launch_computes_what_is_outside_of_layers_once(knobs: Knobs, kinds: set[str], tmp_path: Path) -> None:
    whole = made_with(knobs, tmp_path / "made")
    tasks = whole.design.tasks
    assert kinds <= {task.kind for task in tasks.tasks}
    assert "convert_x_to_enter_x_in" in tasks.task or not knobs.overrides
    assert ("load_head" in tasks.task) == (knobs.loads == "own")
    found = verdict(whole, tmp_path, QUICK)
    assert found.passed, found.message
    assert found.unchecked == ()
    assert [out.name for out in found.outputs][-2:] == ["x_out", "best_out"]


def test_a_launch_is_told_the_rows_that_it_begins_with(made: Made, tmp_path: Path) -> None:
    subject, network = built(made, tmp_path), with_outside(LAYERS)
    tensors = tensors_of(network)
    outputs = [image for image in subject.interface.images if image.role == "output"]
    assert {(a.name, a.most) for a in subject.interface.arguments} == {("token", 4), ("place", 2)}
    for token, place in ((0, 0), (3, 1), (4, 0), (1, 2)):
        results = tmp_path / f"out{token}{place}"
        arguments = str(subject.directory), str(results), f"token={token}", f"place={place}"
        run(subject.program, subject.directory, None, 60, arguments, accepted=(0, MISMATCH))
        memory = Memory(subject.directory, results, subject.interface)
        values = interpret(network, at_rows(network, tensors, token=token, place=place))
        for name, value in (("best", "best"), ("h0.out.last", f"h{LAYERS - 1}.out")):
            (image,) = (image for image in outputs if image.value.name == name)
            np.testing.assert_allclose(memory.content(image), values[value], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_engine0_in1", "(192, 24)", "(191, 24)"),
        edit_in("load_engine0_in1", "(192, 24)", "(0, 24)"),
        edit_in("engine0_route0", "{false, false, true}", "{false, true, true}"),
        edit_in("engine0_results", "{false, false, true}", "{true, false, true}"),
        edit_in("engine0", "{0, 2, 3}", "{0, 2, 2}"),
    ],
    ids=[
        "a word before the head's",
        "the first layer's weights",
        "the head's rows in a layer",
        "a layer's result for the head's",
        "an engine without the head's turn",
    ],
)
def test_what_is_done_behind_layers_is_the_heads(edit: Edit, tmp_path: Path) -> None:
    assert is_caught(made_with(JOINT, tmp_path / "made"), tmp_path, edit)


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_token", "token_1 * 4", "(token_1 - 1) * 4"),
        edit_in("load_place", "place * 4 + w", "w"),
        edit_in("load_h0_up", "[w]", "[w % 32]"),
        edit_in("enter_x", "{1, 2}", "{2, 1}"),
        edit_in("leave_h0_out", "{2, 1}", "{1, 2}"),
        edit_in("scores", "+ partial", "- partial"),
        edit_in("best", "k0_tile == 0 && k0 == 0", "k0 == 0"),
    ],
    ids=[
        "the row of another token",
        "the first place for all",
        "every layer the first one's weights",
        "the second layer from what is in front",
        "the second layer's result goes on",
        "a head that subtracts",
        "the largest of the last tile",
    ],
)
def test_what_is_wrong_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    assert is_caught(made, tmp_path, edit)
