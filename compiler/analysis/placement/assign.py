"""Nodes to dies: wires that cross between dies against dies that are too full to route.

A placement costs, for every wire and boundary that it crosses, its share of the wires there are, and for every die
`CROWDING` times the share by which its fullest resource is above what routes well. Hard limits: each die's resources
and each boundary's wires. With y[n, b] = 1 where node n lies above boundary b (so y[n, b] >= y[n, b+1]) this is a
mixed-integer linear program; `local_assignment` is the search that answers where the solver has no time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.analysis.placement.netlist import RESOURCES, Netlist
from compiler.platforms.platform import Dies
from compiler.solver.milp import Milp, Row, solve

CROWDING = 2.0
# Within 10 % the root of the tree is enough for most designs (0.05 s); single moves then take what is left.
SOLVER_GAP = 0.1
SOLVER_NODES = 20
SOLVER_SECONDS = 5.0
OVERFLOW = 100.0  # cost of exceeding a limit by its own size: a search may pass through, but does not stay


@dataclass(frozen=True)
class Assignment:
    """Die of each node, its cost, and a lower bound of any placement's cost."""

    die: tuple[int, ...]
    cost: float
    bound: float
    method: str


def _hbm_die(dies: Dies) -> int:
    return next(k for k, slr in enumerate(dies.slrs) if slr.hbm)


def die_use(netlist: Netlist, dies: Dies, die: Sequence[int]) -> list[list[float]]:
    """Amount of each resource on each die."""
    use = [[0.0] * len(RESOURCES) for _ in dies.slrs]
    for node, place in enumerate(die):
        for r, amount in enumerate(netlist.area[node]):
            use[place][r] += amount
    return use


def wire_use(netlist: Netlist, dies: Dies, die: Sequence[int]) -> list[int]:
    """Wires across each boundary."""
    use, home = [0] * len(dies.sll), _hbm_die(dies)
    spans = [(die[a], die[b], wires) for (a, b), wires in netlist.wires.items()]
    spans += [(home, place, netlist.anchor[node]) for node, place in enumerate(die)]
    for a, b, wires in spans:
        for boundary in range(min(a, b), max(a, b)):
            use[boundary] += wires
    return use


def cost_of(netlist: Netlist, dies: Dies, die: Sequence[int]) -> float:
    """Cost of a placement; exceeded limits count `OVERFLOW` times their excess."""
    cost = 0.0
    for wires, available in zip(wire_use(netlist, dies, die), dies.sll, strict=True):
        cost += wires / available + OVERFLOW * max(0.0, wires / available - 1.0)
    for slr, used in zip(dies.slrs, die_use(netlist, dies, die), strict=True):
        shares = [amount / max(1, getattr(slr, r)) for r, amount in zip(RESOURCES, used, strict=True)]
        cost += CROWDING * max(0.0, max(shares) - dies.comfort)
        cost += OVERFLOW * sum(max(0.0, share - 1.0) for share in shares)
    return cost


def _descend(netlist: Netlist, dies: Dies, die: list[int]) -> tuple[float, list[int]]:
    """Move single nodes while that lowers the cost."""
    best = cost_of(netlist, dies, die)
    improved = True
    while improved:
        improved = False
        for node in range(netlist.size):
            for place in range(len(dies.slrs)):
                moved = [*die[:node], place, *die[node + 1 :]]
                cost = cost_of(netlist, dies, moved) if place != die[node] else best
                if cost < best - 1e-9:
                    best, die, improved = cost, moved, True
    return best, die


def _filled(netlist: Netlist, dies: Dies, share: float) -> list[int]:
    """Nodes in order of the data, die by die, each filled to `share`."""
    die, place, used = list[int](), 0, [0.0] * len(RESOURCES)
    for area in netlist.area:
        used = [a + b for a, b in zip(used, area, strict=True)]
        full = any(u > share * getattr(dies.slrs[place], r) for u, r in zip(used, RESOURCES, strict=True))
        if full and place + 1 < len(dies.slrs):
            place, used = place + 1, list(area)
        die.append(place)
    return die


def local_assignment(netlist: Netlist, dies: Dies) -> tuple[float, list[int]]:
    """The best of a few starts, each improved by single moves. O(nodes^2 x dies x edges)."""
    starts = [[_hbm_die(dies)] * netlist.size, *(_filled(netlist, dies, share) for share in (0.35, 0.5, dies.comfort))]
    return min(_descend(netlist, dies, start) for start in starts)


def _program(netlist: Netlist, dies: Dies) -> Milp:
    """Variables: y[n, b], then crossing[e, b], then crowding of each die."""
    boundaries, edges, home = len(dies.sll), list(netlist.wires.items()), _hbm_die(dies)
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
        rows.append(Row(tuple(terms), available - fixed))
        for variable, wires in terms:
            cost[variable] += wires / available
    for e, ((u, v), _) in enumerate(edges):
        for b in range(boundaries):
            rows.append(Row(((above[u][b], 1.0), (above[v][b], -1.0), (crossing[e][b], -1.0)), 0.0))
            rows.append(Row(((above[v][b], 1.0), (above[u][b], -1.0), (crossing[e][b], -1.0)), 0.0))
    for s, slr in enumerate(dies.slrs):
        cost[crowding[s]] = CROWDING
        for r, resource in enumerate(RESOURCES):
            rows += _die_rows(netlist, above, s, r, max(1.0, getattr(slr, resource)), crowding[s], dies.comfort)
    return Milp(cost, first, rows)


def _die_rows(
    netlist: Netlist, above: list[list[int]], s: int, r: int, available: float, crowding: int, comfort: float
) -> list[Row]:
    """Resource r of die s: at most what there is; what is above the comfortable share is crowding. A node lies on die s
    where y[s-1] - y[s] is 1, with 1 below the lowest boundary and 0 above the highest.
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
    return [Row(tuple(terms), 1.0 - fixed), Row((*terms, (crowding, -1.0)), comfort - fixed)]


def assign(netlist: Netlist, dies: Dies) -> Assignment:
    """The cheapest placement: all on the HBM's die where that is comfortable, else the solver's, or the better of its
    and the search's where it did not get within its gap; single moves improve it. Limits that nothing can hold show in
    `cost` (`OVERFLOW`), not as an error.
    """
    together = [_hbm_die(dies)] * netlist.size
    if not cost_of(netlist, dies, together):
        return Assignment(tuple(together), 0.0, 0.0, "one-die")
    solution = solve(_program(netlist, dies), SOLVER_GAP, SOLVER_NODES, SOLVER_SECONDS)
    bound = max(0.0, solution.bound + _fixed_cost(netlist, dies)) if solution.values is not None else 0.0
    found = local_assignment(netlist, dies) if solution.outcome != "optimal" else None
    if solution.values is not None:
        solved = _descend(netlist, dies, _dies_of(solution.values, netlist, len(dies.sll)))
        found = min(found, solved) if found is not None else solved
    assert found is not None
    cost, die = found
    return Assignment(tuple(die), cost, bound, "milp" if solution.outcome == "optimal" else "local")


def _fixed_cost(netlist: Netlist, dies: Dies) -> float:
    """What the program's objective leaves out: wires of ports below the HBM's die, counted from the other side."""
    return sum(sum(netlist.anchor) / available for available in dies.sll[: _hbm_die(dies)])


def _dies_of(values: Sequence[float], netlist: Netlist, boundaries: int) -> list[int]:
    return [sum(values[n * boundaries + b] > 0.5 for b in range(boundaries)) for n in range(netlist.size)]
