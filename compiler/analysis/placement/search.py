"""Nodes to dies by moving one at a time, or swapping two: towards the limits, or down in cost. In core/place.h."""

import ctypes
from collections.abc import Sequence

import numpy as np

from compiler.analysis.core import core, pointers
from compiler.analysis.placement.arrays import Board, Costs, limit_costs

# On 160 designs of GPT-2 at 40 to 80 % of the board 30 moves found a placement for 130, 400 moves for no other one.
REPAIR_MOVES = 30


def repaired(board: Board, die: Sequence[int], moves: int = REPAIR_MOVES) -> tuple[list[int], float]:
    """The placement nearest to the limits among those that so many moves pass through, and its excess over them.

    A move is the best one among nodes that have not moved of late. Where none helps, what is exceeded weighs more from
    then on (breakout local search, Morris 1993), so that another limit gives way.
    """
    places = np.array(die, dtype=np.intp)
    given = (*board.given(limit_costs(board.dies)), places, board.use(places), board.crossings(places))
    excess = core().millrace_repaired(*pointers(given), ctypes.c_int64(moves))
    return places.tolist(), excess


def descended(board: Board, costs: Costs, die: Sequence[int]) -> list[int]:
    """Move single nodes, and swap two where no move helps, while that lowers the cost."""
    places = np.array(die, dtype=np.intp)
    given = (*board.given(costs), places, board.use(places), board.crossings(places))
    core().millrace_descended(*pointers(given))
    return places.tolist()
