import pytest

from dse.archive import Entry
from dse.objectives import DEFAULT
from dse.promote import (
    Rated,
    calibration_sample,
    error_distribution,
    picks,
    ranking,
    recommended,
    relative_error,
    spread,
)

FRONT = [Entry("a", (1, 100)), Entry("b", (2, 90)), Entry("c", (3, 5)), Entry("d", (50, 4)), Entry("e", (100, 1))]


def rated(key: str, estimated_us: float, simulated_us: float | None, energy_uj: float) -> Rated:
    return Rated.of(key, DEFAULT, (estimated_us, energy_uj), simulated_us)


def keys(entries: list[Entry]) -> str:
    return "".join(entry.key for entry in entries)


@pytest.mark.parametrize(("count", "expected"), [(3, "ace"), (1, "a"), (0, ""), (4, "abce"), (32, "abcde")])
def test_ends_and_knee_come_first(count: int, expected: str) -> None:
    assert keys(spread(FRONT, count)) == expected


def test_spread_of_small_fronts() -> None:
    assert spread([], 3) == []
    assert keys(spread(FRONT[:1], 3)) == "a"
    assert keys(spread(FRONT[:2], 3)) == "ab"


def test_calibration_sample_is_beside_the_front_and_depends_on_the_seed_alone() -> None:
    names = [f"k{n}" for n in range(50)]
    sample = calibration_sample(names, {"k1", "k2"}, 4, seed=3)
    assert sample == calibration_sample(reversed(names), {"k1", "k2"}, 4, seed=3)
    assert sample != calibration_sample(names, {"k1", "k2"}, 4, seed=4)
    assert len(set(sample) - {"k1", "k2"}) == 4
    assert calibration_sample(["a", "b"], {"a"}, 4, seed=0) == ["b"]
    assert set(calibration_sample(names, set(sample), 4, seed=3)) & set(sample) == set()


def test_a_design_that_is_gone_leaves_the_rest_of_the_sample() -> None:
    names = [f"k{n}" for n in range(50)]
    first, *others = calibration_sample(names, {"k1"}, 4, seed=3)
    again = calibration_sample([n for n in names if n != first], {"k1"}, 4, seed=3)
    assert again[:3] == others
    assert len(again) == 4


def test_recommendation_compares_one_fidelity() -> None:
    """`b` has the best number of all, but an estimate; among the simulated ones `c` is beaten by `a`."""
    designs = [rated("a", 10, 30, 2), rated("b", 20, None, 1), rated("c", 5, 40, 3), rated("d", 9, 90, 1.5)]
    assert keys(recommended(designs)) == "ad"
    assert recommended(designs)[0].objectives == (30, 2)


def test_recommendation_goes_by_estimate_where_nothing_is_simulated() -> None:
    assert keys(recommended([rated("a", 10, None, 2), rated("b", 20, None, 1), rated("c", 30, None, 3)])) == "ab"
    assert recommended([]) == []


def test_error_distribution() -> None:
    errors = [(f"d{n}", n / 100 if n % 2 else -n / 100) for n in range(1, 21)]
    found = error_distribution(errors)
    assert found is not None
    assert (found.n, found.worst, found.worst_key) == (20, 0.2, "d20")
    assert found.median == pytest.approx(0.105)
    assert found.p95 == pytest.approx(0.19)
    assert found.bias == pytest.approx(-0.005)
    assert (found.low, found.high) == (-0.2, 0.17)  # with one of twenty beyond each
    assert found.spread == pytest.approx(0.185)
    assert found.truth(100.0) == pytest.approx((100 / 1.17, 125.0))
    assert error_distribution([]) is None


def test_error_is_that_of_the_estimate() -> None:
    assert relative_error(95.0, 100.0) == pytest.approx(-0.05)


def test_the_picks_are_ranked_by_the_best_fidelity_there_is() -> None:
    front = [rated("a", 10, 100, 1000), rated("b", 20, 20, 100), rated("c", 900, 1000, 50), rated("d", 1000, None, 40)]
    found = {p.kind: (p.design.key, p.objectives[0], p.fidelity) for p in picks(front, DEFAULT)}
    assert found == {kind: (key, us, "simulate") for kind, key, us in (
        ("fastest", "b", 20), ("knee", "b", 20), ("least_energy", "c", 1000),
    )}  # fmt: skip


def test_estimates_decide_where_nothing_was_simulated() -> None:
    front = [rated("a", 10, None, 1000), rated("b", 20, None, 100), rated("c", 900, None, 90)]
    assert [(p.kind, p.design.key, p.fidelity) for p in picks(front, DEFAULT)] == [
        ("fastest", "a", "estimate"),
        ("knee", "b", "estimate"),
        ("least_energy", "c", "estimate"),
    ]
    assert picks([], DEFAULT) == []


def test_of_three_objectives_the_best_of_each_is_picked_first() -> None:
    names = ("latency", "energy", "area")
    points = {"a": (1, 90, 30), "b": (2, 80, 20), "c": (3, 9, 9), "d": (50, 8, 40), "e": (60, 70, 1)}
    front = [Rated.of(key, names, point, None) for key, point in points.items()]
    found = [(p.kind, p.design.key) for p in picks(front, names)]
    assert found == [("fastest", "a"), ("knee", "c"), ("least_energy", "d"), ("least_area", "e")]
    assert keys(ranking([Entry(*pair) for pair in points.items()])) == "adecb"


def test_a_simulation_that_is_no_objective_leaves_them_as_they_are() -> None:
    design = Rated.of("a", ("area", "energy"), (10.0, 20.0), 3.0)
    assert design.simulated == design.estimated
    assert Rated.of("a", ("energy", "latency"), (10.0, 20.0), 3.0).simulated == (10.0, 3.0)
