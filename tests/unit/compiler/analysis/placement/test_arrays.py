"""Arrays of a placement against the same counted one by one."""

import numpy as np
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from netlists import netlists
from slow_placement import reach

from compiler.analysis.placement.arrays import Board, limit_costs, placement_costs
from compiler.analysis.placement.assign import die_use, wire_use
from compiler.analysis.placement.netlist import RESOURCES, Netlist
from compiler.platforms.platform import load_platform

DIES = load_platform("u55c").dies


@settings(max_examples=examples(40), deadline=None)
@given(netlists(relays=True), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_shares_are_of_what_may_be_used(netlist: Netlist, places: list[int]) -> None:
    board, die = Board(netlist, DIES), places[: netlist.size]
    at = np.array(die)
    have = np.array([[getattr(slr, r) for r in RESOURCES] for slr in DIES.slrs])
    assert np.allclose(board.use(at) * DIES.fill * have, die_use(netlist, DIES, die))
    assert np.allclose(board.crossings(at) * DIES.fill * DIES.sll, wire_use(netlist, DIES, die))
    for node in range(netlist.size):
        for place in range(3):
            moved = at.copy()
            moved[node] = place
            change = reach(board, at)[node, place] - reach(board, at)[node, die[node]]
            assert np.allclose(board.crossings(moved), board.crossings(at) + change)


def test_costs_are_of_wires_crowding_and_what_exceeds_the_limits() -> None:
    have = DIES.slrs[0].lut
    full = Netlist(
        (("a",), ("b",)), ((0.6 * have, 0, 0, 0, 0), (0.3 * have, 0, 0, 0, 0)), (0, 0), {(0, 1): DIES.sll[0]}
    )
    board, costs = Board(full, DIES), placement_costs(DIES)
    share = 0.9 / DIES.fill - 1
    assert np.isclose(costs.of(board, (0, 0)), costs.crowding * (0.9 - DIES.comfort) + costs.over_dies[0, 0] * share)
    assert np.isclose(costs.of(board, (0, 1)), 1.0 + costs.over_wires[0] * (1 / DIES.fill - 1))
    assert np.isclose(limit_costs(DIES).of(board, (0, 0)), share)
