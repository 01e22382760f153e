"""What processes tell each other over Redis: wake-up calls, which workers are alive, and how long the queues are.

The events themselves are rows in the database; a lost call costs a reader a second or two, never an event.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, cast

import redis

from worker.queue.livelog import LiveLog

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
        self.logs = LiveLog(self._redis)

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

    def tickets(self, queue: str) -> int:
        """How many tickets wait in a queue. Raises `redis.RedisError` when Redis does not answer."""
        return self.queue_lengths([queue])[queue]

    def queue_lengths(self, queues: Iterable[str]) -> dict[str, int]:
        """How many tickets wait in each queue, in one round trip. Raises `redis.RedisError`."""
        names = list(queues)
        client: Any = self._redis  # its stubs leave pipelines open
        with client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.llen(name)
            return dict(zip(names, cast(list[int], pipe.execute()), strict=True))

    def close(self) -> None:
        self._redis.close()
