"""A netlist on dies as arrays, and what a placement costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.placement.netlist import RESOURCES, Area, Netlist
from compiler.analysis.relays import left_dies
from compiler.platforms.platform import Dies

CROWDING = 2.0
OVERFLOW = 100.0  # cost of exceeding a limit by its own size: a search may pass through, but does not stay

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def hbm_die(dies: Dies) -> int:
    """Number of the die that has the HBM's ports."""
    return next(k for k, slr in enumerate(dies.slrs) if slr.hbm)


@dataclass(frozen=True)
class Board:
    """A netlist and the dies it is placed on. Areas are shares of what a die may hold, wires shares of what may cross a
    boundary (`Dies.fill` of what there is), so that 1 is the limit of each.
    """

    netlist: Netlist
    dies: Dies

    @cached_property
    def home(self) -> int:
        """The die that has the HBM's ports."""
        return hbm_die(self.dies)

    @cached_property
    def area(self) -> Floats:
        """Of each node on each die: [node, die, resource]. A resource that a die lacks counts as one unit of it."""
        return self._shares(self.netlist.area)

    @cached_property
    def relays(self) -> Floats:
        """Of the relays that the streams from one node to another have on each die that they leave: [pair of
        `Netlist.relays`, die, resource].
        """
        return self._shares(tuple(self.netlist.relays.values()))

    def _shares(self, areas: Sequence[Area]) -> Floats:
        have = np.array([[max(1.0, getattr(slr, r)) for r in RESOURCES] for slr in self.dies.slrs])
        return np.array(areas, dtype=float).reshape(len(areas), 1, len(RESOURCES)) / (have * self.dies.fill)

    @cached_property
    def anchor(self) -> Floats:
        """Wires of each node to the HBM: [node]."""
        return np.array(self.netlist.anchor, dtype=float)

    @cached_property
    def links(self) -> Floats:
        """Wires between two nodes: [node, node]."""
        links = np.zeros((self.netlist.size, self.netlist.size))
        for (a, b), wires in self.netlist.wires.items():
            links[a, b] = links[b, a] = wires
        return links

    @cached_property
    def crossed(self) -> Floats:
        """What a wire between two dies takes of each boundary: [die, die, boundary]."""
        low, high, boundary = np.ogrid[: len(self.dies.slrs), : len(self.dies.slrs), : len(self.dies.sll)]
        between = (np.minimum(low, high) <= boundary) & (boundary < np.maximum(low, high))
        return between / (np.array(self.dies.sll, dtype=float) * self.dies.fill)

    def given(self, costs: "Costs") -> Sequence[NDArray[Any]]:
        """With what it costs, as the core reads it."""
        dies, boundaries = len(self.dies.slrs), len(self.dies.sll)
        sizes = np.array([self.netlist.size, dies, len(RESOURCES), boundaries, self.home], dtype=np.intp)
        numbers = np.array([costs.wire, costs.crowding, self.dies.comfort, self.dies.fill])
        board = (sizes, self.area, self.links, self.anchor, self.crossed)
        return (*board, costs.over_dies, costs.over_wires, numbers)

    def on_dies(self, die: Ints) -> Floats:
        """1 where a node lies: [node, die]."""
        return np.eye(len(self.dies.slrs))[die]

    def use(self, die: Ints) -> Floats:
        """[die, resource], relays included."""
        use = np.einsum("nd,ndr->dr", self.on_dies(die), self.area)
        for (source, target), taken in zip(self.netlist.relays, self.relays, strict=True):
            left = left_dies(int(die[source]), int(die[target]))
            use[left] += taken[left]
        return use

    def crossings(self, die: Ints) -> Floats:
        """[boundary]"""
        between = np.einsum("nm,nmb->b", self.links, self.crossed[die[:, None], die[None, :]]) / 2
        return between + self.anchor @ self.crossed[die, self.home]


@dataclass(frozen=True)
class Costs:
    """What dies and boundaries cost: `over_dies` [die, resource] and `over_wires` [boundary] times what exceeds a
    limit, relative to it; `wire` times the share of a boundary's wires; `crowding` times the share of a die's fullest
    resource above what routes well.
    """

    dies: Dies
    over_dies: Floats
    over_wires: Floats
    wire: float
    crowding: float

    def of_dies(self, use: Floats, die: Ints | slice | int = slice(None)) -> Floats:
        """`use` [..., resource] of all dies in their order, or of the dies given: [...]."""
        cost = (self.over_dies[die] * np.maximum(0.0, use - 1.0)).sum(axis=-1)
        if self.crowding:
            fullest = use.max(axis=-1) * self.dies.fill
            cost = cost + self.crowding * np.maximum(0.0, fullest - self.dies.comfort)
        return cost

    def of_wires(self, wires: Floats, boundary: slice | int = slice(None)) -> Floats:
        """`wires` [..., boundary] or of one boundary, each by itself."""
        over = self.over_wires[boundary] * np.maximum(0.0, wires - 1.0)
        return over + self.wire * self.dies.fill * wires

    def of(self, board: Board, die: Sequence[int]) -> float:
        """Cost of a placement."""
        places = np.array(die, dtype=np.intp)
        return float(self.of_dies(board.use(places)).sum() + self.of_wires(board.crossings(places)).sum())


def placement_costs(dies: Dies) -> Costs:
    """What a placement is judged by: wires across boundaries against dies that are too full to route well."""
    shape = len(dies.slrs), len(RESOURCES)
    return Costs(dies, np.full(shape, OVERFLOW), np.full(len(dies.sll), OVERFLOW), 1.0, CROWDING)


def limit_costs(dies: Dies) -> Costs:
    """What it is judged by where any placement will do that holds the limits: what exceeds them; fewer wires decide
    between equals.
    """
    return Costs(dies, np.ones((len(dies.slrs), len(RESOURCES))), np.ones(len(dies.sll)), 1e-3, 0.0)
