"""The log of a build as an event stream: what Redis has of a running one, then what the store has."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from dataclasses import dataclass

import redis
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from api.sse import WakeUps, log_channel
from db.models import OPEN_STATES, BuildState
from db.repositories import builds
from worker.errors import StoreError
from worker.farm import Farm

_POLL_SECONDS = 1.0
_CHUNK = 64 << 10


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes of a log from `begin` on, and the build's state as it was before they were read."""

    state: BuildState
    begin: int
    data: bytes

    @property
    def is_last(self) -> bool:
        return self.state not in OPEN_STATES


async def follow_log(farm: Farm, wake_ups: WakeUps, build_id: str, offset: int) -> AsyncGenerator[ServerSentEvent]:
    """Events "log" from byte `offset` on, their ids the offsets behind them, until "end" with the build's state."""
    with wake_ups.of(log_channel(build_id)) as wake:
        while True:
            wake.clear()
            piece = await run_in_threadpool(_read, farm, build_id, offset)
            for text, end in characters(piece.data, piece.begin, piece.is_last):
                offset = end
                yield ServerSentEvent(data=json.dumps(text), event="log", id=str(offset))
            if piece.is_last:
                yield ServerSentEvent(data=json.dumps({"state": piece.state}), event="end", id=str(offset))
                return
            if not piece.data:
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), _POLL_SECONDS)


def _read(farm: Farm, build_id: str, offset: int) -> _Piece:
    with farm.database.read() as session:
        row = builds.get(session, build_id)
    if row.state not in OPEN_STATES and row.log_digest is not None:
        with suppress(StoreError):
            return _Piece(row.state, offset, farm.store.read(row.log_digest)[offset:])
    if row.state in ("blocked", "queued"):
        return _Piece(row.state, offset, b"")
    try:
        data, end = farm.bus.logs.read(build_id, offset)
    except redis.RedisError:
        return _Piece(row.state, offset, b"")
    return _Piece(row.state, end - len(data), data)


def characters(data: bytes, begin: int, is_last: bool) -> Iterator[tuple[str, int]]:
    """Chunks of text with the offsets behind them. A character that is cut at the end waits for the rest of it, unless
    there is none to come.
    """
    while data:
        chunk = data[:_CHUNK]
        whole = len(chunk) - _torn(chunk)
        if whole == 0 and not is_last:
            return
        chunk = chunk[:whole] or chunk
        begin, data = begin + len(chunk), data[len(chunk) :]
        yield chunk.decode(errors="replace"), begin


def _torn(chunk: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character."""
    for back, byte in enumerate(reversed(chunk[-3:]), 1):
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if length > back else 0
    return 0
