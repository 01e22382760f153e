"""Where a design may be written, and what it says of the depths of its FIFOs."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from networks import NETWORKS

from compiler.design_dir import last_stage, stored_tasks
from compiler.errors import InvalidInputError
from compiler.frontend.bundle import Bundle
from compiler.frontend.graph_json import graph_to_json
from compiler.options import Knobs, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate_directory

BUNDLE: Any = SimpleNamespace()  # not looked at where the directory is refused
U55C = load_platform("u55c")


def test_a_directory_that_can_not_be_made_or_is_in_use_is_refused(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("mine")
    for out, message in [(file / "design", "can not be made"), (file, "is not empty"), (tmp_path, "is not empty")]:
        with pytest.raises(InvalidInputError, match=message):
            compile_design(BUNDLE, Knobs(), U55C, out)
    assert file.read_text() == "mine"


def bundle_of(name: str, folder: Path) -> Bundle:
    """A hand-built network as if it had been imported."""
    network = NETWORKS[name]()
    graph = network.graph()
    folder.mkdir()
    (folder / "linalg.mlir").write_text("builtin.module {}\n")
    (folder / "graph.json").write_text(json.dumps(graph_to_json(graph)))
    np.savez(folder / "tensors.npz", **dict[str, Any](network.tensors))
    np.savez(folder / "expected.npz", **dict[str, Any](network.expected))
    return Bundle(folder, graph, Workload(name, "prefill", 8, "f32"), {})


def compiled(name: str, folder: Path, knobs: Knobs) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """The design, its description, and its tasks."""
    design = folder / "design"
    stages: list[str] = []
    compile_design(bundle_of(name, folder / "bundle"), knobs, U55C, design, stages.append)
    assert "certify FIFO depths" in stages
    return design, *(json.loads((design / file).read_text()) for file in ("design.json", "dataflow.json"))


@pytest.mark.parametrize("name", ["softmax", "quantised"])
def test_a_design_takes_the_cycles_that_its_certificate_says(name: str, tmp_path: Path):
    design, description, dataflow = compiled(name, tmp_path, Knobs(default_tile_size=4, overall_unroll=16))
    sizing = description["fifo_sizing"]
    simulation = simulate_directory(design)
    assert simulation.deadlock is None
    assert list(simulation.kernels) == [kernel["cycles"] for kernel in sizing]
    assert all(kernel["proven"] and kernel["cycles"] <= 1.005 * kernel["unbounded"] for kernel in sizing)
    assert all(stream["reason"] for stream in dataflow["streams"])
    bits = sum(stream["width"] * stream["depth"] for stream in dataflow["streams"])
    assert bits == sum(kernel["bits"] for kernel in sizing)


def test_the_certified_depths_are_a_stage_of_their_own(tmp_path: Path):
    design, _, dataflow = compiled("softmax", tmp_path, Knobs(default_tile_size=4))
    assert last_stage(design).name.endswith("-set-fifo-depths.mlir")
    stored = {s.name: s.depth for s in stored_tasks(design, U55C).streams}
    assert stored == {stream["name"]: stream["depth"] for stream in dataflow["streams"]}
    code = "".join(file.read_text() for file in (design / "hls").glob("*.cpp"))
    assert all(f', {depth}> {name}("{name}");' in code for name, depth in stored.items())


def test_whole_streams_have_no_certificate(tmp_path: Path):
    _, description, dataflow = compiled("softmax", tmp_path, Knobs(default_tile_size=4, fifo="whole"))
    assert description["fifo_sizing"] == []
    assert {stream["reason"] for stream in dataflow["streams"]} == {
        "by rule: holds the whole stream where two paths meet"
    }
