import threading
from pathlib import Path
from typing import Any, cast

import pytest
from farm_states import announce, take

from compiler.machine import Machine
from db.models import Build, Exploration
from db.repositories import builds
from worker.farm import Farm
from worker.ladder.flow import advance
from worker.limits.group import Exceeded
from worker.limits.table import Limits
from worker.running.executing import NOT_READY
from worker.running.nursery import LOST
from worker.running.orders import Order, Reply
from worker.running.runner import Runner
from worker.running.runs import Runs
from worker.running.scratch import Scratch


class FakeExecutor:
    """Replies to orders with what it was given; None is an end without a reply."""

    exit_status = 0
    reached: Exceeded | None = None

    def __init__(self, reply: Reply | Exception | None) -> None:
        self.reply = reply
        self.orders: list[Order] = []
        self.limits: Limits | None = None

    def run(self, order: Order) -> Reply | None:
        self.orders.append(order)
        Path(order.log).write_text("the last words\n")
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class FakeExecutors:
    def __init__(self, executor: FakeExecutor) -> None:
        self.executor = executor

    def take(self, limits: Limits) -> FakeExecutor:
        self.executor.limits = limits
        return self.executor

    def give_back(self, executor: FakeExecutor) -> None:
        pass

    def warm(self) -> None:
        pass


class FakeLogs:
    def finish(self, run: Any) -> None:
        pass


@pytest.fixture
def claimed(farm: Farm, exploration: Exploration, sent: Any) -> tuple[Build, int]:
    announce(farm)
    advance(farm, exploration.id)
    order = take(farm, "lower")
    assert order is not None
    sent.take()
    return build_of(farm, order.build_id), order.token


def build_of(farm: Farm, build_id: str) -> Build:
    with farm.database.read() as session:
        return builds.get(session, build_id)


def runner(farm: Farm, executor: FakeExecutor) -> Runner:
    executors, logs = cast(Any, FakeExecutors(executor)), cast(Any, FakeLogs())
    return Runner(farm, executors, Runs(), logs, Scratch(farm.settings), Machine(2 << 30, 2.0))


def test_tickets_of_the_reply_are_sent(farm: Farm, claimed: tuple[Build, int], sent: Any) -> None:
    made = runner(farm, FakeExecutor(Reply(tickets=["search"])))
    made.run([claimed], threading.Event())
    assert sent.take() == ["search"]
    assert made.runs.now() == []


def test_what_has_not_begun_when_the_worker_stops_is_given_back(
    farm: Farm, claimed: tuple[Build, int], sent: Any
) -> None:
    executor, stopping = FakeExecutor(Reply()), threading.Event()
    stopping.set()
    runner(farm, executor).run([claimed], stopping)
    build = build_of(farm, claimed[0].id)
    assert (build.state, build.attempt, executor.orders, sent.take()) == ("queued", 0, [], ["lower"])


def test_a_build_whose_executor_starts_slowly_does_not_count_as_one_that_waits_behind_another(
    farm: Farm, claimed: tuple[Build, int]
) -> None:
    executor = FakeExecutor(Reply())
    made = runner(farm, executor)

    def take(limits: Limits) -> FakeExecutor:
        assert [run.drop("late") for run in made.runs.now()] == [False]
        return executor

    cast(Any, made.executors).take = take
    made.run([claimed], threading.Event())
    assert len(executor.orders) == 1


def test_builds_are_given_back_when_they_can_not_be_run(farm: Farm, claimed: tuple[Build, int], sent: Any) -> None:
    made = runner(farm, FakeExecutor(OSError("no more processes")))
    with pytest.raises(OSError, match="no more processes"):
        made.run([claimed], threading.Event())
    build = build_of(farm, claimed[0].id)
    assert (build.state, build.attempt, build.losses, made.runs.now()) == ("queued", 0, 0, [])
    assert sent.take() == ["lower"]


@pytest.mark.parametrize(
    ("status", "failure", "says"),
    [
        (42, "tool", "ended unexpectedly (exit status 42): the last words"),
        (139, "tool", "ended unexpectedly (signal 11): the last words"),
        (137, "tool", "killed, most likely for want of memory"),
        (NOT_READY, "node", "this node can not load what the stages need"),
        (LOST, "node", "this node's process that forks executors has ended"),
    ],
)
def test_an_end_without_a_reply_says_how(
    farm: Farm, claimed: tuple[Build, int], status: int, failure: str, says: str
) -> None:
    executor = FakeExecutor(None)
    executor.exit_status = status
    runner(farm, executor).run([claimed], threading.Event())
    [attempt] = build_of(farm, claimed[0].id).history
    assert attempt["failure"] == failure
    assert says in attempt["error"]


@pytest.mark.parametrize(
    ("status", "failure", "says"),
    [
        (137, "node", "killed by the system for want of memory"),
        (42, "tool", "exit status 42"),  # what the system has killed meanwhile was another one
    ],
)
def test_only_what_was_killed_can_be_what_the_system_had_no_memory_for(
    farm: Farm,
    claimed: tuple[Build, int],
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    failure: str,
    says: str,
) -> None:
    kills = iter((3, 4))
    monkeypatch.setattr("worker.running.runner._oom_kills", lambda: next(kills))
    executor = FakeExecutor(None)
    executor.exit_status = status
    runner(farm, executor).run([claimed], threading.Event())
    [attempt] = build_of(farm, claimed[0].id).history
    assert attempt["failure"] == failure
    assert says in attempt["error"]


def test_a_build_that_a_limit_stopped_is_not_tried_again(farm: Farm, claimed: tuple[Build, int]) -> None:
    executor = FakeExecutor(None)
    executor.reached = Exceeded("memory", 4 << 30, 4 << 30)
    runner(farm, executor).run([claimed], threading.Event())
    build = build_of(farm, claimed[0].id)
    assert (build.state, build.failure, build.attempt) == ("failed", "limit", 1)
    assert "stopped by its limit of memory: it used 4 GB of 4 GB" in str(build.error)
    assert """MILLRACE_REQUESTS='{"lower": {"memory_gb": 8}}'""" in str(build.error)


def test_a_build_is_held_to_what_it_asked_for_and_to_what_the_machine_has(
    farm: Farm, claimed: tuple[Build, int]
) -> None:
    build, token = claimed
    build.memory_gb, build.timeout_s = 1.5, 60.0
    executor = FakeExecutor(Reply())
    made = runner(farm, executor)
    made.run([(build, token)], threading.Event())
    assert executor.limits == executor.orders[0].limits
    assert (executor.orders[0].limits.memory_gb, executor.orders[0].limits.timeout_s) == (1.5, 60.0)
    build.memory_gb = 64.0
    made.run([(build, token)], threading.Event())
    assert executor.orders[1].limits.memory_gb == 2.0


@pytest.mark.parametrize("reply", [Reply(), None])
def test_the_scratch_folder_goes_with_the_build(farm: Farm, claimed: tuple[Build, int], reply: Reply | None) -> None:
    class Untidy(FakeExecutor):
        def run(self, order: Order) -> Reply | None:
            Path(order.scratch, "work").mkdir(parents=True)
            return super().run(order)

    executor = Untidy(reply)
    runner(farm, executor).run([claimed], threading.Event())
    assert not Path(executor.orders[0].scratch).exists()
    assert Path(executor.orders[0].scratch).parent.exists()
