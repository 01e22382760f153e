import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from farm_states import announce, work
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sweeps import add_sweep, run_now, run_through, runs_of, set_next, start, sweep_now

from db.models import SweepRun
from db.repositories import leaders
from worker.comparison import sweeping
from worker.farm import Farm
from worker.sweeps import scheduler, sweep_runs, webhook_calls
from worker.sweeps.scheduler import TASK, tick
from worker.sweeps.webhooks import Delivery

THREE = datetime(2026, 5, 4, 3, tzinfo=UTC)


def later(**by: float) -> datetime:
    return THREE + timedelta(**by)


def test_what_is_due_is_started_once(farm: Farm) -> None:
    sweep = add_sweep(farm, next_at=THREE)
    tick(farm, later(seconds=-1))
    assert runs_of(farm, sweep) == []
    tick(farm, later(seconds=5))
    tick(farm, later(seconds=20))
    [run] = runs_of(farm, sweep)
    assert (run.cause, run.scheduled_for, run.state) == ("schedule", THREE, "running")
    assert sweep_now(farm, sweep).next_at == later(days=1)


def test_a_disabled_sweep_is_left_alone(farm: Farm) -> None:
    sweep = add_sweep(farm, next_at=None)
    tick(farm, later(days=400))
    assert runs_of(farm, sweep) == []


def test_after_downtime_skip_notes_what_was_missed(farm: Farm) -> None:
    sweep = add_sweep(farm, misfire="skip", next_at=THREE)
    tick(farm, later(days=2, hours=5))
    [run] = runs_of(farm, sweep)
    assert (run.state, run.scheduled_for) == ("cancelled", THREE)
    assert run.error == (
        "not started: the farm was away until 2026-05-06 08:00 UTC, 3 runs missed; its misfire policy is skip"
    )
    assert sweep_now(farm, sweep).next_at == later(days=3)


def test_after_downtime_run_once_runs_one_of_what_was_missed(farm: Farm) -> None:
    sweep = add_sweep(farm, misfire="run_once", next_at=THREE)
    tick(farm, later(days=2, hours=5))
    tick(farm, later(days=2, hours=6))
    [run] = runs_of(farm, sweep)
    assert (run.cause, run.state) == ("late", "running")
    assert sweep_now(farm, sweep).next_at == later(days=3)


def test_a_few_minutes_late_is_on_time(farm: Farm) -> None:
    sweep = add_sweep(farm, misfire="skip", next_at=THREE)
    tick(farm, later(minutes=4))
    assert [run.cause for run in runs_of(farm, sweep)] == ["schedule"]


def test_two_runs_of_a_sweep_never_meet(farm: Farm) -> None:
    sweep = add_sweep(farm, next_at=THREE)
    first = start(farm, sweep)
    tick(farm, later(seconds=5))
    noted, running = runs_of(farm, sweep)
    assert (running.id, running.state) == (first.id, "running")
    assert noted.error == f"not started: {first.id}, the run before, is still under way"
    assert sweep_now(farm, sweep).next_at == later(days=1)


def test_only_the_leader_ticks(farm: Farm) -> None:
    sweep = add_sweep(farm, next_at=THREE)
    with farm.database.write() as session:
        assert leaders.lead(session, TASK, "another process", 60)
    assert not tick(farm, later(seconds=5))
    assert runs_of(farm, sweep) == []


def test_a_sweep_that_can_not_be_started_is_put_off_and_others_run(farm: Farm) -> None:
    broken = add_sweep(farm, "broken", next_at=THREE, matrix={"workload": ["wkl_gone"], "platform": [], "seed": []})
    good = add_sweep(farm, "good", next_at=later(seconds=1))
    tick(farm, later(seconds=5))
    [noted] = runs_of(farm, broken)
    assert noted.error is not None
    assert noted.error.startswith("not started: ")
    assert sweep_now(farm, broken).next_at == later(days=1)
    assert [run.state for run in runs_of(farm, good)] == ["running"]


