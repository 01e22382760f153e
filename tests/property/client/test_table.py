"""The front of a table against the definition, pair by pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_replies import reply

from millrace.table import Table
from millrace.wire import DesignTable, TableColumn

NAMES = ("latency_us", "energy_uj", "area_percent")


@pytest.mark.parametrize("objectives", [2, 3])
@given(data=st.data())
def test_the_front_is_what_no_usable_design_beats(objectives: int, data: st.DataObject):
    points = data.draw(st.lists(st.tuples(*[st.integers(0, 8)] * objectives), max_size=40))
    feasible = data.draw(st.lists(st.booleans(), min_size=len(points), max_size=len(points)))
    refuted = data.draw(st.lists(st.sampled_from((None, "why")), min_size=len(points), max_size=len(points)))
    names = NAMES[:objectives]
    columns = [
        reply(TableColumn, name=name, values=values)
        for name, values in [
            *((n, [point[k] for point in points]) for k, n in enumerate(names)),
            ("feasible", feasible),
            ("refuted", refuted),
        ]
    ]
    table = Table(reply(DesignTable, columns=columns, rows=len(points), objectives=list(names)))
    usable = {place: point for place, point in enumerate(points) if feasible[place] and not refuted[place]}
    unbeaten = {
        point
        for point in usable.values()
        if not any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True)) for other in usable.values()
        )
    }
    assert table.front(feasible=True) == [min(p for p in usable if usable[p] == point) for point in sorted(unbeaten)]
