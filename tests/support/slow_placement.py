"""Cuts and moves of `compiler.analysis.placement`, slowly, in numpy: the native core is compared with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.placement.arrays import Board, Costs, Floats, Ints, limit_costs
from compiler.analysis.placement.search import REPAIR_MOVES

LEAST_GAIN = 1e-9  # of a move: less is rounding
TENURE = 6  # moves for which a node that has moved stays


class State:
    """A placement under moves, with what its dies and boundaries hold. All in shares of the limits."""

    def __init__(self, board: Board, die: Sequence[int]):
        self.board, self.nodes = board, np.arange(board.netlist.size)
        self.die: Ints = np.array(die, dtype=np.intp)
        self.use, self.wires = board.use(self.die), board.crossings(self.die)

    @property
    def excess(self) -> float:
        """What exceeds the limits, all of it together; 0 where the placement holds them."""
        return float(np.maximum(0.0, self.use - 1.0).sum() + np.maximum(0.0, self.wires - 1.0).sum())

    def moves(self, costs: Costs) -> Floats:
        """By how much the cost changes where a node moves to a die: [node, die]; infinite where it is there."""
        area, now = self.board.area, costs.of_dies(self.use)
        there = costs.of_dies(self.use + area) - now
        left = costs.of_dies(self.use[self.die] - area[self.nodes, self.die], self.die) - now[self.die]
        wires = costs.of_wires(self.wires + self.rewired).sum(axis=-1) - costs.of_wires(self.wires).sum()
        change = there + left[:, None] + wires
        change[self.nodes, self.die] = np.inf
        return change

    def swaps(self, costs: Costs) -> Floats:
        """The same where two nodes of different dies take each other's place: [node, node]."""
        area, die, now = self.board.area, self.die, costs.of_dies(self.use)
        comes, goes = area[:, die].swapaxes(0, 1), area[self.nodes, die]  # [one, other]: the other's area on one's die
        gets = costs.of_dies(self.use[die][:, None] + comes - goes[:, None], die[:, None]) - now[die][:, None]
        to = self.rewired[:, die]  # [one, other, boundary]
        between = self.board.links[:, :, None] * self.board.crossed[die[:, None], die[None, :]]
        wires = costs.of_wires(self.wires + to + to.swapaxes(0, 1) + 2 * between).sum(axis=-1)
        change = gets + gets.T + wires - costs.of_wires(self.wires).sum()
        change[die[:, None] == die[None, :]] = np.inf
        return change

    def place(self, node: int, die: int) -> None:
        """Move a node."""
        area, here = self.board.area[node], self.die[node]
        self.wires = self.wires + self.rewired[node, die]
        self.use[here] -= area[here]
        self.use[die] += area[die]
        self.die[node] = die
        del self.rewired

    @cached_property  # a placement that holds the limits asks for none
    def rewired(self) -> Floats:
        """What a move changes at the boundaries: [node, die, boundary]."""
        reached = reach(self.board, self.die)
        return reached - reached[self.nodes, self.die][:, None]


def repaired(board: Board, die: Sequence[int], moves: int = REPAIR_MOVES) -> tuple[list[int], float]:
    """The placement nearest to the limits among those that so many moves pass through, and its excess over them.

    A move is the best one among nodes that have not moved of late. Where none helps, what is exceeded weighs more from
    then on (breakout local search, Morris 1993), so that another limit gives way.
    """
    state, costs = State(board, die), limit_costs(board.dies)
    best, least = list(die), state.excess
    rests = np.zeros(board.netlist.size, dtype=int)
    for number in range(moves):
        if not least:
            break
        change = state.moves(costs)
        change[rests > number] = np.inf
        node, to = divmod(int(change.argmin()), change.shape[1])
        if change[node, to] > -LEAST_GAIN:
            costs.over_dies[state.use > 1.0] += 1.0
            costs.over_wires[state.wires > 1.0] += 1.0
        state.place(node, to)
        rests[node] = number + TENURE
        if state.excess < least:
            best, least = state.die.tolist(), state.excess
    return best, least


def descended(board: Board, costs: Costs, die: Sequence[int]) -> list[int]:
    """Move single nodes, and swap two where no move helps, while that lowers the cost."""
    state = State(board, die)
    while True:
        change = state.moves(costs)
        node, to = divmod(int(change.argmin()), change.shape[1])
        if change[node, to] < -LEAST_GAIN:
            state.place(node, to)
            continue
        change = state.swaps(costs)
        one, other = divmod(int(change.argmin()), change.shape[1])
        if not change[one, other] < -LEAST_GAIN:
            return [int(place) for place in state.die]
        here, there = int(state.die[one]), int(state.die[other])
        state.place(one, there)
        state.place(other, here)


def reach(board: Board, die: Ints) -> Floats:
    """What the wires of each node take of each boundary if it lay on each die: [node, die, boundary]."""
    ends = board.links @ board.on_dies(die)
    ends[:, board.home] += board.anchor
    dies, boundaries = len(board.dies.slrs), len(board.dies.sll)
    # One after the other: how BLAS adds them up is not the same on every machine.
    return sum((ends[:, end, None, None] * board.crossed[end] for end in range(dies)), np.zeros((1, dies, boundaries)))


