"""Celery's Redis transport for tickets that anybody may have put there: what is none is dropped before Celery reads it.

A ticket says only in which queue it lies, so a good one is replaced by one of our own: nothing else of it is believed.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false

import json
import logging
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from queue import Empty
from typing import Any, cast
from uuid import uuid4

from kombu.transport import redis
from redis.exceptions import ResponseError

from worker.queue.broker import WORK

_MOST_BYTES = 16 << 10
_LOG_SECONDS = 1.0
_log = logging.getLogger(__name__)


class MalformedError(ValueError):
    """What lies in a queue is no ticket of it."""


def checked(queue: str, item: bytes) -> bytes:
    """A ticket as Celery reads it, in place of one that was taken from the queue. Raises MalformedError."""
    if len(item) > _MOST_BYTES:
        raise MalformedError(f"it has {len(item)} bytes")
    try:
        found = json.loads(item)
        arguments = json.loads(b64decode(found["body"], validate=True))[0]
        named = (found["headers"]["task"], arguments)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise MalformedError(f"it can not be read ({type(error).__name__})") from error
    if named != (WORK, [queue]):
        raise MalformedError("it asks for something else")
    return _made(queue)


def _made(queue: str) -> bytes:
    name = str(uuid4())
    body = [[queue], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]
    headers = {"lang": "py", "task": WORK, "id": name, "root_id": name, "parent_id": None, "group": None}
    headers |= {"retries": 0, "eta": None, "expires": None, "timelimit": [None, None]}
    info = {"exchange": "", "routing_key": queue}
    properties = {"delivery_tag": name, "body_encoding": "base64", "delivery_mode": 2, "delivery_info": info}
    made = {"headers": headers, "properties": properties, "content-type": "application/json"}
    made |= {"content-encoding": "utf-8", "body": b64encode(json.dumps(body).encode()).decode()}
    return json.dumps(made).encode()


class Dropped:
    """Says that tickets are dropped: the first at once, then once a second how many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said = -_LOG_SECONDS
        self._count = 0

    def note(self, queue: str, why: object) -> None:
        """One more."""
        self._count += 1
        if self._clock() - self._said < _LOG_SECONDS:
            return
        some = "a ticket" if self._count == 1 else f"{self._count} tickets"
        _log.warning("%s of queue %.100r dropped, malformed: %.200s", some, queue, why)
        self._said, self._count = self._clock(), 0


class Channel(redis.Channel):
    """Checks each ticket as soon as the connection has read it."""

    ack_emulation = False  # a ticket is spent when it is taken; what Redis kept of it until then would be read back

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._dropped = Dropped()
        super().__init__(*arguments, **named)

    def _create_client(self, asynchronous: bool = False) -> Any:
        client = super()._create_client(asynchronous=asynchronous)
        client.set_response_callback("BRPOP", self._check)
        return client

    def _check(self, reply: Any, **_: Any) -> tuple[bytes, bytes] | None:
        """What BRPOP found, None for nothing that is a ticket."""
        if not reply:
            return None
        key, item = cast(tuple[bytes, bytes], reply)
        queue = key.decode(errors="replace").rsplit(self.sep, 1)[0]
        try:
            return key, checked(queue, item)
        except MalformedError as error:
            self._dropped.note(queue, error)
            return None

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except ResponseError as error:
            if not self._remove_strangers(cast(list[str], self.active_queues)):
                raise
            raise Empty from error

    def _size(self, queue: str) -> Any:
        try:
            return super()._size(queue)
        except ResponseError:
            if not self._remove_strangers([queue]):
                raise
            return 0

    def _remove_strangers(self, queues: Iterable[str]) -> bool:
        """Remove what has the name of a queue and is no list; False where there is nothing of the kind."""
        with self.conn_or_acquire() as client:
            names: set[str] = {self._q_for_pri(queue, step) for queue in queues for step in self.priority_steps}
            strangers = [name for name in names if client.type(name) not in (b"list", b"none")]
            for name in strangers:
                client.delete(name)
                self._dropped.note(name, "its key held no list")
        return bool(strangers)


class Transport(redis.Transport):
    """`worker.queue.broker` names it to kombu."""

    Channel = Channel
