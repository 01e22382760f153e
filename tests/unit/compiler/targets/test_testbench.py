"""The emitted testbench: it passes, says what is off and by how much, and finds its files where the tools run it."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from networks import NETWORKS

from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.targets.emit import NetworkData, emit_design

pytestmark = pytest.mark.slow
U55C = load_platform("u55c")
EXPECTED = Path("tb") / "y.0.expected.bin"


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built design of two results: `y` in f32, `acc` in int32."""
    folder = tmp_path_factory.mktemp("design")
    network = NETWORKS["quantised"]()
    graph = network.graph()
    tasks = planned_tasks(graph, Knobs(), U55C)
    emit_design(tasks, graph, U55C, NetworkData(network.tensors, network.expected, 1e-5), folder)
    build(folder / "hls", folder / "csim", calls_of(folder))
    return folder


def run(design: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [design / "csim" / "csim", *arguments]
    return subprocess.run(command, cwd=cwd or design, capture_output=True, text=True, check=False)


def test_it_passes_and_says_how_far_off_it_is(design: Path, tmp_path: Path) -> None:
    finished = run(design, str(design), str(tmp_path / "results"))
    assert (finished.returncode, finished.stderr) == (0, "")
    first, second = finished.stdout.splitlines()
    assert first.startswith("y: passed; off by ")
    assert second == "acc: passed; off by 0 of the largest magnitude at most, 0 is allowed"  # integers are equal
    assert sorted(f.name for f in (tmp_path / "results").iterdir()) == ["acc.0.bin", "y.0.bin"]


def test_images_have_room_for_what_cosimulation_copies(design: Path) -> None:
    """As many words as the pragma of the pointer says, which are those of the largest image of its port."""
    (kernel,) = (design / "hls").glob("*_k0.cpp")
    text = (design / "hls" / "tb.cpp").read_text()
    depths = [int(depth) for depth in re.findall(r"mode=m_axi .* depth=(\d+)", kernel.read_text())]
    images = re.findall(r"(\w+)\.data\(\)", text)
    words = {name: int(count) for name, count in re.findall(r"MemoryImage (\w+)(?: = .*, |\()(\d+)\);", text)}
    room = words | {name: int(count) for name, count in re.findall(r"(\w+)\.reserve\((\d+)\);", text)}
    assert len(depths) == len(images) > 2
    assert all(room[name] >= depth >= words[name] for name, depth in zip(images, depths, strict=True))
    assert room != words  # some port is shared


@pytest.mark.parametrize("factor", [1.001, np.nan, np.inf, -1])
def test_a_wrong_expected_value_fails_it(design: Path, factor: float) -> None:
    original = (design / EXPECTED).read_bytes()
    values = np.frombuffer(original, np.float32).copy()
    worst = int(np.abs(values).argmax())
    values[worst] *= factor
    try:
        (design / EXPECTED).write_bytes(values.tobytes())
        finished = run(design, str(design))
    finally:
        (design / EXPECTED).write_bytes(original)
    assert finished.returncode == 1
    assert "y: FAILED; " in finished.stderr
    if np.isfinite(factor):
        assert f"1 of {values.size} elements are off by more than 1e-05 of the largest magnitude" in finished.stderr
        assert f"the first, element {worst} of channel 0, is " in finished.stderr
    assert "acc: passed" in finished.stdout  # the others are compared all the same


def test_a_missing_file_is_named(design: Path, tmp_path: Path) -> None:
    finished = run(design, str(tmp_path))
    assert finished.returncode == 2
    assert f"can not open {tmp_path}/tb/x.0.bin" in finished.stderr or f"{tmp_path}/params" in finished.stderr


def test_without_arguments_it_finds_the_design_above_its_own_folder_or_that_of_the_tool(
    design: Path, tmp_path: Path
) -> None:
    assert run(design, cwd=tmp_path).returncode == 0
    elsewhere = tmp_path / "csim" / "csim"
    elsewhere.parent.mkdir()
    shutil.copy(design / "csim" / "csim", elsewhere)
    folder = design / "hls" / "build" / "hls" / "sim" / "wrapc_pc"
    folder.mkdir(parents=True)
    try:
        assert run(tmp_path, cwd=folder).returncode == 0
    finally:
        shutil.rmtree(design / "hls" / "build")
    lost = run(tmp_path, cwd=tmp_path)
    assert lost.returncode == 2
    assert f"no folder above {elsewhere} holds" in lost.stderr
    assert "give the design directory as first argument" in lost.stderr
