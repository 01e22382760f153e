"""When each task of a simulated design works and waits, as bars of text."""

from typing import TYPE_CHECKING

from rich.markup import escape

from cli.output import console

if TYPE_CHECKING:
    from compiler.simulator.timing.simulation import Simulation, TaskTimeline

COLUMNS = 60
ROWS = 24
MARKS = (("█", "busy", "green"), ("░", "waits for a token", "yellow"), ("▒", "waits for room", "red"))
NOTHING = "·"


def show_timeline(found: "Simulation", every_task: bool = False) -> None:
    """One bar a task, in the order of the data: of the busiest ones, unless all are wanted."""
    shown = chosen(found, every_task)
    if not shown:
        return
    width = max(len(t.name) for t in shown)
    for task in shown:
        console.print(f"{escape(f'{task.name:{width}}')} {_coloured(bar(task))}")
    console.print(" ".join(f"[{colour}]{mark}[/] {word}" for mark, word, colour in MARKS) + f" {NOTHING} idle")
    if len(shown) < len(found.timeline.tasks):
        console.print(f"[dim]the {len(shown)} busiest of {len(found.timeline.tasks)} tasks; --all shows the others[/]")


def chosen(found: "Simulation", every_task: bool) -> "list[TaskTimeline]":
    """The tasks that are shown."""
    tasks = found.timeline.tasks
    if every_task or len(tasks) <= ROWS:
        return list(tasks)
    busiest = sorted(found.tasks, key=lambda t: -t.busy)[:ROWS]
    names = {t.name for t in busiest}
    return [t for t in tasks if t.name in names]


def bar(task: "TaskTimeline", columns: int = COLUMNS) -> str:
    """What the task does most of the time in each of `columns` parts of the run, as a mark."""
    buckets = len(task.busy)
    return "".join(_mark(task, range(k * buckets // columns, (k + 1) * buckets // columns)) for k in range(columns))


def _mark(task: "TaskTimeline", buckets: range) -> str:
    part = buckets or range(buckets.start, buckets.start + 1)
    sums = [sum(row[k] for k in part if k < len(row)) for row in (task.busy, task.empty, task.full)]
    idle = len(part) - sum(sums)
    if idle > max(sums):
        return NOTHING
    return MARKS[sums.index(max(sums))][0]


def _coloured(marks: str) -> str:
    for mark, _, colour in MARKS:
        marks = marks.replace(mark, f"[{colour}]{mark}[/]")
    return marks
