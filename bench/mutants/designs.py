"""Designs that mutants are made of: those of the matrix, compiled once, or any that are there; built once."""

import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from bench.matrix import CONTEXT, MODELS, PHASES, PRECISIONS, ROWS
from bench.mutants.draw import Emitted
from bench.mutants.source import functions_of
from bench.mutants.wiring import Kernel
from bench.workload import bundle_cache
from compiler.errors import MillraceError, ToolError
from compiler.frontend.bundle import import_model
from compiler.graph.task_graph import TaskKind
from compiler.native import find_compiler
from compiler.options import Knobs, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.process import Limits, run_process
from compiler.proof.csim import Proven, prove, read_design_to_prove
from compiler.proof.runs import QUICK, Subject, Trial
from compiler.proof.verdict import Verdict
from compiler.simulator.csim.build import (
    INCLUDE_DIR,
    build,
    calls_of,
    compile_command,
    flags_of,
    kernel_flags,
    runtime_object,
)
from compiler.targets.interface import Interface, plan_interface

_HEADER = "mutant.h"
_PATIENCE = 20  # a mutant is stopped after so many times what the whole proof of the design takes
_LEAST_S = 20.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where a design comes from: a workload of the matrix, or a directory of one that was compiled."""

    name: str
    directory: Path
    workload: Workload | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A design that was built and passes. `objects` link to its simulation; `folder` keeps what mutants need."""

    name: str
    directory: Path
    folder: Path
    objects: tuple[str, ...]
    timeout_s: float

    @property
    def header(self) -> Path:
        """What the tasks include, precompiled."""
        return self.folder / _HEADER


@dataclass(frozen=True)
class Read:
    """A design as it describes itself, and the texts that it was emitted as."""

    directory: Path
    design: Proven

    @cached_property
    def interface(self) -> Interface:
        return plan_interface(self.design.tasks, self.design.graph)

    @property
    def tasks_file(self) -> Path:
        found = sorted((self.directory / "hls").glob("*_tasks.cpp"))
        if len(found) != 1:
            raise ToolError(f"{self.directory}/hls holds {len(found)} files *_tasks.cpp instead of one")
        return found[0]

    def emitted(self, name: str) -> Emitted:
        kinds: dict[str, TaskKind] = {function.name: function.task.kind for function in self.interface.functions}
        functions = functions_of(self.tasks_file.read_text(), kinds)
        written = {t.name: [access.stream for access in t.writes] for t in self.design.tasks.tasks}
        files = [(k.name, (self.directory / "hls" / f"{k.name}.cpp").read_text()) for k in self.interface.kernels]
        return Emitted(name, functions, [Kernel(kernel, text, functions, written) for kernel, text in files])

    def prove(self, program: Path, work: Path, timeout_s: float = 600, trials: Sequence[Trial] = QUICK) -> Verdict:
        """The verdict on what was built of the design, edited or not; `work` takes what it leaves."""
        tasks, graph = self.design.tasks, self.design.graph
        subject = Subject(program, self.directory, work, graph, tasks, self.interface, timeout_s)
        return prove(subject, self.design, trials)

    def tasks_of(self, name: str) -> set[str]:
        """That are calls of the function, or the one of that name."""
        return next((set(f.members) for f in self.interface.functions if f.name == name), {name})

    def readers(self, task: str) -> set[str]:
        """The tasks behind it."""
        return {self.design.tasks.stream[access.stream].target for access in self.design.tasks.task[task].writes}


@lru_cache(maxsize=32)
def read(directory: Path) -> Read:
    """Once a process."""
    return Read(directory, read_design_to_prove(directory))


def of_matrix(work: Path) -> Iterator[Source]:
    """Every family, phase and precision."""
    for model in MODELS:
        for phase in PHASES:
            for precision in PRECISIONS:
                length = ROWS if phase == "prefill" else CONTEXT
                name = f"{model}-{phase}{length}-{precision}"
                yield Source(name, work / "designs" / name, Workload(model, phase, length, precision))


def prepare(source: Source, work: Path) -> Built:
    """Compile the design unless it is there, build it unless that was done, and prove it as it is."""
    if source.workload is not None and not source.directory.exists():
        bundle = import_model(source.workload.model, source.workload, bundle_cache())
        compile_design(bundle, Knobs(), load_platform("u55c"), source.directory)
    directory = source.directory.resolve()
    found = read(directory)
    folder = work / "builds" / f"{source.name}-{_digest(directory)}"
    if not (folder / "csim").exists():
        _build(found, folder)
    started = time.monotonic()
    scratch = folder / "unedited"
    shutil.rmtree(scratch, ignore_errors=True)
    verdict = found.prove(folder / "csim", scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    if not verdict.passed:
        raise MillraceError(f"{source.name} does not pass as it is: {verdict.message}")
    timeout_s = max(_LEAST_S, _PATIENCE * (time.monotonic() - started))
    return Built(source.name, directory, folder, _objects(folder), timeout_s)


def _build(found: Read, folder: Path) -> None:
    """The simulation, and the header that all mutants of its tasks include."""
    folder.mkdir(parents=True, exist_ok=True)
    program = build(found.directory / "hls", folder, calls_of(found.directory), jobs=1)
    shutil.copyfile(runtime_object(find_compiler("g++")), folder / "obj" / "runtime.o")
    includes = [line for line in found.tasks_file.read_text().splitlines() if line.startswith("#include")]
    (folder / _HEADER).write_text("\n".join(["#pragma once", *includes, ""]))
    command = [*task_command(found.directory), "-x", "c++-header", _HEADER, "-o", f"{_HEADER}.gch"]
    finished = run_process(command, folder, Limits(600))
    if finished.returncode != 0:
        program.unlink()
        raise ToolError(f"the headers of {found.directory} do not compile:\n{finished.stderr[-2000:]}")


def task_command(directory: Path) -> list[str]:
    """How the tasks of a design are compiled."""
    return compile_command(directory / "hls", find_compiler("g++"))


def kernel_command(directory: Path, folder: Path, kernel: str) -> list[str]:
    """How a kernel of it is compiled."""
    return [*task_command(directory), *kernel_flags(directory / "hls", folder, kernel)]


def _objects(folder: Path) -> tuple[str, ...]:
    return tuple(str(path) for path in sorted((folder / "obj").glob("*.o")))


def _digest(directory: Path) -> str:
    """Of all that a build is made of."""
    digest = hashlib.sha256(" ".join((str(directory), *flags_of(find_compiler("g++")))).encode())
    files: Sequence[Path] = [*(directory / "hls").glob("*"), *INCLUDE_DIR.glob("*.h"), *INCLUDE_DIR.glob("millrace/*")]
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
