"""The loop over layers in emitted C++: it computes the network, and what breaks it is caught."""

from pathlib import Path

import pytest
from layered_networks import layered, tensors_of
from proved_designs import Edit, Made, edit_in, make, verdict

from compiler.errors import MillraceError
from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs
from compiler.proof.runs import NETWORK, QUICK

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


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_h0_up", "block * 4", "block % 8 * 4"),
        edit_in("load_h0_scale", "(word, slot,", "(word, 0,"),
        edit_in("load_h0_down", "block < 24", "block < 16"),
        edit_in("enter_x", "{1, 2}", "{2, 1}"),
        edit_in("enter_x", "passed = in_1.read();", "in_1.read();"),
        edit_in("leave_h0_out", "{2, 1}", "{1, 2}"),
        edit_in("convert_x_to_h0_fc_in0", "drain0 == 3 ? 0 : drain0 + 1", "drain0 + 1"),
        edit_in("h0_out", "n0 < 3", "n0 < 2"),
    ],
    ids=[
        "every layer the first one's weights",
        "every layer the first one's scale",
        "a layer without weights",
        "the second layer from memory",
        "the input again in every layer",
        "the second layer's result given out",
        "a counter that does not begin anew",
        "a layer too few",
    ],
)
def test_a_loop_that_is_wrong_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    try:
        found = verdict(made, tmp_path, (NETWORK,), edit)
    except MillraceError:
        return  # it does not end, or reaches outside of an array
    assert not found.passed
