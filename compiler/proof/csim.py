"""Proof of one design: its emitted C++ runs and is compared with what it should do (design 3.7).

First with the network's own inputs: every result against the reference's (PyTorch's, or that of the model's format),
within the tolerance of the workload's precision, and every task as `compiler.proof.checks` says. Then with tokens that
are drawn for each task (`compiler.proof.probing`): every task again. The runs are held to the design's streams: their
ends, their certified depths, the tokens that they carry.
"""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from compiler.analysis.build import task_graph
from compiler.analysis.padding import pad
from compiler.design_dir import DEFAULT_REFERENCE, OnStage, last_stage, read_design, refuse_edited, silent
from compiler.errors import InvalidInputError, VerificationError
from compiler.frontend.graph_json import graph_from_json
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.ir.read import parse_design
from compiler.options import Knobs
from compiler.platforms.stored import stored_platform
from compiler.proof.checks import Checks, Finding
from compiler.proof.memory import Memory
from compiler.proof.probing import PROBES, Probe, draw_scalar, give_tokens
from compiler.proof.recording import Recording
from compiler.proof.verdict import OutputCheck, Verdict, compare, verdict_of
from compiler.simulator.csim.build import build
from compiler.simulator.csim.execute import run
from compiler.targets.interface import Interface, plan_interface
from compiler.targets.tolerance import TOLERANCE

NETWORK = "network"  # the run on the network's own inputs
MISMATCH = 1  # how the testbench ends when an output is off


@dataclass(frozen=True, slots=True)
class Design:
    """What a design directory says of itself: the network as it is padded, the accelerator, how exact its results must
    be, and what computed the expected ones.
    """

    graph: LinalgGraph
    tasks: TaskGraph
    tolerance: float
    reference: str


def read_proof(directory: Path) -> Design:
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
        return Design(pad(graph, knobs), tasks, tolerance, reference)
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
    design = read_proof(directory)
    interface = plan_interface(design.tasks, design.graph)
    work = directory / "csim"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    say("build with g++")
    names = [k.name for k in interface.kernels]
    program = build(directory / "hls", work, names, [t.name for t in design.tasks.tasks], jobs, timeout_s)
    verdict = replace(prove(program, directory, work, design, interface, say, timeout_s), edited=edited)
    verdict = replace(verdict, seconds=time.monotonic() - started)
    shutil.rmtree(directory / "out", ignore_errors=True)
    (work / NETWORK / "out").replace(directory / "out")  # where the manifest says that the results are
    (work / "verdict.json").write_text(json.dumps(verdict.to_json(), indent=1))
    return verdict


def prove(
    program: Path,
    directory: Path,
    work: Path,
    design: Design,
    interface: Interface,
    say: OnStage = silent,
    timeout_s: float = 600,
) -> Verdict:
    """The verdict on a built `program` of the design in `directory`; `work` takes what it leaves."""
    started = time.monotonic()
    say("run")
    own = _run(program, directory, work, design, None, timeout_s)
    with ThreadPoolExecutor(1) as pool:  # the next run goes on while the one before is looked at
        probes = [pool.submit(_run, program, directory, work, design, probe, timeout_s) for probe in PROBES]
        say(f"compare with {design.reference}, task by task")
        try:
            outputs = _check_outputs(own, design, interface)
            findings = _findings(own, design, interface)
            for probe, pending in zip(PROBES, probes, strict=True):
                say(f"probe every task: {probe}")
                findings += _findings(pending.result(), design, interface)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    tasks = [t.name for t in design.tasks.tasks]
    return verdict_of(outputs, findings, own.message, design.reference, time.monotonic() - started, tasks)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: what it read lies in `design`, what it left in `results` and `taps`; what the testbench objected to."""

    design: Path
    results: Path
    taps: Recording
    message: str


def _run(program: Path, directory: Path, work: Path, design: Design, probe: Probe | None, timeout_s: float) -> _Run:
    """On the network's inputs, or on tokens that are drawn for each task, with what kernels pass by value drawn too."""
    folder = (work / (probe or NETWORK)).resolve()
    taps = Recording(folder / "taps", design.tasks, given=probe is not None)
    taps.prepare()
    reads, results = directory.resolve(), folder / "out"
    if probe is not None:
        reads = folder
        give_tokens(taps, probe, 0)
        _drawn_memory(directory.resolve(), folder, design, probe)
    finished = run(program, directory, taps.folder, timeout_s, (str(reads), str(results)), accepted=(0, MISMATCH))
    return _Run(reads, results, taps, finished.stderr.strip() if finished.returncode == MISMATCH else "")


def _drawn_memory(directory: Path, folder: Path, design: Design, probe: Probe) -> None:
    """The design's memory images in `folder`, with other scalars."""
    (folder / "params").mkdir()
    for file in (directory / "params").iterdir():
        (folder / "params" / file.name).symlink_to(file)
    (folder / "tb").symlink_to(directory / "tb")
    scalars, rng = plan_interface(design.tasks, design.graph).scalars, np.random.default_rng(PROBES.index(probe))
    if scalars:
        (folder / "params" / "scalars.bin").unlink()
        drawn = [draw_scalar(rng, probe, value, design.tasks).tobytes() for value in scalars]
        (folder / "params" / "scalars.bin").write_bytes(b"".join(drawn))


def _findings(made: _Run, design: Design, interface: Interface) -> list[Finding]:
    memory = Memory(made.design, made.results, interface)
    findings = list(Checks(design.graph, design.tasks, made.taps, memory).run())
    shutil.rmtree(made.taps.folder)
    return findings


def _check_outputs(made: _Run, design: Design, interface: Interface) -> tuple[OutputCheck, ...]:
    images = {i.value.name: i for i in interface.images if i.role == "output"}
    memory = Memory(made.design, made.results, interface)
    checks: list[OutputCheck] = []
    with np.load(made.design / "tb" / "expected.npz") as expected:
        for out in design.graph.outputs:
            image = images[out.value]
            got = memory.result(image).transpose(out.permutation).reshape(out.shape)
            checks.append(compare(out.name, got, expected[out.name], design.tolerance))
    return tuple(checks)
