"""Event streams: the events table says what happened, Redis pub/sub says when to look."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, cast

import redis.asyncio
from fastapi import Depends, Request
from sqlalchemy.orm import Session
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from db.models import Event
from db.repositories import events
from worker.farm import Farm
from worker.queue import bus, livelog

HEARTBEAT_SECONDS = 15
_CHANNELS = (bus.CHANNELS, livelog.CHANNELS)
_POLL_SECONDS = 3
_RETRY_SECONDS = 1
_BATCH = 100
_READ_AT_ONCE = 2
"""Streams that read events at the same time: all wake up at once, and all else would wait for them."""

_log = logging.getLogger(__name__)


def events_channel(exploration_id: str) -> str:
    """Where Redis says that an exploration has new events."""
    return bus.CHANNELS.removesuffix("*") + exploration_id


def log_channel(build_id: str) -> str:
    """Where Redis says that the log of a build has grown."""
    return livelog.CHANNELS.removesuffix("*") + build_id


class WakeUps:
    """One Redis subscription for all streams of this process. Without Redis the streams look every few seconds."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.turns = asyncio.Semaphore(_READ_AT_ONCE)

    @contextmanager
    def of(self, channel: str) -> Generator[asyncio.Event]:
        """An event that is set whenever there may be something new on the channel."""
        event = asyncio.Event()
        self._waiting.setdefault(channel, set()).add(event)
        try:
            yield event
        finally:
            self._waiting[channel].discard(event)
            if not self._waiting[channel]:
                del self._waiting[channel]

    async def listen(self) -> None:
        """Receive wake-ups until cancelled, over lost connections."""
        while True:
            try:
                await self._receive()
            except redis.RedisError as error:
                _log.warning("no wake-ups from Redis, trying again: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _receive(self) -> None:
        client = redis.asyncio.Redis.from_url(self._url)  # pyright: ignore[reportUnknownMemberType]
        async with client, cast(Any, client.pubsub()) as pubsub:  # pyright: ignore[reportUnknownMemberType]
            await pubsub.psubscribe(*_CHANNELS)
            messages = cast(AsyncIterator[dict[str, Any]], pubsub.listen())
            async for message in messages:
                self._wake(message)

    def _wake(self, message: dict[str, Any]) -> None:
        if message["type"] == "pmessage":
            for event in self._waiting.get(message["channel"].decode(), ()):
                event.set()


async def get_wake_ups(request: Request) -> WakeUps:  # not in a thread, see api.dependencies
    return request.app.state.wake_ups


WakeUpsDep = Annotated[WakeUps, Depends(get_wake_ups)]


async def require(farm: Farm, get: Callable[[Session, str], object], id_: str) -> None:
    """Raise NotFoundError where there is no such row; in one thread, of which a route's session takes several."""

    def look() -> None:
        with farm.database.read() as session:
            get(session, id_)

    await run_in_threadpool(look)


async def follow(farm: Farm, wake_ups: WakeUps, exploration_id: str, last_id: int) -> AsyncGenerator[ServerSentEvent]:
    """Every event of the exploration after `last_id`, those to come included, until the reader leaves."""
    with wake_ups.of(events_channel(exploration_id)) as wake:
        while True:
            wake.clear()
            async with wake_ups.turns:
                rows = await run_in_threadpool(_read, farm, exploration_id, last_id)
            for row in rows:
                last_id = row.id
                yield ServerSentEvent(data=json.dumps(row.data), event=row.kind, id=str(row.id))
            if len(rows) < _BATCH:
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), _POLL_SECONDS)


def _read(farm: Farm, exploration_id: str, last_id: int) -> Sequence[Event]:
    with farm.database.read() as session:
        return events.since(session, exploration_id, last_id, _BATCH)
