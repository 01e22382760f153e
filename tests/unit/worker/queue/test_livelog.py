import threading
import time
from collections.abc import Generator

import pytest
import redis

from worker.queue import livelog
from worker.queue.bus import Bus
from worker.queue.livelog import LiveLog
from worker.redis_server import start_redis
from worker.settings import Settings


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Generator[Settings]:
    made = Settings(home=tmp_path_factory.mktemp("redis"))
    process = start_redis(made)
    yield made
    process.terminate()
    process.wait()


@pytest.fixture
def logs(settings: Settings) -> Generator[LiveLog]:
    bus = Bus(settings.redis)
    yield bus.logs
    redis.Redis.from_url(settings.redis).flushall()
    bus.close()


def test_what_is_appended_is_read_once(logs: LiveLog) -> None:
    assert logs.read("bld1") == (b"", 0)
    logs.append("bld1", b"one\n")
    logs.append("bld1", b"two\n")
    assert logs.read("bld1") == (b"one\ntwo\n", 8)
    assert logs.read("bld1", 4) == (b"two\n", 8)
    assert logs.read("bld1", 8) == (b"", 8)
    assert logs.read("bld2") == (b"", 0)


def test_a_new_attempt_is_read_from_its_start(logs: LiveLog) -> None:
    logs.append("bld1", b"a long first attempt\n")
    logs.begin("bld1")
    logs.append("bld1", b"second\n")
    assert logs.read("bld1", 21) == (b"second\n", 7)


def test_only_the_tail_is_kept_and_offsets_go_on(logs: LiveLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(livelog, "_MOST", 100)
    monkeypatch.setattr(livelog, "_TRIM_AT", 150)
    for n in range(100):
        logs.append("bld1", b"line %04d\n" % n)
    data, end = logs.read("bld1")
    assert end == 1000
    assert 100 <= len(data) <= 150
    assert data.endswith(b"line 0098\nline 0099\n")
    assert logs.read("bld1", 10) == (data, end)  # what is gone is left out
    assert logs.read("bld1", 990) == (b"line 0099\n", 1000)


def test_a_log_is_forgotten_after_a_day(logs: LiveLog, settings: Settings) -> None:
    logs.append("bld1", b"x")
    assert 86_000 < int(str(redis.Redis.from_url(settings.redis).ttl("millrace:log:bld1"))) <= 86_400


def test_readers_are_woken(logs: LiveLog, settings: Settings) -> None:
    client = redis.Redis.from_url(settings.redis)

    def append_once_somebody_waits() -> None:
        while not client.pubsub_numsub("millrace:log:bld1")[0][1]:
            time.sleep(0.005)
        logs.append("bld1", b"x")

    thread = threading.Thread(target=append_once_somebody_waits, daemon=True)
    thread.start()
    assert logs.wait("bld1", 60)
    thread.join()
    assert not logs.wait("bld1", 0.05)
