"""Nodes to dies: packed, the largest first; moved one at a time, or two swapped, towards the limits or down in cost.
Moves are made in core/place.h.
"""

import ctypes
from collections.abc import Sequence

import numpy as np

from compiler.analysis.core import core, pointers
from compiler.analysis.placement.arrays import Board, Costs, limit_costs

# On 160 designs of GPT-2 at 40 to 80 % of the board 30 moves found a placement for 130, 400 moves for no other one.
REPAIR_MOVES = 30
NEARLY_FULL, OVER_FULL, FULLNESS = 0.97, 10.0, 0.3  # of a die that is packed: what counts as full, and costs


def repaired(board: Board, die: Sequence[int], moves: int = REPAIR_MOVES) -> tuple[list[int], float]:
    """The placement nearest to the limits among those that so many moves pass through, and its excess over them.

    A move is the best one among nodes that have not moved of late. Where none helps, what is exceeded weighs more from
    then on (breakout local search, Morris 1993), so that another limit gives way.
    """
    places = np.array(die, dtype=np.intp)
    given = (*board.given(limit_costs(board.dies)), places, board.use(places), board.crossings(places))
    excess = core().millrace_repaired(*pointers(given), ctypes.c_int64(moves))
    return places.tolist(), excess


def packed(board: Board) -> list[int]:
    """The largest nodes first, each to the die where its wires to those before it and the fullest resource cost least:
    where a few large ones nearly fill the dies, single moves from a cut do not lead to such a placement. Relays do not
    count.
    """
    use = np.zeros(board.area.shape[1:])
    ends = np.zeros((board.netlist.size, len(use)))  # wires of each node to those that are placed: [node, die]
    ends[:, board.home] = board.anchor
    die = [0] * board.netlist.size
    for node in np.argsort(-board.area.max(axis=(1, 2)), kind="stable").tolist():
        filled = use + board.area[node]
        over = np.maximum(0.0, filled - NEARLY_FULL).sum(axis=-1)
        wires = np.einsum("e,deb->d", ends[node], board.crossed)
        die[node] = place = int((wires + FULLNESS * filled.max(axis=-1) + OVER_FULL * over).argmin())
        use[place] = filled[place]
        ends[:, place] += board.links[node]
    return die


def descended(board: Board, costs: Costs, die: Sequence[int]) -> list[int]:
    """Move single nodes, and swap two where no move helps, while that lowers the cost."""
    places = np.array(die, dtype=np.intp)
    given = (*board.given(costs), places, board.use(places), board.crossings(places))
    core().millrace_descended(*pointers(given))
    return places.tolist()
