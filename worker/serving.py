"""One worker: `python -m worker [PARENT] [--drain]`. Serves the queues that its node can.

With PARENT it ends when that process does; with `--drain` when there was nothing to do for a while. SIGTERM: running
builds are ended and given back. SIGUSR1: it takes no more builds and ends when those that run have ended. SIGHUP: it
looks again what the node can do.

Celery's threads only wait: each job runs in a process of its own (`worker.running.job`), so nothing heavy is loaded
here.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from celery import Celery, signals  # pyright: ignore[reportMissingTypeStubs]

from compiler.machine import find_machine
from worker.farm import Farm, open_farm
from worker.limits.backends import choose
from worker.node.presence import Presence
from worker.private import tighten
from worker.processes import die_with
from worker.queue.broker import WORK, make_celery
from worker.queue.consuming import Consuming
from worker.running.executors import Executors
from worker.running.logsender import LogSender
from worker.running.runner import Runner
from worker.running.runs import Runs
from worker.running.scratch import Scratch
from worker.running.tending import Tending
from worker.running.watch import Watch
from worker.running.work import Crew, work
from worker.settings import Settings
from worker.telemetry import configure_logging


def main(arguments: list[str]) -> None:
    """Run until SIGTERM; running jobs are killed and their leases given back."""
    for parent in filter(str.isdigit, arguments):
        die_with(int(parent))
    settings = Settings()
    configure_logging(settings)
    tighten(settings)
    app = make_celery(settings)
    consuming = Consuming()
    crew = _crew(open_farm(settings), consuming)
    tending = Tending(crew, ends_when_idle="--drain" in arguments)
    signals.worker_ready.connect(_starter(crew, consuming, tending), weak=False)  # pyright: ignore[reportUnknownMemberType]

    def take_ticket(queue: str) -> None:
        try:
            work(crew, queue)
        finally:
            consuming.look_soon()

    app.task(name=WORK)(take_ticket)  # pyright: ignore[reportUnknownMemberType]

    def shutting_down(**_: Any) -> None:
        crew.stopping.set()

    signals.worker_shutting_down.connect(shutting_down, weak=False)  # pyright: ignore[reportUnknownMemberType]
    try:
        _serve(app, settings)
    finally:
        crew.runner.executors.close()
        crew.runner.scratch.close()


def _crew(farm: Farm, consuming: Consuming) -> Crew:
    runs, settings = Runs(), farm.settings
    executors = Executors(settings.environment(), choose(settings.cgroups).backend)
    return Crew(
        farm=farm,
        stopping=threading.Event(),
        presence=Presence(farm, consuming.set),
        runner=Runner(farm, executors, runs, LogSender(farm.bus.logs, runs), Scratch(settings), find_machine()),
    )


def _starter(crew: Crew, consuming: Consuming, tending: Tending) -> Callable[..., None]:
    def drain(_signal: int, _frame: FrameType | None) -> None:
        crew.presence.drain()
        tending.wake()

    def look_again(_signal: int, _frame: FrameType | None) -> None:
        crew.presence.look_again()
        tending.wake()

    def ready(sender: Any, **_: Any) -> None:
        consuming.begin(sender)
        signal.signal(signal.SIGUSR1, drain)
        signal.signal(signal.SIGHUP, look_again)
        backend = crew.runner.executors.backend
        Watch(crew.farm, crew.runner.runs, crew.presence, crew.stopping, backend.look_seconds).start()
        crew.runner.logs.start()
        tending.start()

    return ready


def _serve(app: Celery, settings: Settings) -> None:
    """Run Celery, from no queue at first: the first announcement says which. Its command line would do the same, and
    load a shell with completion and colours for it, which takes half as long as all else that is loaded here.
    """
    worker = app.Worker(  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        hostname=f"w{os.getpid()}@{socket.gethostname()}",
        pool="threads",
        concurrency=settings.concurrency,
        queues=[Consuming.NONE],
        loglevel="WARNING",
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()  # pyright: ignore[reportUnknownMemberType]
