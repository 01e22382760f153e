"""The logs of running builds, held in Redis so that the API can show them while they grow; the store has them later.

A log is kept from a moving start: the newest 4 MiB, for a day. Offsets count from the log's first byte.
"""

import time
from contextlib import closing
from typing import Any, cast

import redis

_KEY = "millrace:log:"
CHANNELS = f"{_KEY}*"
_MOST = 4 << 20
_TRIM_AT = 5 << 20
_SECONDS = 24 * 3600
_READ = """
local start = tonumber(redis.call('get', KEYS[2]) or '0')
local from = tonumber(ARGV[1])
if from < start or from > start + redis.call('strlen', KEYS[1]) then from = start end
return {from, redis.call('getrange', KEYS[1], from - start, -1)}
"""  # one step: the log may be cut meanwhile


class LiveLog:
    """All logs of one Redis. Methods raise `redis.RedisError` when it is away. Safe to share between threads."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis: Any = client  # its stubs leave most results open

    def begin(self, build_id: str) -> None:
        """Forget what an earlier attempt of the build has written."""
        self._redis.delete(_KEY + build_id, _start(build_id))

    def append(self, build_id: str, data: bytes) -> None:
        """Add to the log's end and wake those who follow it."""
        key = _KEY + build_id
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.append(key, data)
            pipe.expire(key, _SECONDS)
            pipe.publish(key, b"")
            length = cast(int, pipe.execute()[0])
        if length > _TRIM_AT:
            self._trim(build_id, length - _MOST)

    def read(self, build_id: str, offset: int = 0) -> tuple[bytes, int]:
        """What is kept from `offset` on, and the offset behind it. An offset behind the end reads from the start: the
        build runs again.
        """
        keys = (_KEY + build_id, _start(build_id))
        begin, data = cast(tuple[int, bytes], self._redis.eval(_READ, len(keys), *keys, offset))
        return data, begin + len(data)

    def wait(self, build_id: str, seconds: float) -> bool:
        """Wait until something is appended; False after `seconds`. What was appended before the call is not seen."""
        with self._subscription(build_id) as subscription:
            deadline = time.monotonic() + seconds
            while (left := deadline - time.monotonic()) > 0:
                if subscription.get_message(ignore_subscribe_messages=True, timeout=left):
                    return True
        return False

    def _subscription(self, build_id: str) -> "closing[Any]":
        subscription = self._redis.pubsub()
        subscription.subscribe(_KEY + build_id)
        return closing(subscription)

    def _trim(self, build_id: str, excess: int) -> None:
        key = _KEY + build_id
        kept = self._redis.getrange(key, excess, -1)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.set(key, kept, ex=_SECONDS)
            pipe.incrby(_start(build_id), excess)
            pipe.expire(_start(build_id), _SECONDS)
            pipe.execute()


def _start(build_id: str) -> str:
    return f"millrace:logstart:{build_id}"
