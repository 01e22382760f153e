"""Comparisons of fronts: nothing differs from itself, and both sides play the same part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.archive import Entry, ParetoArchive
from dse.comparison.fronts import compare_fronts

objectives = st.tuples(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))


@st.composite
def fronts(draw: st.DrawFn) -> list[Entry]:
    """Keys are drawn from a few, so that two fronts share some."""
    archive = ParetoArchive()
    for key, point in draw(st.dictionaries(st.sampled_from("abcdefgh"), objectives, max_size=8)).items():
        archive.add(key, point)
    return archive.front()


@given(fronts(), st.floats(0, 0.1))
def test_a_front_is_the_same_as_itself(front: list[Entry], tolerance: float):
    found = compare_fronts("estimate", front, front, tolerance)
    assert found.same
    assert found.volume_before == found.volume_after
    assert found.change == (0.0 if front else None)


@given(fronts(), fronts(), st.floats(0, 0.1))
def test_both_sides_play_the_same_part(a: list[Entry], b: list[Entry], tolerance: float):
    there, back = compare_fronts("estimate", a, b, tolerance), compare_fronts("estimate", b, a, tolerance)
    assert (there.new, there.lost) == (back.lost, back.new)
    assert {m.key for m in there.moved} == {m.key for m in back.moved}
    assert (there.volume_before, there.volume_after) == (back.volume_after, back.volume_before)


@given(fronts().filter(bool), st.floats(1.0, 10.0))
def test_a_front_that_gets_slower_loses_volume(front: list[Entry], factor: float):
    slower = [Entry(e.key, (e.objectives[0] * factor, e.objectives[1])) for e in front]
    change = compare_fronts("estimate", front, slower).change
    assert change is not None
    assert change <= 1e-9
    assert (change < -1e-3) or factor < 1.05


@given(fronts().filter(bool), st.floats(1e-3, 1e3))
def test_units_do_not_matter(front: list[Entry], scale: float):
    half = front[: len(front) // 2 + 1]
    all_scaled, half_scaled = (
        [Entry(e.key, (e.objectives[0] * scale, e.objectives[1])) for e in f] for f in (front, half)
    )
    plain = compare_fronts("estimate", front, half).change
    assert compare_fronts("estimate", all_scaled, half_scaled).change == pytest.approx(plain, abs=1e-9)
