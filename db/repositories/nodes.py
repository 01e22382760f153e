"""Nodes: the machines of the farm and what they can run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Build, Node, NodeState
from db.repositories._statements import insert_or_ignore, rowcount
from db.types import utcnow

LOST_AFTER = timedelta(seconds=90)
"""A node that has announced nothing for so long is taken to be gone."""


def announce(
    session: Session,
    name: str,
    capabilities: Mapping[str, Mapping[str, str]],
    missing: Mapping[str, str],
    cpus: float,
    memory_gb: float,
    version: str,
    disk: Mapping[str, int] | None = None,
) -> Node:
    """Store what a worker says of its node: the newest word counts. The operator's state stays; `disk` has bytes."""
    now = utcnow()
    said = {"capabilities": {queue: dict(tools) for queue, tools in capabilities.items()}, "missing": dict(missing)}
    said |= {"cpus": cpus, "memory_gb": memory_gb, "version": version, "last_seen": now, "disk": dict(disk or {})}
    insert_or_ignore(session, Node, {"name": name, "state": "active", "first_seen": now, **said})
    node = session.get_one(Node, name, with_for_update=True, populate_existing=True)
    for field, value in said.items():
        setattr(node, field, value)
    session.flush()
    return node


def get(session: Session, name: str) -> Node:
    """Raises NotFoundError."""
    node = session.get(Node, name)
    if node is None:
        raise NotFoundError("node", name, "millrace farm status lists them")
    return node


def all(session: Session) -> Sequence[Node]:
    """By name."""
    return session.scalars(select(Node).order_by(Node.name)).all()


def set_state(session: Session, name: str, state: NodeState) -> Node:
    """Raises NotFoundError."""
    node = get(session, name)
    node.state = state
    session.flush()
    return node


def forget(session: Session, name: str) -> None:
    """Remove a node; a worker that still runs there announces it anew. Raises NotFoundError."""
    if rowcount(session.execute(delete(Node).where(Node.name == name))) == 0:
        raise NotFoundError("node", name, "millrace farm status lists them")


def is_active(session: Session, name: str) -> bool:
    """Whether the node is announced and neither draining nor paused."""
    return session.scalar(select(Node.state).where(Node.name == name)) == "active"


def running(session: Session, name: str) -> list[str]:
    """Ids of the builds that run on the node, oldest first."""
    return list(session.scalars(select(Build.id).where(Build.node == name, Build.state == "running")))
