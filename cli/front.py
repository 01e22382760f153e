"""A Pareto front for people: its table and its plot."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from cli.output import console, share, table, verdict_word
from cli.plot import Point
from cli.plot import scatter as draw
from cli.replies import objectives
from dse.archive import knee
from dse.promote import Rated, recommended

if TYPE_CHECKING:
    from millrace.wire import DesignSummary, EstimateErrors, Exploration, Scatter


def print_front(exploration: "Exploration", points: "Scatter", front: Sequence["DesignSummary"]) -> None:
    """Print what an exploration has found: a line, the plot, the table."""
    counts = f"{exploration.evaluated} designs evaluated, {exploration.feasible} feasible, {len(front)} on the front"
    console.print(f"\n[bold]{exploration.id}[/]  {exploration.model.name}: {counts}\n")
    console.print(front_plot(points), markup=False)
    console.print(front_table(front))
    if exploration.estimate_errors is not None:
        console.print(errors_text(exploration.estimate_errors))


def front_table(front: Sequence["DesignSummary"]) -> Table:
    """The designs of a front, fastest first."""
    rows = [
        (
            design.id,
            f"{latency:,.1f}",
            *_simulated(design),
            f"{energy:,.1f}",
            _knobs(design),
            _csim(design),
        )
        for design, (latency, energy) in ((design, objectives(design)) for design in front)
    ]
    title = "Pareto front [dim](csim: C simulation against the reference; error: of the estimate)[/]"
    latencies = (">latency us\nestimate", ">latency us\nsimulate", ">error")
    return table(title, ("design", *latencies, ">energy uJ\nestimate", "knobs", "csim"), rows)


def errors_text(errors: "EstimateErrors") -> str:
    """How far off the estimates were."""
    shares = f"median {share(errors.median)}, p95 {share(errors.p95)}, worst {share(errors.worst)}"
    return (
        f"Estimated {errors.metric} against fidelity {errors.fidelity}, {errors.n} designs: off by {shares} "
        f"({errors.worst_design}); bias {share(errors.bias, signed=True)}"
    )


def front_plot(points: "Scatter") -> str:
    """All feasible designs of an exploration, its front on top."""
    cloud: list[Point] = []
    front: list[Point] = []
    for x, y, feasible, on_front in zip(
        points.latency_us, points.energy_uj, points.feasible, points.on_front, strict=True
    ):
        if feasible and x is not None and y is not None:
            (front if on_front else cloud).append((x, y))
    return draw(cloud, front, "latency us", "energy uJ")


def ends_and_knee(front: Sequence["DesignSummary"]) -> list["DesignSummary"]:
    """The fastest design of a front, the best compromise and the most frugal one; fewer where they coincide.

    By simulated latency among those that are simulated, as soon as there are any (see `dse.promote`).
    """
    by_id = {design.id: design for design in front}
    entries = recommended(_rated(front))
    return [by_id[entries[i].key] for i in sorted({0, knee(entries), len(entries) - 1})]


def _rated(front: Iterable["DesignSummary"]) -> list[Rated]:
    return [
        Rated(design.id, latency, _simulated_us(design), energy)
        for design, (latency, energy) in ((design, objectives(design)) for design in front)
    ]


def _simulated_us(design: "DesignSummary") -> float | None:
    simulation = design.simulation
    return None if simulation is None else simulation.latency_us


def _simulated(design: "DesignSummary") -> tuple[str, str]:
    """Latency and error of the estimate; where there is no latency, how the simulation stands."""
    simulation = design.simulation
    if simulation is None:
        return "[dim]not run[/]", ""
    latency, error = simulation.latency_us, simulation.estimate_error
    if latency is None or error is None:
        return "[red]deadlock[/]" if simulation.deadlock else simulation.state, ""
    return f"{latency:,.1f}", share(error, signed=True)


def _knobs(design: "DesignSummary") -> str:
    knobs = design.knobs
    overrides = len(knobs.get("overrides", ()))
    shown = [
        f"tile {knobs['default_tile_size']}",
        f"unroll {knobs['overall_unroll']}",
        f"width {knobs['stream_width']}",
        f"hbm {knobs['hbm_channels']}",
        knobs["multiplier"],
    ]
    return " ".join(shown) + (f" +{overrides}" if overrides else "")


def _csim(design: "DesignSummary") -> str:
    csim = design.csim
    if csim is None:
        return verdict_word(None)
    if csim.passed is None:
        return csim.state
    error = csim.max_rel_error
    return verdict_word(csim.passed) + ("" if error is None else f" [dim]err {error:.2g}[/]")
