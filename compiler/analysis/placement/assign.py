"""Nodes to dies: wires that cross between dies against dies that are too full to route.

A placement costs, for every wire and boundary that it crosses, its share of the wires there are, and for every die
`CROWDING` times the share by which its fullest resource is above what routes well. Hard limits: `Dies.fill` of each
die's resources and each boundary's wires. With y[n, b] = 1 where node n lies above boundary b (so y[n, b] >= y[n, b+1])
this is a mixed-integer linear program; `searched` answers where the solver has no time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from compiler.analysis.placement.arrays import CROWDING, Board, hbm_die, limit_costs, placement_costs
from compiler.analysis.placement.cuts import cheapest_cuts
from compiler.analysis.placement.netlist import RESOURCES, Area, Netlist
from compiler.analysis.placement.search import descended, repaired
from compiler.analysis.relays import left_dies
from compiler.platforms.platform import Dies
from compiler.solver.milp import Milp, Outcome, Row, solve


class Effort(NamedTuple):
    """Limits of one solve; see `compiler.solver.milp`. The nodes are the limit: of 500 solves the longest took 2 s of
    the processor. The time is there for what nobody has seen: it is far above that, so that a machine with other work
    finds the same.
    """

    gap: float
    nodes: int
    seconds: float


# Within 10 % the root of the tree is enough for most designs (0.05 s); single moves then take what is left. Where that
# finds nothing within the limits, any placement will do: that decided all of 130 designs that a search had left open,
# most of them in 0.1 s.
CHEAP = Effort(0.1, 20, 100.0)
ANY = Effort(1e6, 500, 200.0)
METHODS: Mapping[tuple[Effort, Outcome], str] = {
    (CHEAP, "optimal"): "milp",
    **{(effort, "infeasible"): "infeasible" for effort in (CHEAP, ANY)},
}


@dataclass(frozen=True)
class Assignment:
    """Die of each node, its cost, and a lower bound of any placement's cost. `method` is that of a `Placement`."""

    die: tuple[int, ...]
    cost: float
    bound: float
    method: str


def die_use(netlist: Netlist, dies: Dies, die: Sequence[int]) -> list[list[float]]:
    """Amount of each resource on each die, relays included."""
    use = [[0.0] * len(RESOURCES) for _ in dies.slrs]
    placed = [(place, area) for place, area in zip(die, netlist.area, strict=True)]
    placed += [(left, area) for (a, b), area in netlist.relays.items() for left in left_dies(die[a], die[b])]
    for place, area in placed:
        for r, amount in enumerate(area):
            use[place][r] += amount
    return use


def wire_use(netlist: Netlist, dies: Dies, die: Sequence[int]) -> list[int]:
    """Wires across each boundary."""
    use, home = [0] * len(dies.sll), hbm_die(dies)
    spans = [(die[a], die[b], wires) for (a, b), wires in netlist.wires.items()]
    spans += [(home, place, netlist.anchor[node]) for node, place in enumerate(die)]
    for a, b, wires in spans:
        for boundary in range(min(a, b), max(a, b)):
            use[boundary] += wires
    return use


def cost_of(netlist: Netlist, dies: Dies, die: Sequence[int]) -> float:
    """Cost of a placement; exceeded limits count `OVERFLOW` times their excess."""
    return placement_costs(dies).of(Board(netlist, dies), die)


def searched(board: Board) -> list[int]:
    """The cheapest placement that is found without a solver: from cuts, and from all on the HBM's die."""
    costs = placement_costs(board.dies)
    together = [hbm_die(board.dies)] * board.netlist.size
    starts = [repaired(board, cut)[0] for cut in cheapest_cuts(board, limit_costs(board.dies))]
    return min((descended(board, costs, start) for start in (together, *starts)), key=lambda die: costs.of(board, die))


class _Crossing(NamedTuple):
    """Where a pair of nodes crosses a boundary in one direction: `wires` in all; `relays`, the area on the dies below
    and above it; the number of its `variable`.
    """

    boundary: int
    lower: int
    upper: int
    wires: int
    relays: tuple[Area, Area]
    variable: int


def _crossings(netlist: Netlist, boundaries: int, first: int) -> list[_Crossing]:
    """For each pair with wires, each boundary and either node above it; variables from `first` on."""
    found, without = list[_Crossing](), (0.0,) * len(RESOURCES)
    for ((u, v), wires), b in product(netlist.wires.items(), range(boundaries)):
        up, down = netlist.relays.get((u, v), without), netlist.relays.get((v, u), without)
        found.append(_Crossing(b, u, v, wires, (up, down), first + len(found)))
        found.append(_Crossing(b, v, u, wires, (down, up), first + len(found)))
    return found


