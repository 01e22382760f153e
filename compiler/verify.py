"""Proof of one design: its emitted C++ runs and is compared with PyTorch (design 3.7).

Two checks. Every result against PyTorch's, within the tolerance of the workload's precision. And every task that
computes on integers against the definition of its operation, bit by bit, on the very tokens that it read: so a
quantised design is exact up to each dequantisation, whatever rounding the float tasks before it made.
"""

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from compiler.analysis.read_back import read_back
from compiler.design_dir import OnStage, last_stage, read_design, silent
from compiler.dialects.context import design_context
from compiler.errors import InvalidInputError, MillraceError, VerificationError
from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.interpret import evaluate_op
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import Task, TaskGraph
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build
from compiler.simulator.csim.execute import run
from compiler.targets.images import tokens_to_tensor, unpack
from compiler.targets.interface import Interface, plan_interface

# Largest error allowed, relative to the largest magnitude of the result. f32: sums in another order than PyTorch's.
# Quantised: the same, and an activation that falls the other side of a rounding boundary moves by one step of its
# scale.
TOLERANCE = {"f32": 1e-4, "w8a8": 5e-3, "w4a8": 5e-3}

INTEGERS = frozenset({"i4", "i8", "i32"})


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One result against PyTorch. Errors are the largest over all elements; `max_rel_error` relative to the largest
    magnitude of the expected result, `rms_rel_error` the root mean square error relative to its root mean square.
    """

    name: str
    max_abs_error: float
    max_rel_error: float
    rms_rel_error: float
    tolerance: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What C simulation says of a design. `integer_mismatches` counts elements that differ over the tasks checked."""

    passed: bool
    outputs: tuple[OutputCheck, ...]
    tasks_checked: int
    integer_mismatches: int
    message: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Design:
    """What a design directory says of itself: the network, the accelerator, and how exact its results must be."""

    graph: LinalgGraph
    tasks: TaskGraph
    tolerance: float


def _read(directory: Path) -> _Design:
    """Raises InvalidInputError that names the file where one is missing or damaged."""
    description, stage = read_design(directory), last_stage(directory)
    file = directory / "design.json"
    try:
        platform, tolerance = load_platform(description["platform"]), TOLERANCE[description["workload"]["precision"]]
        file = directory / "tb" / "graph.json"
        graph = graph_from_json(json.loads(file.read_text()))
        file = stage
        module = Parser(design_context(), file.read_text()).parse_module()
        module.verify()
        return _Design(graph, read_back(module, platform), tolerance)
    except (OSError, ValueError, KeyError, TypeError, ParseError, VerifyException, VerificationError) as error:
        reason = str(error).strip().splitlines()[-1].strip() if str(error).strip() else type(error).__name__
        raise InvalidInputError(f"{file} is missing or damaged ({reason}); compile the design again") from error


def csim(
    directory: Path,
    on_stage: OnStage | None = None,
    timeout_s: float = 600,
    jobs: int | None = None,
) -> Verdict:
    """Build the design in `directory`, run it, compare it with PyTorch; the verdict also goes to `csim/verdict.json`.

    Raises InvalidInputError where `directory` holds no design, DeadlockError and the other errors of
    `compiler.simulator.csim` where the run does not end well, ToolError where g++ is missing.
    """
    say = on_stage or silent
    started = time.monotonic()
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
    integer_tasks = [t for t in tasks.tasks if _computes_integers(t)]
    streams = [a.stream for t in integer_tasks for a in (*t.reads, *t.writes)]
    run(program, directory, work / "taps" if streams else None, timeout_s, (str(directory.resolve()),), streams)
    say("compare with PyTorch")
    outputs = _check_outputs(directory, graph, interface, design.tolerance)
    mismatches = {t.name: _mismatches(t, tasks, graph, work / "taps") for t in integer_tasks}
    shutil.rmtree(work / "taps", ignore_errors=True)
    verdict = _verdict(outputs, mismatches, time.monotonic() - started)
    (work / "verdict.json").write_text(json.dumps(verdict.to_json(), indent=1))
    return verdict


def _verdict(outputs: tuple[OutputCheck, ...], mismatches: Mapping[str, int], seconds: float) -> Verdict:
    wrong = [f"{o.name} is off by {o.max_rel_error:.2g}, {o.tolerance:.2g} is allowed" for o in outputs if not o.passed]
    wrong += [f"task {name} differs in {n} elements from its operation" for name, n in mismatches.items() if n]
    message = "; ".join(wrong)
    return Verdict(not wrong, outputs, len(mismatches), sum(mismatches.values()), message, seconds)


def _computes_integers(task: Task) -> bool:
    body = task.op.body if task.kind == "compute" and task.op is not None else None
    return body is not None and set(body.arg_dtypes) <= INTEGERS and body.dtype_of(body.result) in INTEGERS


def _mismatches(task: Task, tasks: TaskGraph, graph: LinalgGraph, taps: Path) -> int:
    """Elements of the task's output that differ from its operation on the inputs that it read."""
    assert task.op is not None

    def recorded(stream: str) -> NDArray[Any]:
        return tokens_to_tensor((taps / f"{stream}.bin").read_bytes(), tasks.stream[stream].itensor)

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
            got = unpack(channels, image.dma).transpose(out.permutation).reshape(out.shape)
            checks.append(compare(out.name, got, expected[out.name], tolerance))
    return tuple(checks)


def compare(name: str, got: NDArray[Any], expected: NDArray[Any], tolerance: float) -> OutputCheck:
    """Errors of `got`; a NaN or infinity in either is an infinite error, shapes must agree."""
    if got.shape != expected.shape:
        raise MillraceError(f"{name} has shape {list(got.shape)} where PyTorch gives {list(expected.shape)}")
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
