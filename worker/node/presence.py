"""What this worker is to the farm at this moment: announced, taking work or not, and from which queues."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from db.errors import NotFoundError
from db.models import NodeState
from db.repositories import nodes
from worker.farm import Farm
from worker.node.ballast import take_on_ballast
from worker.node.disk import has_room
from worker.node.holdings import Holdings
from worker.node.nodes import NodeInfo, describe
from worker.store.disk import disk_full_message

_DESCRIBE_SECONDS = 300.0
_ASK_SECONDS = 0.5

_log = logging.getLogger(__name__)

Consume = Callable[[frozenset[str]], None]
"""`consume(queues)`: take tickets from these queues, and from no others."""


class Presence:
    """The node as this worker stands for it. Safe to share between threads.

    The operator's word (drain, pause, resume) is in the database and asked for where it matters: before a claim and
    while builds run.
    """

    def __init__(self, farm: Farm, consume: Consume = lambda _: None) -> None:
        self._farm = farm
        self._consume = consume
        self._holdings = Holdings(farm.settings)
        self._lock = threading.Lock()
        self._info: NodeInfo | None = None
        self._described_at = 0.0
        self._state: NodeState = "active"
        self._asked_at = 0.0
        self._room = True
        self._drains = False

    @property
    def name(self) -> str:
        return self._farm.settings.node

    def queues(self) -> tuple[str, ...]:
        """Queues that this worker may claim from now; none while it takes no work."""
        self._ask()
        with self._lock:
            idle = self._info is None or self._state != "active" or self._drains or not self._room
            return () if idle or self._info is None else tuple(self._info.capabilities)

    def gives_back(self) -> bool:
        """Whether running builds are to be given back: the operator has paused the node."""
        self._ask()
        return self._state == "paused"

    @property
    def drains(self) -> bool:
        """Whether this worker takes no more work, whatever the node's state."""
        return self._drains

    def drain(self) -> None:
        """Take no more work, for good."""
        self._drains = True

    def look_again(self) -> None:
        """Have the next announcement look for tools anew."""
        self._described_at = 0.0

    def announce(self) -> None:
        """Tell the farm what this node offers, and consume accordingly. Raises SQLAlchemyError."""
        info = self._renewed()
        if self._room:
            take_on_ballast(self._farm.settings)
        else:
            info = replace(info, missing={**info.missing, "disk": disk_full_message(self._farm.settings.home)})
        with self._farm.database.write() as session:
            size = info.cpus, info.memory_gb, info.version
            nodes.announce(session, info.name, info.capabilities, info.missing, *size, self._holdings.latest())
        self._asked_at = 0.0
        self._consume(frozenset(self.queues()))

    def _renewed(self) -> NodeInfo:
        now = time.monotonic()
        if self._info is None or now - self._described_at > _DESCRIBE_SECONDS or not self._described_at:
            found = describe(self._farm.settings)
            with self._lock:
                self._info, self._described_at = found, now
        return self._info

    def _ask(self) -> None:
        """The operator's word and the room on the disk, not older than half a second."""
        with self._lock:
            if time.monotonic() - self._asked_at < _ASK_SECONDS:
                return
            self._asked_at = time.monotonic()
        try:
            self._room = has_room(self._farm.settings)
            with self._farm.database.read() as session:
                self._state = nodes.get(session, self.name).state
        except (OSError, SQLAlchemyError, NotFoundError) as error:
            _log.warning("whether this node is to work can not be found out: %s", error)
