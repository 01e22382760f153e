"""The room of a node: its CPUs and memory, less what the builds that run there ask for.

Who does not find room waits for it, first come, first served: what is left beside the first one's request is all that
the others may use. So neither do small builds take each other's room for ever while a large one waits, nor large ones
while a small one does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.models import Build, Node
from db.repositories.lanes import Head
from db.types import utcnow

_PATIENCE = timedelta(seconds=60)
"""How long room is kept for a request that no worker asks for again."""
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class Room:
    """CPUs and memory in GB."""

    cpus: float
    memory_gb: float

    def holds(self, other: "Room") -> bool:
        return other.cpus <= self.cpus + _EPSILON and other.memory_gb <= self.memory_gb + _EPSILON

    def __sub__(self, other: "Room") -> "Room":
        return Room(self.cpus - other.cpus, self.memory_gb - other.memory_gb)


def free(session: Session, node: Node) -> Room:
    """What the builds that run on the node leave of it."""
    return _total(node) - _sum(_occupied(session, node))


def is_large_enough(node: Node, head: Head) -> bool:
    """Whether the node has the room when nothing else runs there."""
    return _total(node).holds(_wanted(head))


def has_room(session: Session, name: str, head: Head, *, lock: bool = False) -> bool:
    """Whether the build may start on the node now. With `lock` no other claim changes that meanwhile."""
    node = session.get(Node, name, with_for_update=lock or None, populate_existing=True)
    if node is None:
        return False
    occupied, wanted = _occupied(session, node), _wanted(head)
    if not (_total(node) - _sum(occupied)).holds(wanted):
        return False
    first = next(iter(_waiting(node)), None)
    if first is None or _is_of(first, head):
        return True
    # What can not run beside the first one has to end anyway; the others together must leave it its room.
    beside = _total(node) - Room(first["cpus"], first["memory_gb"])
    return beside.holds(_sum([wanted, *(room for room in occupied if beside.holds(room))]))


def wait(session: Session, name: str, heads: Sequence[Head]) -> None:
    """Note that builds would start on the node if there were room; nothing happens where they never fit. Left out where
    another claim has locked the node: who waits is asked for again soon.
    """
    query = select(Node).where(Node.name == name).with_for_update(skip_locked=True)
    node = session.scalars(query.execution_options(populate_existing=True)).first()
    if node is None:
        return
    for head in heads:
        if is_large_enough(node, head):
            node.waiting = _with(_waiting(node), head)
    session.flush()


def _with(waiting: list[dict[str, Any]], head: Head) -> list[dict[str, Any]]:
    entry = {"queue": head.queue, "request": head.request, "cpus": head.cpus, "memory_gb": head.memory_gb}
    entry |= {"until": (utcnow() + _PATIENCE).isoformat()}
    found = [entry if _is_of(other, head) else other for other in waiting]
    return found if entry in found else [*found, entry]


def stop_waiting(session: Session, name: str, head: Head) -> None:
    """Note that one of those that waited has started; the next of its kind waits behind the others. The caller has
    locked the node.
    """
    node = session.get_one(Node, name)
    node.waiting = [other for other in _waiting(node) if not _is_of(other, head)]
    session.flush()


def _waiting(node: Node) -> list[dict[str, Any]]:
    return [entry for entry in node.waiting if datetime.fromisoformat(entry["until"]) > utcnow()]


def _is_of(entry: dict[str, Any], head: Head) -> bool:
    return (entry["queue"], entry["request"]) == (head.queue, head.request)


def _occupied(session: Session, node: Node) -> list[Room]:
    """What each holder of leases takes: it runs one build at a time."""
    of_holder = (func.max(Build.cpus), func.max(Build.memory_gb))
    query = select(*of_holder).where(Build.node == node.name, Build.state == "running").group_by(Build.lease_owner)
    return [Room(cpus, memory_gb) for cpus, memory_gb in session.execute(query).all()]


def _total(node: Node) -> Room:
    return Room(node.cpus, node.memory_gb)


def _wanted(head: Head) -> Room:
    return Room(head.cpus, head.memory_gb)


def _sum(rooms: Iterable[Room]) -> Room:
    found = list(rooms)
    return Room(sum(room.cpus for room in found), sum(room.memory_gb for room in found))
