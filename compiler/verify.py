"""Proof of one design: its emitted C++ runs and is compared with the reference (design 3.7).

Two checks. Every result against the reference's (PyTorch's, or that of the model's format), within the tolerance of the
workload's precision. And every task that computes on integers against the definition of its operation, bit by bit, on
the very tokens that it read: so a quantised design is exact up to each dequantisation, whatever rounding the float
tasks before it made.
"""

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.build import task_graph
from compiler.analysis.padding import pad
from compiler.design_dir import DEFAULT_REFERENCE, OnStage, last_stage, read_design, refuse_edited, silent
from compiler.errors import InvalidInputError, MillraceError, VerificationError
from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.interpret import evaluate_op
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import ComputeTask, TaskGraph
from compiler.ir.read import parse_design
from compiler.options import Knobs
from compiler.platforms.stored import stored_platform
from compiler.simulator.csim.build import build
from compiler.simulator.csim.execute import run
from compiler.targets.images import tokens_to_tensor, unpack
from compiler.targets.interface import Interface, plan_interface
from compiler.targets.tokens import recorded_elements
from compiler.targets.tolerance import TOLERANCE

MISMATCH = 1  # how the testbench ends when an output is off
INTEGERS = frozenset({"i4", "i8", "i32"})


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One result against the reference. Errors are the largest over all elements; `max_rel_error` relative to the
    largest magnitude of the expected result, `rms_rel_error` the root mean square error relative to its root mean
    square.
    """

    name: str
    max_abs_error: float
    max_rel_error: float
    rms_rel_error: float
    tolerance: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What C simulation says of a design. `integer_mismatches` counts elements that differ over the tasks checked;
    `edited` names files that are not as they were compiled, so that the verdict is on something else than the design;
    `reference` is what the results were compared with.
    """

    passed: bool
    outputs: tuple[OutputCheck, ...]
    tasks_checked: int
    integer_mismatches: int
    message: str
    seconds: float
    edited: tuple[str, ...] = ()
    reference: str = DEFAULT_REFERENCE

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Design:
    """What a design directory says of itself: the network as it is padded, the accelerator, how exact its results must
    be, and what computed the expected ones.
    """

    graph: LinalgGraph
    tasks: TaskGraph
    tolerance: float
    reference: str


def _read(directory: Path) -> _Design:
    """Raises InvalidInputError that names the file where one is missing or damaged."""
    description, stage = read_design(directory), last_stage(directory)
    file = directory / "design.json"
    try:
        platform = stored_platform(directory, description["platform"])
        tolerance = TOLERANCE[description["workload"]["precision"]]
        knobs = Knobs.from_json(description.get("knobs", {}))
        file = directory / "tb" / "graph.json"
        graph = graph_from_json(json.loads(file.read_text()))
        file = stage
        tasks = task_graph(parse_design(file.read_text(), platform))
        reference = description.get("reference", DEFAULT_REFERENCE)
        return _Design(pad(graph, knobs), tasks, tolerance, reference)
    except (OSError, ValueError, KeyError, TypeError, VerificationError) as error:
        reason = str(error).strip().splitlines()[-1].strip() if str(error).strip() else type(error).__name__
        raise InvalidInputError(f"{file} is missing or damaged ({reason}); compile the design again") from error


def csim(
    directory: Path,
    on_stage: OnStage | None = None,
    timeout_s: float = 600,
    jobs: int | None = None,
    allow_edited: bool = False,
) -> Verdict:
    """Build the design in `directory`, run it, compare it with its reference; `csim/verdict.json` keeps the verdict.

    Raises InvalidInputError where `directory` holds no design, or one whose files are not as they were compiled (which
    `allow_edited` lets pass); DeadlockError and the other errors of `compiler.simulator.csim` where the run does not
    end well; ToolError where g++ is missing.
    """
    say = on_stage or silent
    started = time.monotonic()
    edited = refuse_edited(directory, allow_edited)
    design = _read(directory)
    graph, tasks = design.graph, design.tasks
    interface = plan_interface(tasks, graph)
    work = directory / "csim"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    say("build with g++")
    names = [k.name for k in interface.kernels]
    program = build(directory / "hls", work, names, [t.name for t in tasks.tasks], jobs, timeout_s)
    say("run")
    integer_tasks = [t for t in tasks.tasks if isinstance(t, ComputeTask) and _computes_integers(t)]
    streams = [a.stream for t in integer_tasks for a in (*t.reads, *t.writes)]
    arguments, taps = (str(directory.resolve()),), work / "taps" if streams else None
    finished = run(program, directory, taps, timeout_s, arguments, streams, accepted=(0, MISMATCH))
    say(f"compare with {design.reference}")
    outputs = _check_outputs(directory, graph, interface, design.tolerance)
    mismatches = {t.name: integer_mismatches(t, tasks, graph, work / "taps") for t in integer_tasks}
    shutil.rmtree(work / "taps", ignore_errors=True)
    testbench = finished.stderr.strip() if finished.returncode == MISMATCH else ""
    verdict = verdict_of(outputs, mismatches, testbench, design.reference, time.monotonic() - started)
    verdict = replace(verdict, edited=edited)
    (work / "verdict.json").write_text(json.dumps(verdict.to_json(), indent=1))
    return verdict


