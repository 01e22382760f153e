from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects.sqlite import dialect

from db.types import UtcDateTime


def test_times_come_back_in_utc() -> None:
    column = UtcDateTime()
    berlin = datetime(2026, 7, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    stored = column.process_bind_param(berlin, dialect())
    assert stored == datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert stored is not None
    assert column.process_result_value(stored.replace(tzinfo=None), dialect()) == berlin


def test_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        UtcDateTime().process_bind_param(datetime(2026, 7, 1), dialect())  # noqa: DTZ001
