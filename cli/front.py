"""A Pareto front for people: its table and its plot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from cli.columns import FIDELITIES, axes, column
from cli.output import console, share, table, verdict_word
from cli.plot import Point
from cli.plot import scatter as draw
from dse.archive import KNEE
from dse.objectives import LATENCY, in_words
from millrace.numbers import number

if TYPE_CHECKING:
    from millrace.wire import (
        Design,
        DesignSummary,
        EstimateErrors,
        Exploration,
        Group,
        Groups,
        Objective,
        Pick,
        Scatter,
    )

_REPLY = (
    ("tokens_per_second", "tokens/s"),
    ("first_token_time", "ms to the first token"),
    ("hbm_share", "% of the HBM bound"),
    ("energy_per_token", "mJ a token"),
)
_SIZES = ("default_tile_size", "overall_unroll", "stream_width", "hbm_channels")
_KNOBS = "knobs: tile/unroll/\nwidth/hbm multiplier"
"""Their names stand above them, for a row is to fit on a line."""


def print_front(
    exploration: "Exploration", points: "Scatter", front: Sequence["DesignSummary"], groups: "Groups", every: bool
) -> None:
    """Print what an exploration has found: a line, the plot, the table, in which a group has one row, or `every` design
    has.
    """
    counts = f"{exploration.evaluated} designs evaluated, {exploration.feasible} feasible, {len(front)} on the front"
    if exploration.distinct is not None:
        counts += f"; {exploration.distinct} differ in {in_words([o.name for o in exploration.objectives], 'or')}"
    console.print(f"\n[bold]{escape(exploration.name)}[/]  {exploration.id}: {counts}\n")
    console.print(front_plot(points, exploration.objectives), markup=False)
    console.print(front_table(front, exploration.objectives, groups.groups, every))
    if not every and len(groups.groups) < len(front):
        console.print(
            f"{len(front) - len(groups.groups)} of the front are within the error of the estimate "
            f"({share(groups.error)}) of one above (alike); --all shows them"
        )
    if exploration.picks:
        console.print(picks_table(exploration.picks, exploration.objectives))
    if exploration.estimate_errors is not None:
        console.print(errors_text(exploration.estimate_errors))


def print_reply(design: "Design") -> None:
    """What whole replies take by a design that makes such, each number at the best fidelity that it has."""
    best = {m.name: m for m in sorted(design.metrics, key=lambda m: FIDELITIES.index(m.fidelity))}
    found = [
        f"{number(best[name].value)} {unit} [dim]{best[name].fidelity}[/]" for name, unit in _REPLY if name in best
    ]
    if found:
        console.print(f"Whole replies by number {design.number}: {', '.join(found)}")
        console.print(f"assumed: {design.assumed}", markup=False, style="dim")


def front_table(
    front: Sequence["DesignSummary"], objectives: Sequence["Objective"], groups: Sequence["Group"], every: bool = False
) -> Table:
    """A row for each group of a front that is sorted by the first of its objectives, or for `every` design."""
    own = {group.design_id: group for group in groups}
    of = {member: group for group in groups for member in group.members}
    rows = [
        (
            design.id,
            str(design.number),
            *_rank(design, of),
            *_values(design, objectives, own),
            _knobs(design),
            _csim(design),
        )
        for design in front
        if every or design.id in own or design.id not in of
    ]
    legend = "error: of the estimate; +n: operations with knobs of their own; csim: C simulation against the reference"
    title = f"Pareto front [dim]({legend})[/]"
    return table(title, ("design", ">number", ">rank", ">alike", *_heads(objectives), _KNOBS, "csim"), rows)


def _rank(design: "DesignSummary", groups: Mapping[str, "Group"]) -> tuple[str, str]:
    """When to look at it, and how many are like it; or the number of the one that it is like."""
    group = groups.get(design.id)
    if group is None:
        return "", ""
    if group.design_id != design.id:
        return "", f"[dim]as {group.number}[/]"
    return str(group.rank), f"+{len(group.members) - 1}" if len(group.members) > 1 else ""


def _heads(objectives: Sequence["Objective"]) -> Iterator[str]:
    for objective in objectives:
        yield f">{column(objective)}\nestimate"
        if objective.name == LATENCY:
            yield from (f">{column(objective)}\nsimulate", ">error")


def _values(design: "DesignSummary", objectives: Sequence["Objective"], groups: Mapping[str, "Group"]) -> Iterator[str]:
    group = groups.get(design.id)
    for objective, value in zip(objectives, design.objectives, strict=True):
        yield f"{value:,.1f}"
        if objective.name == LATENCY:
            yield from _simulated(design, None if group is None else group.latency_range)


def picks_table(picks: Sequence["Pick"], objectives: Sequence["Objective"]) -> Table:
    """The designs to look at first, at the fidelity that ranked them and with their estimates beside it."""
    rows = [(pick.kind.replace("_", " "), str(pick.number), *_ranked(pick, objectives)) for pick in picks]
    by = f"[dim]by {picks[0].fidelity}[/]"
    heads = (h for o in objectives for h in (f">{column(o)}", *([">estimate"] if o.name == LATENCY else [])))
    result = table(by, ("choose", ">number", *heads), rows)
    result.caption, result.caption_justify = f"knee: {KNEE}", "left"
    return result


def _ranked(pick: "Pick", objectives: Sequence["Objective"]) -> Iterator[str]:
    for objective, value, estimate in zip(objectives, pick.objectives, pick.estimates, strict=True):
        if objective.name == LATENCY:
            yield from (f"{value:,.1f} [dim]{pick.fidelity}[/]", f"{estimate:,.1f}")
        else:
            yield f"{value:,.1f} [dim]estimate[/]"


def errors_text(errors: "EstimateErrors") -> str:
    """How far off the estimates were."""
    p95 = f", p95 {share(errors.p95)}" if errors.p95 < errors.worst else ""  # of a few it is the worst
    shares = f"median {share(errors.median)}{p95}, worst {share(errors.worst)}"
    return (
        f"Estimated {errors.metric} against fidelity {errors.fidelity}, {errors.n} designs: off by {shares} "
        f"({errors.worst_design}); bias {share(errors.bias, signed=True)}"
    )


def front_plot(points: "Scatter", objectives: Sequence["Objective"]) -> str:
    """All feasible designs of an exploration, its front on top."""
    cloud: list[Point] = []
    front: list[Point] = []
    xs, ys, *_ = points.objectives
    for x, y, feasible, on_front in zip(xs, ys, points.feasible, points.on_front, strict=True):
        if feasible and x is not None and y is not None:
            (front if on_front else cloud).append((x, y))
    return draw(cloud, front, *axes(objectives))


def _simulated(design: "DesignSummary", latency_range: Sequence[float] | None) -> tuple[str, str]:
    """Latency and error of the estimate; where there is no latency, from where to where it lies, or how the simulation
    stands.
    """
    simulation = design.simulation
    if simulation is None:
        low_high = "not run" if latency_range is None else "to".join(f" {value:,.1f} " for value in latency_range)
        return f"[dim]{low_high.strip()}[/]", ""
    latency, error = simulation.latency_us, simulation.estimate_error
    if simulation.refuted:
        return "[red]refuted[/]", ""
    if latency is None or error is None:
        return simulation.state, ""
    return f"{latency:,.1f}", share(error, signed=True)


def _knobs(design: "DesignSummary") -> str:
    knobs = design.knobs
    overrides = len(knobs.get("overrides", ()))
    sizes = "/".join(str(knobs[name]) for name in _SIZES)
    return f"{sizes} {knobs['multiplier']}" + (f" +{overrides}" if overrides else "")


def _csim(design: "DesignSummary") -> str:
    csim = design.csim
    if csim is None:
        return verdict_word(None)
    if csim.passed is None:
        return csim.state
    error = csim.max_rel_error
    return verdict_word(csim.passed) + ("" if error is None else f" [dim]err {error:.2g}[/]")
