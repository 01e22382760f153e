"""Moves and swaps: what they promise is what they gain."""

import numpy as np
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from netlists import netlists
from slow_placement import State
from slow_placement import descended as slowly_descended
from slow_placement import repaired as slowly_repaired

from compiler.analysis.placement.arrays import Board, limit_costs, placement_costs
from compiler.analysis.placement.netlist import Netlist
from compiler.analysis.placement.search import FULLNESS, NEARLY_FULL, OVER_FULL, descended, packed, repaired
from compiler.platforms.platform import load_platform

DIES = load_platform("u55c").dies
PLACES = st.lists(st.integers(0, 2), min_size=6, max_size=6)


@settings(max_examples=examples(40), deadline=None)
@given(netlists(), PLACES)
def test_a_move_and_a_swap_change_the_cost_by_what_they_say(netlist: Netlist, places: list[int]) -> None:
    board, costs, die = Board(netlist, DIES), placement_costs(DIES), places[: netlist.size]
    state = State(board, die)
    now, moves, swaps = costs.of(board, die), state.moves(costs), state.swaps(costs)
    for node in range(netlist.size):
        for to in range(3):
            if to != die[node]:
                moved = [*die[:node], to, *die[node + 1 :]]
                assert np.isclose(costs.of(board, moved), now + moves[node, to])
        for other in range(netlist.size):
            if die[other] != die[node]:
                swapped = list(die)
                swapped[node], swapped[other] = die[other], die[node]
                assert np.isclose(costs.of(board, swapped), now + swaps[node, other])


@settings(max_examples=examples(40), deadline=None)
@given(netlists(), PLACES)
def test_what_is_followed_move_by_move_is_what_is_there(netlist: Netlist, places: list[int]) -> None:
    board = Board(netlist, DIES)
    state = State(board, places[: netlist.size])
    for node, to in enumerate(reversed(places[: netlist.size])):
        state.place(node, to)
    assert np.allclose(state.use, board.use(state.die))
    assert np.allclose(state.wires, board.crossings(state.die))


@settings(max_examples=examples(40), deadline=None)
@given(netlists(), PLACES)
def test_a_repair_ends_nearer_to_the_limits_and_says_how_near(netlist: Netlist, places: list[int]) -> None:
    board, die = Board(netlist, DIES), places[: netlist.size]
    found, excess = repaired(board, die)
    assert np.isclose(State(board, found).excess, excess)
    assert excess <= State(board, die).excess


def test_a_repair_gets_out_of_where_no_single_move_helps() -> None:
    """Two tasks fill a die each, and the two small ones at the third have to part: every first step makes it worse."""
    lut = [slr.lut * DIES.fill for slr in DIES.slrs]
    area = tuple((share, 0.0, 0.0, 0.0, 0.0) for share in (0.75 * lut[0], 0.5 * lut[0], 0.5 * lut[1], 0.45 * lut[1]))
    board = Board(Netlist((("a",), ("b",), ("c",), ("d",)), area, (0,) * 4, {}), DIES)
    start = [0, 0, 1, 1]
    assert (State(board, start).moves(limit_costs(DIES))[:, :2] > 0).all()
    assert repaired(board, start)[1] == 0


def test_a_descent_swaps_where_no_move_helps() -> None:
    """Two tasks that lie apart from those that they talk to, on dies that hold no third one."""
    lut = 0.45 * DIES.fill * DIES.slrs[1].lut
    wires = {(0, 1): 514, (2, 3): 514}
    netlist = Netlist((("a",), ("b",), ("c",), ("d",)), ((lut, 0.0, 0.0, 0.0, 0.0),) * 4, (0,) * 4, wires)
    die = descended(Board(netlist, DIES), placement_costs(DIES), [0, 1, 0, 1])
    assert die[0] == die[1] != die[2] == die[3]


@settings(max_examples=examples(200), deadline=None)
@given(netlists(), PLACES)
def test_the_native_core_moves_as_numpy_does(netlist: Netlist, places: list[int]) -> None:
    board, die = Board(netlist, DIES), places[: netlist.size]
    assert repaired(board, die) == slowly_repaired(board, die)
    for costs in (limit_costs(DIES), placement_costs(DIES)):
        assert descended(board, costs, die) == slowly_descended(board, costs, die)


@settings(max_examples=examples(40), deadline=None)
@given(netlists())
def test_packing_takes_the_cheapest_die_for_each_node_in_turn(netlist: Netlist) -> None:
    board, die = Board(netlist, DIES), dict[int, int]()
    for node in sorted(range(netlist.size), key=lambda n: -board.area[n].max()):
        costs: list[float] = []
        for place in range(3):
            full = board.area[node, place] + sum(board.area[n, place] for n, there in die.items() if there == place)
            wires = [board.anchor[node] * board.crossed[place, board.home].sum()]
            wires += [board.links[node, n] * board.crossed[place, there].sum() for n, there in die.items()]
            costs.append(sum(wires) + FULLNESS * full.max() + OVER_FULL * np.maximum(0, full - NEARLY_FULL).sum())
        die[node] = packed(board)[node]
        assert np.isclose(costs[die[node]], min(costs))
