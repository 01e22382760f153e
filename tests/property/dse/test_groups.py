"""Groups against the definition, pair by pair."""

from collections.abc import Collection, Sequence
from math import log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.archive import Entry, front_of
from dse.groups import groups
from dse.promote import ranking


def fronts(objectives: int) -> st.SearchStrategy[list[Entry]]:
    """Crowded ones."""
    points = st.lists(st.tuples(*[st.integers(100, 130).map(float)] * objectives), max_size=60)
    return points.map(lambda found: front_of((str(place), point) for place, point in enumerate(found)))


def one_by_one(
    front: Sequence[Entry], error: float, simulated: Collection[str], picked: Collection[str]
) -> list[tuple[str, list[str]]]:
    """Representatives with what they take, in the order in which they are chosen."""
    left = sorted(ranking(front), key=lambda entry: (entry.key not in picked, entry.key not in simulated))
    found: list[tuple[str, list[str]]] = []
    while left:
        first = left[0].objectives
        near = [
            entry
            for entry in left
            if all(abs(log(x / y)) <= log1p(error) + 1e-12 for x, y in zip(entry.objectives, first, strict=True))
        ]
        found.append((left[0].key, [entry.key for entry in near]))
        left = [entry for entry in left if entry not in near]
    return found


@pytest.mark.parametrize("objectives", [2, 3])
@given(data=st.data())
def test_each_representative_takes_what_is_near_and_left(objectives: int, data: st.DataObject):
    front = data.draw(fronts(objectives))
    error = data.draw(st.sampled_from([0.0, 0.003, 0.02, 0.05, 0.5]))
    simulated = data.draw(st.sets(st.sampled_from([entry.key for entry in front]))) if front else set[str]()
    picked = data.draw(st.sets(st.sampled_from(sorted(simulated)))) if simulated else set[str]()
    found = groups(front, error, simulated, picked)
    ranked = sorted(found, key=lambda group: group.rank)
    assert [(g.representative, set(g.members)) for g in ranked] == [
        (key, set(members)) for key, members in one_by_one(front, error, simulated, picked)
    ]
    places = [entry.key for entry in front]
    assert [g.representative for g in found] == sorted((g.representative for g in found), key=places.index)
    assert all(list(g.members) == sorted(g.members, key=places.index) for g in found)
    assert [g.rank for g in ranked] == list(range(1, len(found) + 1))
