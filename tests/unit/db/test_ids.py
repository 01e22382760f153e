import time

from db.ids import new_id, time_of


def test_ids_carry_their_prefix_and_sort_by_age() -> None:
    first = new_id("exp")
    time.sleep(0.002)
    second = new_id("exp")
    assert first.startswith("exp_")
    assert len(first) == 22
    assert first < second


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id("dsg") for _ in range(10_000)}) == 10_000


def test_an_id_tells_when_it_was_made() -> None:
    assert abs(time_of(new_id("bld")).timestamp() - time.time()) < 5
