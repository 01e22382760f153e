"""Timelines of kernels put one behind the other lose no cycles."""

import pytest

from compiler.simulator.timing.timeline import active, bucket_cycles, rebinned, shares


def test_parts_of_another_width_keep_the_sum() -> None:
    row = (3.0, 0.0, 5.0, 2.5)
    found = rebinned(row, width=10, start=7, bucket=16, buckets=3)
    assert sum(found) == pytest.approx(sum(row))
    # The parts begin in cycles 7, 17, 27 and 37, the buckets in 0, 16 and 32.
    assert found == pytest.approx([3 * 0.9, 3 * 0.1 + 5 * 0.5, 5 * 0.5 + 2.5])


def test_a_part_lies_where_its_cycles_do() -> None:
    assert rebinned((4.0,), width=4, start=8, bucket=4, buckets=4) == [0.0, 0.0, 4.0, 0.0]
    assert rebinned((4.0,), width=4, start=6, bucket=4, buckets=4) == [0.0, 2.0, 2.0, 0.0]


def test_what_lies_behind_the_last_part_is_cut() -> None:
    assert rebinned((1.0, 1.0), width=4, start=0, bucket=4, buckets=1) == [1.0]


def test_active_cycles_of_each_part() -> None:
    assert active(3, 9, bucket=4, buckets=3) == [1.0, 4.0, 1.0]


def test_shares_stay_within_one() -> None:
    assert shares((-0.1, 2.0, 4.2), bucket=4) == (0.0, 0.5, 1.0)


@pytest.mark.parametrize(("total", "buckets", "expected"), [(1000, 120, 9), (5, 120, 1), (0, 120, 1), (120, 120, 1)])
def test_no_more_parts_than_asked_for(total: int, buckets: int, expected: int) -> None:
    assert bucket_cycles(total, buckets) == expected
