"""The farm at a glance, and what an operator does to it."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy.orm import Session

from api.schemas import farm as replies
from api.services.shapes import builds as build_shapes
from db import models
from db.errors import ConflictError
from db.repositories import builds, licences, nodes, overview, statistics
from db.repositories import retention as policy
from db.repositories.builds import BuildFilter
from db.repositories.overview import Load
from db.types import utcnow
from worker.farm import Farm
from worker.node.joining import settings_for_node

_SHOWN = 100


def describe(session: Session) -> replies.Farm:
    """Nodes, queues, licences, and what runs now."""
    known, loads = nodes.all(session), overview.loads(session)
    running = builds.page(session, BuildFilter(state="running"), None, _SHOWN)
    longest_first = sorted(running, key=lambda b: b.started_at or b.created_at)
    return replies.Farm(
        nodes=[_node(row, loads.get(row.name)) for row in known],
        queues=_queues(session, known),
        licences=[replies.Licence.of(usage, feature=feature) for feature, usage in licences.usage(session).items()],
        running=[build_shapes.build(row) for row in longest_first],
    )


def _is_present(row: models.Node) -> bool:
    return row.last_seen > utcnow() - nodes.LOST_AFTER


def _node(row: models.Node, load: Load | None) -> replies.Node:
    load = load or Load(0, 0.0, 0.0)
    return replies.Node.of(
        row,
        present=_is_present(row),
        used_cpus=load.cpus,
        used_memory_gb=load.memory_gb,
        running=load.running,
    )


def _queues(session: Session, known: Sequence[models.Node]) -> list[replies.QueueState]:
    """Those that a node serves, and those that something waits in."""
    queued = {count.queue: count for count in statistics.by_queue(session)}
    running: dict[str, int] = {}
    for count in statistics.running(session):
        running[count.queue] = running.get(count.queue, 0) + count.builds
    now = utcnow()
    serving = dict.fromkeys((*queued, *running), 0)
    for node in known:
        for name in node.capabilities if _is_present(node) and node.state == "active" else ():
            serving[name] = serving.get(name, 0) + 1
    return [
        replies.QueueState(
            name=name,
            waiting=queued[name].builds if name in queued else 0,
            running=running.get(name, 0),
            oldest_s=(now - queued[name].oldest).total_seconds() if name in queued else None,
            nodes=serving[name],
        )
        for name in sorted(serving)
    ]


def join(farm: Farm, host: str) -> replies.Joined:
    """What a machine needs that reached this service as `host`. Raises JoinError where no other can take part."""
    found = settings_for_node(farm.settings, farm.store, host)
    return replies.Joined.of(found, environment=dict(found.environment))


def set_state(farm: Farm, session: Session, name: str, state: models.NodeState) -> replies.Node:
    """Drain, pause or resume a node. Raises NotFoundError."""
    row = nodes.set_state(session, name, state)
    if state == "active":
        for queue_name in row.capabilities:
            farm.queue.announce(session, queue_name)
    return _node(row, overview.loads(session).get(name))


def forget(session: Session, name: str) -> None:
    """Take a node that is gone off the list. Raises NotFoundError, ConflictError while it runs something."""
    nodes.get(session, name)
    running = nodes.running(session, name)
    if running:
        raise ConflictError(
            f"node {name} runs {len(running)} builds; pause it, which gives them back, and forget it then"
        )
    nodes.forget(session, name)


def put_licence(session: Session, feature: str, tokens: int) -> replies.Licence:
    """Let `tokens` builds that need the feature run at once."""
    licences.put(session, feature, tokens)
    usage = licences.usage(session)[feature]
    return replies.Licence.of(usage, feature=feature)


def retention(session: Session) -> replies.Retention:
    """After how many days things expire."""
    return replies.Retention.model_validate(policy.days(session))


def change_retention(session: Session, body: replies.RetentionChange) -> replies.Retention:
    """Set the days that are given."""
    for what, days in body.model_dump(exclude_unset=True).items():
        policy.set_days(session, cast(models.Expiring, what), days)
    return retention(session)
