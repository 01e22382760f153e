"""Rows that stay in memory, in emitted C++: a launch reads those before its own, adds that, leaves the others."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from proved_designs import Edit, Made, built, edit_in, make, verdict
from stepping_networks import SLOTS, WIDTH, stepped, stepping, tensors_of_steps

from compiler.errors import MillraceError
from compiler.graph.task_graph import StoreTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.memory import Memory
from compiler.proof.runs import MISMATCH, NETWORK, QUICK
from compiler.simulator.csim.execute import run
from compiler.targets.emit import NetworkData, emit_design

pytestmark = pytest.mark.slow
LAYERS = 2


@pytest.fixture(scope="module", params=[1, 2, 3], ids=["a port", "two ports", "parts of tokens"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    network = stepping(LAYERS)
    tensors = tensors_of_steps(network)
    knobs = Knobs(
        overall_unroll=16,
        hbm_channels=[1, 2, 1][request.param - 1],
        default_tile_size=16,
        stream_width=[64, 1024, 1024][request.param - 1],  # with one port what is seen is read again within a tile
    )
    folder = tmp_path_factory.mktemp("stepping")
    return make(folder, network, tensors, stepped(network, tensors, SLOTS - 1), knobs)


def test_a_launch_at_the_last_position_is_proved(made: Made, tmp_path: Path) -> None:
    found = verdict(made, tmp_path, QUICK)
    assert found.passed, found.message
    assert (found.unchecked, found.tasks_checked) == ((), len(made.design.tasks.tasks))
    assert [out.name for out in found.outputs] == [*(f"h{n}.k" for n in range(LAYERS)), "x_out"]


def test_launches_from_the_first_position_on_read_what_those_before_left(made: Made, tmp_path: Path) -> None:
    """What no launch has written yet is not finite, and reaches nothing."""
    subject, network = built(made, tmp_path), stepping(LAYERS)
    tensors = tensors_of_steps(network)
    tensors |= {f"h{n}.k_past": np.full_like(tensors["h0.k_past"], np.nan) for n in range(LAYERS)}
    state, out = (next(i for i in subject.interface.images if i.role == role) for role in ("kept", "output"))
    files = [subject.directory / state.file(channel) for channel in range(state.dma.channels)]
    for file in files:
        file.write_bytes(np.full(len(file.read_bytes()) // 4, np.nan, np.float32).tobytes())
    for position in range(SLOTS):
        results = tmp_path / f"out{position}"
        arguments = str(subject.directory), str(results), f"position={position}"
        run(subject.program, subject.directory, None, 60, arguments, accepted=(0, MISMATCH))
        memory = Memory(subject.directory, results, subject.interface)
        expected = stepped(network, tensors, position)
        np.testing.assert_allclose(memory.content(out), expected["x_out"], rtol=1e-4, atol=1e-5)
        for n, left in enumerate(memory.content(state)):
            tensors[f"h{n}.k_past"][position] = expected[f"h{n}.k"]
            np.testing.assert_allclose(left, tensors[f"h{n}.k_past"], rtol=1e-5, atol=1e-5)
        for channel, file in enumerate(files):
            shutil.copyfile(results / state.result(channel), file)


LOAD, STORE = "load_h0_k_past", "store_h0_key"


@pytest.mark.parametrize("made", [1], indirect=True, ids=["a port"])
@pytest.mark.parametrize(
    "edit",
    [
        edit_in(STORE, "position *", "(position - 1) *"),
        edit_in(STORE, "block * 126 + ", ""),
        edit_in(STORE, "block * 126", "block * 124"),
        edit_in(LOAD, "< position * 2", "< position * 2 + 2"),
        edit_in(LOAD, "< position * 2", "< position * 2 - 2"),
        edit_in(LOAD, "run * 126 + ", ""),
        edit_in("load_seen", "[position", "[(position - 1)"),
    ],
    ids=[
        "the row before",
        "every layer the first one's row",
        "another stride of layers",
        "its own row from memory",
        "a row too few",
        "every layer the first one's rows",
        "the table's row before",
    ],
)
def test_another_row_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    assert any(isinstance(task, StoreTask) and task.dma.at is not None for task in made.design.tasks.tasks)
    assert not verdict(made, tmp_path, (NETWORK,), edit).passed


BOUND = {
    LOAD: "(position + 16) / 16 * 32 - 2",
    "h0_join": "(position + 16) / 16 * 16",
    "h0_sum": "(position + 16) / 16",
}


@pytest.mark.parametrize("made", [1], indirect=True, ids=["a port"])
@pytest.mark.parametrize(
    "edit",
    [
        *(edit_in(name, bound, bound.replace("position", "62")) for name, bound in BOUND.items()),
        *(edit_in(name, bound, bound.replace("position", "position + 16")) for name, bound in BOUND.items()),
        edit_in("load_seen", "(position + 16) / 16", "(position + 15) / 16"),
    ],
    ids=[
        *(f"{name} walks all rows" for name in BOUND),
        *(f"{name} walks a tile more" for name in BOUND),
        "a mask without its own row",
    ],
)
def test_a_task_that_does_not_follow_the_position_is_caught(made: Made, tmp_path: Path, edit: Edit) -> None:
    subject = built(made, tmp_path, edit)
    arguments = str(subject.directory), str(tmp_path / "out"), "position=16"
    with pytest.raises(MillraceError, match=r"deadlock|left"):
        run(subject.program, subject.directory, None, 60, arguments, accepted=(0, MISMATCH))


def test_loads_of_a_lone_layer_follow_the_position(tmp_path: Path) -> None:
    """Without a loop over layers, that over rows is a load's outermost."""
    network = stepping(1)
    tensors, platform = tensors_of_steps(network), load_platform("u55c")
    knobs = Knobs(overall_unroll=16, default_tile_size=4, order="reduction-outer", stream_width=32 * WIDTH)
    tasks = planned_tasks(network, knobs, platform)
    data = NetworkData(tensors, stepped(network, tensors, SLOTS - 1), 1e-4)
    emit_design(tasks, network, platform, data, tmp_path)
    (source,) = tmp_path.glob("hls/*_tasks.cpp")
    for name, bound in ((LOAD, "(position + 4) / 4 * 8 - 2"), ("load_seen", "(position + 4) / 4;")):
        body = source.read_text().split(f"void {name}(")[1].split("\n}")[0]
        assert bound in body
