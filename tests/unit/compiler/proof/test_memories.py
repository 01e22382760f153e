"""Memories that keep weights between launches: the C++ fills them once and whole, and what does not is caught."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import NETWORKS
from proved_designs import Edit, Made, edit_in, is_caught, make_planned, verdict
from several_inputs import several

from compiler.analysis import resident
from compiler.analysis.relays import relayed
from compiler.graph.layers import launched, of_inputs
from compiler.graph.task_graph import LoadTask, RomTask
from compiler.host.accelerator import Accelerator, Tensors, program
from compiler.host.design import load_design
from compiler.host.packing import NATIVE
from compiler.host.xrt import RunError
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.csim import Proven
from compiler.proof.launches import Witness, wrong_launch_of_files
from compiler.proof.runs import QUICK
from compiler.simulator.board import pyxrt
from compiler.simulator.board.build import build_board
from compiler.simulator.timing.simulate import simulate
from compiler.targets.emit import NetworkData, emit_design

pytestmark = pytest.mark.slow
COUNT = 3
KNOBS = Knobs(weights="resident", overall_unroll=32)


@pytest.fixture(scope="module", autouse=True)
def _small_constants() -> Iterator[None]:
    """So that networks of a few hundred weights have memories."""
    patch = pytest.MonkeyPatch()
    patch.setattr(resident, "MOST_BYTES", 64)
    yield
    patch.undo()


def made_of(name: str, folder: Path, knobs: Knobs = KNOBS) -> Made:
    network = NETWORKS[name]()
    tensors, expected = several(network.graph(), network.tensors, COUNT)
    return make_planned(folder, of_inputs(network.graph(), COUNT), tensors, expected, knobs, load_platform("u55c"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made_of("mlp", tmp_path_factory.mktemp("memories") / "made")


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("mlp", KNOBS),
        ("mlp", replace(KNOBS, default_tile_size=3, overall_unroll=4)),  # words of several tokens, the last not whole
        ("mlp", replace(KNOBS, stream_width=2048, overall_unroll=4096, default_tile_size=64)),  # tokens of several
        ("quantised", KNOBS),
        ("mlp", replace(KNOBS, engines="shared")),
    ],
    ids=["words", "tokens of a word", "words of a token", "integers", "engine"],
)
def test_two_launches_give_the_same_of_what_one_has_loaded(name: str, knobs: Knobs, tmp_path: Path) -> None:
    """The testbench empties the image between them; every task is compared with its operation."""
    made = made_of(name, tmp_path / "made", knobs)
    assert any(isinstance(task, RomTask) and task.filled for task in made.design.tasks.tasks)
    found = verdict(made, tmp_path, QUICK)
    assert found.passed, found.message
    assert found.unchecked == ()


def test_words_cross_dies_as_all_else_does(tmp_path: Path) -> None:
    network, platform = NETWORKS["mlp"](), load_platform("u55c")
    tensors, expected = several(network.graph(), network.tensors, COUNT)
    graph = of_inputs(network.graph(), COUNT)
    alone = planned_tasks(graph, KNOBS, platform)
    tasks = relayed(alone, {task.name: int(task.name != "load_memories") for task in alone.tasks}).tasks
    assert {task.name for task in tasks.tasks} - {task.name for task in alone.tasks} == {
        f"load_{name}_words_relay0" for name in "bvw"
    }
    tasks.verify()
    first, later = (sum(simulate(tasks, platform, launches=(v,)).kernels) for v in ({"load": 1}, {}))
    assert first > later
    folder = tmp_path / "made"
    emit_design(tasks, launched(graph), platform, NetworkData(tensors, expected, 1e-4), folder)
    np.savez(folder / "tb" / "expected.npz", allow_pickle=False, **expected)
    found = verdict(Made(folder, Proven(launched(graph), tasks, 1e-4, "numpy")), tmp_path, QUICK)
    assert found.passed, found.message
    assert found.unchecked == ()


def test_one_port_brings_all_of_them(made: Made) -> None:
    loads = {task.name: task for task in made.design.tasks.tasks if isinstance(task, LoadTask)}
    assert loads.keys() == {"load_x", "load_memories"}
    assert loads["load_memories"].dma.values == ("w", "b", "v")  # as they are used
    (kernel,) = made.folder.glob("hls/*_k0.cpp")
    assert kernel.read_text().count("mode=m_axi") == 3  # x, the memories, and y, which goes through the port of these
    assert "port=y_0 bundle=gmem_memories_0" in kernel.read_text()


def read_before_filled(text: str) -> str:
    """The memory of v sends what it holds before it takes its words."""
    found = re.search(r"^void load_v\(.*?^(  if \(load\) \{.*?^  \}\n)(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return text[: found.start(1)] + found[2] + found[1] + text[found.end(2) :]


@pytest.mark.parametrize(
    "edit",
    [
        read_before_filled,
        edit_in("load_memories", "if (load)", "if (false)"),
        edit_in("load_memories", "if (load)", "if (!load)"),
        edit_in("load_v", "if (load)", "if (false)"),
        edit_in("load_v", "if (load)", "if (!load)"),
        edit_in("load_v", "if (load)", "if (true)"),
        edit_in("load_v", "static ", ""),
        edit_in("load_memories", "memory0[72 + ", "memory0[71 + "),
        edit_in("load_w", r"_memory[row", r"_memory[71 - row"),
        edit_in("load_memories", "out.write(token)", "out.write(token); out.write(token)"),
    ],
    ids=[
        "read before it is filled",
        "nothing is loaded",
        "the flag is turned",
        "a memory does not take its words",
        "a memory takes them in the other launches",
        "filled in every launch",
        "not kept",
        "from a wrong offset",
        "in a wrong order",
        "words come twice",
    ],
)
def test_what_loads_wrongly_is_caught(made: Made, edit: Edit, tmp_path: Path) -> None:
    assert is_caught(made, tmp_path, edit)


class Board:
    """The design on a board whose launches are seen."""

    def __init__(self, made: Made) -> None:
        build_board(made.folder)
        self.xrt, self.design = Witness(), load_design(made.folder)
        self.device = pyxrt.device(0)
        self.accelerator = self.programmed()

    def programmed(self) -> Accelerator:
        return Accelerator(self.xrt, self.device, self.design, program(self.xrt, self.device, self.design.directory))

    @property
    def loads(self) -> list[int]:
        """What launches were told."""
        position = self.design.kernels[0].arguments.index("load") - len(self.design.kernels[0].arguments)
        return [launch.numbers[position] for launch in self.xrt.launches]

    @property
    def image(self) -> int:
        """Where on the device that is which fills memories."""
        buffer = self.accelerator._buffers["memories", 0]
        assert isinstance(buffer, pyxrt.Buffer)
        return buffer.address

    def result(self) -> np.ndarray:
        return self.accelerator.read(self.design.results[0])


@pytest.fixture
def board(made: Made) -> Board:
    return Board(made)


def parameters(board: Board) -> Tensors:
    image = board.design.images["memories"]
    rng = np.random.default_rng(1)
    return {
        source: rng.normal(size=part.layout.true_shape).astype(NATIVE[part.layout.dtype])
        for part in image.parts
        for source in part.sources
    }


def test_the_first_launch_loads_and_others_use_what_is_there(made: Made, board: Board) -> None:
    expected = np.load(made.folder / "tb" / "expected.npz")["y"]
    board.accelerator.load_files()
    for count in (COUNT, 1, COUNT):
        board.accelerator.give({"count": count})
        board.accelerator.start()
        assert np.allclose(board.result(), expected, atol=1e-4)
        board.device.loaded.memory[board.image : board.image + 64] = bytes(64)  # nobody reads it again
    assert board.loads == [1, 0, 0]
    assert board.accelerator.is_loaded


def test_other_weights_are_loaded_and_the_same_ones_are_not(board: Board) -> None:
    board.accelerator.load_files()
    board.accelerator.start()
    first = board.result()
    other = parameters(board)
    board.accelerator.write(other)
    assert not board.accelerator.is_loaded
    board.accelerator.start()
    assert not np.allclose(board.result(), first)
    second = board.result()
    board.accelerator.write(other)
    board.accelerator.start()
    assert np.array_equal(board.result(), second)
    board.accelerator.load_files()
    board.accelerator.start()
    assert np.array_equal(board.result(), first)
    assert board.loads == [1, 1, 0, 1]


def test_a_board_that_is_programmed_again_holds_nothing(board: Board) -> None:
    for _ in range(2):
        board.accelerator = board.programmed()
        board.accelerator.load_files()
        board.accelerator.start()
    assert board.loads == [1, 1]


def test_what_a_launch_that_failed_has_loaded_is_loaded_again(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    board.accelerator.load_files()
    board.accelerator.start()
    with monkeypatch.context() as broken:
        broken.setattr(pyxrt.Run, "wait", lambda *_: pyxrt.CommandState.ERT_CMD_STATE_TIMEOUT)
        with pytest.raises(RunError):
            board.accelerator.start()
    board.accelerator.start()
    assert board.loads == [1, 0, 1]


def test_nobody_but_the_host_says_it(board: Board) -> None:
    board.accelerator.load_files()
    with pytest.raises(ValueError, match="load=0 is no argument"):
        board.accelerator.give({"load": 0})


def test_a_host_that_does_not_load_is_caught(made: Made, board: Board) -> None:
    board.accelerator.load_files()
    board.accelerator.start()
    out = made.folder / "out"
    out.mkdir(exist_ok=True)
    for image in board.design.images.values():
        if image.role == "output":
            for file, content in zip(image.files, board.accelerator.content(image), strict=True):
                (out / Path(file).name).write_bytes(content)
    assert wrong_launch_of_files(board.xrt.launches, board.design) is None
    (launch,) = board.xrt.launches
    launch.numbers = (*launch.numbers[:-1], 0)
    assert "the numbers passed" in (wrong_launch_of_files(board.xrt.launches, board.design) or "")
