"""The checks of tasks, on recordings made by hand: right ones pass, and one wrong element anywhere names its task."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_graphs import attention_front, elementwise, mlp, quantised, row_reduction, softmax

from compiler.design_dir import TENSORS, tensor_digest
from compiler.frontend.interpret import interpret
from compiler.graph.linalg_graph import Body, LinalgGraph, Operand, Output, ScalarOp, Value
from compiler.graph.task_graph import ConverterTask, DmaTask, ForkTask, RomTask, StructuredTask, TaskGraph
from compiler.options import Knobs, Weights
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.proof.checks import Checks, Finding, summary
from compiler.proof.memory import Memory
from compiler.proof.recording import Recording
from compiler.targets.images import pack, tensor_to_tokens
from compiler.targets.interface import plan_interface
from compiler.targets.tokens import stored_tokens

U55C = load_platform("u55c")
GRAPHS = {"mlp": mlp(), "softmax": softmax(), "quantised": quantised(), "attention": attention_front()}


class Run:
    """A run as it would be: every stream carries the value that its tasks say, memory holds the network's tensors."""

    def __init__(self, graph: LinalgGraph, folder: Path, unroll: int = 4, weights: Weights = "streamed") -> None:
        self.graph, self.folder = graph, folder
        self.tasks = planned_tasks(graph, Knobs(overall_unroll=unroll, weights=weights), U55C)
        self.values = interpret(graph, _tensors(graph))
        self.interface = plan_interface(self.tasks, graph)
        self.recording = Recording(folder / "taps", self.tasks)
        self.recording.prepare()
        self.carried = _carried(self.tasks)
        for stream in self.tasks.streams:
            self.write(stream.name, self.values[self.carried[stream.name]])
        for name in ("params", "tb", "out"):
            (folder / name).mkdir()
        for image in self.interface.images:
            for channel, content in enumerate(pack(self.values[image.value.name], image.dma)):
                (folder / image.file(channel)).write_bytes(content)
        digests = {v.source: tensor_digest(self.values[v.name]) for v in graph.values if v.source}
        (folder / "tb" / TENSORS).write_text(json.dumps(digests))
        scalars = b"".join(self.values[s.name].tobytes() for s in self.interface.scalars)
        (folder / "params" / "scalars.bin").write_bytes(scalars)

    def write(self, stream: str, tensor: Any, suffix: str = "bin") -> None:
        itensor = self.tasks.stream[stream].itensor.without_rereads()
        (tokens,) = stored_tokens(tensor_to_tokens(tensor, itensor), itensor, self.tasks.port_bits)
        (self.folder / "taps" / f"{stream}.{suffix}").write_bytes(tokens)

    def spoil(self, stream: str) -> tuple[int, ...]:
        """One element, by more than rounding; where it is."""
        tensor = self.values[self.carried[stream]].copy()
        index = tuple(extent - 1 for extent in tensor.shape)
        tensor[index] = tensor[index] + 1 if tensor[index] < 2 else tensor[index] - 1
        self.write(stream, tensor)
        return index

    def findings(self) -> list[Finding]:
        memory = Memory(self.folder, self.folder / "out", self.interface)
        return list(Checks(self.graph, self.tasks, Recording(self.folder / "taps", self.tasks), memory).run())


def _tensors(graph: LinalgGraph) -> Mapping[str, Any]:
    rng = np.random.default_rng(1)
    ranges = {"i8": (-128, 128), "i4": (-8, 8)}
    if graph.name == "rounded_sums":
        return {"halves": np.asarray([[1.25, 1.25], [1.0, 1.1], [2.0, 2.5], [3.0, 0.3]], np.float32)}
    return {
        v.source: rng.normal(size=v.shape).astype(np.float32)
        if v.dtype == "f32"
        else rng.integers(*ranges[v.dtype], v.shape).astype(np.int8)
        for v in graph.values
        if v.source
    }


def _carried(tasks: TaskGraph) -> dict[str, str]:
    """The value that each stream carries."""
    carried: dict[str, str] = {}
    for task in tasks.tasks:
        for number, access in enumerate(task.writes):
            if isinstance(task, StructuredTask):
                carried[access.stream] = task.op.outputs[number].value
            elif isinstance(task, RomTask):
                carried[access.stream] = task.value
            elif isinstance(task, DmaTask):
                carried[access.stream] = task.dma.value
            else:
                carried[access.stream] = carried[task.reads[0].stream]
    return carried


RUNS = [*((name, "streamed") for name in GRAPHS), ("mlp", "resident"), ("quantised", "resident")]


@pytest.mark.parametrize(("name", "weights"), RUNS)
def test_a_run_as_it_should_be(tmp_path: Path, name: str, weights: Weights) -> None:
    run = Run(GRAPHS[name], tmp_path, weights=weights)
    findings = run.findings()
    assert [found for found in findings if found.wrong] == []
    assert {f.task for f in findings if f.scope == "local"} == {t.name for t in run.tasks.tasks}
    globally = {f.value for f in findings if f.scope == "global"}
    assert globally == {o.value for op in run.graph.ops for o in op.outputs}


@pytest.mark.parametrize(("name", "weights"), RUNS)
def test_one_element_of_any_stream_names_its_writer(tmp_path: Path, name: str, weights: Weights) -> None:
    run = Run(GRAPHS[name], tmp_path, weights=weights)
    for stream in run.tasks.streams:
        index = run.spoil(stream.name)
        first = next(found for found in run.findings() if found.wrong)
        assert first.task == stream.source, stream
        if isinstance(run.tasks.task[stream.source], RomTask):  # nothing is known of its tensor but the digest
            assert first.note.startswith("what it is given is not the network's tensor ")
            run.write(stream.name, run.values[run.carried[stream.name]])
            continue
        assert first.first is not None
        assert first.first.index == index
        run.write(stream.name, run.values[run.carried[stream.name]])
    assert not any(found.wrong for found in run.findings())


