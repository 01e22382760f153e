"""Cheapest cuts against all cuts there are."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from examples import examples
from hypothesis import given, settings
from netlists import netlists
from slow_placement import cheapest_cuts as slowly_cut

from compiler.analysis.placement.arrays import Board, limit_costs, placement_costs
from compiler.analysis.placement.cuts import cheapest_cuts
from compiler.analysis.placement.netlist import Netlist
from compiler.platforms.platform import load_platform

DIES = load_platform("u55c").dies


def cuts(size: int, order: tuple[int, int, int]) -> Iterator[list[int]]:
    """The first die has a run, the second one that borders on it, the third one what is left."""
    inner, middle, outer = order
    for low in range(size + 1):
        for high in range(low, size + 1):
            runs = [(end, low) for end in range(low + 1)] + [(high, end) for end in range(high, size + 1)]
            for start, stop in runs:
                die = [outer] * size
                die[low:high] = [inner] * (high - low)
                die[start:stop] = [middle] * (stop - start)
                yield die


@settings(max_examples=examples(60), deadline=None)
@given(netlists())
def test_no_cut_is_cheaper(drawn: Netlist) -> None:
    """Ports narrower than what is read through them: then no node is kept with the HBM."""
    netlist = replace(drawn, anchor=tuple(min(30, a) for a in drawn.anchor))
    board = Board(netlist, DIES)
    for costs in (limit_costs(DIES), placement_costs(DIES)):
        found = [costs.of(board, die) for die in cheapest_cuts(board, costs)]
        best = [min(costs.of(board, die) for die in cuts(netlist.size, order)) for order in ((2, 1, 0), (0, 1, 2))]
        assert np.allclose(found, best)


def test_ports_stay_with_the_hbm_and_the_rest_is_cut_around_them() -> None:
    """A load that a later task reads: where it comes in the order does not matter."""
    large = 0.6 * DIES.slrs[0].lut
    area = ((100.0, 0, 0, 0, 0), *(((large, 0.0, 0.0, 0.0, 0.0),) * 3))
    wires = {(0, 3): 514, (1, 2): 514, (2, 3): 514}
    board = Board(Netlist((("load",), ("a",), ("b",), ("c",)), area, (1250, 0, 0, 0), wires), DIES)
    assert next(cheapest_cuts(board, placement_costs(DIES))) == [0, 2, 1, 0]


def test_one_die_has_no_cuts() -> None:
    alone = replace(DIES, slrs=DIES.slrs[:1], sll=())
    board = Board(Netlist((("a",), ("b",)), ((1.0, 0, 0, 0, 0),) * 2, (0, 0), {(0, 1): 34}), alone)
    assert list(cheapest_cuts(board, limit_costs(alone))) == [[0, 0]]


@settings(max_examples=examples(200), deadline=None)
@given(netlists())
def test_the_native_core_cuts_as_numpy_does(netlist: Netlist) -> None:
    board = Board(netlist, DIES)
    for costs in (limit_costs(DIES), placement_costs(DIES)):
        assert list(cheapest_cuts(board, costs)) == list(slowly_cut(board, costs))
