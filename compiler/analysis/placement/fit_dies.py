"""Whether a design can be placed on the dies, quickly enough for every design of a search.

It fits where one die or one of the cheapest cuts holds it, or a placement a few moves away from one of these, or from
one where large tasks were packed first: then that placement is the proof. It is refused where its area is above what
all dies may hold together, where no die holds one of its tasks, or where the nearest placement that was found is far
beyond the limits. What lies between is open: few of these have no placement, and the exact placer
(`compiler.analysis.placement.place`) says which, before one of them enters a front.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from compiler.analysis.design_area import DesignArea
from compiler.analysis.placement.arrays import Board, Floats, hbm_die, limit_costs
from compiler.analysis.placement.cuts import cheapest_cuts
from compiler.analysis.placement.die_memories import BLOCKS, fit_memories_of_dies
from compiler.analysis.placement.netlist import RESOURCES, Netlist, clustered, netlist_of
from compiler.analysis.placement.search import packed, repaired
from compiler.analysis.relays import Spread, relayed, relays
from compiler.analysis.resources import relay_resources
from compiler.errors import Violation
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.clock import ClockShape
from compiler.platforms.platform import Dies, Platform

# Sum over dies, resources and boundaries of what exceeds a limit, relative to it. `bench.place` prints how many designs
# on either side of it have a placement.
HOPELESS = 0.06

# Where moving single clusters leads to no placement, groups of them may: an engine with what brings and takes its
# wide tokens. They are tried, up to this share of a die, unless the nearest placement is too far for them, too.
COARSE = 0.25
FAR = 0.4


class DieFit(NamedTuple):
    """`tasks` have relays where streams cross. `placed`: a placement was found that holds every limit. `use` are the
    shares of whole dies that it holds, or the nearest one [die, resource]; `crossed`: streams or ports cross between
    dies. Without violations and not `placed`, the exact placer has to say.
    """

    tasks: TaskGraph
    placed: bool
    use: Floats
    crossed: bool
    violations: tuple[Violation, ...] = ()

    @property
    def fullest(self) -> float:
        """Share of the fullest resource of a die."""
        return float(self.use.max())

    def clock_shape(self, dies: Dies) -> ClockShape:
        """What the clock depends on."""
        lut = float(self.use[:, RESOURCES.index("lut")].max())
        return ClockShape(lut, registered=self.crossed, crowded=max(0.0, self.fullest - dies.comfort))


def fit_dies(area: DesignArea, platform: Platform) -> DieFit:
    """Fit a design of this area, all of its kernels together, on the dies of its board."""
    tasks, dies = area.design, platform.dies
    limits = dies.fill * np.array([[getattr(slr, r) for r in RESOURCES] for slr in dies.slrs], dtype=float)
    amounts = np.array([getattr(area.whole, r) for r in RESOURCES])
    if (amounts <= limits[hbm_die(dies)]).all():
        return DieFit(tasks, True, dies.fill * _share(amounts, limits[hbm_die(dies)])[None], crossed=False)
    if (amounts > limits.sum(axis=0)).any():
        # Dies that are all as full as each other, and no wires: nothing is less.
        return _refused(tasks, limits * _share(amounts, limits.sum(axis=0)), np.zeros(0), limits, dies)
    found = _nearest(area, platform)
    if found.excess > HOPELESS or found.too_large:
        return _refused(tasks, found.use * limits, found.wires, limits, dies)
    spread = relayed(tasks, found.die)
    use = found.use + _share(relay_area(spread, platform), limits)
    placed = not found.excess and bool((use <= 1.0).all())
    return DieFit(spread.tasks, placed, dies.fill * use, crossed=bool(found.wires.any()))


def relay_area(spread: Spread, platform: Platform) -> Floats:
    """Relays with the FIFOs in front of them: [die, resource]."""
    area = np.zeros((len(platform.dies.slrs), len(RESOURCES)))
    for task in spread.tasks.tasks:
        if relays(task):
            taken = relay_resources(task, spread.tasks.stream[task.reads[0].stream], platform)
            area[spread.die[task.name]] += [getattr(taken, r) for r in RESOURCES]
    return area


class Found(NamedTuple):
    """A placement: shares of the limits that dies [die, resource] and boundaries hold, the sum of what is above 1,
    whether there is a task that no die holds; the die of each task.
    """

    die: Mapping[str, int]
    use: Floats
    wires: Floats
    excess: float
    too_large: bool


def _nearest(area: DesignArea, platform: Platform) -> Found:
    """The placement nearest to the limits that was found; memories are moved where one kind of them runs out on it."""
    dies, found = platform.dies, nearest(netlist_of(area, platform), platform)
    if not (found.use[:, [RESOURCES.index(block) for block in BLOCKS]] > 1.0).any():
        return found
    moved = fit_memories_of_dies(area.design, {name: dies.slrs[die].name for name, die in found.die.items()}, platform)
    again = _found(
        Board(netlist_of(DesignArea.of(moved, platform), platform), dies),
        [found.die[task.name] for task in moved.tasks],
    )
    return again._replace(die=found.die)


def nearest(netlist: Netlist, platform: Platform) -> Found:
    """The placement nearest to the limits that single clusters lead to, or else groups of them."""
    found = _nearest_of(clustered(netlist, platform), platform.dies)
    if not 0 < found.excess < FAR:
        return found
    return min(found, _nearest_of(clustered(netlist, platform, COARSE), platform.dies), key=lambda f: f.excess)


def _nearest_of(clusters: Netlist, dies: Dies) -> Found:
    """A few moves away from one of the cheapest cuts, or from large ones packed first."""
    board, best, least = Board(clusters, dies), list[int](), float("inf")
    for start in chain(cheapest_cuts(board, limit_costs(dies)), map(packed, [board])):
        die, excess = repaired(board, start)
        if excess < least:
            best, least = die, excess
        if not least:
            break
    named = {name: die for members, die in zip(clusters.members, best, strict=True) for name in members}
    return _found(board, best)._replace(die=named)


def _found(board: Board, die: Sequence[int]) -> Found:
    places = np.array(die, dtype=np.intp)
    use, wires = board.use(places), board.crossings(places)
    excess = float(np.maximum(0.0, use - 1.0).sum() + np.maximum(0.0, wires - 1.0).sum())
    return Found({}, use, wires, excess, bool((board.area.min(axis=1) > 1.0).any()))


def _share(amounts: Floats, limits: Floats) -> Floats:
    return amounts / np.maximum(limits, 1.0)


def _refused(tasks: TaskGraph, use: Floats, wires: Floats, limits: Floats, dies: Dies) -> DieFit:
    """What is exceeded most: of each resource on one die, of wires (shares of the limits) at one boundary."""
    shares, found = _share(use, limits), list[Violation]()
    for r, resource in enumerate(RESOURCES):
        die = int(shares[:, r].argmax())
        if shares[die, r] > 1.0:
            found.append(Violation(f"slr_{resource}", float(use[die, r]), float(limits[die, r])))
    if wires.max(initial=0.0) > 1.0:
        crossed = int(wires.argmax())
        bound = dies.fill * dies.sll[crossed]
        found.append(Violation("sll", float(wires[crossed]) * bound, bound))
    # What one die does not hold lies on several.
    return DieFit(tasks, False, dies.fill * shares, crossed=True, violations=tuple(found))
