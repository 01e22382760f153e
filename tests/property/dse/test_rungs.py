"""What goes up to Vitis: within the budget, the front's ends first, the same whenever it is asked."""

from hypothesis import given
from hypothesis import strategies as st

from dse.archive import Entry, ParetoArchive
from dse.promote import ranking, spread
from dse.rungs import Synthesised, by_front, calibration_count, choose, to_synthesise

amounts = st.floats(1, 1e6, allow_nan=False)
points = st.lists(st.tuples(amounts, amounts), max_size=40)
budgets = st.integers(0, 20)


def front_of(found: list[tuple[float, float]]) -> list[Entry]:
    archive = ParetoArchive()
    for number, point in enumerate(found):
        archive.add(f"f{number}", point)
    return archive.front()


@given(points)
def test_a_ranking_has_all_of_the_front_and_its_ends_first(found: list[tuple[float, float]]) -> None:
    front = front_of(found)
    ranked = ranking(front)
    assert sorted(ranked) == sorted(front)
    assert {e.key for e in ranked[:2]} == {e.key for e in (front[:1] + front[-1:])}


@given(points, budgets)
def test_a_larger_spread_has_the_smaller_one_in_it(found: list[tuple[float, float]], count: int) -> None:
    front = front_of(found)
    less, more = (spread(front, n) for n in (count, count + 1))
    assert set(less) <= set(more)
    assert len(less) == min(count, len(front))
    assert less == sorted(less, key=front.index)


@given(points, st.integers(0, 40), budgets, st.integers(0, 5), st.data())
def test_csynth_stays_within_its_budget_and_keeps_the_ends(
    found: list[tuple[float, float]], others: int, budget: int, seed: int, data: st.DataObject
) -> None:
    front = front_of(found)
    feasible = [e.key for e in front] + [f"o{n}" for n in range(others)]
    without = data.draw(st.sets(st.sampled_from(feasible), max_size=5)) if feasible else set[str]()
    picks = to_synthesise(front, feasible, budget, seed, without)
    assert picks == to_synthesise(front, reversed(feasible), budget, seed, without)
    assert len(picks) == len(set(picks)) <= budget
    assert not set(picks) & without
    inside = [key for key in picks if not key.startswith("o")]
    beside = len(picks) - len(inside)
    if budget - calibration_count(budget) >= 2:
        assert {e.key for e in front[:1] + front[-1:]} - without <= set(picks)
    if others - len(without) >= calibration_count(budget) and len(front) >= budget + len(without):
        assert beside == calibration_count(budget)
    if budget >= 3 and others > len(without):
        assert beside >= 1


@given(st.lists(st.tuples(amounts, amounts), max_size=40))
def test_every_design_has_a_place_behind_the_front(found: list[tuple[float, float]]) -> None:
    designs = [Synthesised(f"f{n}", point, {}) for n, point in enumerate(found)]
    ranked = by_front(designs)
    assert sorted(ranked) == sorted(d.key for d in designs)
    assert ranked == by_front(reversed(designs))
    best = {d.key for d in designs if all(o.objectives[0] > d.objectives[0] or o is d for o in designs)}
    assert not best or ranked[0] in best


@given(st.lists(st.integers(0, 30), unique=True), budgets, st.data())
def test_a_choice_made_in_rounds_never_exceeds_its_budget(ranked: list[int], budget: int, data: st.DataObject) -> None:
    """Each round a few turn out to have no point: they were not begun, so their places go to the next ones."""
    keys, taken, gone = [str(n) for n in ranked], set[str](), set[str]()
    while picks := choose(keys, budget, taken, gone):
        assert len(taken) + len(picks) <= budget
        assert picks == [k for k in keys if k not in taken | gone][: len(picks)]
        gone |= (lost := data.draw(st.sets(st.sampled_from(picks))))
        taken |= set(picks) - lost
    assert len(taken) == min(budget, len(keys) - len(gone))
