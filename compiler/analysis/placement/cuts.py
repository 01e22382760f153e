"""The cheapest cuts of the order of tasks into runs of neighbours, a run for each die.

A node that has more wires to the HBM than to others stays with the HBM; the others are cut in their order. Dies are
laid one around the other: the first takes a run, each further one what borders on the runs so far at one of their ends,
the last one all that is left, at both. So each boundary has one run on its one side, and its wires follow from the ends
of that run. Two orders are tried, from the highest die down and from the lowest up. O(dies x nodes^3), in core/place.h.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from compiler.analysis.core import core, pointers
from compiler.analysis.placement.arrays import Board, Costs


def cheapest_cuts(board: Board, costs: Costs) -> Iterator[list[int]]:
    """Die of each node, for dies laid from the highest down, then from the lowest up."""
    dies = list(range(len(board.dies.slrs)))
    if len(dies) == 1:
        yield [0] * board.netlist.size
        return
    yield _cut(board, costs, dies[::-1])
    yield _cut(board, costs, dies)


def _cut(board: Board, costs: Costs, order: Sequence[int]) -> list[int]:
    die = np.zeros(board.netlist.size, dtype=np.intp)
    core().millrace_cut(*pointers((*board.given(costs), np.array(order, dtype=np.intp), die)))
    return die.tolist()
