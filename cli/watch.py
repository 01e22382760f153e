"""Following an exploration: a bar and the growing front on a terminal, a line now and then elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from cli.columns import axes
from cli.output import errors
from cli.plot import Point, scatter
from millrace.events import Event
from millrace.states import ENDED

if TYPE_CHECKING:
    from millrace.wire import Exploration, Objective

_LINES = 10  # progress lines where there is no terminal
_HIGHER = ("csynth", "cosim", "link", "measure")
_PASSED = {True: "passed", False: "failed"}


@dataclass
class Watched:
    """What the events have told so far. `points`: the first two of the `objectives`; `builds`: state of each design's C
    simulation; `simulated`: designs that were `promoted` to a timing simulation which has ended; `higher`: state of the
    builds above, by stage and id.
    """

    budget: int
    objectives: Sequence["Objective"]
    state: str = "queued"
    error: str | None = None
    points: dict[str, Point] = field(default_factory=dict[str, Point])
    designs: set[str] = field(default_factory=set[str])
    front: tuple[str, ...] = ()
    builds: dict[str, str] = field(default_factory=dict[str, str])
    promoted: set[str] = field(default_factory=set[str])
    simulated: set[str] = field(default_factory=set[str])
    higher: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def evaluated(self) -> int:
        return len(self.designs)

    def take(self, event: Event) -> None:
        """Fold one event in."""
        match event.kind:
            case "state":
                self.state, self.error = event.data["state"], event.data.get("error")
            case "designs":
                self._take_designs(event.data)
            case "front":
                self.front = tuple(event.data["ids"])
            case "promoted":
                self.promoted.update(event.data["ids"], event.data["calibration"])
            case "simulated":
                self.simulated.add(event.data["id"])
            case "build":
                self._take_build(event.data)
            case _:
                pass

    def _take_designs(self, columns: dict[str, list[Any]]) -> None:
        self.designs.update(columns["id"])  # one that another island has found before is told of again
        x, y, *_ = columns["objectives"]
        rows = zip(columns["id"], x, y, columns["feasible"], strict=True)
        self.points.update({name: (x, y) for name, x, y, feasible in rows if feasible})

    def _take_build(self, build: dict[str, Any]) -> None:
        if build["stage"] == "csim" and build["design_id"]:
            verdict = build["verdict"]
            self.builds[build["design_id"]] = _PASSED[verdict["passed"]] if verdict else build["state"]
        elif build["stage"] in _HIGHER:
            self.higher.setdefault(build["stage"], {})[build["id"]] = build["state"]

    def summary(self) -> str:
        """One line."""
        parts = [f"{self.evaluated}/{self.budget} designs", f"{len(self.points)} feasible", f"front {len(self.front)}"]
        if self.promoted:
            parts.append(f"simulated {len(self.simulated)}/{len(self.promoted)}")
        if self.builds:
            passed = sum(state == "passed" for state in self.builds.values())
            parts.append(f"csim {passed}/{len(self.builds)} passed")
        for stage, states in self.higher.items():
            parts.append(f"{stage} {sum(state in ENDED for state in states.values())}/{len(states)}")
        return f"{self.state}: {', '.join(parts)}"

    def plot(self) -> str:
        """The front so far on the cloud of feasible designs."""
        front = [self.points[name] for name in self.front if name in self.points]
        return scatter(list(self.points.values()), front, *axes(self.objectives), height=12)


def follow(events: Iterable[Event], exploration: "Exploration", quiet: bool) -> Watched:
    """Show the events until they end; what they told. `quiet` shows nothing."""
    watched = Watched(exploration.budget, exploration.objectives)
    if quiet:
        for event in events:
            watched.take(event)
    elif errors.is_terminal:
        _follow_live(events, watched)
    else:
        _follow_lines(events, watched)
    return watched


def _follow_live(events: Iterable[Event], watched: Watched) -> None:
    bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    task = bar.add_task("queued", total=watched.budget)
    with Live(bar, console=errors, refresh_per_second=4, transient=True) as live:
        for event in events:
            watched.take(event)
            bar.update(task, completed=watched.evaluated, description=watched.summary())
            live.update(Group(bar, Text(watched.plot())))


def _follow_lines(events: Iterable[Event], watched: Watched) -> None:
    shown: tuple[str, int, int, int, int] | None = None
    for event in events:
        watched.take(event)
        done = (
            watched.state,
            watched.evaluated * _LINES // watched.budget,
            len(watched.builds),
            len(watched.simulated),
            sum(state in ENDED for states in watched.higher.values() for state in states.values()),
        )
        if done != shown:
            errors.print(f"  {watched.summary()}")
            shown = done
