"""Sweeps for people: their state at a glance, the history of a sweep, and how a run compares with its baseline."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.columns import column
from cli.output import share, table
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.wire import FrontChange, Objective, SlotComparison, Sweep, SweepRun, SweepRunSummary

_MARKS = {
    "same": ("green", "●", "same"),
    "new": ("cyan", "●", "new"),
    "changed": ("cyan", "◆", "changed"),
    "regressed": ("red", "▼", "REGRESSED"),
    "failed": ("red", "✗", "FAILED"),
    "cancelled": ("dim", "○", "not run"),
    "running": ("blue", "…", "running"),
}
_LEVELS = "▁▂▃▄▅▆▇█"
_BAR = 28
_POINTS = 8
_REGRESSIONS = 12


def mark(state: str) -> str:
    """A state as a coloured sign and word."""
    colour, sign, word = _MARKS.get(state, ("", "?", state))
    return f"[{colour}]{sign} {word}[/]" if colour else f"{sign} {word}"


def local_time(moment: datetime | None, zone: str) -> str:
    """A time as the clocks of the zone show it."""
    if moment is None:
        return "[dim]-[/]"
    try:
        moment = moment.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, OSError, ValueError):
        zone = "UTC"
    return f"{moment:%a %Y-%m-%d %H:%M} [dim]{zone}[/]"


def sweeps_table(sweeps: Iterable["Sweep"]) -> Table:
    """One line a sweep."""
    rows = [
        (
            escape(s.name),
            mark(s.last_run.state) if s.last_run else "[dim]never run[/]",
            local_time(s.next_at, s.zone) if s.enabled else "[dim]only by hand[/]",
            escape(s.cron),
            str(s.explorations),
            str(s.options.get("budget", "")),
        )
        for s in sweeps
    ]
    return table("", ("sweep", "last run", "next run", "cron", ">explorations", ">budget"), rows)


def history_view(sweep: "Sweep", runs: Sequence["SweepRunSummary"]) -> RenderableType:
    """A sweep with its runs; `runs` has the newest first."""
    following = local_time(sweep.next_at, sweep.zone) if sweep.enabled else "only by hand"
    head = f"[bold]{escape(sweep.name)}[/]  {sweep.id}  {escape(sweep.cron)}, next run {following}"
    parts: list[RenderableType] = [Text.from_markup(head)]
    line = sparkline(list(reversed(runs)))
    if line:
        last = next(run.index for run in runs if run.index is not None)
        parts.append(Text.from_markup(f"hypervolume  {line}  {last:.4g} [dim](1 at the first run)[/]"))
    if runs:
        parts += [Text(), runs_table(runs, sweep.zone)]
    return Group(*parts)


def sparkline(runs: Iterable["SweepRunSummary"]) -> str:
    """The index of the hypervolume run by run, oldest first; runs that regressed are red."""
    known = [(run.index, run.state) for run in runs if run.index is not None]
    if not known:
        return ""
    low, high = min(index for index, _ in known), max(index for index, _ in known)
    return "".join(
        f"[{_MARKS[state][0]}]{_LEVELS[_level(index, low, high)]}[/]" for index, state in known if state in _MARKS
    )


def _level(value: float, low: float, high: float) -> int:
    if high - low <= 1e-9 * abs(high):
        return len(_LEVELS) // 2
    return round((value - low) / (high - low) * (len(_LEVELS) - 1))


def runs_table(runs: Iterable["SweepRunSummary"], zone: str) -> Table:
    """One line a run."""
    rows = [
        (
            run.id,
            mark(run.state) + (" [dim]accepted[/]" if run.accepted else ""),
            local_time(run.created_at, zone),
            run.cause,
            _builds(run),
            str(run.regression_count or ""),
            "" if run.index is None else f"{run.index:.4g}",
            escape(run.error or ""),
        )
        for run in runs
    ]
    columns = ("run", "state", "started", "cause", "builds", ">regressions", ">index", "note")
    return table("", columns, rows)


def _builds(run: "SweepRun | SweepRunSummary") -> str:
    builds = run.builds
    return "" if builds is None else f"{builds.ran} run, {builds.cached} cached"


def run_view(run: "SweepRun") -> RenderableType:
    """How a run compares with its baseline."""
    parts: list[RenderableType] = [Text.from_markup(_headline(run))]
    if run.regressions:
        parts += [Text(), *_regressions(run)]
    for slot in run.slots:
        if slot.result not in ("same", "cancelled"):
            parts += [Text(), *_slot(slot)]
    if run.improvements:
        parts += [Text(), _improvements(run)]
    return Group(*parts)


def _headline(run: "SweepRun") -> str:
    counts = {word: sum(slot.result == word for slot in run.slots) for word in _MARKS}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    against = f"against {run.baseline_id}" if run.baseline_id else "the first one"
    lines = [f"{mark(run.state)}  [bold]{escape(run.sweep)}[/]  {run.id}  {against}"]
    if told:
        lines.append(f"explorations: {told}; builds: {_builds(run)}")
    if run.error:
        lines.append(escape(run.error))
    return "\n".join(lines)


def _regressions(run: "SweepRun") -> Iterator[Text]:
    """Each as a sentence, the cause on a line of its own."""
    several = len(run.slots) > 1
    for regression in run.regressions[:_REGRESSIONS]:
        what, _, cause = regression.text.rpartition("; ")
        where = f"[dim]{escape(regression.slot)}:[/] " if several else ""
        yield Text.from_markup(f"[red]▼[/] {where}{escape(what)}\n  [yellow]{escape(cause)}[/]")
    left = run.regression_count - len(run.regressions[:_REGRESSIONS])
    if left > 0:
        yield Text.from_markup(f"[dim]and {left} more: --json has them[/]")


def _slot(slot: "SlotComparison") -> Iterator[RenderableType]:
    yield Text.from_markup(f"[bold]{escape(slot.slot)}[/]  {slot.exploration}  {mark(slot.result)}")
    if slot.error:
        yield Text(slot.error)
    changed = dict.fromkeys(f"{c.what} {c.before} -> {c.after}" for c in slot.changes)
    if changed:
        yield Text.from_markup(f"changed since: {escape(', '.join(changed))}")
    for front in slot.fronts:
        yield from _front(front, slot.objectives)


def _front(front: "FrontChange", objectives: Sequence["Objective"]) -> Iterator[RenderableType]:
    change = "" if front.change is None else f" ({share(front.change, signed=True)})"
    yield Text.from_markup(
        f"front at [bold]{front.fidelity}[/]: {front.before} -> {front.after} designs, "
        f"{front.new_count} new, {front.lost_count} lost, {front.moved_count} moved"
    )
    most = max(front.hypervolume_before, front.hypervolume_after)
    worse = front.hypervolume_after < front.hypervolume_before
    for word, value in (("before", front.hypervolume_before), ("after", front.hypervolume_after)):
        colour = "dim" if word == "before" else "red" if worse else "green"
        text = change if word == "after" else ""
        yield Text.from_markup(f"  hypervolume {word:>6} [{colour}]{_bar(value, most)}[/] {number(value)}{text}")
    if front.before and (front.new or front.lost or front.moved):
        yield _points(front, objectives)


def _bar(value: float, most: float) -> str:
    full = round(value / most * _BAR) if most > 0 else 0
    return "█" * full + "░" * (_BAR - full)


def _points(front: "FrontChange", objectives: Sequence["Objective"]) -> Table:
    rows = [("[red]lost[/]", p.id, str(p.number), *(number(v) for v in p.objectives)) for p in front.lost[:_POINTS]]
    rows += [("[green]new[/]", p.id, str(p.number), *(number(v) for v in p.objectives)) for p in front.new[:_POINTS]]
    rows += [("[yellow]moved[/]", p.id, str(p.number), *_both(p.before, p.after)) for p in front.moved[:_POINTS]]
    return table("", ("  point", "design", ">number", *(f">{column(o)}" for o in objectives)), rows)


def _both(before: Sequence[float], after: Sequence[float]) -> Iterator[str]:
    for was, now in zip(before, after, strict=True):
        yield number(now) if was == now else f"{number(was)} -> {number(now)}"


def _improvements(run: "SweepRun") -> Table:
    rows = [
        (
            f"design {d.design.number}",
            d.metric,
            d.fidelity,
            f"{number(d.before)} -> {number(d.after)} {d.unit}",
            "" if d.change is None else share(d.change, signed=True),
        )
        for d in run.improvements[:_POINTS]
    ]
    return table("[green]better[/]", ("design", "metric", "fidelity", "value", ">change"), rows)