def cheapest_cuts(board: Board, costs: Costs) -> Iterator[list[int]]:
    """Die of each node, for dies laid from the highest down, then from the lowest up."""
    runs, dies = _Runs(board, costs), list(range(len(board.dies.slrs)))
    if len(dies) == 1:
        yield [0] * board.netlist.size
        return
    yield _cut(runs, dies[::-1])
    yield _cut(runs, dies)


@dataclass(frozen=True)
class _Runs:
    """What each run [a, b) of the nodes that are cut holds and crosses, all of them in arrays [a, b]."""

    board: Board
    costs: Costs

    @cached_property
    def fixed(self) -> Ints:
        """Nodes that stay with the HBM."""
        return np.flatnonzero(~self._is_free)

    @cached_property
    def free(self) -> Ints:
        """Nodes that are cut, in their order."""
        return np.flatnonzero(self._is_free)

    @cached_property
    def _is_free(self) -> NDArray[np.bool_]:
        return (self.board.anchor == 0) | (self.board.anchor < self.board.links.sum(axis=1))

    @cached_property
    def backwards(self) -> NDArray[np.bool_]:
        """Where b < a, which is no run."""
        ends = len(self.free) + 1
        return np.tril(np.ones((ends, ends), dtype=bool), -1)

    def on_die(self, die: int) -> Floats:
        """Cost of a run on this die, infinite where it is none."""
        return np.where(self.backwards, np.inf, self.costs.of_dies(self._held(die) + self._base(die), die))

    def without(self, die: int) -> Floats:
        """Cost of this die when it has everything but the run."""
        whole = self.board.area[self.free, die].sum(axis=0)
        return self.costs.of_dies(whole - self._held(die) + self._base(die), die)

    def across(self, boundary: int, with_hbm: bool) -> Floats:
        """Cost of a boundary that has the run on the one side, the HBM with it or not, and all else on the other."""
        to_hbm = _spans(self._to_hbm)
        outside = self._to_hbm.sum() - to_hbm
        wires = self._leaving + (outside if with_hbm else to_hbm)
        return self.costs.of_wires(wires * self.board.crossed[boundary, boundary + 1, boundary], boundary)

    def _held(self, die: int) -> Floats:
        return np.maximum(0.0, _spans(self.board.area[self.free, die]))

    def _base(self, die: int) -> Floats:
        share = float(die == self.board.home)
        return share * self.board.area[self.fixed, die].sum(axis=0)

    @cached_property
    def _to_hbm(self) -> Floats:
        """Wires of each node that is cut to the HBM and to what stays with it."""
        fixed = self.board.links[np.ix_(self.free, self.fixed)].sum(axis=1)
        return self.board.anchor[self.free] + fixed

    @cached_property
    def _leaving(self) -> Floats:
        """Wires between the run and the others that are cut."""
        links = self.board.links[np.ix_(self.free, self.free)]
        corner = np.zeros((len(self.free) + 1,) * 2)
        corner[1:, 1:] = links.cumsum(axis=0).cumsum(axis=1)
        ends = corner.diagonal()
        inside = ends[None, :] - corner - corner.T + ends[:, None]
        return _spans(links.sum(axis=1)) - inside


def _spans(amounts: Floats) -> Floats:
    """Sum over each run: [node, ...] to [a, b, ...]."""
    sums = np.concatenate([np.zeros((1, *amounts.shape[1:])), amounts.cumsum(axis=0)])
    return sums[None] - sums[:, None]


def _cut(runs: _Runs, order: Sequence[int]) -> list[int]:
    home, last = runs.board.home, order[-1]
    best, laid = runs.on_die(order[0]), list[tuple[Floats, Floats]]()
    for place, die in enumerate(order[:-1]):
        if place:
            laid.append((best, runs.on_die(die)))
            best = _grown(*laid[-1])
        boundary = min(die, order[place + 1])
        best = best + runs.across(boundary, home in order[: place + 1])
    whole = np.where(runs.backwards, np.inf, best + runs.without(last))
    low, high = divmod(int(whole.argmin()), whole.shape[1])
    cut = np.full(len(runs.free), last)
    for die, (inner, alone) in zip(reversed(order[1:-1]), reversed(laid), strict=True):
        before, after = alone[low] + inner[:, high], inner[low] + alone[:, high]
        if before.min() <= after.min():
            split = int(before.argmin())
            cut[low:split], low = die, split
        else:
            split = int(after.argmin())
            cut[split:high], high = die, split
    cut[low:high] = order[0]
    die_of = np.full(runs.board.netlist.size, home)
    die_of[runs.free] = cut
    return [int(die) for die in die_of]


def _grown(inner: Floats, alone: Floats) -> Floats:
    """Cost of each run [a, b) with one more die laid where that is cheapest: before the runs so far, on [a, c), or
    after them, on [c, b).
    """
    before: Floats = alone[:, :, None] + inner[None, :, :]  # [a, c, b]
    after: Floats = inner[:, :, None] + alone[None, :, :]
    return np.minimum(before.min(axis=1), after.min(axis=1))
