"""The Celery task: it takes a queue's name and lets a slot work."""

from celery import Celery  # pyright: ignore[reportMissingTypeStubs]

from worker.queue.broker import WORK
from worker.running.work import Crew, work


def register(app: Celery, crew: Crew) -> None:
    """Make the task known to `app`."""

    def take_ticket(queue: str) -> None:
        work(crew, queue)

    app.task(name=WORK)(take_ticket)  # pyright: ignore[reportUnknownMemberType]
