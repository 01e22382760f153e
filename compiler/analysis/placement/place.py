"""Die of every task of a design: assignment, what crosses, what does not fit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from compiler.analysis.design_area import DesignArea
from compiler.analysis.placement.assign import ANY, CHEAP, Effort, assign, cost_of, die_use, wire_use
from compiler.analysis.placement.netlist import (
    RESOURCES,
    Netlist,
    clustered,
    netlist_of,
    port_wires,
    stream_wires,
    with_relays,
)
from compiler.analysis.placement.placement import BoundaryUse, Crossing, Placement
from compiler.analysis.relays import relays
from compiler.analysis.shortfall import Shortfall
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Dies, Platform

ROUNDING = 1 + 1e-9  # sums of areas in another order


def place(tasks: TaskGraph, platform: Platform, efforts: Sequence[Effort] = (CHEAP, ANY)) -> Placement:
    """A die for each task: fewest wires between dies, no die too full, what relays take of it included; about a second
    for a few hundred tasks.

    Kernels run one after the other but lie side by side, so all are placed together. What no placement can hold is
    in `Placement.shortfalls` of the best that was found.
    """
    dies = platform.dies
    netlist = clustered(netlist_of(DesignArea.of(tasks, platform), platform), platform)
    clusters = with_relays(netlist, tasks, platform)
    found = assign(clusters, dies, efforts)
    slr = {
        name: dies.slrs[die].name for members, die in zip(clusters.members, found.die, strict=True) for name in members
    }
    placement = describe(tasks, platform, {task.name: slr[task.name] for task in tasks.tasks})
    return replace(placement, cost=found.cost, bound=min(found.bound, found.cost), method=found.method)


def describe(tasks: TaskGraph, platform: Platform, slr: Mapping[str, str]) -> Placement:
    """What a die for each task by its name amounts to: crossings, use of dies and boundaries, what does not fit."""
    dies, netlist = platform.dies, netlist_of(DesignArea.of(tasks, platform), platform)
    number = {die.name: k for k, die in enumerate(dies.slrs)}
    chosen = [number[slr[task.name]] for task in tasks.tasks]
    wires = wire_use(netlist, dies, chosen)
    boundaries = tuple(
        BoundaryUse(lower.name, upper.name, used, available)
        for (lower, upper), used, available in zip(pairwise(dies.slrs), wires, dies.sll, strict=True)
    )
    use = {
        die.name: dict(zip(RESOURCES, used, strict=True))
        for die, used in zip(dies.slrs, die_use(netlist, dies, chosen), strict=True)
    }
    return Placement(
        slr={task.name: slr[task.name] for task in tasks.tasks},
        crossings=_crossings(tasks, platform, slr),
        boundaries=boundaries,
        use=use,
        cost=cost_of(netlist, dies, chosen),
        bound=0.0,
        method="given",
        shortfalls=(*_too_large(netlist, dies), *_overfull(dies, use), *_overcrossed(dies, boundaries)),
    )


def _crossings(tasks: TaskGraph, platform: Platform, slr: Mapping[str, str]) -> tuple[Crossing, ...]:
    home = next(die.name for die in platform.dies.slrs if die.hbm)
    streams = [
        Crossing(s.name, slr[s.source], slr[s.target], wires, 2 if relays(tasks.task[s.source]) else 0)
        for s, wires in ((s, tasks.copies(s.name) * stream_wires(s.width)) for s in tasks.streams)
        if slr[s.source] != slr[s.target]
    ]
    ports = [
        Crossing(task, home, slr[task], wires, 1)
        for task, wires in port_wires(tasks, platform).items()
        if slr[task] != home
    ]
    return (*streams, *ports)


def _too_large(netlist: Netlist, dies: Dies) -> list[Shortfall]:
    """Single tasks that no die holds: a task is not divided."""
    largest = {r: dies.fill * max(getattr(slr, r) for slr in dies.slrs) for r in RESOURCES}
    return [
        Shortfall(f"task {members[0]}", resource, amount, largest[resource])
        for members, area in zip(netlist.members, netlist.area, strict=True)
        for resource, amount in zip(RESOURCES, area, strict=True)
        if amount > largest[resource] * ROUNDING
    ]


def _overfull(dies: Dies, use: dict[str, dict[str, float]]) -> list[Shortfall]:
    return [
        Shortfall(slr.name, resource, amount, dies.fill * getattr(slr, resource))
        for slr in dies.slrs
        for resource, amount in use[slr.name].items()
        if amount > dies.fill * getattr(slr, resource) * ROUNDING
    ]


def _overcrossed(dies: Dies, boundaries: tuple[BoundaryUse, ...]) -> list[Shortfall]:
    return [
        Shortfall(f"{b.lower} to {b.upper}", "sll", float(b.wires), dies.fill * b.available)
        for b in boundaries
        if b.wires > dies.fill * b.available * ROUNDING
    ]
