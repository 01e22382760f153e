"""Inputs that follow each other in emitted C++: each gives what it gives by itself, and what mixes them is caught."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from networks import NETWORKS
from proved_designs import Edit, Made, edit_in, is_caught, make_planned, verdict
from several_inputs import several
from window_networks import greatest

from compiler.graph.layers import of_inputs
from compiler.graph.linalg_graph import LinalgGraph
from compiler.host.accelerator import Accelerator, program
from compiler.host.design import load_design
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.proof.runs import QUICK
from compiler.simulator.board import pyxrt
from compiler.simulator.board.build import build_board

pytestmark = pytest.mark.slow
COUNT = 3


def made_with(graph: LinalgGraph, knobs: Knobs, folder: Path, parameters: dict[str, np.ndarray]) -> Made:
    tensors, expected = several(graph, parameters, COUNT)
    return make_planned(folder, of_inputs(graph, COUNT), tensors, expected, knobs, load_platform("u55c"))


def mlp(knobs: Knobs, folder: Path) -> Made:
    network = NETWORKS["mlp"]()
    return made_with(network.graph(), knobs, folder, network.tensors)


def picture(knobs: Knobs, folder: Path) -> Made:
    return made_with(greatest(8, 4, kernel=3, stride=2, padding=1), knobs, folder, {})


def lines_left_over(knobs: Knobs, folder: Path) -> Made:
    return made_with(greatest(9, 4, kernel=2, stride=2), knobs, folder, {})


@pytest.mark.parametrize(
    ("make", "knobs", "counts"),
    [
        (mlp, Knobs(), True),
        (mlp, Knobs(weights="resident", overall_unroll=32), True),
        (mlp, Knobs(engines="shared"), False),  # turns are no one nest: all inputs are taken
        (picture, Knobs(overall_unroll=16), True),
        (lines_left_over, Knobs(), False),
    ],
    ids=["mlp", "resident", "engine", "picture", "lines left over"],
)
def test_every_input_gives_what_it_gives_by_itself_and_every_task_is_checked(
    make: Callable[[Knobs, Path], Made], knobs: Knobs, counts: bool, tmp_path: Path
) -> None:
    made = make(knobs, tmp_path / "made")
    assert [argument.most for argument in made.design.tasks.arguments] == [COUNT] * counts
    found = verdict(made, tmp_path, QUICK)
    assert found.passed, found.message
    assert found.unchecked == ()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return picture(Knobs(overall_unroll=16), tmp_path_factory.mktemp("inputs") / "made")


def test_a_launch_takes_as_many_as_the_host_says(made: Made) -> None:
    build_board(made.folder)
    device, design = pyxrt.device(0), load_design(made.folder)
    accelerator = Accelerator(pyxrt, device, design, program(pyxrt, device, made.folder))
    accelerator.load_files()
    expected = np.load(made.folder / "tb" / "expected.npz")["y"]
    for count in (0, 1, 2, COUNT):  # what was there stays
        accelerator.give({"count": count})
        accelerator.start()
        got = accelerator.read(design.results[0])
        assert np.array_equal(got[:count], expected[:count])
        assert not got[count:].any()


@pytest.mark.parametrize(
    "edit",
    [
        edit_in("load_x", "memory0[w]", "memory0[w % 16]"),
        edit_in("store_y", "memory0[w]", "memory0[w % 4]"),
        edit_in("rows", "row = row == 3", "row = row == 2"),
        edit_in("rows", "= count", "= count - 1"),
    ],
    ids=["one input again", "one result over another", "a row less of each", "an input less"],
)
def test_what_mixes_inputs_is_caught(made: Made, edit: Edit, tmp_path: Path) -> None:
    assert is_caught(made, tmp_path, edit)
