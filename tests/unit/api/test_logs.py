"""Logs of builds, at once and as they grow."""

import asyncio
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from farm_states import announce, take
from fastapi.testclient import TestClient
from waiting_readers import WatchedWakeUps

from api import log_stream
from api.log_stream import characters, follow_log
from api.sse import WakeUps, log_channel
from db.repositories import builds
from worker.farm import Farm
from worker.redis_server import start_redis
from worker.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Generator[Settings]:
    """With a Redis."""
    server = start_redis(settings)
    yield settings
    server.kill()
    server.wait()


@pytest.fixture
def running(client: TestClient, farm: Farm, design_ids: list[str]) -> str:
    """A build that runs."""
    announce(farm)
    client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "csim"})
    order = take(farm, "csim")
    assert order is not None
    return order.build_id


def end(farm: Farm, build: str, log: bytes) -> None:
    digest = farm.store.put_bytes(log)
    with farm.database.write() as session:
        builds.finish(session, builds.get(session, build), {"passed": True}, {}, digest)


def test_a_running_build_has_a_log_so_far(client: TestClient, farm: Farm, running: str) -> None:
    farm.bus.logs.append(running, b"one\n")
    found = client.get(f"/v1/builds/{running}").json()
    assert (found["live"], found["log_url"]) == (True, f"/v1/builds/{running}/log")
    assert client.get(found["log_url"]).text == "one\n"
    farm.bus.logs.append(running, b"two\n")
    end(farm, running, b"one\ntwo\nthree\n")
    reply = client.get(found["log_url"])
    assert reply.text == "one\ntwo\nthree\n"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert not client.get(f"/v1/builds/{running}").json()["live"]


def test_the_log_of_an_attempt_that_failed(client: TestClient, farm: Farm, running: str) -> None:
    digest = farm.store.put_bytes(b"it crashed")
    with farm.database.write() as session:
        builds.retry_later(session, builds.get(session, running), "tool", "crash", None, digest)
    [attempt] = client.get(f"/v1/builds/{running}").json()["history"]
    assert (attempt["attempt"], attempt["failure"], attempt["node"]) == (1, "tool", "here")
    assert client.get(f"/v1/builds/{running}/log?attempt=1").text == "it crashed"
    assert client.get(f"/v1/builds/{running}/log?attempt=2").status_code == 404


async def collect(stream: Any) -> list[tuple[str, str, Any]]:
    return [(event.event, event.id, json.loads(event.data)) async for event in stream]


async def test_the_stream_goes_on_until_the_end(farm: Farm, running: str, monkeypatch: pytest.MonkeyPatch) -> None:
    farm.bus.logs.append(running, b"one\n")
    monkeypatch.setattr(log_stream, "_POLL_SECONDS", 600)
    wake_ups = WatchedWakeUps(farm.settings.redis)
    reading = asyncio.ensure_future(collect(follow_log(farm, wake_ups, running, 0)))
    await wake_ups.reader_waits()
    farm.bus.logs.append(running, "två\n".encode())
    wake_ups._wake({"type": "pmessage", "channel": log_channel(running).encode()})
    await wake_ups.reader_waits()
    end(farm, running, "one\ntvå\nend\n".encode())
    wake_ups._wake({"type": "pmessage", "channel": log_channel(running).encode()})
    assert await asyncio.wait_for(reading, 60) == [
        ("log", "4", "one\n"),
        ("log", "9", "två\n"),
        ("log", "13", "end\n"),
        ("end", "13", {"state": "done"}),
    ]


async def test_a_reader_resumes_at_its_byte(farm: Farm, running: str) -> None:
    end(farm, running, b"0123456789")
    found = await collect(follow_log(farm, WakeUps(farm.settings.redis), running, 6))
    assert found == [("log", "10", "6789"), ("end", "10", {"state": "done"})]
    assert await collect(follow_log(farm, WakeUps(farm.settings.redis), running, 10)) == found[1:]


def test_the_route_streams(client: TestClient, farm: Farm, running: str) -> None:
    end(farm, running, b"0123456789")
    reply = client.get(f"/v1/builds/{running}/log/stream", headers={"Last-Event-ID": "8"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert 'event: log\r\ndata: "89"' in reply.text.replace("id: 10\r\n", "")
    assert client.get(f"/v1/builds/{running}/log/stream", headers={"Last-Event-ID": "x"}).status_code == 422


async def test_without_redis_the_stream_waits_for_the_store(
    farm: Farm, running: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worker.queue.bus import Bus

    away = Bus(f"unix://{tmp_path}/nowhere")
    object.__setattr__(farm, "bus", away)
    monkeypatch.setattr(log_stream, "_POLL_SECONDS", 0.05)
    wake_ups = WatchedWakeUps("unix:///nowhere")
    reading = asyncio.ensure_future(collect(follow_log(farm, wake_ups, running, 0)))
    await wake_ups.reader_waits()
    end(farm, running, b"all")
    assert await asyncio.wait_for(reading, 60) == [("log", "3", "all"), ("end", "3", {"state": "done"})]


@pytest.mark.parametrize(
    ("data", "is_last", "pieces"),
    [
        (b"", False, []),
        (b"abc", False, [("abc", 13)]),
        ("aé".encode()[:2], False, [("a", 11)]),
        ("aé".encode()[:2], True, [("a�", 12)]),
        ("😀".encode()[:3], False, []),
        ("a😀".encode(), False, [("a😀", 15)]),
        (b"\xff\xfea", False, [("��a", 13)]),
        (b"a\x80", False, [("a�", 12)]),
    ],
)
def test_characters_are_not_torn(data: bytes, is_last: bool, pieces: list[tuple[str, int]]) -> None:
    joined: list[tuple[str, int]] = list(characters(data, 10, is_last))
    if is_last and joined:
        assert ("".join(text for text, _ in joined), joined[-1][1]) == pieces[-1]
    else:
        assert joined == pieces


def test_long_logs_come_in_chunks() -> None:
    data = "é".encode() * 100_000
    pieces = list(characters(b"x" + data, 0, is_last=False))
    assert "".join(text for text, _ in pieces) == "x" + "é" * 100_000
    assert pieces[-1][1] == 200_001
    assert len(pieces) == 4
