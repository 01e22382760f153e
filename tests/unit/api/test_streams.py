"""Event streams of an API that asks for keys."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from api_keys import add_key, bearer
from fastapi.testclient import TestClient
from starlette.types import Message

from api import sse, streams
from db.repositories import api_keys, events, explorations
from worker.farm import Farm
from worker.settings import Settings

Ask = Callable[[asyncio.Event], Awaitable[list[Message]]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"access": "on"})


@pytest.fixture
def key(farm: Farm) -> str:
    return add_key(farm, "bob", "user")


@pytest.fixture
def ask(client: TestClient, key: str) -> Ask:
    """Follow the events of an exploration of that key, as a server has the application do it; what was sent.

    The event is set when the first of it is.
    """
    made = client.post("/v1/explorations", json={"model": "gpt2"}, headers=bearer(key)).json()["id"]
    path = f"/v1/explorations/{made}/events"
    headers = [(b"host", b"127.0.0.1:8642"), (b"authorization", f"Bearer {key}".encode())]

    async def follow(begun: asyncio.Event) -> list[Message]:
        sent: list[Message] = []
        ended = asyncio.Event()

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body":
                begun.set()
            if message["type"] == "http.response.body" and not message.get("more_body"):
                ended.set()

        async def receive() -> Message:
            await ended.wait()
            return {"type": "http.disconnect"}

        scope: dict[str, Any] = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": headers, "client": ("10.0.0.1", 1), "server": ("127.0.0.1", 8642), "scheme": "http",
            "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"},
        }  # fmt: skip
        await client.app(scope, receive, send)
        return sent

    return follow


async def followed(ask: Ask) -> "asyncio.Future[list[Message]]":
    """A stream that has sent its first event, and goes on."""
    begun = asyncio.Event()
    following = asyncio.ensure_future(ask(begun))
    await asyncio.wait_for(begun.wait(), 60)
    assert not following.done()
    return following


async def test_a_stream_ends_with_its_key(ask: Ask, farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(sse, "_POLL_SECONDS", 0.05)
    following = await followed(ask)
    with farm.database.write() as session:
        api_keys.revoke(session, "bob")
        [row] = explorations.page(session, None, 1)
        events.append(session, row.id, "designs", {"secret": "after"})
    sent = await asyncio.wait_for(following, 60)
    assert sent[0]["status"] == 200
    assert not any(b"after" in message.get("body", b"") for message in sent)


async def test_one_key_has_so_many(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST", 1)
    first = await followed(ask)
    refused = await asyncio.wait_for(ask(asyncio.Event()), 60)
    assert refused[0]["status"] == 429
    assert b"'bob' follows 1 event streams already" in refused[1]["body"]
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    again = await followed(ask)
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)
