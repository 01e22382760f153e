"""Builds for people: a table, one with all its attempts, the ladder of a design."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from cli.output import console, table
from worker.program import program

if TYPE_CHECKING:
    from millrace.wire import Build, Rung

_COLOURS = {
    "blocked": "dim",
    "queued": "yellow",
    "running": "cyan",
    "done": "green",
    "failed": "red",
    "cancelled": "dim",
}


def state_word(state: str, passed: bool | None = None) -> str:
    """The coloured word for a state, with the verdict of a build that is done and has one."""
    if state == "done" and passed is not None:
        return "[green]done: passed[/]" if passed else "[red]done: FAILED[/]"
    return f"[{_COLOURS.get(state, 'default')}]{state}[/]"


def state_text(build: "Build") -> str:
    """State of a build, with its verdict and the kind of its failure."""
    text = state_word(build.state, (build.verdict or {}).get("passed"))
    return f"{text} ({build.failure})" if build.failure else text


def duration(seconds: float | None) -> str:
    """A time as a person says it: 4.2 s, 12 min, 3 h 20 min, 2 d 4 h."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def elapsed(started_at: datetime | None, finished_at: datetime | None = None) -> float | None:
    """Seconds from the start to the end, to now where there is none."""
    if started_at is None:
        return None
    return max(0.0, ((finished_at or datetime.now(UTC)) - started_at).total_seconds())


def build_table(builds: Iterable["Build"], title: str = "") -> Table:
    """One line a build; what went wrong or is waited for goes last, it is the longest."""
    rows = [
        (
            build.id,
            build.stage,
            state_text(build),
            build.node or "",
            duration(elapsed(build.started_at, build.finished_at)),
            str(build.attempt),
            subject(build),
            f"[dim]{escape(_remark(build))}[/]",
        )
        for build in builds
    ]
    return table(title, ("build", "stage", "state", "node", ">time", ">attempt", "of", ""), rows)


def subject(build: "Build") -> str:
    """What the build is of."""
    return build.design_id or build.exploration_id or build.workload_id or ""


def _remark(build: "Build") -> str:
    text = build.error or build.waiting or (f"adopted from {build.adopted_from}" if build.adopted_from else "")
    line = text.partition("\n")[0]
    return line if len(line) <= 100 else f"{line[:99]}…"


def print_build(build: "Build") -> None:
    """Print all about a build."""
    console.print(f"[bold]{build.id}[/]  {build.stage} of {subject(build)}: {state_text(build)}")
    if build.error:
        console.print(build.error, markup=False, style="red")
    if build.waiting:
        console.print(f"it waits: {build.waiting}", markup=False)
    rows = [(name, escape(text)) for name, text in _facts(build) if text]
    console.print(table("", ("", ""), rows))
    if build.history:
        console.print(_attempts(build))
    if build.log_url:
        follow = " --follow" if build.live else ""
        console.print(f"its log: {program()} build log {build.id}{follow}", style="dim")


def _facts(build: "Build") -> list[tuple[str, str]]:
    verdict = build.verdict or {}
    return [
        ("queue", build.queue),
        ("node", build.node or ""),
        ("owner", build.owner),
        ("licence", build.licence or ""),
        ("time", duration(elapsed(build.started_at, build.finished_at))),
        ("attempt", str(build.attempt)),
        ("after", build.after or ""),
        ("adopted from", build.adopted_from or ""),
        ("options", _pairs(build.options)),
        ("tools", _pairs(build.tool_versions)),
        ("verdict", _pairs({k: v for k, v in verdict.items() if not isinstance(v, dict | list)})),
    ]


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _attempts(build: "Build") -> Table:
    rows = [(str(a.attempt), a.failure, a.node or "", escape(a.error)) for a in build.history]
    return table("attempts that failed", (">attempt", "failure", "node", "error"), rows)


def ladder_table(ladder: Iterable["Rung"]) -> Table:
    """A design's stages from the bottom to the top, those that were not run too."""
    rows = [
        (
            rung.stage,
            "[dim]not run[/]" if rung.state is None else state_word(rung.state, rung.passed),
            duration(elapsed(rung.started_at, rung.finished_at)),
            rung.build_id or "",
            f"[dim]{escape((rung.error or rung.waiting or '').partition(chr(10))[0])}[/]",
        )
        for rung in ladder
    ]
    return table("", ("stage", "state", ">time", "build", ""), rows)
