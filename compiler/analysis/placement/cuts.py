"""The cheapest cuts of the order of tasks into runs of neighbours, a run for each die.

A node that has more wires to the HBM than to others stays with the HBM; the others are cut in their order. Dies are
laid one around the other: the first takes a run, each further one what borders on the runs so far at one of their ends,
the last one all that is left, at both. So each boundary has one run on its one side, and its wires follow from the ends
of that run. Two orders are tried, from the highest die down and from the lowest up. O(dies x nodes^3), in arrays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.placement.arrays import Board, Costs, Floats, Ints


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
