"""Tickets that anybody may have put into Redis, before the real consumer of Celery."""

import base64
import json
import logging
from collections.abc import Generator
from typing import Any, cast

import pytest
import redis
from celery import Celery

from worker.queue.broker import WORK, make_celery
from worker.queue.transport import Dropped, MalformedError, checked
from worker.redis_server import start_redis
from worker.settings import Settings

GOOD = {"headers": {"task": WORK}, "body": base64.b64encode(json.dumps([["csim"], {}, {}]).encode()).decode()}


def ticket(**different: Any) -> bytes:
    return json.dumps(GOOD | different).encode()


def body(value: Any) -> dict[str, str]:
    return {"body": base64.b64encode(json.dumps(value).encode()).decode()}


MALFORMED = {
    "bytes": b"\x80\x04\x95\xff\x00",
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[1, 2]",
    "a word": b'"csim"',
    "deep": b"[" * 15_000,
    "no headers": ticket(headers=None),
    "another task": ticket(headers={"task": "os.system"}),
    "no body": ticket(body=None),
    "a body that is no base64": ticket(body="\u00fc"),
    "a body that is no JSON": ticket(body=base64.b64encode(b"\x80\x04").decode()),
    "another queue": ticket(**body([["link"], {}, {}])),
    "more arguments": ticket(**body([["csim", 1], {}, {}])),
    "no arguments": ticket(**body({})),
    "huge": ticket(**body([["csim"], {}, {"x": "y" * 20_000_000}])),
}


@pytest.mark.parametrize("item", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_ticket(item: bytes) -> None:
    with pytest.raises(MalformedError):
        checked("csim", item)


def test_nothing_but_the_queue_is_believed() -> None:
    hostile = {"task": WORK, "eta": "2999-01-01T00:00:00", "id": {"a": 1}, "expires": [], "timelimit": "x"}
    found = json.loads(
        checked("csim", ticket(headers=hostile, properties=7, **{"content-type": "application/x-pickle"}))
    )
    assert found["content-type"] == "application/json"
    assert (found["headers"]["eta"], found["headers"]["timelimit"]) == (None, [None, None])
    assert isinstance(found["properties"]["delivery_tag"], str)
    assert json.loads(base64.b64decode(found["body"]))[0] == ["csim"]


def test_a_flood_is_said_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    dropped = Dropped(lambda: now)
    with caplog.at_level(logging.WARNING):
        for _ in range(1000):
            dropped.note("csim", "x" * 1000)
        now += 1
        dropped.note("csim", "y")
    assert [record.getMessage().split(" of ")[0] for record in caplog.records] == ["a ticket", "1000 tickets"]
    assert max(len(record.getMessage()) for record in caplog.records) < 400


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Generator[Settings]:
    made = Settings(home=tmp_path_factory.mktemp("redis"))
    process = start_redis(made)
    yield made
    process.terminate()
    process.wait()


def taken(app: Celery, count: int) -> list[str]:
    """The queues of so many tickets, as Celery's consumer takes them."""
    found: list[str] = []

    def take(message: Any) -> None:
        found.append(json.loads(message.body)[0][0])
        message.ack()

    with (
        app.connection_for_read() as connection,
        app.amqp.TaskConsumer(connection, queues=[app.amqp.queues["csim"]], on_message=take),
    ):
        while len(found) < count:
            connection.drain_events(timeout=30)
    return found


def test_the_consumer_goes_on(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    app, client = make_celery(settings), redis.Redis.from_url(settings.redis)
    app.send_task(WORK, args=["csim"], queue="csim", ignore_result=True)
    sent = cast(bytes, client.lindex("csim", 0))
    for item in (*MALFORMED.values(), *(b"?" * 300 for _ in range(300)), sent):
        client.lpush("csim", item)
    with caplog.at_level(logging.WARNING):
        assert taken(app, 2) == ["csim", "csim"]
    assert "dropped, malformed" in caplog.text
    assert client.keys("unacked*") == []


def test_a_key_that_holds_no_list(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    app, client = make_celery(settings), redis.Redis.from_url(settings.redis)
    client.set("csim", "no list")
    said: list[str] = []

    def then_a_ticket_comes(_: Dropped, queue: str, why: object) -> None:
        said.append(f"{queue} {why}")
        client.lpush("csim", ticket())

    monkeypatch.setattr(Dropped, "note", then_a_ticket_comes)
    assert taken(app, 1) == ["csim"]
    assert said == ["csim its key held no list"]