def _program(netlist: Netlist, dies: Dies) -> Milp:
    """Variables: y[n, b], then those of `_crossings`, then crowding of each die."""
    boundaries, home = len(dies.sll), hbm_die(dies)
    above = [[n * boundaries + b for b in range(boundaries)] for n in range(netlist.size)]
    first = netlist.size * boundaries
    crossings = _crossings(netlist, boundaries, first)
    crowding = [first + len(crossings) + s for s in range(len(dies.slrs))]
    cost = [0.0] * (first + len(crossings) + len(dies.slrs))
    rows = [Row(((y[b + 1], 1.0), (y[b], -1.0)), 0.0) for y in above for b in range(boundaries - 1)]
    for b, available in enumerate(dies.sll):
        terms = [(c.variable, float(c.wires)) for c in crossings if c.boundary == b]
        side = 1.0 if b >= home else -1.0  # a port's wires cross when its node lies on the other side than the HBM
        terms += [(above[n][b], side * wires) for n, wires in enumerate(netlist.anchor) if wires]
        fixed = 0.0 if b >= home else float(sum(netlist.anchor))
        rows.append(Row(tuple(terms), dies.fill * available - fixed))
        for variable, wires in terms:
            cost[variable] += wires / available
    for c in crossings:
        ends = ((above[c.upper][c.boundary], 1.0), (above[c.lower][c.boundary], -1.0), (c.variable, -1.0))
        rows.append(Row(ends, 0.0))
    for s, slr in enumerate(dies.slrs):
        cost[crowding[s]] = CROWDING
        on_die = [(c.variable, c.relays[s - c.boundary]) for c in crossings if s - c.boundary in (0, 1)]
        for r, resource in enumerate(RESOURCES):
            available = max(1.0, getattr(slr, resource))
            relays = [(variable, area[r] / available) for variable, area in on_die if area[r]]
            rows += _die_rows(netlist, above, s, r, available, relays, crowding[s], dies)
    return Milp(cost, first, rows)


def _die_rows(
    netlist: Netlist,
    above: list[list[int]],
    s: int,
    r: int,
    available: float,
    relays: list[tuple[int, float]],
    crowding: int,
    dies: Dies,
) -> list[Row]:
    """Resource r of die s: at most what may be used; what is above the comfortable share is crowding. A node lies on
    die s where y[s-1] - y[s] is 1, with 1 below the lowest boundary and 0 above the highest.
    """
    terms, fixed = list(relays), 0.0
    for n, area in enumerate(netlist.area):
        if not area[r]:
            continue
        if s == 0:
            fixed += area[r] / available
        else:
            terms.append((above[n][s - 1], area[r] / available))
        if s < len(above[n]):
            terms.append((above[n][s], -area[r] / available))
    return [Row(tuple(terms), dies.fill - fixed), Row((*terms, (crowding, -1.0)), dies.comfort - fixed)]


def assign(netlist: Netlist, dies: Dies, efforts: Sequence[Effort] = (CHEAP, ANY)) -> Assignment:
    """The cheapest placement: all on the HBM's die where that is comfortable, else the better of the solver's and the
    search's, improved by moves and swaps. With `ANY` alone one that holds the limits, for which a search may do. Limits
    that nothing can hold show in `cost` (`OVERFLOW`), not as an error.
    """
    board, costs = Board(netlist, dies), placement_costs(dies)
    together = [hbm_die(dies)] * netlist.size
    if not costs.of(board, together):
        return Assignment(tuple(together), 0.0, 0.0, "one-die")
    candidates = [searched(board)]
    bound, method = 0.0, "local"
    for effort in efforts:
        if effort is ANY and any(_holds(board, die) for die in candidates):
            break
        solution = solve(_program(netlist, dies), *effort)
        method = METHODS.get((effort, solution.outcome), "local")
        if method == "infeasible":
            break
        if solution.values is not None:
            solved = _dies_of(solution.values, netlist, len(dies.sll))
            candidates += [solved, descended(board, costs, solved)]  # moves look away from relays
            bound = max(bound, solution.bound + _fixed_cost(netlist, dies))
    found = min(candidates, key=lambda die: (not _holds(board, die), costs.of(board, die)))
    return Assignment(tuple(found), costs.of(board, found), bound, method)


def _holds(board: Board, die: Sequence[int]) -> bool:
    """It keeps every limit."""
    places = np.array(die, dtype=np.intp)
    return bool((board.use(places) <= 1.0).all() and (board.crossings(places) <= 1.0).all())


def _fixed_cost(netlist: Netlist, dies: Dies) -> float:
    """What the program's objective leaves out: wires of ports below the HBM's die, counted from the other side."""
    return sum(sum(netlist.anchor) / available for available in dies.sll[: hbm_die(dies)])


def _dies_of(values: Sequence[float], netlist: Netlist, boundaries: int) -> list[int]:
    return [sum(values[n * boundaries + b] > 0.5 for b in range(boundaries)) for n in range(netlist.size)]
