"""Requests are counted for their key once they are whole; health and who has no key are not."""

from typing import cast

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.counted import Counted
from api.errors import RateError
from api.limits import Limiter
from api.principal import Principal


class Counts:
    """A limiter that lets so many pass, and remembers whom it was asked for."""

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self.asked: list[tuple[str, bool]] = []

    def hit(self, who: str, changes: bool) -> None:
        self.asked.append((who, changes))
        if len(self.asked) > self.most:
            raise RateError("too many", 7)


async def answer_of(counts: Counts, method: str = "GET", path: str = "/v1/models", name: str | None = "ann") -> Message:
    """The first message of the answer to a request."""
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        pytest.fail("a body was read to count its request")

    async def send(message: Message) -> None:
        sent.append(message)

    principal = Principal(name, "user", "127.0.0.1")
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": [], "state": {"principal": principal}}
    await Counted(app, cast(Limiter, counts))(scope, receive, send)
    return sent[0]


async def test_each_request_counts_for_its_key() -> None:
    counts = Counts()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        assert (await answer_of(counts, method))["status"] == 200
    assert counts.asked == [("key ann", method != "GET") for method in ("GET", "POST", "PUT", "PATCH", "DELETE")]


async def test_one_too_many_is_refused_and_its_connection_closed() -> None:
    counts = Counts(most=1)
    assert (await answer_of(counts))["status"] == 200
    refused = await answer_of(counts, "POST")
    headers = dict(refused["headers"])
    assert (refused["status"], headers[b"retry-after"], headers[b"connection"]) == (429, b"7", b"close")


async def test_health_is_answered_whatever_its_key_has_asked_for() -> None:
    counts = Counts(most=0)
    for path in ("/v1/health", "/v1/health/live", "/v1/health/ready"):
        assert (await answer_of(counts, path=path))["status"] == 200
    assert counts.asked == []


async def test_who_has_no_key_is_not_counted_here() -> None:
    counts = Counts(most=0)
    assert (await answer_of(counts, name=None))["status"] == 200
    assert counts.asked == []
