"""One worker: `python -m worker [PARENT]`. Takes work from every queue; with PARENT it ends when that process does.

Celery's threads only watch: each job runs in processes of its own (`worker.job`), so nothing heavy is loaded here and a
search may start processes itself.
"""

import logging
import sys
import threading
from typing import Any

from celery import signals  # pyright: ignore[reportMissingTypeStubs]
from sqlalchemy.exc import SQLAlchemyError

from db.errors import DatabaseError
from worker.broker import QUEUES, make_celery
from worker.farm import Farm, open_farm
from worker.processes import die_with, identity
from worker.reaper import reap, recover
from worker.scratch import sweep_scratch
from worker.settings import Settings
from worker.tasks import register

_log = logging.getLogger("worker")


def main() -> None:
    """Run until SIGTERM; running jobs are killed and their leases given back."""
    if len(sys.argv) > 1:
        die_with(int(sys.argv[1]))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = Settings()
    farm = open_farm(settings)
    stopping = threading.Event()
    app = make_celery(settings)
    register(app, farm, stopping)
    _connect_signals(farm, stopping)
    arguments = ["--pool=threads", f"--concurrency={settings.concurrency}", f"--queues={','.join(QUEUES)}"]
    quick = ["--without-gossip", "--without-mingle", "--loglevel=WARNING"]
    app.worker_main(["worker", *arguments, *quick])  # pyright: ignore[reportUnknownMemberType]


def _connect_signals(farm: Farm, stopping: threading.Event) -> None:
    def ready(**_: Any) -> None:
        sweep_scratch(farm.settings)
        threading.Thread(target=_tend, args=(farm, stopping), daemon=True, name="reaper").start()

    def shutting_down(**_: Any) -> None:
        stopping.set()

    signals.worker_ready.connect(ready, weak=False)  # pyright: ignore[reportUnknownMemberType]
    signals.worker_shutting_down.connect(shutting_down, weak=False)  # pyright: ignore[reportUnknownMemberType]


def _tend(farm: Farm, stopping: threading.Event) -> None:
    """Report this worker as alive and look for lost work, now and then."""
    step = recover
    while not stopping.is_set():
        farm.bus.report_alive(identity(), 3 * farm.settings.reap_seconds)
        try:
            step(farm)
            step = reap
        except (SQLAlchemyError, DatabaseError):
            _log.exception("the reaper failed; it tries again in %s s", farm.settings.reap_seconds)
        stopping.wait(farm.settings.reap_seconds)


if __name__ == "__main__":
    main()
