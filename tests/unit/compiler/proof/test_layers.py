"""The loop over layers in emitted C++: it computes the network, and what breaks it is caught."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from layered_networks import folded_layers, layered, tensors_of

from compiler.errors import MillraceError
from compiler.frontend.interpret import interpret, outputs_of
from compiler.graph.layers import launched
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.csim import Proven, prove
from compiler.proof.runs import NETWORK, QUICK, Subject, Trial
from compiler.proof.verdict import Verdict
from compiler.simulator.csim.build import build, calls_of
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import plan_interface

pytestmark = pytest.mark.slow
LAYERS, TOLERANCE = 3, 1e-4


class Made(NamedTuple):
    folder: Path
    design: Proven


def make(folder: Path, knobs: Knobs) -> Made:
    platform = load_platform("u55c")
    network, graph = layered(LAYERS), folded_layers(LAYERS)
    tensors = tensors_of(network)
    expected = outputs_of(network, interpret(network, tensors))
    tasks = planned_tasks(graph, knobs, platform)
    emit_design(tasks, launched(graph), platform, NetworkData(tensors, expected, TOLERANCE), folder)
    np.savez(folder / "tb" / "expected.npz", allow_pickle=False, **expected)
    return Made(folder, Proven(launched(graph), tasks, TOLERANCE, "numpy"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("layers"), Knobs(overall_unroll=32))


def verdict(made: Made, folder: Path, trials: tuple[Trial, ...], edit: Callable[[str], str] = str) -> Verdict:
    """Of the design with its tasks' C++ edited."""
    directory, design = folder / "design", made.design
    shutil.copytree(made.folder, directory)
    (source,) = directory.glob("hls/*_tasks.cpp")
    text = source.read_text()
    assert edit is str or edit(text) != text
    source.write_text(edit(text))
    interface, work = plan_interface(design.tasks, design.graph), folder / "work"
    work.mkdir()
    program = build(directory / "hls", work, calls_of(directory))
    return prove(Subject(program, directory, work, design.graph, design.tasks, interface, 60), design, trials)


def test_a_launch_computes_all_layers_and_every_task_is_checked(made: Made, tmp_path: Path) -> None:
    found = verdict(made, tmp_path, QUICK)
    assert found.passed, found.message
    assert (found.unchecked, found.tasks_checked) == ((), len(made.design.tasks.tasks))
    assert [out.name for out in found.outputs] == [*(f"h{n}.a" for n in range(LAYERS)), "x_out"]


def test_an_engine_in_slices_serves_every_layer(tmp_path: Path) -> None:
    knobs = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", slices=2)
    shared = make(tmp_path / "made", knobs)
    assert sum(task.kind == "engine" for task in shared.design.tasks.tasks) == 2
    found = verdict(shared, tmp_path, QUICK)
    assert (found.passed, found.unchecked) == (True, ()), found.message


def _in(function: str, old: str, new: str) -> Callable[[str], str]:
    """An edit of one function."""

    def edit(text: str) -> str:
        body = re.search(rf"^void {function}\(.*?^}}", text, re.MULTILINE | re.DOTALL)
        assert body is not None
        assert old in body[0]
        return text.replace(body[0], body[0].replace(old, new))

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _in("load_h0_up", "block * 4", "block % 8 * 4"),
        _in("load_h0_scale", "(word, slot,", "(word, 0,"),
        _in("load_h0_down", "block < 24", "block < 16"),
        _in("enter_x", "{1, 2}", "{2, 1}"),
        _in("enter_x", "passed = in_1.read();", "in_1.read();"),
        _in("leave_h0_out", "{2, 1}", "{1, 2}"),
        _in("convert_x_to_h0_fc_in0", "drain0 == 3 ? 0 : drain0 + 1", "drain0 + 1"),
        _in("h0_out", "n0 < 3", "n0 < 2"),
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
def test_a_loop_that_is_wrong_is_caught(made: Made, tmp_path: Path, edit: Callable[[str], str]) -> None:
    try:
        found = verdict(made, tmp_path, (NETWORK,), edit)
    except MillraceError:
        return  # it does not end, or reaches outside of an array
    assert not found.passed
