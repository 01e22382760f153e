"""Runs a built C simulation and turns its reports into typed errors (include/millrace/fiber.h lists them)."""

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compiler.errors import ToolError
from compiler.process import Finished, Limits, run_process
from compiler.simulator.csim.errors import (
    BlockedTask,
    DeadlockError,
    LeftoverError,
    SimulationTimeoutError,
    TaskFaultError,
    UnreadStream,
)

_TAIL_CHARACTERS = 4000


def run(
    executable: Path,
    cwd: Path,
    taps: Path | None = None,
    timeout_s: float = 600,
    arguments: Sequence[str] = (),
    memory_bytes: int = 16 << 30,
    accepted: Sequence[int] = (0,),
) -> Finished:
    """Run `executable` in `cwd`; returns when it ended with a code of `accepted`.

    With `taps`, a folder whose file `plan` has a line for each stream (include/millrace/tap.h), what passes each of
    these is recorded in `taps`/<stream>.bin: the tokens of the first pass, as they lie in memory. A stream that has
    other ends, another depth or other tokens than its plan says is a TaskFaultError.
    Raises DeadlockError, LeftoverError, TaskFaultError, SimulationTimeoutError, ToolError.
    """
    environment = {"MILLRACE_DIE_WITH_PARENT": "1"}
    if taps is not None:
        environment["MILLRACE_TAPS"] = str(taps.resolve())
    finished = run_process([executable.resolve(), *arguments], cwd, Limits(timeout_s, memory_bytes), environment)
    if finished.stopped is not None:
        limit = f"{timeout_s:g} s" if finished.stopped == "timeout" else f"{memory_bytes >> 20} MiB of memory"
        raise SimulationTimeoutError(f"the C simulation passed its limit of {limit} and was stopped; raise the limit")
    if finished.returncode not in accepted:
        raise failure(finished)
    return finished


def failure(finished: Finished) -> Exception:
    """The error that a run which ended by itself, but not well, stands for."""
    text, report = finished.stderr[-_TAIL_CHARACTERS:].strip(), _report(finished.stderr)
    match report:
        case ("MILLRACE_DEADLOCK", data):
            tasks = tuple(BlockedTask(**task) for task in data["tasks"])
            return DeadlockError(_human(finished.stderr), tasks, tuple(data["cycle"]))
        case ("MILLRACE_LEFTOVER", data):
            return LeftoverError(_human(finished.stderr), tuple(_unread(stream) for stream in data["streams"]))
        case ("MILLRACE_ERROR", data):
            return TaskFaultError(f"C simulation, task {data['task']}: {data['message']}", data["task"])
        case _:
            code = finished.returncode
            cause = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
            return ToolError(f"the C simulation ended {cause}:\n{text or finished.stdout[-_TAIL_CHARACTERS:].strip()}")


def _unread(data: dict[str, Any]) -> UnreadStream:
    return UnreadStream(data["stream"], data["size"], data["written"], data["depth"], tuple(data["tasks"]))


def _report(stderr: str) -> tuple[str, dict[str, Any]] | None:
    for line in reversed(stderr.splitlines()):
        kind, _, data = line.partition(" ")
        if kind in ("MILLRACE_DEADLOCK", "MILLRACE_LEFTOVER", "MILLRACE_ERROR"):
            return kind, json.loads(data)
    return None


def _human(stderr: str) -> str:
    """The report as the run printed it for people: from its first line to the line for machines."""
    lines = stderr.splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith("MILLRACE_"))
    begin = next(i for i, line in enumerate(lines) if line.startswith("csim "))
    return "\n".join(lines[begin:end])
