"""C simulation of a damaged design directory: the file is named, and what to do."""

import json
from pathlib import Path

import numpy as np
import pytest
from small_graphs import mlp, quantised

from compiler.design_dir import digests, edited_files
from compiler.errors import InvalidInputError
from compiler.frontend.graph_json import graph_to_json
from compiler.frontend.interpret import interpret
from compiler.graph.task_graph import ComputeTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.images import tensor_to_tokens
from compiler.verify import OutputCheck, csim, integer_mismatches, verdict_of

DESCRIPTION = {"platform": "u55c", "workload": {"precision": "f32"}}


def design(folder: Path, description: object = DESCRIPTION, graph: str | None = None, ir: str = "module {") -> Path:
    """A directory with the files that are read before anything is built; `description` gets their digests."""
    (folder / "tb").mkdir()
    if graph is not None:
        (folder / "tb" / "graph.json").write_text(graph)
    (folder / "ir").mkdir()
    (folder / "ir" / "10-size-fifos.mlir").write_text(ir)
    if isinstance(description, dict):
        description = {**description, "digests": digests(folder)}
    (folder / "design.json").write_text(json.dumps(description))
    return folder


@pytest.mark.parametrize("description", [[], {}, {"platform": "u55c", "workload": {"precision": "w3"}}])
def test_a_description_without_its_parts(tmp_path: Path, description: object):
    with pytest.raises(InvalidInputError, match=r"design\.json is (missing or )?damaged"):
        csim(design(tmp_path, description))


@pytest.mark.parametrize("graph", [None, "{", "[]", "{}"])
def test_a_network_that_is_missing_or_cut_off(tmp_path: Path, graph: str | None):
    with pytest.raises(InvalidInputError, match=r"graph\.json is missing or damaged"):
        csim(design(tmp_path, graph=graph))


@pytest.mark.parametrize("ir", ["module {", "builtin.module {}", "%0 = tensor.empty() : tensor<1xf32>", ""])
def test_an_ir_that_is_cut_off_or_of_another_stage(tmp_path: Path, ir: str):
    with pytest.raises(
        InvalidInputError, match=r"10-size-fifos\.mlir is missing or damaged .*compile the design again"
    ):
        csim(design(tmp_path, graph=json.dumps(graph_to_json(mlp())), ir=ir))


@pytest.mark.parametrize("how", ["edited", "removed", "added", "added source"])
def test_a_design_that_is_not_as_it_was_compiled(tmp_path: Path, how: str):
    folder = design(tmp_path, graph=json.dumps(graph_to_json(mlp())))
    name = {"added": "ir/11-mine.mlir", "added source": "hls/mine.cpp"}.get(how, "tb/graph.json")
    if how == "removed":
        (folder / name).unlink()
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    with pytest.raises(InvalidInputError, match=rf"{name} was edited, removed or added .* --allow-edited"):
        csim(folder)
    with pytest.raises(InvalidInputError, match="is missing or damaged"):  # taken as it is, which is worse still
        csim(folder, allow_edited=True)


def test_what_running_a_design_makes_does_not_count(tmp_path: Path):
    folder = design(tmp_path)
    for made in ("csim", "out", "hls"):
        (folder / made).mkdir()
        (folder / made / "log").write_text("")
    assert edited_files(folder) == ()


def test_a_verdict_names_what_the_results_were_compared_with():
    output = OutputCheck("y", 0.5, 0.25, 0.1, 1e-4, passed=False)
    verdict = verdict_of((output,), {}, "", "onnx.reference.ReferenceEvaluator", 1.0)
    assert verdict.message == "y is off by 0.25 from onnx.reference.ReferenceEvaluator, 0.0001 is allowed"
    assert verdict.to_json()["reference"] == "onnx.reference.ReferenceEvaluator"


def test_every_integer_that_a_task_gets_wrong_counts(tmp_path: Path):
    graph = quantised()
    tasks = planned_tasks(graph, Knobs(overall_unroll=1), load_platform("u55c"))
    rng = np.random.default_rng(0)
    tensors = {v.source: rng.integers(-8, 8, v.shape) for v in graph.values if v.dtype in ("i8", "i4")}
    values = interpret(graph, {"scales": np.ones(16, np.float32)} | {k: v.astype(np.int8) for k, v in tensors.items()})
    task = tasks.task["product"]
    assert isinstance(task, ComputeTask)
    for access, value in zip((*task.reads, *task.writes), ("xq", "wq", "acc"), strict=True):
        tokens = tensor_to_tokens(values[value], tasks.stream[access.stream].itensor)
        (tmp_path / f"{access.stream}.bin").write_bytes(tokens.tobytes())
    assert integer_mismatches(task, tasks, graph, tmp_path) == 0
    written = tmp_path / f"{task.writes[0].stream}.bin"
    made = np.frombuffer(written.read_bytes(), np.int32).copy()
    made[[3, 17]] += 1
    written.write_bytes(made.tobytes())
    assert integer_mismatches(task, tasks, graph, tmp_path) == 2
