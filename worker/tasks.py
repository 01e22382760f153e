"""The Celery tasks: each takes an id, runs its job, and lets the explorations that waited for it advance."""

import threading
from collections.abc import Callable

from celery import Celery  # pyright: ignore[reportMissingTypeStubs]

from db.repositories import builds, explorations
from worker.farm import Farm
from worker.flow import advance
from worker.runner import run_job


def register(app: Celery, farm: Farm, stopping: threading.Event) -> None:
    """Make the tasks known to `app`."""

    def lower(build_id: str) -> None:
        run_job(farm, "lower", build_id, stopping)
        _advance(_waiting_for(farm, build_id))

    def search(exploration_id: str) -> None:
        run_job(farm, "search", exploration_id, stopping)
        _advance([exploration_id])

    def simulate(build_id: str) -> None:
        run_job(farm, "simulate", build_id, stopping)
        _advance(_exploration_of(farm, build_id))

    def csim(build_id: str) -> None:
        run_job(farm, "csim", build_id, stopping)
        _advance(_exploration_of(farm, build_id))

    def _advance(exploration_ids: list[str]) -> None:
        # A worker that is told to stop has given its work back; the next one takes it up when it starts.
        for exploration_id in [] if stopping.is_set() else exploration_ids:
            advance(farm, exploration_id)

    tasks: dict[str, Callable[[str], None]] = {"lower": lower, "search": search, "simulate": simulate, "csim": csim}
    for name, function in tasks.items():
        app.task(name=f"millrace.{name}")(function)  # pyright: ignore[reportUnknownMemberType]


def _waiting_for(farm: Farm, build_id: str) -> list[str]:
    with farm.database.read() as session:
        return explorations.active(session, builds.get(session, build_id).workload_id)


def _exploration_of(farm: Farm, build_id: str) -> list[str]:
    with farm.database.read() as session:
        exploration_id = builds.exploration_of(session, build_id)
        return [] if exploration_id is None else [exploration_id]
