"""Runs one claimed build in an executor, and records what the executor could not: that it died, or had to be ended."""

import logging
import signal
from collections import deque
from contextlib import suppress
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from db.errors import LeaseLostError
from db.models import Build
from db.repositories import leases
from worker.errors import StoreError
from worker.farm import Farm
from worker.running.executors import Executors
from worker.running.logsender import LogSender
from worker.running.orders import Order, Reply
from worker.running.outcome import Outcome
from worker.running.recording import record
from worker.running.runs import Run, Runs
from worker.telemetry import fields

_LAST_LINE = 500

_log = logging.getLogger(__name__)


def run_build(farm: Farm, executors: Executors, runs: Runs, logs: LogSender, build: Build, token: int) -> None:
    """Do the build under the lease `token`; returns when it is recorded, given back, or no longer ours."""
    order = Order(build.id, token, build.stage, str(_log_file(farm, build.id, token)))
    with fields(build=build.id, exploration=build.exploration_id, stage=build.stage, attempt=build.attempt):
        executor = executors.take()
        executors.warm()
        run, kills = Run(order, executor, build.timeout_s), _oom_kills()
        runs.add(run)
        try:
            reply = executor.run(order)
        finally:
            runs.remove(run)
            executors.give_back(executor)
        logs.finish(run)
        _settle(farm, build, run, reply, out_of_memory=_oom_kills() > kills)
        run.log.unlink(missing_ok=True)


def _log_file(farm: Farm, build_id: str, token: int) -> Path:
    folder = farm.settings.log_dir / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{build_id}-{token}.log"


def _settle(farm: Farm, build: Build, run: Run, reply: Reply | None, *, out_of_memory: bool) -> None:
    if reply is not None:
        for queue in reply.tickets:
            farm.queue.send(queue)
        if reply.retire:
            _log.info("executor replaced: %s", reply.retire)
    elif run.reason == "lost":
        _log.warning("its lease was lost or revoked; its processes are ended and nothing of it is stored")
    elif run.reason == "stopped":
        _give_back(farm, run.order)
    elif run.reason == "timeout":
        _record(farm, run, _timed_out(build))
    else:
        _record(farm, run, _crashed(build, run, out_of_memory=out_of_memory))


def _give_back(farm: Farm, order: Order) -> None:
    try:
        with farm.database.write() as session:
            leases.release(session, order.build_id, order.token)
    except SQLAlchemyError as error:
        _log.warning("the build is not given back, its lease will run out: %s", error)


def _timed_out(build: Build) -> Outcome:
    text = (
        f"the {build.stage} stage was ended after {build.timeout_s:g} s, its time limit; the end of its log says what "
        "it was doing. Raise the limit (MILLRACE_REQUESTS) if it needs longer"
    )
    return Outcome(None, build.tool_versions, failure="timeout", error=text)


def _crashed(build: Build, run: Run, *, out_of_memory: bool) -> Outcome:
    how = _how(run.executor.exit_status, out_of_memory=out_of_memory)
    text = f"the {build.stage} process ended unexpectedly ({how}): {_last_line(run.log)} (see the build's log)"
    return Outcome(None, build.tool_versions, failure="node" if out_of_memory else "tool", error=text)


def _how(status: int, *, out_of_memory: bool) -> str:
    if status != 128 + signal.SIGKILL:
        return f"signal {status - 128}" if status > 128 else f"exit status {status}"
    if out_of_memory:
        return "killed by the system for want of memory"
    return "killed, most likely for want of memory"


def _last_line(log: Path) -> str:
    with suppress(OSError), log.open(errors="replace") as file:
        lines = deque((line.strip() for line in file if line.strip()), maxlen=1)
        return lines[0][:_LAST_LINE] if lines else "no output"
    return "no output"


def _record(farm: Farm, run: Run, outcome: Outcome) -> None:
    _log.error("%s", outcome.error)
    try:
        record(farm, run.order, outcome, _stored_log(farm, run.log))
    except LeaseLostError:
        _log.info("given to another worker meanwhile")
    except SQLAlchemyError as error:
        _log.error("its failure could not be stored; its lease will run out: %s", error)


def _stored_log(farm: Farm, log: Path) -> str | None:
    try:
        return farm.store.put_file(log)[0]
    except (StoreError, OSError) as error:
        _log.warning("its log is not kept: %s", error)
        return None


def _oom_kills() -> int:
    """Processes that this machine's kernel has killed for want of memory, ever."""
    with suppress(OSError), Path("/proc/vmstat").open() as file:
        return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    return 0
