"""Proof of one design: its emitted C++ runs and is compared with what it should do (design 3.7).

First with the network's own inputs: every result against the reference's (PyTorch's, or that of the model's format),
within the tolerance of the workload's precision, and every task as `compiler.proof.checks` says. Then with tokens that
are drawn for each task (`compiler.proof.probing`): every task again. The runs are held to the design's streams: their
ends, their certified depths, the tokens that they carry.
"""

import json
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from compiler.analysis.build import task_graph
from compiler.analysis.padding import pad
from compiler.analysis.rows import kept_rows, made_rows
from compiler.design_dir import DEFAULT_REFERENCE, OnStage, last_stage, read_design, refuse_edited, silent
from compiler.errors import InvalidInputError, VerificationError
from compiler.frontend.graph_json import graph_from_json
from compiler.graph.layers import folded, launched, of_inputs
from compiler.graph.linalg_graph import Layers, LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.ir.read import parse_design
from compiler.options import Knobs
from compiler.platforms.stored import stored_platform
from compiler.proof.checks import Checks, Finding
from compiler.proof.ports import routes
from compiler.proof.runs import NETWORK, QUICK, WHOLE, Ran, Subject, Trial, make_run
from compiler.proof.verdict import OutputCheck, Verdict, compare, verdict_of
from compiler.simulator.csim.build import SHORT_ITERATIONS, build, calls_of
from compiler.targets.interface import plan_interface
from compiler.targets.tolerance import TOLERANCE

_DOING = {
    "network": "run, compare with {reference} and task by task",
    "inputs": "on other inputs: {seed}",
    "exact": "every task on ties and clamps: {seed}",
    "constants": "every task around its constants: {seed}",
}


@dataclass(frozen=True, slots=True)
class Proven:
    """What a design directory says of itself: the network as it is padded, the accelerator, how exact its results must
    be, and what computed the expected ones.
    """

    graph: LinalgGraph
    tasks: TaskGraph
    tolerance: float
    reference: str


def read_design_to_prove(directory: Path) -> Proven:
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
        planned = parse_design(file.read_text(), platform)
        tasks, layers = task_graph(planned), planned.graph.layers
        reference = description.get("reference", DEFAULT_REFERENCE)
        return Proven(_launched(graph, knobs, layers), tasks, tolerance, reference)
    except (OSError, ValueError, KeyError, TypeError, VerificationError) as error:
        reason = str(error).strip().splitlines()[-1].strip() if str(error).strip() else type(error).__name__
        raise InvalidInputError(f"{file} is missing or damaged ({reason}); compile the design again") from error


def _launched(graph: LinalgGraph, knobs: Knobs, layers: Layers | None) -> LinalgGraph:
    """The network as the accelerator runs it: dimensions padded, and layers folded, as in all but older designs; or for
    inputs that follow each other.
    """
    if layers is None:
        return pad(graph, knobs)
    network = of_inputs(graph, layers.count) if layers.told else folded(graph)
    return launched(pad(graph if network is None else network, knobs))


def csim(
    directory: Path,
    on_stage: OnStage | None = None,
    timeout_s: float = 600,
    jobs: int | None = None,
    allow_edited: bool = False,
    whole: bool = False,
) -> Verdict:
    """Build the design in `directory`, run it, compare it with its reference; `csim/verdict.json` keeps the verdict.
    `whole` makes more runs: other inputs, other lengths of the cache, more tokens for each task.

    Raises InvalidInputError where `directory` holds no design, or one whose files are not as they were compiled (which
    `allow_edited` lets pass); DeadlockError and the other errors of `compiler.simulator.csim` where the run does not
    end well; ToolError where g++ is missing.
    """
    say = on_stage or silent
    started = time.monotonic()
    edited = refuse_edited(directory, allow_edited)
    design = read_design_to_prove(directory)
    interface = plan_interface(design.tasks, design.graph)
    work = directory / "csim"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    say("build with g++")
    is_short = design.graph.iterations < SHORT_ITERATIONS
    program = build(directory / "hls", work, calls_of(directory), jobs, timeout_s, is_short=is_short)
    subject = Subject(program, directory, work, design.graph, design.tasks, interface, timeout_s)
    verdict = prove(subject, design, WHOLE if whole else QUICK, say)
    verdict = replace(verdict, edited=edited, seconds=time.monotonic() - started)
    shutil.rmtree(directory / "out", ignore_errors=True)
    (work / NETWORK.name / "out").replace(directory / "out")  # where the manifest says that the results are
    (work / "verdict.json").write_text(json.dumps(verdict.to_json(), indent=1))
    return verdict


def prove(subject: Subject, design: Proven, trials: Sequence[Trial], say: OnStage = silent) -> Verdict:
    """The verdict on a design that is built, on `trials`, the first of which is the network's own."""
    started = time.monotonic()
    outputs: tuple[OutputCheck, ...] = ()
    findings: list[Finding] = []
    objection = ""
    with ThreadPoolExecutor(1) as pool:  # the next run goes on while the one before is looked at
        pending = [pool.submit(make_run, subject, trial) for trial in trials]
        try:
            for trial, running in zip(trials, pending, strict=True):
                say(_DOING[trial.kind].format(reference=design.reference, seed=trial.seed))
                made = running.result()
                if trial == NETWORK:
                    outputs, objection = _check_outputs(made, subject, design.tolerance), made.message
                findings += Checks(subject.graph, subject.tasks, made.recording, made.memory).run()
                shutil.rmtree(made.recording.folder)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    within = routes(subject.tasks)  # checked with the operations whose tokens they pass on
    tasks = [t.name for t in subject.tasks.tasks if t.name not in within]
    return verdict_of(outputs, findings, objection, design.reference, time.monotonic() - started, tasks)


def _check_outputs(made: Ran, subject: Subject, tolerance: float) -> tuple[OutputCheck, ...]:
    images = {i.value.name: i for i in subject.interface.images if i.is_made}
    kept, rows = kept_rows(subject.graph), made_rows(subject.graph)
    checks: list[OutputCheck] = []
    with np.load(subject.directory / "tb" / "expected.npz") as expected:
        for out in subject.graph.outputs:
            row = kept.get(out.value)
            made_of = made.memory.content(images[out.value if row is None else row.state])
            made_of = made_of if row is None else made_of.take(row.row.count - 1, row.axis)
            made_of = made_of[-1] if out.value in rows else made_of
            made_of = made_of if out.layer is None else made_of[out.layer]
            got = made_of.transpose(out.permutation).reshape(out.shape)
            checks.append(compare(out.name, got, expected[out.name], tolerance))
    return tuple(checks)
