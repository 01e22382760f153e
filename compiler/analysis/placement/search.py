"""Nodes to dies by moving one at a time, or swapping two: towards the limits, or down in cost."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from compiler.analysis.placement.arrays import Board, Costs, Floats, Ints, limit_costs

LEAST_GAIN = 1e-9  # of a move: less is rounding
# On 160 designs of GPT-2 at 40 to 80 % of the board 30 moves found a placement for 130, 400 moves for no other one.
REPAIR_MOVES = 30
TENURE = 6  # moves for which a node that has moved stays


class _State:
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
        reach = self.board.reach(self.die)
        return reach - reach[self.nodes, self.die][:, None]


def repaired(board: Board, die: Sequence[int], moves: int = REPAIR_MOVES) -> tuple[list[int], float]:
    """The placement nearest to the limits among those that so many moves pass through, and its excess over them.

    A move is the best one among nodes that have not moved of late. Where none helps, what is exceeded weighs more from
    then on (breakout local search, Morris 1993), so that another limit gives way.
    """
    state, costs = _State(board, die), limit_costs(board.dies)
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
    state = _State(board, die)
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
