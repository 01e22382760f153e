import subprocess
import sys
from collections.abc import Callable

import pytest
import redis

from worker.farm import Farm
from worker.queue import broker
from worker.queue.broker import MANY_TICKETS, Queue


class Clock:
    """Time that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(broker.time, "monotonic", made)
    return made


def queue_of(length: Callable[[str], int] = lambda _: 0) -> tuple[Queue, list[str]]:
    sent: list[str] = []
    return Queue(sent.append, length), sent


def test_a_ticket_is_sent_after_the_commit(farm: Farm) -> None:
    queue, sent = queue_of()
    with farm.database.write() as session:
        queue.announce(session, "csim")
        assert sent == []
    assert sent == ["csim"]


def test_no_ticket_for_what_was_rolled_back(farm: Farm) -> None:
    queue, sent = queue_of()

    def announce_in_vain() -> None:
        with farm.database.write() as session:
            queue.announce(session, "csim")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        announce_in_vain()
    assert sent == []


def test_a_queue_with_many_tickets_gets_no_more(clock: Clock) -> None:
    asked: list[str] = []

    def length(name: str) -> int:
        asked.append(name)
        return MANY_TICKETS - 2

    queue, sent = queue_of(length)
    for _ in range(1000):
        assert queue.send("csim")
    assert len(sent) == 2
    assert asked == ["csim"]
    queue.send("link@2023.2:u55c")
    assert sent[-1] == "link@2023.2:u55c"
    clock.now += 2
    queue.send("csim")
    assert asked == ["csim", "link@2023.2:u55c", "csim"]
    assert len(sent) == 4


@pytest.mark.parametrize("error", [redis.ConnectionError("away"), ConnectionRefusedError("away")])
def test_a_broker_that_is_away_fails_nothing_and_is_not_asked_again_at_once(
    farm: Farm, clock: Clock, error: Exception
) -> None:
    tried: list[str] = []

    def send(name: str) -> None:
        tried.append(name)
        raise error

    queue = Queue(send, lambda _: 0)
    with farm.database.write() as session:
        queue.announce(session, "csim")
    assert not queue.send("csim")
    assert tried == ["csim"]
    clock.now += 6
    assert not queue.send("csim")
    assert tried == ["csim", "csim"]


_FIRST_TICKETS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from worker.queue.broker import celery_send
from worker.settings import Settings

send, together = celery_send(Settings(redis_url="unix:///none")), Barrier(8)

def first(number: int) -> str:
    together.wait()
    try:
        send("csim")
    except ConnectionError:
        return "away"
    return "sent"

sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(8) as pool:
    print(set(pool.map(first, range(8))))
"""


def test_the_first_tickets_of_a_process_may_be_sent_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST_TICKETS], capture_output=True, text=True, check=False)
    assert done.stdout == "{'away'}\n", done.stderr
