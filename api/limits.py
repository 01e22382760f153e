"""How many requests one key, or one address without a key, may make: counted in Redis for all processes of the API.

While Redis is away each process counts for itself.
"""

import logging
import math
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from redis import RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from api.errors import RateError
from worker.errors import SettingsError
from worker.settings import Settings

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import RateLimiter

_STRICTER = 10
_AWAY_SECONDS = 10.0
_TIMEOUT_SECONDS = 0.5
_log = logging.getLogger(__name__)


class Limiter:
    """`MILLRACE_RATE_LIMIT` for what reads; a tenth of it for what changes something. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._away_until = 0.0

    def hit(self, who: str, changes: bool) -> None:
        """Count one request. Raises RateError where it is one too many."""
        item = self._changing if changes else self._reading
        strategy = self._own if time.monotonic() < self._away_until else self._shared
        try:
            wait = _wait(strategy, item, who)
        except (RedisError, OSError) as error:
            self._away_until = time.monotonic() + _AWAY_SECONDS
            _log.warning("requests are counted in this process only, Redis is away: %s", error)
            wait = _wait(self._own, item, who)
        if wait:
            kind = "changing requests" if changes else "requests"
            raise RateError(f"more than {item} {kind} of {who}; wait {wait} s", wait)

    @cached_property
    def _reading(self) -> "RateLimitItem":
        from limits import parse  # noqa: PLC0415 - an eighth of a second that a service without keys never spends

        text = self._settings.rate_limit
        try:
            return parse(text)
        except ValueError as error:
            raise SettingsError(f"MILLRACE_RATE_LIMIT is {text!r}; write it like 600/minute") from error

    @cached_property
    def _changing(self) -> "RateLimitItem":
        item = self._reading
        return type(item)(max(1, item.amount // _STRICTER), item.multiples)

    @cached_property
    def _shared(self) -> "RateLimiter":
        from limits.storage import RedisStorage  # noqa: PLC0415
        from limits.strategies import SlidingWindowCounterRateLimiter  # noqa: PLC0415

        url = self._settings.redis.replace("unix://", "redis+unix://", 1)
        storage = RedisStorage(
            url,
            key_prefix="millrace:rate",
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=cast(Any, Retry(NoBackoff(), 0)),  # a request must not wait for a Redis that is away
        )
        return SlidingWindowCounterRateLimiter(storage)

    @cached_property
    def _own(self) -> "RateLimiter":
        from limits.storage import MemoryStorage  # noqa: PLC0415
        from limits.strategies import SlidingWindowCounterRateLimiter  # noqa: PLC0415

        return SlidingWindowCounterRateLimiter(MemoryStorage())


def _wait(strategy: "RateLimiter", item: "RateLimitItem", who: str) -> int:
    """Count a request; 0 where it may pass, else the seconds until one may."""
    if strategy.hit(item, who):
        return 0
    return max(1, math.ceil(strategy.get_window_stats(item, who).reset_time - time.time()))
