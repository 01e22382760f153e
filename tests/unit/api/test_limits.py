"""Rate limits that several processes share."""

import time
from pathlib import Path

import pytest

from api.errors import RateError
from api.limits import Limiter
from worker.errors import SettingsError
from worker.redis_server import start_redis
from worker.settings import Settings


def passed(limiter: Limiter, times: int, changes: bool = False) -> int:
    """How many of so many requests pass."""
    return sum(_passes(limiter, changes) for _ in range(times))


def _passes(limiter: Limiter, changes: bool) -> bool:
    try:
        limiter.hit("key x", changes)
    except RateError as error:
        return not 1 <= error.retry_after <= 3600
    return True


def test_two_processes_count_together_until_redis_is_away(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, rate_limit="10/hour")
    one, two = Limiter(settings), Limiter(settings)
    server = start_redis(settings)
    assert passed(one, 6) + passed(two, 6) == 10
    assert passed(one, 3, changes=True) == 1
    server.kill()
    server.wait()
    since = time.monotonic()
    assert passed(one, 12) == 10
    assert passed(two, 12) == 10
    assert time.monotonic() - since < 5


def test_a_limit_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="write it like 600/minute"):
        Limiter(Settings(home=tmp_path, rate_limit="often")).hit("key x", changes=False)
