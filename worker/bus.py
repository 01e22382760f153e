"""Wake-up calls between processes over Redis pub/sub, and which workers are alive.

The events themselves are rows in the database; a lost call costs a reader a second or two, never an event.
"""

import logging
from collections.abc import Iterator
from typing import cast

import redis

_CHANNEL = "millrace:events:"
_WORKERS = "millrace:workers:"
CHANNELS = f"{_CHANNEL}*"

_log = logging.getLogger(__name__)


class Bus:
    """One connection pool; safe to share between threads."""

    def __init__(self, url: str) -> None:
        """`url`: as redis-py takes it, `redis://...` or `unix:///path`."""
        self._redis = redis.Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            url, socket_connect_timeout=2, socket_timeout=5
        )

    def notify(self, exploration_id: str) -> None:
        """Tell those who follow the exploration that it has new events."""
        try:
            self._redis.publish(_CHANNEL + exploration_id, b"")  # pyright: ignore[reportUnknownMemberType]
        except redis.RedisError as error:
            _log.warning("no wake-up sent for %s: %s", exploration_id, error)

    def ping(self) -> None:
        """Raise `redis.RedisError` when Redis does not answer."""
        self._redis.ping()  # pyright: ignore[reportUnknownMemberType]

    def report_alive(self, worker: str, seconds: float) -> None:
        """Count this worker as alive for the next `seconds`."""
        try:
            self._redis.set(_WORKERS + worker, b"", ex=max(1, round(seconds)))
        except redis.RedisError as error:
            _log.warning("could not report to Redis: %s", error)

    def workers(self) -> int:
        """How many workers reported lately."""
        scan = cast(Iterator[bytes], self._redis.scan_iter(match=_WORKERS + "*"))  # pyright: ignore[reportUnknownMemberType]
        return sum(1 for _ in scan)

    def close(self) -> None:
        self._redis.close()


def exploration_of(channel: bytes) -> str:
    """The exploration that a wake-up on `channel` is about."""
    return channel.decode().removeprefix(_CHANNEL)
