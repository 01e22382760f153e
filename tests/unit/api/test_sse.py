import asyncio
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from waiting_readers import WatchedWakeUps

from api import sse
from api.sse import follow
from db.repositories import events
from worker.farm import Farm


def put(farm: Farm, exploration: str, *numbers: int) -> None:
    with farm.database.write() as session:
        for n in numbers:
            events.append(session, exploration, "designs", {"n": n})


async def take(stream: Any, count: int) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    async for event in stream:
        found.append((event.id, json.loads(event.data)))
        if len(found) == count:
            return found
    return found


async def test_events_after_an_id_then_those_to_come(
    farm: Farm, exploration: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = exploration["id"]
    put(farm, key, *range(250))
    monkeypatch.setattr(sse, "_POLL_SECONDS", 600)
    wake_ups = WatchedWakeUps("unix:///nowhere")
    first = await take(follow(farm, wake_ups, key, 0), 252)
    assert [data["n"] for _, data in first[2:]] == list(range(250))
    stream = follow(farm, wake_ups, key, int(first[-2][0]))
    assert await take(stream, 1) == first[-1:]
    waiting = asyncio.ensure_future(take(stream, 1))
    await wake_ups.reader_waits()
    put(farm, key, 999)
    wake_ups._wake({"type": "pmessage", "channel": f"millrace:events:{key}".encode()})
    [(_, data)] = await asyncio.wait_for(waiting, 60)
    assert data == {"n": 999}


async def test_lost_wake_up_costs_seconds_not_events(
    farm: Farm, exploration: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "_POLL_SECONDS", 0.05)
    wake_ups = WatchedWakeUps("unix:///nowhere")
    stream = follow(farm, wake_ups, exploration["id"], 0)
    await take(stream, 2)
    waiting = asyncio.ensure_future(take(stream, 1))
    await wake_ups.reader_waits()
    put(farm, exploration["id"], 7)
    [(_, data)] = await asyncio.wait_for(waiting, 60)
    assert data == {"n": 7}


def test_bad_last_event_id(client: TestClient, exploration: dict[str, Any]) -> None:
    path = f"/v1/explorations/{exploration['id']}/events"
    for value in ("x", "-1"):
        assert client.get(path, headers={"Last-Event-ID": value}).status_code == 422
