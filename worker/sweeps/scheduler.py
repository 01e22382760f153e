"""The sweeps' clock: starts what is due, ends what has ended, calls webhooks; in one process of the farm at a time.

The worker ticks beside its other duties; a farm may have `python -m worker.sweeps.scheduler` for it instead, and
workers with MILLRACE_SCHEDULE=false. `python -m worker.sweeps.scheduler health` says by its exit code whether that one
ticks.
"""

import logging
import signal
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import FrameType

from sqlalchemy.exc import SQLAlchemyError

from compiler.errors import MillraceError
from db.errors import DatabaseError
from db.models import Sweep
from db.repositories import leaders, sweeps
from db.types import utcnow
from worker.comparison import sweeping
from worker.farm import Farm, open_farm
from worker.private import tighten
from worker.processes import identity, is_dead
from worker.settings import Settings
from worker.sweeps import sweep_runs
from worker.sweeps.schedule import is_late, next_time
from worker.sweeps.webhook_calls import call_waiting

TASK = "sweeps"
_LEAD_SECONDS = 60.0
_TICK_SECONDS = 10.0
_ALIVE_SECONDS = 60.0
_COUNTED = 1000  # of the runs that were missed

_log = logging.getLogger("worker.sweeps.scheduler")


def tick(farm: Farm, now: datetime | None = None) -> bool:
    """Do what is due `now`; False where another process of the farm does it. Webhooks are called beside it."""
    now = now or utcnow()
    if not _lead(farm):
        return False
    _finish_ended(farm)
    _start_due(farm, now)
    call_waiting(farm, now)
    return True


def _lead(farm: Farm) -> bool:
    with farm.database.write() as session:
        before = leaders.holder(session, TASK)
        if before is not None and is_dead(before):  # a restart need not wait until its time has run out
            leaders.resign(session, TASK, before)
        return leaders.lead(session, TASK, identity(), _LEAD_SECONDS)


def _finish_ended(farm: Farm) -> None:
    """Runs whose last exploration ended while nobody could look at them."""
    with farm.database.read() as session:
        running = [run.id for run in sweeps.all_running(session)]
    for run_id in running:
        sweeping.finish_quietly(farm, run_id)


def _start_due(farm: Farm, now: datetime) -> None:
    with farm.database.read() as session:
        due = [sweep.id for sweep in sweeps.due(session, now)]
    for sweep_id in due:
        try:
            _start_one(farm, sweep_id, now)
        except SQLAlchemyError:  # it is still due, and the others need not wait for it
            _log.exception("sweep %s could not be started; the next tick tries again", sweep_id)
        except Exception as error:  # noqa: BLE001 - one sweep that can not be started must not stop the clock
            _log.warning("sweep %s could not be started", sweep_id, exc_info=error)
            _put_off(farm, sweep_id, now, str(error))


def _start_one(farm: Farm, sweep_id: str, now: datetime) -> None:
    """Start a run of the sweep, or note why not; either way its next time is set in the same transaction."""
    with farm.database.write() as session:
        sweep = sweeps.lock(session, sweep_id)
        due = sweep.next_at
        if due is None or due > now:
            return  # somebody was here in between
        sweeps.set_next(session, sweep.id, next_time(sweep.cron, sweep.zone, now))
        busy = sweeps.running(session, sweep.id)
        if busy is not None:
            sweeps.note_skipped(session, sweep.id, due, f"not started: {busy.id}, the run before, is still under way")
        elif is_late(due, now) and sweep.misfire == "skip":
            sweeps.note_skipped(session, sweep.id, due, _missed(sweep, due, now))
        else:
            sweep_runs.start(farm, session, sweep.id, "late" if is_late(due, now) else "schedule", due)


def _missed(sweep: Sweep, due: datetime, now: datetime) -> str:
    times, found = due, 1
    while found < _COUNTED and (times := next_time(sweep.cron, sweep.zone, times)) <= now:
        found += 1
    runs = "1 run" if found == 1 else f"{found} runs or more" if found == _COUNTED else f"{found} runs"
    return f"not started: the farm was away until {now:%Y-%m-%d %H:%M} UTC, {runs} missed; its misfire policy is skip"


def _put_off(farm: Farm, sweep_id: str, now: datetime, why: str) -> None:
    """What can not be started now is tried at its next time; a schedule that can not be read any more is none."""
    with farm.database.write() as session:
        sweep = sweeps.lock(session, sweep_id)
        try:
            following = next_time(sweep.cron, sweep.zone, now)
        except MillraceError:
            following = None
        sweeps.note_skipped(session, sweep.id, sweep.next_at, f"not started: {why}")
        sweeps.set_next(session, sweep.id, following)


def main() -> None:
    """Tick until SIGTERM, or with `health` say whether the scheduler of this machine ticks."""
    settings = Settings()
    if sys.argv[1:] == ["health"]:
        sys.exit(0 if is_alive(settings) else "the scheduler has not ticked lately; look at its log")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    tighten(settings)
    farm = open_farm(settings)
    run(farm, stopping)
    with suppress(SQLAlchemyError), farm.database.write() as session:
        leaders.resign(session, TASK, identity())
    farm.close()


def run(farm: Farm, stopping: threading.Event, seconds: float = _TICK_SECONDS) -> None:
    """Tick every so many seconds until told to stop; a database that is away is waited for."""
    while not stopping.is_set():
        try:
            tick(farm)
            _report_alive(farm.settings)
        except (SQLAlchemyError, DatabaseError):
            _log.exception("the tick failed; the next one is in %s s", seconds)
        stopping.wait(seconds)


def _heartbeat(settings: Settings) -> Path:
    return settings.run_dir / "scheduler.alive"


def _report_alive(settings: Settings) -> None:
    path = _heartbeat(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def is_alive(settings: Settings) -> bool:
    """Whether the scheduler of this machine has ticked within the last minute."""
    path = _heartbeat(settings)
    return path.exists() and time.time() - path.stat().st_mtime < _ALIVE_SECONDS


if __name__ == "__main__":
    main()
