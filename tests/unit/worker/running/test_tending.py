import threading
from collections.abc import Callable, Generator
from typing import Any, cast

import pytest

from compiler.machine import Machine
from worker.farm import Farm
from worker.limits.watched import WatchedBackend
from worker.running import tending
from worker.running.runner import Runner
from worker.running.runs import Runs
from worker.running.scratch import Scratch
from worker.running.tending import Tending
from worker.running.work import Crew


class _Presence:
    """Of a node that is announced."""

    drains = False

    def announce(self) -> None:
        pass


class _Executors:
    def warm(self) -> None:
        pass

    backend = WatchedBackend()

    def trim(self, seconds: float) -> None:
        pass


@pytest.fixture
def crew(farm: Farm) -> Crew:
    runner = Runner(
        farm, cast(Any, _Executors()), Runs(), cast(Any, None), Scratch(farm.settings), Machine(2 << 30, 2.0)
    )
    return Crew(farm, threading.Event(), cast(Any, _Presence()), runner)


@pytest.fixture
def starts(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> Generator[Callable[..., Tending]]:
    """What is started here has ended before `monkeypatch` takes back what it has instead of a kill."""
    made: list[Tending] = []

    def start(*, ends_when_idle: bool = False) -> Tending:
        made.append(Tending(crew, ends_when_idle=ends_when_idle))
        made[-1].start()
        return made[-1]

    yield start
    crew.stopping.set()
    for tended in made:
        tended.wake()
    for thread in threading.enumerate():
        if thread.name == "tend":
            thread.join(60)


def calls(monkeypatch: pytest.MonkeyPatch, name: str, do: Callable[[int], None]) -> threading.Event:
    """Replace what tending calls by `do`, which gets how often it was called; set at the second call."""
    twice, count = threading.Event(), 0

    def call(_farm: Farm) -> None:
        nonlocal count
        count += 1
        if count == 2:
            twice.set()
        do(count)

    monkeypatch.setattr(tending, name, call)
    return twice


def test_recovers_first_and_reaps_from_then_on(starts: Callable[..., Tending], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    calls(monkeypatch, "recover", lambda _: done.append("recover"))
    reaped = calls(monkeypatch, "reap", lambda _: done.append("reap"))
    tended = starts()
    while not reaped.is_set():
        tended.wake()
    assert done[:3] == ["recover", "reap", "reap"]


def test_goes_on_after_an_error_that_nobody_thought_of(
    starts: Callable[..., Tending], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(time: int) -> None:
        if time == 1:
            raise KeyError("csim")

    again = calls(monkeypatch, "recover", fail)
    tended = starts()
    tended.wake()
    assert again.wait(60), "the thread has ended"
    assert "tending the farm failed" in caplog.text


def test_an_idle_worker_that_may_end_ends(starts: Callable[..., Tending], monkeypatch: pytest.MonkeyPatch) -> None:
    killed = threading.Event()
    monkeypatch.setattr(tending.os, "kill", lambda *_: killed.set())
    monkeypatch.setattr(tending, "_IDLE_SECONDS", 0.0)
    starts(ends_when_idle=True)
    assert killed.wait(60)


def test_a_worker_that_drains_says_so_once(
    crew: Crew,
    starts: Callable[..., Tending],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    killed = threading.Event()
    monkeypatch.setattr(tending.os, "kill", lambda *_: killed.set())
    cast(Any, crew.presence).drains = True
    tended = starts()
    assert killed.wait(60)
    killed.clear()
    tended.wake()
    assert killed.wait(60)
    assert caplog.text.count("takes no more builds") == 1


def test_a_worker_that_drains_waits_for_a_slot_that_is_claiming(
    crew: Crew, starts: Callable[..., Tending], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it claims runs for the farm before it is a run of this worker's."""
    killed = threading.Event()
    monkeypatch.setattr(tending.os, "kill", lambda *_: killed.set())
    again = calls(monkeypatch, "reap", lambda _: None)
    cast(Any, crew.presence).drains = True
    with crew.runner.runs.claiming():
        tended = starts()
        while not again.is_set():
            tended.wake()
        assert not killed.is_set()
    tended.wake()
    assert killed.wait(60)
