"""Small parameters through one port in emitted C++: each task gets its own, and what breaks that is caught."""

import shutil
from pathlib import Path

import pytest
from layered_networks import biased, tensors_of
from proved_designs import Edit, Made, edit_in, is_caught, make, verdict

from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs
from compiler.proof.runs import NETWORK, QUICK

pytestmark = pytest.mark.slow
LOAD = "load_h0_bias_and_others"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    network = biased(3)
    tensors = tensors_of(network)
    expected = outputs_of(network, interpret(network, tensors))
    knobs = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")
    return make(tmp_path_factory.mktemp("shared"), network, tensors, expected, knobs, ports=3)


def test_every_task_gets_what_is_its_own(made: Made, tmp_path: Path) -> None:
    assert LOAD in made.design.tasks.task
    found = verdict(made, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message


@pytest.mark.parametrize(
    "edit",
    [
        edit_in(LOAD, "round * 3", "round * 2"),
        edit_in(LOAD, "round * 3 + 2", "round * 3"),
        edit_in(LOAD, "[9 + ", "[8 + "),
        edit_in(LOAD, "round < 3", "round < 2"),
    ],
    ids=["a round too close", "one parameter for two", "what is behind too early", "a round too few"],
)
def test_a_load_that_is_wrong_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    assert is_caught(made, tmp_path, edit)


def test_layers_that_change_places_in_the_image_are_caught(made: Made, tmp_path: Path) -> None:
    edited = Made(tmp_path / "edited", made.design)
    shutil.copytree(made.folder, edited.folder)
    (file,) = (edited.folder / "params").glob("h0_bias_and_others.*.bin")
    content = file.read_bytes()
    size = 3 * 64  # words of a layer
    file.write_bytes(content[size : 2 * size] + content[:size] + content[2 * size :])
    assert not verdict(edited, tmp_path, (NETWORK,)).passed
