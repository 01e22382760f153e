"""From what Vitis came to, to the outcome of a build: files into the store, failures into the farm's words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from compiler.metrics import Metric
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.result import ToolResult
from db.repositories import designs
from db.types import utcnow
from worker.farm import Farm
from worker.limits.table import limits_of_build
from worker.stages.compiled import Subject
from worker.stages.context import JobContext
from worker.stages.flags import flags_now
from worker.stages.functions import ToolRun
from worker.stages.outcome import Effect, Outcome
from worker.stages.taxonomy import decisive, explain, failure_of
from worker.store.artifacts import StoredFile
from worker.store.names import media_type, safe_path

_SHARE_OF_TIMEOUT = 0.98
_TAIL_LINES, _TAIL_CHARACTERS = 12, 2000


def tool_run(farm: Farm, job: JobContext) -> ToolRun:
    """The run that the build stands for. The tool ends a little before the farm would kill it, to say where it was."""
    ours = limits_of_build(job.build, farm.settings)
    seconds = ours.timeout_s * _SHARE_OF_TIMEOUT - _elapsed(job)
    limits = Limits(max(1.0, seconds), ours.memory_gb, ours.disk_gb)
    out = job.scratch / "out"
    out.mkdir(parents=True, exist_ok=True)
    return ToolRun(str(job.build.options["vitis"]), out, limits, job.log)


def _elapsed(job: JobContext) -> float:
    """Seconds since the farm began to count."""
    begun = job.build.started_at
    return 0.0 if begun is None else max(0.0, (utcnow() - begun).total_seconds())


def outcome_of(
    farm: Farm,
    job: JobContext,
    subject: Subject,
    run: ToolRun,
    result: ToolResult,
    metrics: tuple[Metric, ...],
    more: Mapping[str, Any],
) -> Outcome:
    """The outcome, with `metrics` for those of the result, and `more` in the verdict."""
    files = tuple(_stored(farm, run.out, path) for path in result.files if (run.out / path).is_file())
    verdict = {**result.verdict, **more, "passed": result.passed, "notes": [*result.notes, *more.get("notes", [])]}
    tools = {**job.build.tool_versions, **result.tool_versions}
    failure = decisive(result.failures)
    if result.passed or failure is None:
        return Outcome(verdict, tools, metrics, files, effect=reflag(subject))
    return Outcome(None, tools, (), files, failure_of(failure.kind), f"{explain(failure)}{_tail(run, result)}")


def _stored(farm: Farm, out: Path, path: Path) -> StoredFile:
    name = safe_path(path.as_posix())
    return StoredFile(name, *farm.store.put_file(out / path), media_type(name))


def _tail(run: ToolRun, result: ToolResult) -> str:
    """The end of the tool's newest log: what a person looks at first."""
    logs = [run.out / path for path in result.files if path.suffix == ".log" and (run.out / path).is_file()]
    if not logs:
        return ""
    lines = [line for line in logs[-1].read_text(errors="replace").splitlines() if line.strip()]
    text = "\n".join(lines[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]
    return f"\n\nThe end of {logs[-1].name}:\n{text}" if text else ""


def reflag(subject: Subject) -> Effect:
    """Look again for values that can not be, now that the design has more metrics."""

    def effect(_farm: Farm, session: Session) -> None:
        flags = flags_now(session, subject.design.id, subject.platform)
        designs.set_flags(session, subject.design.id, flags)

    return effect
