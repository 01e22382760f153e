"""How requests are made, once for both clients: patience, pages, streams, problems as errors.

Everything here is written as coroutines over a `Connection`. The one of `AsyncClient` waits as coroutines do; that of
`Client` blocks and never hands back control, so that `finish` can run the same coroutines to their end in one step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import httpx

from millrace import errors, wire
from millrace.encoding import UnreadableError, parse, read, to_json
from millrace.events import Event, EventParser
from millrace.routes import Call, Download, Following, Listing
from millrace.states import ENDED
from millrace.version import VERSION

T = TypeVar("T")

_TIMEOUT_S = httpx.Timeout(30, connect=5)
_STREAM_TIMEOUT_S = httpx.Timeout(60, connect=5)  # the service sends a comment at least every 15 s
_UPLOAD_TIMEOUT_S = httpx.Timeout(600, connect=5)
RECONNECT_S = 1.0
PATIENCE_S = 120.0
"""Seconds in all that a request waits for its turn where the service says that there were too many."""
LOST_S = 30.0
"""Seconds after which a stream that was lost, and brought nothing since, is given up."""


class Connection(Protocol):
    """What differs between blocking and waiting."""

    @property
    def build(self) -> Callable[..., httpx.Request]: ...
    async def send(self, request: httpx.Request) -> httpx.Response: ...
    def stream(self, request: httpx.Request) -> AbstractAsyncContextManager[Streamed]: ...
    async def sleep(self, seconds: float) -> None: ...
    async def close(self) -> None: ...


class Streamed(Protocol):
    """An answer that is read in pieces. `failed` is the whole of one that is an error, else None."""

    failed: httpx.Response | None

    def lines(self) -> AsyncIterator[str]: ...
    def pieces(self) -> AsyncIterator[bytes]: ...


@dataclass(frozen=True)
class _Page:
    items: list[Any]
    next_cursor: str | None = None


class Session:
    """Makes requests of the service at `address`."""

    def __init__(self, address: str, connection: Connection) -> None:
        self.address = address
        self.connection = connection

    async def call(self, call: Call[T]) -> T:
        """The answer. Raises ProblemError, ServiceUnavailableError, OtherVersionError."""
        reply = await self._reply(call)
        if call.answer is type(None):
            return cast("T", None)
        if call.answer is bytes:
            return cast("T", reply.content)
        if call.answer is str:
            return cast("T", reply.text)
        async with self._understood():
            return read(call.answer, parse(reply.content))

    async def items(self, listing: Listing[T]) -> list[T]:
        """All items that are wanted, page by page."""
        found: list[T] = []
        query = dict(listing.query)
        while True:
            page = await self.call(Call("GET", listing.path, _Page, query))
            async with self._understood():
                found += [read(listing.item, item) for item in page.items]
            if listing.limit is not None and len(found) >= listing.limit:
                return found[: listing.limit]
            if not page.next_cursor or not page.items:
                return found
            query["cursor"] = page.next_cursor

    async def follow(self, following: Following) -> AsyncGenerator[Event, None]:
        """Events until the end; a lost connection is taken up again where it broke."""
        last, heard = "", time.monotonic()
        while True:
            lost: httpx.TransportError | None = None
            try:
                async for event in self._events(following.path, last):
                    last, heard = event.id or last, time.monotonic()
                    if following.exploration is None and event.kind == "end":
                        return
                    yield event
                    if _may_be_last(event) and await self._has_ended(following):
                        return
            except httpx.TransportError as error:
                lost = error
            if lost is not None and time.monotonic() - heard > LOST_S:
                raise self._unavailable(lost)
            if lost is None and await self._has_ended(following):
                return
            await self.connection.sleep(RECONNECT_S)

    async def download(self, download: Download) -> AsyncGenerator[bytes, None]:
        """The body in pieces. Raises as `call`."""
        request = self.connection.build("GET", download.path, timeout=_STREAM_TIMEOUT_S)
        try:
            async with self.connection.stream(request) as answer:
                if answer.failed is not None:
                    raise problem_of(answer.failed)
                async for piece in answer.pieces():
                    yield piece
        except httpx.TransportError as error:
            raise self._unavailable(error) from error

    async def _events(self, path: str, last: str) -> AsyncGenerator[Event, None]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        request = self.connection.build("GET", path, headers=headers, timeout=_STREAM_TIMEOUT_S)
        parser = EventParser()
        async with self.connection.stream(request) as answer:
            if answer.failed is not None:
                raise problem_of(answer.failed)
            async for line in answer.lines():
                async with self._understood():
                    event = parser.take(line)
                if event is not None:
                    yield event

    async def _has_ended(self, following: Following) -> bool:
        """Now: among an exploration's events may be an earlier end, from before it was resumed."""
        if following.exploration is None:
            return False
        path = following.path.rpartition("/")[0]
        return (await self.call(Call("GET", path, wire.Exploration))).state in ENDED

    async def _reply(self, call: Call[T]) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            reply = await self._send(call)
            wait = retry_after(reply)
            if wait is None or time.monotonic() + wait > deadline:
                break
            await self.connection.sleep(wait)
        if reply.is_error:
            raise problem_of(reply)
        return reply

    async def _send(self, call: Call[T]) -> httpx.Response:
        parts: dict[str, Any] = {"params": call.query, "headers": call.headers, "timeout": _TIMEOUT_S}
        if call.body is not None:
            parts["json"] = to_json(call.body)
        try:
            if call.upload is None:
                return await self.connection.send(self.connection.build(call.method, call.path, **parts))
            with ExitStack() as opened:
                sent = call.upload.files.items()
                files = {of: (path.name, opened.enter_context(path.open("rb")), kind) for of, (path, kind) in sent}
                parts |= {"files": files, "data": call.upload.fields, "timeout": _UPLOAD_TIMEOUT_S}
                return await self.connection.send(self.connection.build(call.method, call.path, **parts))
        except httpx.TransportError as error:
            raise self._unavailable(error) from error

    @asynccontextmanager
    async def _understood(self) -> AsyncGenerator[None, None]:
        """Raises OtherVersionError, which names both versions, for what is read inside and can not be."""
        try:
            yield
        except UnreadableError as error:
            raise errors.OtherVersionError(
                f"the service at {self.address} is of another version ({await self._version()}) than this client "
                f"({VERSION}): {error}. It serves the client that matches it at {self.address}/client/"
            ) from error

    async def _version(self) -> str:
        """What the service says of itself, as far as it can be understood. Two builds of one release can differ."""
        try:
            reply = await self.connection.send(self.connection.build("GET", "/health", timeout=_TIMEOUT_S))
        except httpx.TransportError:
            return "which it does not say"
        said = _members(reply.content).get("version")
        if not isinstance(said, str):
            return "which it does not say"
        return f"another build of {said}" if said == VERSION else said[:40]

    def _unavailable(self, error: Exception) -> errors.ServiceUnavailableError:
        return errors.ServiceUnavailableError(
            f"no Millrace service answers at {self.address} ({error}); start one with `millrace up`, or name the "
            "address of one that runs: MILLRACE_SERVER in the environment, server= in Python"
        )


