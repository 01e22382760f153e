"""The job of an executor: open the build's context, call the function of its stage, and record what came of it."""

import time
import traceback
from collections.abc import Callable
from contextlib import suppress
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
from worker.node.ballast import drop_ballast
from worker.node.disk import is_disk_full
from worker.running.executing import Perform, flush_output
from worker.running.orders import Order, Reply
from worker.running.recording import record
from worker.running.scratch import scratch_directory
from worker.settings import Settings
from worker.stages.context import JobContext
from worker.stages.functions import Stages, load_stages
from worker.stages.outcome import Outcome, StageError
from worker.store.disk import disk_full_message

_ASK_SECONDS = 1.0


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
    build = order.build or _read(farm, order)
    try:
        _check_tools(build)
        with scratch_directory(farm.settings) as scratch:
            return stages.run(farm, JobContext(build, order.token, _say, scratch, _asker(farm, order)))
    except (MillraceError, ServiceError, OSError, OperationalError, MemoryError) as error:
        return _failed(farm, build, error)


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
