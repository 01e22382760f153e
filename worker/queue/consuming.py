"""From which queues Celery's consumer takes tickets, and when: both can be changed while it runs."""

import threading
from typing import Any, ClassVar

_ENDING_SECONDS = 0.01
"""In which a slot that has done its work is free."""


class Consuming:
    """Switches queues of one consumer on and off. Safe to share between threads."""

    NONE: ClassVar = "millrace"
    """A queue that nobody sends to: Celery wants one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._consumer: Any = None
        self._queues: frozenset[str] = frozenset()

    def begin(self, consumer: Any) -> None:
        """`consumer`: of Celery, once it is ready (its signal `worker_ready`)."""
        self._consumer = consumer

    def look_soon(self) -> None:
        """Take a ticket as soon as the slot is free that calls this at its end. Celery, none of whose slots was free,
        would look again when its loop next turns, which may take a second.
        """
        if self._consumer is not None:
            self._consumer.call_soon(self._consumer.hub.call_later, _ENDING_SECONDS, lambda: None)

    def set(self, queues: frozenset[str]) -> None:
        """Take tickets from these queues and from no others."""
        with self._lock:
            if self._consumer is None or queues == self._queues:
                return
            for queue in queues - self._queues:
                self._consumer.call_soon(self._consumer.add_task_queue, queue)
            for queue in self._queues - queues:
                self._consumer.call_soon(self._consumer.cancel_task_queue, queue)
            self._queues = queues
