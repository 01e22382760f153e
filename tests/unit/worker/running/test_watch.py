import os
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from farm_states import announce, take
from orders import LIMITS as MANY
from processes import until

from db.models import Exploration
from db.repositories import builds, leases
from worker.farm import Farm
from worker.ladder.flow import advance
from worker.limits.group import Exceeded
from worker.node.presence import Presence
from worker.running.executors import Executor
from worker.running.orders import Order
from worker.running.runs import Run, Runs
from worker.running.watch import Watch

LIMITS = replace(MANY, timeout_s=100, disk_gb=2 / 1024)


@dataclass
class FakeExecutor:
    """Remembers what was killed; says what its job has used."""

    killed: list[Order] = field(default_factory=list[Order])
    reached: Exceeded | None = None
    seconds: float = 0.0

    def exceeded(self) -> Exceeded | None:
        return self.reached

    def cpu_s(self) -> float:
        return self.seconds

    def kill(self, order: Order) -> None:
        self.killed.append(order)


class FakePresence:
    paused = False

    def gives_back(self) -> bool:
        return self.paused


@pytest.fixture
def presence() -> FakePresence:
    return FakePresence()


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


@pytest.fixture
def watch(farm: Farm, presence: FakePresence, stopping: threading.Event) -> Watch:
    return Watch(farm, Runs(), cast(Presence, presence), stopping)


@pytest.fixture
def run(farm: Farm, exploration: Exploration) -> Run:
    announce(farm)
    advance(farm, exploration.id)
    order = take(farm, "lower")
    assert order is not None
    with farm.database.read() as session:
        made = Run(builds.get(session, order.build_id), replace(order, limits=LIMITS))
    made.take_turn()
    made.begin(cast(Executor, FakeExecutor()))
    return made


def killed(run: Run) -> bool:
    return bool(cast(Any, run.executor).killed)


def test_a_run_whose_lease_is_held_goes_on(watch: Watch, run: Run) -> None:
    watch.look([run])
    assert (run.reason, killed(run)) == (None, False)


def test_a_cancelled_run_is_ended(watch: Watch, farm: Farm, run: Run) -> None:
    with farm.database.write() as session:
        builds.cancel(session, [run.order.build_id])
    watch.look([run])
    assert (run.reason, killed(run)) == ("lost", True)


def test_an_executor_that_is_telling_others_of_a_recorded_build_is_left_alone(
    watch: Watch, farm: Farm, run: Run
) -> None:
    with farm.database.write() as session:
        builds.finish(session, builds.get(session, run.order.build_id), None, {})
    watch.look([run])
    run.renewed -= farm.settings.lease_seconds / 3
    watch.look([run])
    assert (run.reason, killed(run)) == (None, False)


def test_a_run_that_another_worker_has_taken_is_ended(watch: Watch, farm: Farm, run: Run) -> None:
    with farm.database.write() as session:
        leases.revoke(session, run.order.build_id)
    assert take(farm, "lower") is not None
    watch.look([run])
    assert run.reason == "lost"


def test_a_slow_run_is_ended(watch: Watch, run: Run) -> None:
    assert run.started is not None
    run.started -= 101
    watch.look_at_clock([run])
    assert run.reason == "timeout"


def test_a_run_that_computes_all_the_time_that_it_has_is_too_large(watch: Watch, run: Run) -> None:
    assert run.started is not None
    cast(Any, run.executor).seconds = 80.0
    run.started -= 99
    watch.look_at_clock([run])
    assert run.reason is None
    run.started -= 2
    watch.look_at_clock([run])
    assert run.reason == "limit"
    assert run.reached is not None
    assert (run.reached.resource, run.reached.limit) == ("time", 100)


def test_a_run_that_goes_beyond_a_limit_is_ended(watch: Watch, run: Run) -> None:
    cast(Any, run.executor).reached = reached = Exceeded("processes", 10, 10)
    watch.look_at_use([run])
    assert run.reason is None  # too young: most builds end before
    assert run.started is not None
    run.started -= 1
    until(lambda: watch.look_at_use([run]) or run.reason)  # not at once: looking takes no more than a part of the time
    assert (run.reason, run.reached, killed(run)) == ("limit", reached, True)


def test_a_run_with_too_much_on_the_disk_is_ended(watch: Watch, run: Run) -> None:
    folder = Path(run.order.scratch)
    folder.mkdir(parents=True)
    watch.look_at_disk([run])
    assert run.reason is None
    (folder / "file").write_bytes(os.urandom(3 << 20))
    run.disk_due = time.monotonic() + 60
    watch.look_at_disk([run])
    assert run.reason is None  # not worth counting yet
    run.disk_due, before = 0.0, time.monotonic()
    watch.look_at_disk([run])
    assert run.reason == "limit"
    assert run.reached is not None
    assert run.reached.resource == "disk"
    assert run.disk_due > before


def test_what_waits_behind_a_long_one_is_given_back(watch: Watch, farm: Farm, run: Run, sent: Any) -> None:
    waiting = Run(run.build, run.order)
    watch.look([waiting])
    assert waiting.reason is None
    waiting.claimed -= 2.5
    run.claimed -= 2.5
    watch.look([run])
    assert run.reason is None  # its turn has come
    sent.take()
    watch.look([waiting])
    assert waiting.reason == "late"
    with farm.database.read() as session:
        build = builds.get(session, waiting.order.build_id)
        assert (build.state, build.attempt, build.losses) == ("queued", 0, 0)
    assert sent.take() == ["lower"]


def test_runs_are_given_back_when_the_node_is_paused(watch: Watch, run: Run, presence: FakePresence) -> None:
    presence.paused = True
    watch.look([run])
    assert run.reason == "stopped"


def test_runs_are_given_back_when_the_worker_stops(watch: Watch, run: Run, stopping: threading.Event) -> None:
    stopping.set()
    watch.look([run])
    assert run.reason == "stopped"


def test_runs_are_looked_at_twice_a_second(farm: Farm, presence: FakePresence, stopping: threading.Event) -> None:
    """Who cancels does not wait for longer than that."""
    intervals, both = list[float](), threading.Barrier(5)

    class Watched(Runs):
        def watch(self, seconds: float, *_: object) -> None:
            intervals.append(seconds)
            both.wait(60)

    Watch(farm, Watched(), cast(Presence, presence), stopping).start()
    both.wait(60)
    assert max(intervals) <= 0.5


def test_leases_are_renewed_a_few_times_in_their_length(watch: Watch, farm: Farm, run: Run) -> None:
    def expires() -> Any:
        with farm.database.read() as session:
            return builds.get(session, run.order.build_id).lease_expires

    first = expires()
    watch.look([run])
    assert expires() == first
    run.renewed -= farm.settings.lease_seconds / 3
    before = time.monotonic()
    watch.look([run])
    assert expires() > first
    assert run.renewed >= before


def test_without_the_database_runs_end_before_their_lease_does(
    watch: Watch, farm: Farm, run: Run, tmp_path: Path
) -> None:
    farm.database.engine.dispose()
    (farm.settings.home / "millrace.db").rename(tmp_path / "away.db")
    run.renewed -= 0.7 * farm.settings.lease_seconds
    watch.look([run])
    watch.look_at_clock([run])
    assert run.reason is None
    run.renewed -= 0.2 * farm.settings.lease_seconds
    watch.look_at_clock([run])
    assert run.reason == "lost"