def retry_after(reply: httpx.Response) -> float | None:
    """Seconds after which the request may be sent again; None where it should not be."""
    text = reply.headers.get("Retry-After", "")
    if reply.status_code != 429 or not text.isdecimal() or len(text) > 6:
        return None
    return float(text) or None


def problem_of(reply: httpx.Response) -> errors.ProblemError:
    """The problem document of an answer (RFC 9457) as an error; of what is none, an error with the status."""
    found = _members(reply.content)
    detail = found.get("detail") or found.get("title") or f"the service answered {reply.status_code}"
    try:
        fields = tuple(read(wire.FieldProblem, one) for one in found.get("errors") or ())
    except (UnreadableError, TypeError):
        fields = ()
    return errors.problem_error(reply.status_code, str(found.get("type", "")), str(detail), fields)


def _members(content: bytes) -> dict[str, Any]:
    """Of the JSON object, none of what is no object."""
    try:
        found = parse(content)
    except UnreadableError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _may_be_last(event: Event) -> bool:
    data: Any = event.data
    return event.kind == "state" and isinstance(data, dict) and cast("dict[str, Any]", data).get("state") in ENDED


class BlockingConnection:
    """Its coroutines block, and never wait."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self.build: Callable[..., httpx.Request] = http.build_request

    async def send(self, request: httpx.Request) -> httpx.Response:
        return self._http.send(request)

    @asynccontextmanager
    async def stream(self, request: httpx.Request) -> AsyncGenerator[Streamed, None]:
        reply = self._http.send(request, stream=True)
        try:
            if reply.is_error:
                reply.read()
            yield _BlockingStream(reply)
        finally:
            reply.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def close(self) -> None:
        self._http.close()


class _BlockingStream:
    def __init__(self, reply: httpx.Response) -> None:
        self._reply = reply
        self.failed = reply if reply.is_error else None

    async def lines(self) -> AsyncIterator[str]:
        for line in self._reply.iter_lines():
            yield line

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._reply.iter_bytes():
            yield piece


class WaitingConnection:
    """Its coroutines wait, and let others run."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.build: Callable[..., httpx.Request] = http.build_request

    async def send(self, request: httpx.Request) -> httpx.Response:
        return await self._http.send(request)

    @asynccontextmanager
    async def stream(self, request: httpx.Request) -> AsyncGenerator[Streamed, None]:
        reply = await self._http.send(request, stream=True)
        try:
            if reply.is_error:
                await reply.aread()
            yield _WaitingStream(reply)
        finally:
            await reply.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        await self._http.aclose()


class _WaitingStream:
    def __init__(self, reply: httpx.Response) -> None:
        self._reply = reply
        self.failed = reply if reply.is_error else None

    async def lines(self) -> AsyncIterator[str]:
        async for line in self._reply.aiter_lines():
            yield line

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._reply.aiter_bytes():
            yield piece


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine over a `BlockingConnection` returns: it runs to its end at once."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("a blocking connection waited")


def iterate(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """What an asynchronous generator over a `BlockingConnection` gives."""
    try:
        while True:
            try:
                yield finish(items.__anext__())
            except StopAsyncIteration:
                return
    finally:
        finish(items.aclose())
