"""One mutant: compiled, linked to the rest of its design, and given to the proof."""

import re
import shutil
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.mutants.designs import Built, kernel_command, read, task_command
from bench.mutants.draw import Mutant
from compiler.errors import MillraceError, ToolError, VerificationError
from compiler.native import find_compiler
from compiler.process import Limits, run_process
from compiler.proof.runs import Trial
from compiler.proof.verdict import Verdict
from compiler.simulator.csim.errors import DeadlockError, LeftoverError, SimulationTimeoutError, TaskFaultError

Fate = Literal["check", "crash", "deadlock", "time-out", "survived"]
_CRASHES = ("a crash:", "an arithmetic fault", "exceed its stack", "it throws")
_COMPILE_S = 120.0
# What is defined twice is the mutant's: its object comes first.
_LINK = "-Wl,--allow-multiple-definition"


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a mutant: what caught it, the task that was named first, and whether that is the edited one or one
    right behind it.
    """

    mutant: Mutant
    fate: Fate
    named: str
    right: bool
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Unreal:
    """A mutant that does not compile, or to the same code: not a mistake that could be caught."""

    mutant: Mutant


def judge(mutant: Mutant, built: Built, trials: Sequence[Trial]) -> Judged | Unreal:
    """Raises ToolError where the unedited design can not be compiled or linked."""
    started = time.monotonic()
    with _scratch(built.folder) as scratch:
        edited = _compiled(mutant, mutant.after, built, scratch)
        if edited is None or edited.read_bytes() == _unedited(mutant, built).read_bytes():
            return Unreal(mutant)
        command = [find_compiler("g++"), _LINK, str(edited), *built.objects, "-o", "csim"]
        finished = run_process(command, scratch, Limits(_COMPILE_S))
        if finished.returncode != 0:
            raise ToolError(f"a mutant of {built.name} does not link:\n{finished.stderr[-2000:]}")
        result = _proved(built, scratch, trials)
    fate, named = classify(result)
    design = read(built.directory)
    edited_tasks = {task for name in mutant.edited for task in design.tasks_of(name)}
    behind = {reader for task in edited_tasks for reader in design.readers(task)}
    message = result.message if isinstance(result, Verdict) else str(result)
    return Judged(mutant, fate, named, named in edited_tasks | behind, message, time.monotonic() - started)


@contextmanager
def _scratch(folder: Path) -> Generator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mutant-", dir=folder))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _compiled(mutant: Mutant, text: str, built: Built, scratch: Path) -> Path | None:
    """The object of an edited function, or of an edited kernel; None where the compiler refuses."""
    if mutant.kernel:
        name, command = mutant.kernel, kernel_command(built.directory, built.folder, mutant.kernel)
    else:
        name, command = "task", [*task_command(built.directory), "-include", str(built.header)]
    (scratch / f"{name}.cpp").write_text(text)
    finished = run_process([*command, "-c", f"{name}.cpp", "-o", f"{name}.o"], scratch, Limits(_COMPILE_S))
    return scratch / f"{name}.o" if finished.returncode == 0 else None


def _unedited(mutant: Mutant, built: Built) -> Path:
    """The object of the same text as it was emitted, compiled in the same way, once."""
    kept = built.folder / "plain" / f"{mutant.kernel or mutant.task}.o"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with _scratch(built.folder) as scratch:
            made = _compiled(mutant, mutant.before, built, scratch)
            if made is None:
                raise ToolError(f"{mutant.task} of {built.name} does not compile as it is")
            made.replace(kept)
    return kept


def _proved(built: Built, scratch: Path, trials: Sequence[Trial]) -> Verdict | MillraceError:
    try:
        return read(built.directory).prove(scratch / "csim", scratch / "proof", built.timeout_s, trials)
    except MillraceError as error:
        return error


def classify(result: Verdict | MillraceError) -> tuple[Fate, str]:
    """What caught the mutant, and the task that it names first; no name where there is none."""
    match result:
        case Verdict(passed=True):
            return "survived", ""
        case Verdict():
            return "check", result.wrong[0]["task"] if result.wrong else ""
        case VerificationError():
            found = re.match(r"task (\w+):", str(result))
            return "check", found[1] if found else ""
        case TaskFaultError():
            crashed = any(sign in str(result) for sign in _CRASHES)
            return "crash" if crashed else "check", result.task
        case DeadlockError():
            return "deadlock", _first(result.cycle) or _first([blocked.task for blocked in result.tasks])
        case LeftoverError():
            return "deadlock", _first([task for stream in result.streams for task in stream.tasks])
        case SimulationTimeoutError():
            return "time-out", ""
        case _:
            return "crash", ""


def _first(names: Sequence[str]) -> str:
    return names[0] if names else ""