def test_a_sweep_that_the_database_refuses_holds_up_nobody(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one's row is locked, say."""
    locked = add_sweep(farm, "locked", next_at=THREE)
    free = add_sweep(farm, "free", next_at=later(seconds=1))
    begin = sweep_runs.start

    def refuse(farm: Farm, session: Session, sweep_id: str, *rest: Any) -> SweepRun:
        if sweep_id == locked.id:
            raise OperationalError("SELECT", None, Exception("lock timeout"))
        return begin(farm, session, sweep_id, *rest)

    with monkeypatch.context() as refusing:
        refusing.setattr(sweep_runs, "start", refuse)
        assert tick(farm, later(seconds=5))
    assert [run.state for run in runs_of(farm, free)] == ["running"]
    assert (runs_of(farm, locked), sweep_now(farm, locked).next_at) == ([], THREE)
    tick(farm, later(seconds=15))
    assert [run.cause for run in runs_of(farm, locked)] == ["schedule"]


def test_a_run_that_can_not_be_ended_holds_up_nobody(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(farm, add_sweep(farm, "odd", next_at=None))
    due = add_sweep(farm, next_at=THREE)
    monkeypatch.setattr(sweeping, "finish", lambda *_: 1 / 0)
    assert tick(farm, later(seconds=5))
    assert [run.state for run in runs_of(farm, due)] == ["running"]
    assert run_now(farm, run.id).state == "running"


def test_more_than_a_thousand_missed_runs_are_not_counted(farm: Farm) -> None:
    sweep = add_sweep(farm, cron="* * * * *", next_at=THREE)
    tick(farm, later(days=7))
    [run] = runs_of(farm, sweep)
    assert run.error is not None
    assert "1000 runs or more missed" in run.error


def test_a_run_whose_end_nobody_saw_is_ended_by_the_tick(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm, next_at=None)
    announce(farm)
    with monkeypatch.context() as crash:
        crash.setattr(sweeping, "finish", lambda *_: 1 / 0)
        run = start(farm, sweep)
        work(farm)
    assert run_now(farm, run.id).state == "running"
    tick(farm, later())
    assert run_now(farm, run.id).state == "changed"


def webhook_of(run: SweepRun) -> dict[str, Any]:
    assert run.comparison is not None
    return run.comparison["webhook"]


def called(farm: Farm, run_id: str) -> SweepRun:
    """The run once its webhook has been called to an end."""
    deadline = time.monotonic() + 60
    while webhook_of(run_now(farm, run_id))["state"] in ("waiting", "sending") and time.monotonic() < deadline:
        time.sleep(0.02)
    return run_now(farm, run_id)


def test_a_webhook_is_called_once_beside_the_tick(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def deliver(*call: Any) -> Delivery:
        calls.append(call)
        return Delivery(2, 200, None)

    monkeypatch.setattr(webhook_calls, "deliver", deliver)
    run = run_through(farm, add_sweep(farm, next_at=None, webhook="https://example.org/hook"))
    assert webhook_of(run)["state"] == "waiting"
    tick(farm)
    done = called(farm, run.id)
    tick(farm)
    assert (webhook_of(done)["state"], webhook_of(done)["attempts"], webhook_of(done)["status"]) == ("sent", 2, 200)
    [(url, body, run_id, secret, hosts)] = calls
    assert (url, run_id, secret, hosts) == ("https://example.org/hook", run.id, None, ())
    assert (body["sweep"]["name"], body["state"], body["regressions"]) == ("nightly", "changed", [])
    assert body["link"] == f"http://127.0.0.1:8642/v1/sweep-runs/{run.id}"


def test_a_slow_webhook_does_not_hold_the_tick(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    released = threading.Event()

    def deliver(*_: Any) -> Delivery:
        assert released.wait(60), "the tick waits for it"
        return Delivery(3, None, "example.org could not be called: slow")

    monkeypatch.setattr(webhook_calls, "deliver", deliver)
    run = run_through(farm, add_sweep(farm, next_at=None, webhook="https://example.org/hook"))
    tick(farm)
    tick(farm)
    assert webhook_of(run_now(farm, run.id))["state"] == "sending"
    released.set()
    assert webhook_of(called(farm, run.id))["error"] == "example.org could not be called: slow"


def test_a_webhook_whose_caller_died_is_called_again(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_calls, "_start", lambda *_: None)  # the process ends right after its claim
    run = run_through(farm, add_sweep(farm, next_at=None, webhook="https://example.org/hook"))
    tick(farm)
    assert webhook_of(run_now(farm, run.id))["state"] == "sending"
    started: list[str] = []
    monkeypatch.setattr(webhook_calls, "_start", lambda _, call: started.append(call.run_id))
    tick(farm)
    assert started == []
    ended = run_now(farm, run.id).finished_at
    assert ended is not None
    tick(farm, ended + timedelta(minutes=4))
    assert started == [run.id]


def test_health_is_that_of_the_last_tick(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    stopping = threading.Event()
    assert not scheduler.is_alive(farm.settings)
    ticks: list[Farm] = []

    def tick_twice(farm: Farm) -> None:
        ticks.append(farm)
        if len(ticks) == 2:
            stopping.set()

    monkeypatch.setattr(scheduler, "tick", tick_twice)
    scheduler.run(farm, stopping, seconds=0.01)
    assert scheduler.is_alive(farm.settings)
    past = time.time() - 120
    os.utime(farm.settings.run_dir / "scheduler.alive", (past, past))
    assert not scheduler.is_alive(farm.settings)


def test_the_next_time_is_that_of_the_zone(farm: Farm) -> None:
    """2026-10-25, Berlin: the clocks go back between two runs at three."""
    due = datetime(2026, 10, 24, 1, tzinfo=UTC)
    sweep = add_sweep(farm, zone="Europe/Berlin", next_at=due)
    tick(farm, due)
    assert sweep_now(farm, sweep).next_at == datetime(2026, 10, 25, 2, tzinfo=UTC)
    set_next(farm, sweep, None)


def test_a_leader_of_this_machine_that_is_dead_is_followed_at_once(farm: Farm) -> None:
    import subprocess
    import sys

    code = "from worker.processes import identity; print(identity())"
    dead = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    with farm.database.write() as session:
        assert leaders.lead(session, TASK, dead, 60)
    assert tick(farm, later())
