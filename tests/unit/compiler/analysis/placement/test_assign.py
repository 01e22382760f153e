"""Dies for small netlists: against every placement there is."""

from dataclasses import replace
from itertools import product

from examples import examples
from hypothesis import given, settings
from netlists import netlists

from compiler.analysis.placement.arrays import Board
from compiler.analysis.placement.assign import ANY, CHEAP, assign, cost_of, die_use, searched, wire_use
from compiler.analysis.placement.netlist import RESOURCES, Netlist, clustered
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
DIES = U55C.dies


def holds(netlist: Netlist, die: tuple[int, ...]) -> bool:
    """Every limit, counted without arrays."""
    use, wires = die_use(netlist, DIES, die), wire_use(netlist, DIES, die)
    lut = all(u[0] <= DIES.fill * slr.lut for u, slr in zip(use, DIES.slrs, strict=True))
    return lut and all(w <= DIES.fill * sll for w, sll in zip(wires, DIES.sll, strict=True))


@settings(max_examples=examples(40), deadline=None)
@given(netlists(relays=True))
def test_no_placement_is_much_cheaper_than_the_solver_s(netlist: Netlist) -> None:
    found = assign(netlist, DIES)
    placements = list(product(range(3), repeat=netlist.size))
    holding = [die for die in placements if holds(netlist, die)]
    best = min(cost_of(netlist, DIES, die) for die in holding or placements)
    assert found.cost == cost_of(netlist, DIES, found.die)
    assert holds(netlist, found.die) == bool(holding)
    if found.method == "infeasible":
        assert not holding, "it was proved"
    assert found.bound <= best + 1e-6, "the bound is one"
    assert best - 1e-9 <= found.cost
    if found.method == "milp":
        gap = CHEAP.gap
        assert found.cost <= best * (1 + gap) / (1 - gap) + 1e-6


@settings(max_examples=examples(40), deadline=None)
@given(netlists(relays=True))
def test_any_placement_is_found_where_there_is_one(netlist: Netlist) -> None:
    found = assign(netlist, DIES, (ANY,))
    assert holds(netlist, found.die) == any(holds(netlist, die) for die in product(range(3), repeat=netlist.size))
    assert (found.method == "infeasible") <= (not holds(netlist, found.die))


@settings(max_examples=examples(30), deadline=None)
@given(netlists())
def test_the_search_ends_where_no_single_move_helps(netlist: Netlist) -> None:
    die = searched(Board(netlist, DIES))
    cost = cost_of(netlist, DIES, die)
    for node, place in product(range(netlist.size), range(3)):
        assert cost_of(netlist, DIES, [*die[:node], place, *die[node + 1 :]]) >= cost - 1e-6


def test_what_fits_the_die_with_the_hbm_stays_there() -> None:
    netlist = Netlist((("a",), ("b",)), ((1e5, 0, 0, 0, 0), (1e5, 0, 0, 0, 0)), (1250, 0), {(0, 1): 514})
    assert assign(netlist, DIES).method == "one-die"


def test_hbm_ports_pull_their_task_to_the_hbm() -> None:
    """Two equal tasks that do not fit one die: the one without ports leaves."""
    area = (2.5e5, 0.0, 0.0, 0.0, 0.0)
    netlist = Netlist((("free",), ("port",)), (area, area), (0, 1250), {(0, 1): 34})
    assert assign(netlist, DIES).die[1] == 0
    assert assign(netlist, DIES).die[0] != 0


def test_wires_across_two_boundaries_count_at_both() -> None:
    netlist = Netlist((("a",), ("b",)), ((0.0,) * 5,) * 2, (0, 100), {(0, 1): 10})
    assert wire_use(netlist, DIES, (0, 2)) == [110, 110]
    assert wire_use(netlist, DIES, (2, 0)) == [10, 10]


def test_relays_lie_on_each_die_that_streams_leave() -> None:
    netlist = Netlist((("a",), ("b",)), ((0.0,) * 5,) * 2, (0, 0), {(0, 1): 10}, {(0, 1): (7.0, 1.0, 0.0, 0.0, 0.0)})
    assert [use[:2] for use in die_use(netlist, DIES, (0, 2))] == [[7.0, 1.0], [7.0, 1.0], [0.0, 0.0]]
    assert [use[:2] for use in die_use(netlist, DIES, (2, 1))] == [[0.0, 0.0], [0.0, 0.0], [7.0, 1.0]]


def test_a_die_has_room_for_the_relays_of_what_leaves_it() -> None:
    """Two tasks that fill SLR0, which has 16 LUTs left then, or SLR2, which has 3,530."""
    area, relay = (280_600.0, 0.0, 0.0, 0.0, 0.0), (100.0, 0.0, 0.0, 0.0, 0.0)
    one_way = Netlist((("a",), ("b",)), (area, area), (0, 0), {(0, 1): 34}, {(0, 1): relay})
    assert assign(one_way, DIES).die == (2, 0)
    assert assign(replace(one_way, relays={(1, 0): relay}), DIES).die == (0, 2)
    assert assign(replace(one_way, relays={(0, 1): relay, (1, 0): relay}), DIES).method == "infeasible"


def test_too_few_wires_move_tasks_even_onto_a_crowded_die() -> None:
    area = (1.6e5, 0.0, 0.0, 0.0, 0.0)
    netlist = Netlist((("a",), ("b",)), (area, area), (0, 0), {(0, 1): 5000})
    narrow = replace(DIES, fill=1.0, sll=(1000, 1000))
    found = assign(netlist, narrow)
    assert found.die[0] == found.die[1]


@settings(max_examples=examples(30), deadline=None)
@given(netlists())
def test_clusters_hold_every_task_once_and_cross_as_little(netlist: Netlist) -> None:
    clusters = clustered(netlist, U55C)
    assert sorted(n for m in clusters.members for n in m) == sorted(n for m in netlist.members for n in m)
    assert sum(clusters.anchor) == sum(netlist.anchor)
    for r in range(len(RESOURCES)):
        assert abs(sum(a[r] for a in clusters.area) - sum(a[r] for a in netlist.area)) < 1e-6
