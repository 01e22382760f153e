from time import process_time

from dse.archive import Entry
from dse.groups import Group, groups


def front(*points: tuple[float, ...]) -> list[Entry]:
    return [Entry(chr(ord("a") + place), point) for place, point in enumerate(points)]


def found(*points: tuple[float, ...], error: float, simulated: str = "") -> list[str]:
    """Each group as its members in order, the representative as a capital."""
    return [
        "".join(m.upper() if m == group.representative else m for m in group.members)
        for group in groups(front(*points), error, simulated)
    ]


BENT = ((10.0, 100.0), (10.1, 99.5), (20.0, 30.0), (20.2, 29.8), (40.0, 20.0))


def test_what_is_as_close_as_the_error_is_one():
    assert found(*BENT, error=0.02) == ["Ab", "Cd", "E"]
    assert found(*BENT, error=0.001) == ["A", "B", "C", "D", "E"]
    assert found(*BENT, error=0.0) == ["A", "B", "C", "D", "E"]
    assert groups([], 0.02, ()) == []


def test_all_objectives_must_be_close():
    assert found((10, 100), (10.1, 50), (10.2, 49.9), error=0.02) == ["A", "bC"]


def test_the_error_is_a_ratio_with_its_bound_inside():
    assert found((100, 110), (110, 100), error=0.1) == ["Ab"]
    assert found((100, 110), (110, 100), error=0.0999) == ["A", "B"]


def test_what_is_simulated_stands_for_the_others():
    assert found(*BENT, error=0.02, simulated="bd") == ["aB", "cD", "E"]
    assert found(*BENT, error=0.02, simulated="abd") == ["Ab", "cD", "E"]


def test_what_is_recommended_stands_for_what_is_as_well_known():
    chosen = groups(front(*BENT), 0.02, "abd", "b")
    assert [(group.representative, group.rank) for group in chosen] == [("b", 1), ("d", 2), ("e", 3)]


def test_ranks_are_the_order_to_look_at_them():
    assert groups(front(*BENT), 0.02, "d") == [
        Group("a", ("a", "b"), 2),
        Group("d", ("c", "d"), 1),
        Group("e", ("e",), 3),
    ]


def test_none_of_a_resource_is_apart_from_some():
    assert found((10, 2), (10.01, 1), (10.02, 0), error=0.05) == ["A", "B", "C"]


def test_a_large_front_takes_no_pairs():
    """20,000 designs have 200 million pairs."""
    count = 20_000
    points = [(1 + k / count, 2 - k / count, 1 + (k * 7919 % count) / count) for k in range(count)]
    entries = [Entry(str(k), point) for k, point in enumerate(points)]
    start = process_time()
    taken = groups(entries, 0.01, ())
    assert process_time() - start < 4
    assert sum(len(group.members) for group in taken) == count
    assert len(taken) < count / 4
