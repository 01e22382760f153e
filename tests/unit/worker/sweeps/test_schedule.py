from datetime import UTC, datetime
from itertools import pairwise

import pytest

from compiler.errors import InvalidInputError
from worker.sweeps.schedule import is_late, next_time

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-01-10 01:59:59", "2026-01-10 02:00"),  # 03:00 in winter
        ("2026-01-10 02:00", "2026-01-11 02:00"),  # strictly later
        ("2026-07-10 00:00", "2026-07-10 01:00"),  # 03:00 in summer
    ],
)
def test_times_are_those_of_the_zone(after: str, expected: str) -> None:
    assert next_time("0 3 * * *", BERLIN, utc(after)) == utc(expected)


def test_a_time_that_the_zone_skips_runs_right_after_the_gap() -> None:
    """2026-03-29: 02:00 CET is 03:00 CEST."""
    found = next_time("30 2 * * *", BERLIN, utc("2026-03-28 12:00"))
    assert found == utc("2026-03-29 01:00")
    assert next_time("30 2 * * *", BERLIN, found) == utc("2026-03-30 00:30")


def test_a_time_that_the_zone_has_twice_runs_once() -> None:
    """2026-10-25: 03:00 CEST is 02:00 CET, so 02:30 is at 00:30 and at 01:30 UTC."""
    first = next_time("30 2 * * *", BERLIN, utc("2026-10-24 12:00"))
    assert first == utc("2026-10-25 00:30")
    assert next_time("30 2 * * *", BERLIN, first) == utc("2026-10-26 01:30")


@pytest.mark.parametrize("now", ["2026-10-25 00:31", "2026-10-25 01:05", "2026-10-25 01:29:59", "2026-10-25 01:30"])
def test_within_the_repeated_hour_the_next_time_lies_ahead(now: str) -> None:
    assert next_time("30 2 * * *", BERLIN, utc(now)) == utc("2026-10-26 01:30")


def test_steps_follow_the_elapsed_time_through_the_repeated_hour() -> None:
    times = [utc("2026-10-24 23:59")]
    for _ in range(8):
        times.append(next_time("*/30 * * * *", BERLIN, times[-1]))
    gaps = {(b - a).total_seconds() for a, b in pairwise(times[1:])}
    assert gaps == {1800.0}


@pytest.mark.parametrize("cron", ["* * * *", "0 0 3 * * *", "@daily", "", "61 * * * *", "0 3 * * FOO", "0 0 30 2 *"])
def test_expressions_that_are_none(cron: str) -> None:
    with pytest.raises(InvalidInputError, match="five fields"):
        next_time(cron, "UTC", utc("2026-01-01"))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe", "CEST+\0"])
def test_zones_that_are_none(zone: str) -> None:
    with pytest.raises(InvalidInputError, match="is no time zone; write an IANA name"):
        next_time("0 3 * * *", zone, utc("2026-01-01"))


def test_a_few_minutes_are_not_late() -> None:
    due = utc("2026-01-01 03:00")
    assert not is_late(due, utc("2026-01-01 03:05"))
    assert is_late(due, utc("2026-01-01 03:05:01"))