def verdict_of(
    outputs: tuple[OutputCheck, ...], mismatches: Mapping[str, int], testbench: str, reference: str, seconds: float
) -> Verdict:
    """What the checks together say: `mismatches` by task, `testbench` what it said where it found something wrong."""
    off = (o for o in outputs if not o.passed)
    wrong = [f"{o.name} is off by {o.max_rel_error:.2g} from {reference}, {o.tolerance:.2g} is allowed" for o in off]
    wrong += [f"task {name} differs in {n} elements from its operation" for name, n in mismatches.items() if n]
    if testbench and not wrong:  # the two checks read the same files: one of them is broken
        wrong.append(f"the testbench disagrees: {testbench}")
    message = "; ".join(wrong)
    total = sum(mismatches.values())
    return Verdict(not wrong, outputs, len(mismatches), total, message, seconds, reference=reference)


def _computes_integers(task: ComputeTask) -> bool:
    body = task.op.body
    return body is not None and set(body.arg_dtypes) <= INTEGERS and body.dtype_of(body.result) in INTEGERS


def integer_mismatches(task: ComputeTask, tasks: TaskGraph, graph: LinalgGraph, taps: Path) -> int:
    """Elements of the task's output that differ from its operation on the inputs that it read, both as the files in
    `taps` recorded them.
    """

    def recorded(stream: str) -> NDArray[Any]:
        itensor, raw = tasks.stream[stream].itensor, (taps / f"{stream}.bin").read_bytes()
        return tokens_to_tensor(recorded_elements(raw, itensor, tasks.port_bits), itensor)

    inputs = [recorded(a.stream) for a in task.reads]
    (expected,) = evaluate_op(task.op, graph, inputs)
    return int(np.count_nonzero(recorded(task.writes[0].stream) != expected))


def _check_outputs(
    directory: Path, graph: LinalgGraph, interface: Interface, tolerance: float
) -> tuple[OutputCheck, ...]:
    images = {i.value.name: i for i in interface.images if i.role == "output"}
    checks: list[OutputCheck] = []
    with np.load(directory / "tb" / "expected.npz") as expected:
        for out in graph.outputs:
            image = images[out.value]
            channels = [(directory / image.file(c)).read_bytes() for c in range(image.dma.channels)]
            got = unpack(channels, image.dma, image.value.true_shape).transpose(out.permutation).reshape(out.shape)
            checks.append(compare(out.name, got, expected[out.name], tolerance))
    return tuple(checks)


def compare(name: str, got: NDArray[Any], expected: NDArray[Any], tolerance: float) -> OutputCheck:
    """Errors of `got`; a NaN or infinity in either is an infinite error, shapes must agree."""
    if got.shape != expected.shape:
        raise MillraceError(f"{name} has shape {list(got.shape)} where the reference gives {list(expected.shape)}")
    finite = bool(np.isfinite(got).all() and np.isfinite(expected).all())
    error = np.abs(got.astype(np.float64) - expected.astype(np.float64)) if finite else np.array([np.inf])
    scale = float(np.abs(expected).max()) or 1.0
    rms = float(np.sqrt(np.mean(np.square(expected, dtype=np.float64)))) or 1.0
    largest = float(error.max())
    return OutputCheck(
        name,
        largest,
        largest / scale,
        float(np.sqrt(np.mean(np.square(error)))) / rms,
        tolerance,
        finite and largest <= tolerance * scale,
    )
