"""Runs one job: takes the lease, starts the process, renews the lease, kills the process tree when told to."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Literal

from sqlalchemy.exc import OperationalError

from db.errors import LeaseLostError
from db.models import Build, Exploration
from db.repositories import builds, explorations, leases
from worker.build_events import emit_build
from worker.errors import StoreError
from worker.farm import Farm
from worker.job import DISK_FULL, LEASE_LOST
from worker.outcome import record_failure
from worker.processes import identity

Stage = Literal["lower", "search", "simulate", "csim"]
_POLL_SECONDS = 0.3
_KILL_SECONDS = 10
_LAST_LINE = 500

_log = logging.getLogger(__name__)


def run_job(farm: Farm, stage: Stage, key: str, stopping: threading.Event) -> bool:
    """Do the work that row `key` stands for; False when another holds it or it is finished.

    When `stopping` is set the job is killed and its lease given back, for the next worker to go on.
    """
    token = _claim(farm, stage, key)
    if token is None:
        return False
    log = farm.settings.log_dir / "jobs" / f"{key}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    process = _spawn(farm, stage, key, token, log)
    try:
        code = _watch(farm, stage, key, token, process, stopping)
    finally:
        kill_job(process)
    if code is None:
        _give_back(farm, stage, key, token)
    elif code not in (0, LEASE_LOST):
        _record_crash(farm, stage, key, token, code, log)
    if stage != "search":
        _keep_log(farm, key, token, log)
    return True


def _table(stage: Stage) -> leases.LeasedTable:
    return Exploration if stage == "search" else Build


def _claim(farm: Farm, stage: Stage, key: str) -> int | None:
    table = _table(stage)
    states = ("searching",) if table is Exploration else ("queued", "running")
    with farm.database.write() as session:
        exploration_id = builds.exploration_of(session, key) if table is Build else None
        if exploration_id is not None:
            explorations.lock(session, exploration_id)
        token = leases.claim(session, table, key, identity(), farm.settings.lease_seconds, states)
        if token is not None and table is Build:
            builds.start(session, key)
            if exploration_id is not None:
                emit_build(farm, session, exploration_id, builds.get(session, key))
    return token


def _spawn(farm: Farm, stage: Stage, key: str, token: int, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "worker.job", stage, key, str(token), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=farm.settings.environment(),
        )


def _watch(
    farm: Farm, stage: Stage, key: str, token: int, process: subprocess.Popen[bytes], stopping: threading.Event
) -> int | None:
    """Exit status of the job; LEASE_LOST when the lease is gone; None when this worker is told to stop."""
    renewed = time.monotonic()
    while True:
        try:
            return process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        if stopping.is_set():
            return None
        due = time.monotonic() - renewed > farm.settings.lease_seconds / 4
        held = _check_lease(farm, stage, key, token, renew=due)
        if held is None and time.monotonic() - renewed > farm.settings.lease_seconds:
            _log.error("%s: the database was away for longer than the lease", key)
            return LEASE_LOST
        if held is False:
            return LEASE_LOST
        if held and due:
            renewed = time.monotonic()


def _check_lease(farm: Farm, stage: Stage, key: str, token: int, *, renew: bool) -> bool | None:
    """Whether we hold the lease; None when the database does not answer."""
    try:
        if renew:
            with farm.database.write() as session:
                return leases.renew(session, _table(stage), key, token, farm.settings.lease_seconds)
        with farm.database.read() as session:
            return leases.holds(session, _table(stage), key, token)
    except OperationalError as error:
        _log.warning("%s: the database does not answer: %s", key, error)
        return None


def kill_job(process: subprocess.Popen[bytes]) -> None:
    """End the job and everything it started. The guard does the killing; it is killed itself only if it hangs."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_KILL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _give_back(farm: Farm, stage: Stage, key: str, token: int) -> None:
    with farm.database.write() as session:
        leases.release(session, _table(stage), key, token)


def _record_crash(farm: Farm, stage: Stage, key: str, token: int, code: int, log: Path) -> None:
    last = next((line for line in reversed(log.read_text(errors="replace").splitlines()) if line.strip()), "no output")
    where = log if stage == "search" else "the build's log"
    text = f"the {stage} process ended unexpectedly ({_reason(code)}): {last[:_LAST_LINE]} (see {where})"
    _log.error("%s: %s", key, text)
    try:
        record_failure(farm, stage, key, token, "tool", text)
    except LeaseLostError:
        _log.info("%s: given to another worker meanwhile", key)
    except OperationalError as error:
        _log.error("%s: its failure could not be stored; its lease will run out: %s", key, error)


def _reason(code: int) -> str:
    if code == DISK_FULL:
        return "the disk is full: free some space, then resume"
    if code == 128 + signal.SIGKILL:
        return "killed, most likely for want of memory"
    return f"signal {code - 128}" if code > 128 else f"exit status {code}"


def _keep_log(farm: Farm, key: str, token: int, log: Path) -> None:
    try:
        digest, _ = farm.store.put_file(log)
    except (StoreError, OSError) as error:
        _log.warning("%s: its log stays at %s: %s", key, log, error)
        return
    with farm.database.write() as session:
        builds.set_log(session, key, token, digest)
    log.unlink(missing_ok=True)
