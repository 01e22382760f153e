"""Small parameters through one port in emitted C++: each task gets its own, and what breaks that is caught."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from layered_networks import biased, tensors_of
from proved_designs import Edit, Made, edit_in, is_caught, make, verdict

from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs, TaskOverride
from compiler.proof.runs import NETWORK, QUICK

pytestmark = pytest.mark.slow
LOAD = "load_h0_bias_and_others"


KNOBS = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")


def design_of(knobs: Knobs, folder: Path) -> Made:
    network = biased(3)
    tensors = tensors_of(network)
    expected = outputs_of(network, interpret(network, tensors))
    return make(folder, network, tensors, expected, knobs, ports=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return design_of(KNOBS, tmp_path_factory.mktemp("shared"))


def test_every_task_gets_what_is_its_own(made: Made, tmp_path: Path) -> None:
    assert LOAD in made.design.tasks.task
    found = verdict(made, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message


@pytest.mark.parametrize(
    "edit",
    [
        edit_in(LOAD, "round * 3", "round * 2"),
        edit_in(LOAD, "round * 3 + 2", "round * 3"),
        edit_in(LOAD, ": 9,", ": 8,"),
        edit_in(LOAD, "round < 3", "round < 2"),
        edit_in(LOAD, "(round + 1)", "round"),
    ],
    ids=["a round too close", "one parameter for two", "what is behind too early", "a round too few", "a round again"],
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


@pytest.mark.parametrize("lanes", [(1, 2, 8), (8, 4, 1), (8, 8, 2)])
def test_tokens_of_other_widths_lie_in_words_of_as_many(lanes: tuple[int, ...], tmp_path: Path) -> None:
    unrolls = zip(("h0.wide", "h0.out", "shifted"), lanes, strict=True)
    overrides = tuple(TaskOverride(op, unroll=count) for op, count in unrolls)
    made = design_of(replace(KNOBS, overrides=overrides), tmp_path / "made")
    widths = [made.design.tasks.stream[access.stream].width for access in made.design.tasks.task[LOAD].writes]
    assert widths == [32 * count for count in lanes]
    found = verdict(made, tmp_path / "run", QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message
    assert is_caught(made, tmp_path / "edited", edit_in(LOAD, "round < 3", "round < 2"))