def test_the_message_names_node_and_values(tmp_path: Path) -> None:
    run = Run(GRAPHS["softmax"], tmp_path)
    task = next(t for t in run.tasks.tasks if isinstance(t, StructuredTask) and t.op.name == "div")
    run.spoil(task.writes[0].stream)
    text = str(next(found for found in run.findings() if found.wrong))
    assert text.startswith(f"task {task.name} (node div) differs from its operation in 1 of 64: element [3, 15] is ")
    assert " instead of " in text
    mover = next(t for t in run.tasks.tasks if isinstance(t, ForkTask | ConverterTask))
    run.spoil(mover.writes[0].stream)
    found = next(found for found in run.findings() if found.wrong)
    assert str(found).startswith(f"task {mover.name} (it moves {mover.writes[0].stream}) differs from its operation")


def test_what_lies_beside_a_stored_tensor_counts(tmp_path: Path) -> None:
    """Its four numbers fill a quarter of a word."""
    run = Run(mlp(1, 4, 8), tmp_path, unroll=1)
    assert not any(found.wrong for found in run.findings())
    [image] = [i for i in run.interface.images if i.role == "output"]
    file = tmp_path / image.file(0)
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    [found] = [found for found in run.findings() if found.wrong]
    assert str(found) == "task store_z: it wrote something beside the tensor to z"


@pytest.mark.parametrize("name", GRAPHS)
def test_memory_that_is_not_the_networks_names_who_reads_it(tmp_path: Path, name: str) -> None:
    """One element of each image and of what kernels pass, as if it had been packed wrongly."""
    run = Run(GRAPHS[name], tmp_path)
    files = {run.interface.task_ports[t.name][0].image.file(0): t.name for t in run.tasks.tasks if t.kind == "load"}
    for file, task in files.items():
        right = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(bytes([right[0] ^ 2]) + right[1:])
        assert next(found for found in run.findings() if found.wrong).task == task
        (tmp_path / file).write_bytes(right)
    for number, scalar in enumerate(run.interface.scalars):
        words = np.fromfile(tmp_path / "params" / "scalars.bin", np.float32)
        words[number] *= 1.5
        words.tofile(tmp_path / "params" / "scalars.bin")
        notes = [found.note for found in run.findings() if found.note]
        assert notes == [f"what it is given is not the network's tensor {scalar.source}"]


def test_what_lies_beside_a_loaded_tensor_counts(tmp_path: Path) -> None:
    run = Run(mlp(1, 4, 8), tmp_path, unroll=1)
    file = tmp_path / "tb" / "x.0.bin"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    assert [f.note for f in run.findings() if f.note] == ["memory image x holds something beside its tensor"]


def test_a_stream_that_nothing_passed_names_its_task(tmp_path: Path) -> None:
    run = Run(GRAPHS["mlp"], tmp_path)
    stream = run.tasks.streams[-1]
    (tmp_path / "taps" / f"{stream.name}.bin").unlink()
    notes = [str(found) for found in run.findings() if found.note]
    assert notes[0] == f"task {stream.source}: nothing passed stream {stream.name}"


@pytest.mark.parametrize(("moved", "wrong", "flipped"), [((0,), 0, 1), ((1,), 1, 1), ((0, 2), 2, 2), ((0, 1), 2, 2)])
def test_a_step_at_a_rounding_boundary_is_counted_and_rarely_allowed(
    tmp_path: Path, moved: tuple[int, ...], wrong: int, flipped: int
) -> None:
    """Sums of rows 0 and 2 are ties; in the network a few such numbers may be a step off, others none."""
    run = Run(_rounded_sums(), tmp_path)
    tensor = run.values["q"].copy()
    tensor[list(moved)] += 1
    for stream, value in run.carried.items():
        if value == "q":
            run.write(stream, tensor)
    [found] = [f for f in run.findings() if f.value == "q" and f.scope == "global"]
    assert (found.wrong, found.flipped) == (wrong, flipped)


def _rounded_sums() -> LinalgGraph:
    """Rows of two numbers, summed and rounded to eight bits."""
    to_integer = (ScalarOp("math.roundeven", (0,), "f32"), ScalarOp("arith.fptosi", (1,), "i8"))
    return LinalgGraph(
        "rounded_sums",
        (
            Value("x", (4, 2), "f32", "input", "halves"),
            Value("s", (4,), "f32"),
            Value("q", (4,), "i8"),
        ),
        (
            row_reduction("sum", 4, 2, "x", "s"),
            elementwise("round", (4,), [Operand("s", (0,))], "q", Body(("f32",), to_integer, 2)),
        ),
        (Output("q", "q", (0,), (4,)),),
    )


def test_the_summary_counts_tasks_by_kind(tmp_path: Path) -> None:
    run = Run(GRAPHS["quantised"], tmp_path)
    rows = {(row["scope"], row["kind"]): row for row in summary(run.findings())}
    assert rows["local", "contraction"]["tasks"] == 1
    assert rows["local", "load"]["tasks"] == len([i for i in run.interface.images if i.role != "output"])
    run.spoil(run.tasks.task["product"].writes[0].stream)
    assert {(r["scope"], r["kind"]) for r in summary(run.findings()) if r["wrong"]} >= {("local", "contraction")}
