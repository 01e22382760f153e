import pytest

from compiler.platforms.platform import load_platform
from dse.archive import Entry
from dse.rungs import Synthesised, calibration_count, fits, to_link, to_synthesise

FRONT = [Entry("a", (1, 100)), Entry("b", (2, 90)), Entry("c", (3, 5)), Entry("d", (50, 4)), Entry("e", (100, 1))]
FEASIBLE = [*"abcde", *(f"o{n}" for n in range(9))]
PLATFORM = load_platform("u55c")


@pytest.mark.parametrize(("budget", "expected"), [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (8, 2), (12, 3)])
def test_one_in_four_is_for_calibration(budget: int, expected: int) -> None:
    assert calibration_count(budget) == expected


def test_the_front_first_and_a_sample_beside_it() -> None:
    picks = to_synthesise(FRONT, FEASIBLE, 4, seed=0)
    assert picks[:3] == ["a", "e", "c"]
    assert picks[3].startswith("o")


def test_a_design_that_has_no_point_hands_its_place_on() -> None:
    before, after = (to_synthesise(FRONT, FEASIBLE, 4, 0, without) for without in ((), {"e"}))
    assert after == ["a", "c", "d", before[3]] or after == ["a", "c", "b", before[3]]


def test_where_the_front_is_short_the_sample_takes_its_places() -> None:
    picks = to_synthesise(FRONT[:1], ["a", "o1", "o2", "o3"], 4, 0)
    assert picks[0] == "a"
    assert set(picks) == {"a", "o1", "o2", "o3"}


def test_what_csynth_finds_too_large_is_not_linked() -> None:
    most = PLATFORM.limit("lut")
    designs = [
        Synthesised("fits", (2, 1), {"lut": 0.99 * most}),
        Synthesised("too large", (1, 1), {"lut": 1.01 * most}),
    ]
    assert to_link(designs, PLATFORM) == ["fits"]
    assert fits({"uram": PLATFORM.limit("uram"), "cycles": 1e12}, PLATFORM)
    assert not fits({"uram": PLATFORM.limit("uram") + 1}, PLATFORM)
    assert fits({"hbm_ports": PLATFORM.budget.hbm_ports}, PLATFORM)
    assert PLATFORM.routed["lut"].factor < 0.99, "what a router saves is no reason to link it"


def test_the_best_are_linked_first() -> None:
    designs = [Synthesised("slow", (9, 9), {}), Synthesised("fast", (1, 5), {}), Synthesised("frugal", (5, 1), {})]
    assert to_link(designs, PLATFORM) == ["fast", "frugal", "slow"]
