"""What a run of a proof reads in place of the network's inputs. The program of these runs does nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_graphs import softmax

from compiler.design_dir import TENSORS
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.memory import Memory
from compiler.proof.runs import WHOLE, Subject, Trial, make_run
from compiler.targets.images import pack
from compiler.targets.interface import plan_interface

MASKED = np.finfo(np.float32).min
OTHER_INPUTS = [trial for trial in WHOLE if trial.kind == "inputs"]


def subject(folder: Path, given: Any) -> Subject:
    """A row softmax of `given`."""
    graph = softmax(*given.shape)
    tasks = planned_tasks(graph, Knobs(overall_unroll=4), load_platform("u55c"))
    interface = plan_interface(tasks, graph)
    for name in ("params", "tb"):
        (folder / "design" / name).mkdir(parents=True)
    (folder / "design" / "tb" / TENSORS).write_text(json.dumps({"x": "of the network", "weight": "stays"}))
    for image in interface.images:
        if image.role == "input":
            for channel, content in enumerate(pack(given.astype(np.float32), image.dma)):
                (folder / "design" / image.file(channel)).write_bytes(content)
    program = folder / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return Subject(program, folder / "design", folder / "work", graph, tasks, interface)


def drawn(made: Memory) -> Any:
    """What the inputs hold: every load of a tensor has the same."""
    tensors = [made.content(image) for image in made.interface.images if image.role == "input"]
    assert all(np.array_equal(tensor, tensors[0]) for tensor in tensors)
    return tensors[0]


def test_inputs_are_as_wide_narrower_and_wider(tmp_path: Path):
    given = np.random.default_rng(0).normal(3, 2, (64, 64))
    ran = subject(tmp_path, given)
    found = [drawn(make_run(ran, trial).memory) for trial in OTHER_INPUTS]
    assert [round(float(tensor.std() / given.std()) * 16) for tensor in found] == [16, 1, 64]
    assert all(abs(float(tensor.mean()) - 3) < 0.5 for tensor in found)
    kept = json.loads((ran.work / OTHER_INPUTS[0].name / "tb" / TENSORS).read_text())
    assert kept == {"weight": "stays"}
    original = Memory(ran.directory, tmp_path, ran.interface)
    assert np.array_equal(drawn(original), given.astype(np.float32))


def test_a_cache_that_holds_half_none_or_all_of_its_positions(tmp_path: Path):
    ran = subject(tmp_path, np.array([[0.0] * 12 + [MASKED] * 3 + [0.0]]))
    found = [drawn(make_run(ran, trial).memory)[0] for trial in OTHER_INPUTS]
    assert [int((tensor == 0).sum()) for tensor in found] == [9, 1, 16]
    assert all(set(tensor.tolist()) <= {0.0, float(MASKED)} and tensor[-1] == 0 for tensor in found)


def test_the_mask_of_several_rows_stays(tmp_path: Path):
    causal = np.where(np.tri(8) > 0, 0.0, MASKED)
    ran = subject(tmp_path, causal)
    assert all(np.array_equal(drawn(make_run(ran, trial).memory), causal) for trial in OTHER_INPUTS)


@pytest.mark.parametrize("kind", ["exact", "constants"])
def test_tokens_are_given_at_the_streams(tmp_path: Path, kind: Any):
    ran = subject(tmp_path, np.ones((4, 16)))
    made = make_run(ran, Trial(kind, 1))
    assert np.array_equal(drawn(made.memory), np.ones((4, 16)))
    given = {path.stem for path in made.recording.folder.glob("*.in")}
    assert given == {stream.name for stream in ran.tasks.streams}
