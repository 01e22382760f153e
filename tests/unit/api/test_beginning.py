"""A request with a body begins when a piece of it is there; streams begin a few at a time, and leave their turn."""

import asyncio
from collections.abc import Sequence

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.beginning import STREAMS_AT_ONCE, Beginning
from api.door import PIECE


def scope(path: str = "/v1/models", **headers: str) -> Scope:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": path, "headers": sent}


class App:
    """Reads all that it is given; what it read, and how many times it was begun."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.begun = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun += 1
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def drop(_message: Message) -> None:
    """A `send` of which nobody reads."""


def parts(*bodies: bytes, then: str = "") -> list[Message]:
    found: list[Message] = [
        {"type": "http.request", "body": body, "more_body": bool(then) or number < len(bodies) - 1}
        for number, body in enumerate(bodies)
    ]
    return [*found, {"type": then}] if then else found


async def sent(app: App, messages: Sequence[Message], **headers: str) -> int:
    """How many messages were there when the application began; -1: it did not."""
    left, at = list(messages), [-1]

    async def receive() -> Message:
        return left.pop(0)

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        at[0] = len(messages) - len(left)
        await app(scope, receive, send)

    await Beginning(watched, lambda _: False)(scope(**headers), receive, drop)
    return at[0]


async def test_a_body_is_whole_before_the_request_begins() -> None:
    app = App()
    assert await sent(app, parts(b"a", b"b", b"c"), content_length="3") == 3
    assert await sent(app, parts(b"a", b"b"), transfer_encoding="chunked") == 2
    assert app.bodies == [b"abc", b"ab"]


async def test_of_a_large_one_a_piece_is_enough() -> None:
    app, half = App(), bytes(PIECE // 2)
    assert await sent(app, parts(half, half, b"rest", b"more"), content_length="99999") == 2
    assert app.bodies == [half + half + b"restmore"]


@pytest.mark.parametrize("headers", [{}, {"content_length": "0"}, {"content_length": "9", "expect": "100-continue"}])
async def test_others_begin_at_once(headers: dict[str, str]) -> None:
    assert await sent(App(), parts(b"a", b"b"), **headers) == 0


async def test_who_leaves_before_it_is_whole_begins_nothing() -> None:
    app = App()
    assert await sent(app, parts(b"a", then="http.disconnect"), content_length="3") == -1
    assert app.begun == 0


async def test_streams_take_turns_until_they_answer() -> None:
    begun: list[asyncio.Event] = []

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        go = asyncio.Event()
        begun.append(go)
        await go.wait()
        if len(begun) % 2:
            raise ConnectionError("the reader left")  # its turn ends, too
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(3600)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    beginning = Beginning(stream, lambda _: True)
    tasks = [asyncio.create_task(beginning(scope(), receive, drop)) for _ in range(10)]
    for number in range(10):
        await asyncio.sleep(0.01)
        assert len(begun) == min(10, STREAMS_AT_ONCE + number)
        begun[number].set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
