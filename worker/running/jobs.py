"""The job of an executor: open the build's context, call the function of its stage, and record what came of it."""

import os
import resource
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import configure_mappers

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from db import models
from db.errors import LeaseLostError
from db.models import Failure
from db.repositories import builds, leases
from worker.errors import DiskFullError, ServiceError, StoreAwayError, StoreError
from worker.farm import Farm, open_farm
from worker.ladder.versions import tools_of
from worker.limits.disk import beyond
from worker.limits.group import Exceeded, is_busy
from worker.limits.table import Limits
from worker.node.ballast import drop_ballast
from worker.node.disk import is_disk_full
from worker.running.executing import Perform, flush_output
from worker.running.orders import Order, Reply
from worker.running.recording import record
from worker.running.scratch import scratch_folder
from worker.settings import Settings
from worker.stages.context import JobContext
from worker.stages.functions import Stages, load_stages
from worker.stages.outcome import Outcome, StageError, limited
from worker.store.disk import disk_full_message

_ASK_SECONDS = 1.0
_NEAR = 0.95
"""Part of a limit at which a job that fails has failed for it."""


def open_jobs() -> Perform:
    """A function that does jobs with the handles of this process."""
    settings, tickets = Settings(), list[str]()
    farm, stages = open_farm(settings, send=tickets.append), load_stages(settings.stages)
    configure_mappers()

    def perform(order: Order) -> Reply:
        tickets.clear()
        try:
            outcome = run_stage(farm, stages, order)
            record(farm, order, outcome, _stored_log(farm, Path(order.log)))
        except LeaseLostError as error:
            print(error)
            return Reply("lost")
        # The worker has what it takes to send them, this process would have to load it first.
        return Reply(tickets=list(tickets))

    return perform


def run_stage(farm: Farm, stages: Stages, order: Order) -> Outcome:
    """What the stage's function found, or how it failed. Raises LeaseLostError, and what is a fault of this program."""
    build, started, computed = order.build or _read(farm, order), time.monotonic(), _computed()
    with scratch_folder(Path(order.scratch)) as scratch, _told(order.limits):
        outcome = _run(farm, stages, JobContext(build, order.token, _say, scratch, _asker(farm, order)))
        seconds, cpu_s = time.monotonic() - started, _computed() - computed
        reached = None if outcome.failure is None else _reached(order, outcome.failure, seconds, cpu_s)
    if reached is None:
        return outcome
    print(outcome.error)
    return limited(build.stage, outcome.tool_versions, reached)


def _run(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    try:
        _check_tools(job.build)
        return stages.run(farm, job)
    except (MillraceError, ServiceError, OSError, OperationalError, MemoryError) as error:
        return _failed(farm, job.build, error)


def _computed() -> float:
    """Seconds of processor time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _reached(order: Order, failure: Failure, seconds: float, cpu_s: float) -> Exceeded | None:
    """The limit that made a job fail: what it says of itself may only be that a tool was killed, or found no room."""
    limits, group = order.limits, order.group
    if (found := beyond(Path(order.scratch), replace(limits, disk_gb=_NEAR * limits.disk_gb))) is not None:
        return replace(found, limit=limits.disk_bytes) if found.resource == "disk" else found
    if failure == "timeout" and seconds > _NEAR * limits.timeout_s and is_busy(cpu_s, seconds):
        return Exceeded("time", limits.timeout_s, seconds)
    return None if group is None else group.exceeded(limits, order.since)


@contextmanager
def _told(limits: Limits) -> Generator[None]:
    """This process and those that it starts know what they have: of memory, see `compiler.machine`; and the kernel lets
    no file grow beyond the disk.
    """
    given = {resource.RLIMIT_RSS: limits.memory_bytes, resource.RLIMIT_FSIZE: limits.disk_bytes}
    before = {kind: resource.getrlimit(kind) for kind in given}
    for kind, value in given.items():
        hard = before[kind][1]
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
    try:
        yield
    finally:
        for kind, values in before.items():
            resource.setrlimit(kind, values)


def _read(farm: Farm, order: Order) -> models.Build:
    return farm.database.retry(lambda session: builds.get(session, order.build_id), farm.settings.lease_seconds)


def _check_tools(build: models.Build) -> None:
    """Raises StageError where the build's key names other tools than this node has: others would share the result."""
    here = {name: v for name, v in tools_of(build.stage, build.options).items() if name != "vitis"}  # queues have it
    others = [f"{name} {v}" for name, v in build.tool_versions.items() if here.get(name, v) != v]
    if others:
        text = f"this build is to be done with {', '.join(others)}; this node has other versions: bring it up to date"
        raise StageError("node", text)


def _failed(farm: Farm, build: models.Build, error: Exception) -> Outcome:
    text = str(error) or type(error).__name__
    if is_disk_full(error):
        text = disk_full_message(farm.settings.home)
        drop_ballast(farm.settings)
    with suppress(OSError):  # the log may be on the full disk
        traceback.print_exception(error)
    return Outcome(None, build.tool_versions, failure=_kind(error), error=text)


def _kind(error: Exception) -> Failure:
    if isinstance(error, StageError):
        return error.failure
    if isinstance(error, InvalidInputError | UnsupportedError):
        return "infeasible"
    if isinstance(error, OperationalError | MemoryError | StoreAwayError | DiskFullError) or is_disk_full(error):
        return "node"
    return "tool"


def _asker(farm: Farm, order: Order) -> Callable[[], bool]:
    """Whether the lease is still held, asked of the database once a second."""
    asked, held = 0.0, True

    def ask() -> bool:
        nonlocal asked, held
        if held and time.monotonic() - asked > _ASK_SECONDS:
            asked = time.monotonic()
            with farm.database.read() as session:
                held = leases.holds(session, order.build_id, order.token)
        return held

    return ask


def _stored_log(farm: Farm, log: Path) -> str | None:
    flush_output()
    try:
        return farm.store.put_file(log)[0] if log.stat().st_size else None
    except (StoreError, OSError) as error:
        print(f"the log is not kept: {error}")
        return None


def _say(text: str) -> None:
    """A line of the build's log."""
    print(text, flush=True)
