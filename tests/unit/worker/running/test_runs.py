import threading
from pathlib import Path
from typing import Any, cast

import pytest
from orders import order

from db.models import Build
from worker.limits.group import Exceeded
from worker.running.orders import Order
from worker.running.runs import Run, Runs


class FakeExecutor:
    """Remembers what was killed."""

    def __init__(self) -> None:
        self.killed: list[Order] = []

    def kill(self, order: Order) -> None:
        self.killed.append(order)


def run() -> Run:
    return Run(cast(Build, None), order("bld_1", Path("nowhere")))


def executor() -> Any:
    return FakeExecutor()


def test_a_run_that_was_ended_before_its_turn_does_not_begin() -> None:
    waiting = run()
    waiting.end("stopped")
    assert not waiting.begin(executor())
    assert (waiting.reason, waiting.started) == ("stopped", None)


def test_a_run_that_was_stopped_says_what_it_reached_first() -> None:
    going, by = run(), executor()
    going.begin(by)
    going.stop(Exceeded("memory", 100, 110))
    going.stop(Exceeded("files", 5, 6))
    assert (going.reason, going.reached) == ("limit", Exceeded("memory", 100, 110))
    assert len(by.killed) == 2


def test_only_a_run_that_waits_is_dropped() -> None:
    waiting, going, by = run(), run(), executor()
    going.take_turn()
    assert not going.drop("late")  # its executor is being started
    assert going.begin(by)
    assert not going.drop("late")
    assert by.killed == []
    assert waiting.drop("late")
    assert not waiting.drop("late")
    assert not waiting.begin(by)
    assert (waiting.reason, going.reason) == ("late", None)


def test_the_first_reason_counts() -> None:
    going, by = run(), executor()
    going.begin(by)
    going.end("timeout")
    going.end("lost")
    assert (going.reason, by.killed) == ("timeout", [going.order, going.order])


def test_a_look_that_fails_is_followed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    runs, looks, enough = Runs(), list[int](), threading.Event()

    def look(found: list[Run]) -> None:
        looks.append(len(found))
        if len(looks) == 1:
            raise KeyError("nobody thought of this")
        enough.set()

    threading.Thread(target=runs.watch, args=(0.001, look), daemon=True).start()
    runs.add([run()])
    assert enough.wait(60)
    assert looks[:2] == [1, 1]
    assert "nobody thought of this" in caplog.text
