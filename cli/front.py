"""A Pareto front for people: its table and its plot."""

from collections.abc import Sequence

from rich.table import Table

from cli.output import console, table, verdict_word
from cli.plot import Point
from cli.plot import scatter as draw
from cli.replies import DesignSummary, Exploration, Scatter, objectives
from dse.archive import Entry, knee


def print_front(exploration: Exploration, points: Scatter, front: Sequence[DesignSummary]) -> None:
    """Print what an exploration has found: a line, the plot, the table."""
    counts = (
        f"{exploration['evaluated']} designs evaluated, {exploration['feasible']} feasible, {len(front)} on the front"
    )
    console.print(f"\n[bold]{exploration['id']}[/]  {exploration['model']['name']}: {counts}\n")
    console.print(front_plot(points), markup=False)
    console.print(front_table(front))


def front_table(front: Sequence[DesignSummary]) -> Table:
    """The designs of a front, fastest first."""
    rows = [
        (
            design["id"],
            *(f"{value:,.1f}" for value in objectives(design)),
            _knobs(design),
            _csim(design),
        )
        for design in front
    ]
    title = "Pareto front [dim](latency and energy: estimate; csim: C simulation against the reference)[/]"
    return table(title, ("design", ">latency us", ">energy uJ", "knobs", "csim"), rows)


def front_plot(points: Scatter) -> str:
    """All feasible designs of an exploration, its front on top."""
    cloud: list[Point] = []
    front: list[Point] = []
    for x, y, feasible, on_front in zip(
        points["latency_us"], points["energy_uj"], points["feasible"], points["on_front"], strict=True
    ):
        if feasible and x is not None and y is not None:
            (front if on_front else cloud).append((x, y))
    return draw(cloud, front, "latency us", "energy uJ")


def ends_and_knee(front: Sequence[DesignSummary]) -> list[DesignSummary]:
    """The fastest design of a front, the best compromise and the most frugal one; fewer where they coincide."""
    entries = [Entry(design["id"], objectives(design)) for design in front]
    return [front[i] for i in sorted({0, knee(entries), len(front) - 1})]


def _knobs(design: DesignSummary) -> str:
    knobs = design["knobs"]
    overrides = len(knobs.get("overrides", ()))
    shown = [
        f"tile {knobs['default_tile_size']}",
        f"unroll {knobs['overall_unroll']}",
        f"width {knobs['stream_width']}",
        f"hbm {knobs['hbm_channels']}",
        knobs["multiplier"],
    ]
    return " ".join(shown) + (f" +{overrides}" if overrides else "")


def _csim(design: DesignSummary) -> str:
    csim = design["csim"]
    if csim is None:
        return verdict_word(None)
    if csim["passed"] is None:
        return csim["state"]
    error = csim["max_rel_error"]
    return verdict_word(csim["passed"]) + ("" if error is None else f" [dim]err {error:.2g}[/]")
