import pytest

from dse.archive import Entry
from dse.comparison.fronts import beyond, compare_fronts


def front(**points: tuple[float, float]) -> list[Entry]:
    return [Entry(key, point) for key, point in points.items()]


def test_new_lost_and_moved_points():
    before = front(a=(1, 9), b=(2, 5), c=(4, 2))
    after = front(a=(1, 9), b=(2.2, 5), d=(3, 1))
    found = compare_fronts("simulate", before, after, tolerance=0.02)
    assert [e.key for e in found.new] == ["d"]
    assert [e.key for e in found.lost] == ["c"]
    assert [(m.key, m.before, m.after) for m in found.moved] == [("b", (2, 5), (2.2, 5))]
    assert (found.before, found.after, found.fidelity, found.same) == (3, 3, "simulate", False)


def test_what_moves_within_the_tolerance_is_the_same():
    found = compare_fronts("estimate", front(a=(100, 50)), front(a=(101, 50)), tolerance=0.02)
    assert found.same
    assert compare_fronts("estimate", front(a=(100, 50)), front(a=(101, 50)), tolerance=0.005).moved


def test_one_design_that_gets_two_percent_worse_costs_about_two_percent():
    change = compare_fronts("estimate", front(a=(100, 50)), front(a=(102, 50))).change
    assert change == pytest.approx(-0.0194, abs=1e-4)


def test_fronts_that_are_not_there():
    assert compare_fronts("estimate", [], []).change is None
    assert compare_fronts("estimate", [], front(a=(1, 1))).change is None
    assert compare_fronts("estimate", front(a=(1, 1)), []).change == -1


def test_a_front_where_a_design_uses_none_of_something_compares():
    """Here URAMs of a design beside its latency; the mark of 0 is that of both fronts."""
    before, after = front(a=(100, 8), b=(200, 0)), front(a=(100, 8), b=(200, 4))
    change = compare_fronts("estimate", before, after).change
    assert change is not None
    assert change < 0
    assert (
        compare_fronts("estimate", after, before).volume_after
        == compare_fronts("estimate", before, after).volume_before
    )
    with pytest.raises(ValueError, match="must not be negative"):
        compare_fronts("estimate", front(a=(1, -1)), [])


def test_the_larger_value_decides_how_far_apart_two_are():
    assert beyond(100, 98, 0.0199)
    assert beyond(98, 100, 0.0199)
    assert not beyond(98, 100, 0.02)
    assert not beyond(0, 0, 0)
