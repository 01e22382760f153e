"""Nodes to dies: wires that cross between dies against dies that are too full to route.

A placement costs, for every wire and boundary that it crosses, its share of the wires there are, and for every die
`CROWDING` times the share by which its fullest resource is above what routes well. Hard limits: `Dies.fill` of each
die's resources and each boundary's wires. With y[n, b] = 1 where node n lies above boundary b (so y[n, b] >= y[n, b+1])
this is a mixed-integer linear program; `searched` answers where the solver has no time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compiler.analysis.placement.arrays import CROWDING, Board, hbm_die, limit_costs, placement_costs
from compiler.analysis.placement.cuts import cheapest_cuts
from compiler.analysis.placement.netlist import RESOURCES, Netlist
from compiler.analysis.placement.search import descended, repaired
from compiler.platforms.platform import Dies
from compiler.solver.milp import Milp, Outcome, Row, solve


class Effort(NamedTuple):
    """Limits of one solve; see `compiler.solver.milp`."""

    gap: float
    nodes: int
    seconds: float


# Within 10 % the root of the tree is enough for most designs (0.05 s); single moves then take what is left. Where that
# finds nothing within the limits, any placement will do: that decided all of 130 designs that a search had left open,
# most of them in 0.1 s.
EFFORTS = (Effort(0.1, 20, 5.0), Effort(1e6, 500, 20.0))
METHODS: Mapping[tuple[Effort, Outcome], str] = {
    (EFFORTS[0], "optimal"): "milp",
    **{(effort, "infeasible"): "infeasible" for effort in EFFORTS},
}


@dataclass(frozen=True)
class Assignment:
    """Die of each node, its cost, and a lower bound of any placement's cost. `method` is that of a `Placement`."""

    die: tuple[int, ...]
    cost: float
    bound: float
    method: str


def die_use(netlist: Netlist, dies: Dies, die: Sequence[int]) -> list[list[float]]:
    """Amount of each resource on each die."""
    use = [[0.0] * len(RESOURCES) for _ in dies.slrs]
    for node, place in enumerate(die):
        for r, amount in enumerate(netlist.area[node]):
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


def _program(netlist: Netlist, dies: Dies) -> Milp:
    """Variables: y[n, b], then crossing[e, b], then crowding of each die."""
    boundaries, edges, home = len(dies.sll), list(netlist.wires.items()), hbm_die(dies)
    above = [[n * boundaries + b for b in range(boundaries)] for n in range(netlist.size)]
    first = netlist.size * boundaries
    crossing = [[first + e * boundaries + b for b in range(boundaries)] for e in range(len(edges))]
    crowding = [first + len(edges) * boundaries + s for s in range(len(dies.slrs))]
    cost = [0.0] * (first + len(edges) * boundaries + len(dies.slrs))
    rows = [Row(((y[b + 1], 1.0), (y[b], -1.0)), 0.0) for y in above for b in range(boundaries - 1)]
    for b, available in enumerate(dies.sll):
        terms = [(crossing[e][b], float(wires)) for e, (_, wires) in enumerate(edges)]
        side = 1.0 if b >= home else -1.0  # a port's wires cross when its node lies on the other side than the HBM
        terms += [(above[n][b], side * wires) for n, wires in enumerate(netlist.anchor) if wires]
        fixed = 0.0 if b >= home else float(sum(netlist.anchor))
        rows.append(Row(tuple(terms), dies.fill * available - fixed))
        for variable, wires in terms:
            cost[variable] += wires / available
    for e, ((u, v), _) in enumerate(edges):
        for b in range(boundaries):
            rows.append(Row(((above[u][b], 1.0), (above[v][b], -1.0), (crossing[e][b], -1.0)), 0.0))
            rows.append(Row(((above[v][b], 1.0), (above[u][b], -1.0), (crossing[e][b], -1.0)), 0.0))
    for s, slr in enumerate(dies.slrs):
        cost[crowding[s]] = CROWDING
        for r, resource in enumerate(RESOURCES):
            rows += _die_rows(netlist, above, s, r, max(1.0, getattr(slr, resource)), crowding[s], dies)
    return Milp(cost, first, rows)


def _die_rows(
    netlist: Netlist, above: list[list[int]], s: int, r: int, available: float, crowding: int, dies: Dies
) -> list[Row]:
    """Resource r of die s: at most what may be used; what is above the comfortable share is crowding. A node lies on
    die s where y[s-1] - y[s] is 1, with 1 below the lowest boundary and 0 above the highest.
    """
    terms: list[tuple[int, float]] = []
    fixed = 0.0
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


def assign(netlist: Netlist, dies: Dies) -> Assignment:
    """The cheapest placement: all on the HBM's die where that is comfortable, else the better of the solver's and the
    search's, improved by moves and swaps. Limits that nothing can hold show in `cost` (`OVERFLOW`), not as an error.
    """
    board, costs = Board(netlist, dies), placement_costs(dies)
    together = [hbm_die(dies)] * netlist.size
    if not costs.of(board, together):
        return Assignment(tuple(together), 0.0, 0.0, "one-die")
    program, candidates = _program(netlist, dies), [searched(board)]
    bound, method = 0.0, "local"
    for effort in EFFORTS:
        solution = solve(program, *effort)
        if solution.values is not None:
            candidates.append(descended(board, costs, _dies_of(solution.values, netlist, len(dies.sll))))
            bound = max(bound, solution.bound + _fixed_cost(netlist, dies))
        method = METHODS.get((effort, solution.outcome), "local")
        if method == "infeasible" or any(_holds(board, die) for die in candidates):
            break
    found = min(candidates, key=lambda die: costs.of(board, die))
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
