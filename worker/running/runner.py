"""Runs claimed builds in executors, and records what the executor could not: that it died, or had to be ended."""

import logging
import signal
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from compiler.machine import Machine
from db.errors import LeaseLostError
from db.models import Build
from worker.errors import ServiceError, StoreError
from worker.farm import Farm
from worker.limits.table import limits_of_build
from worker.running.executing import NOT_READY
from worker.running.executors import Executors
from worker.running.giving_back import give_back
from worker.running.logsender import LogSender
from worker.running.nursery import LOST
from worker.running.orders import Order, Reply
from worker.running.recording import record
from worker.running.runs import Run, Runs
from worker.running.scratch import Scratch, remove_tree
from worker.stages.outcome import Outcome, limited
from worker.telemetry import fields

_LAST_LINE = 500
_KILLED = 128 + signal.SIGKILL

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """What it takes to run builds."""

    farm: Farm
    executors: Executors
    runs: Runs
    logs: LogSender
    scratch: Scratch
    machine: Machine

    def run(self, hand: Sequence[tuple[Build, int]], stopping: threading.Event) -> None:
        """Do builds, each with the token of its lease, one after the other; returns when each is recorded, given back
        or no longer ours. Those whose turn has not come when `stopping` is set are given back.
        """
        folder = self.farm.settings.log_dir / "jobs"
        runs = self._runs(hand, folder)
        self.runs.add(runs)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for run in runs:
                if stopping.is_set():
                    run.end("stopped")
                self._run(run)
        except BaseException:
            give_back(self.farm, runs)  # those that are recorded keep what they have
            raise
        finally:
            self.runs.remove(runs)

    def _run(self, run: Run) -> None:
        build = run.build
        with fields(build=build.id, exploration=build.exploration_id, stage=build.stage, attempt=build.attempt):
            run.take_turn()
            executor = self.executors.take(run.order.limits)
            self.executors.warm()
            kills, reply = _oom_kills(), None
            try:
                if run.begin(executor):
                    reply = executor.run(run.order)
            finally:
                self.runs.remove([run])
                self.executors.give_back(executor)
            self.logs.finish(run)
            _settle(self.farm, run, reply, oom_kills=_oom_kills() - kills)
            run.log.unlink(missing_ok=True)
            remove_tree(Path(run.order.scratch))  # that of an executor which was killed is still there

    def _runs(self, hand: Sequence[tuple[Build, int]], folder: Path) -> list[Run]:
        found: list[Run] = []
        later: set[tuple[str | None, str]] = set()
        for build, token in reversed(hand):
            of, log = (build.exploration_id, build.stage), str(folder / f"{build.id}-{token}.log")
            scratch = str(self.scratch.of(build.id, token))
            limits = limits_of_build(build, self.farm.settings).within(self.machine)
            order = Order(build.id, token, build.stage, log, scratch, limits, build, more=of in later)
            found.insert(0, Run(build, order))
            later.add(of)
        return found


def _settle(farm: Farm, run: Run, reply: Reply | None, *, oom_kills: int) -> None:
    if reply is not None:
        for queue in reply.tickets:
            farm.queue.send(queue)
        if reply.retire:
            _log.info("executor replaced: %s", reply.retire)
    elif run.reason == "lost":
        _log.warning("its lease was lost or revoked; its processes are ended and nothing of it is stored")
    elif run.reason == "stopped":
        give_back(farm, [run])
    elif run.reason == "late":
        _log.info("given back: it waited behind a build that takes long")
    elif run.reason == "timeout":
        _record(farm, run, _timed_out(run))
    elif (reached := run.reached or (run.executor and run.executor.reached)) is not None:
        _record(farm, run, limited(run.build.stage, run.build.tool_versions, reached))
    else:
        _record(farm, run, _crashed(run, oom_kills))


def _timed_out(run: Run) -> Outcome:
    text = (
        f"the {run.build.stage} stage was ended after {run.order.limits.timeout_s:g} s, its time limit, for most of "
        "which it waited; the end of its log says for what. Raise the limit (MILLRACE_REQUESTS) if it needs longer"
    )
    return Outcome(None, run.build.tool_versions, failure="timeout", error=text)


def _crashed(run: Run, oom_kills: int) -> Outcome:
    assert run.executor is not None
    build, status = run.build, run.executor.exit_status
    # What ended in another way is not what the system has killed meanwhile.
    out_of_memory = oom_kills > 0 and status == _KILLED
    how = _how(status, out_of_memory=out_of_memory)
    text = f"the {build.stage} process ended unexpectedly ({how}): {_last_line(run.log)} (see the build's log)"
    of_node = out_of_memory or status in (NOT_READY, LOST)
    return Outcome(None, build.tool_versions, failure="node" if of_node else "tool", error=text)


def _how(status: int, *, out_of_memory: bool) -> str:
    if status == NOT_READY:
        return "this node can not load what the stages need"
    if status == LOST:
        return "this node's process that forks executors has ended, and all of them with it"
    if status != _KILLED:
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
    except (SQLAlchemyError, ServiceError) as error:
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
