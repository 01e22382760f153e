"""Why a build does not run yet, in words for a person."""

from collections.abc import Callable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import Build, Node
from db.repositories import allowances, licences, nodes, rooms
from db.repositories.lanes import Head
from db.repositories.nodes import LOST_AFTER
from db.repositories.rooms import Room
from db.types import utcnow


def why_waiting(session: Session, build: Build) -> str:
    """One sentence; empty when the build does not wait."""
    if build.state == "blocked":
        return _before(session, build)
    if build.state != "queued":
        return ""
    reasons: Sequence[Callable[[Session, Build], str]] = (_time, _twin, _node, _licence, _allowance, _room)
    found = (reason(session, build) for reason in reasons)
    return next((text for text in found if text), "waits for its turn: a worker that is free takes it")


def _before(session: Session, build: Build) -> str:
    before = session.get(Build, build.after_id)
    if before is None:
        return "waits for a build that is not there any more; cancel it and start it anew"
    hint = "; retry that one" if before.state in ("failed", "cancelled") else ""
    return f"waits for {before.stage} {before.id}, which is {before.state}{hint}"


def _time(session: Session, build: Build) -> str:  # noqa: ARG001
    if build.not_before is None or build.not_before <= utcnow():
        return ""
    last = build.history[-1] if build.history else None
    why = f" after a failure ({last['failure']}): {last['error'].splitlines()[0]}" if last and last["error"] else ""
    return f"is tried again at {build.not_before:%Y-%m-%d %H:%M:%S} UTC{why}"


def _twin(session: Session, build: Build) -> str:
    query = select(Build.id).where(Build.key == build.key, Build.state == "running")
    running = session.scalars(query).first()
    return f"takes over the result of {running}, which does the same work now" if running else ""


def _node(session: Session, build: Build) -> str:
    return why_no_node(session, build.queue)


def why_no_node(session: Session, queue: str) -> str:
    """Why nobody would take a build of the queue; empty where a node would."""
    known = nodes.all(session)
    able = [node for node in known if queue in node.capabilities]
    if not able:
        return f"no node offers {queue}" + _reasons(known, queue)
    alive = [node for node in able if node.last_seen > utcnow() - LOST_AFTER]
    if not alive:
        return f"every node that offers {queue} is gone: {_names(able)}; start a worker there"
    if any(node.state == "active" for node in alive):
        return ""
    states = ", ".join(f"{node.name} ({node.state})" for node in alive)
    return f"no node that offers {queue} takes builds: {states}; millrace farm resume lets one do so"


def _reasons(known: Sequence[Node], queue: str) -> str:
    """What nodes say of the capability that they lack."""
    said = [
        f"{node.name}: {node.missing[key]}"
        for node in known
        for key in (queue, queue.split("@", maxsplit=1)[0])
        if key in node.missing
    ]
    return f" ({'; '.join(said)})" if said else "; millrace doctor shows what a node can do and why not"


def _licence(session: Session, build: Build) -> str:
    if build.licence is None or licences.has_token(session, build.licence):
        return ""
    usage = licences.usage(session).get(build.licence)
    if usage is None:  # not counted any more, since a moment ago
        return ""
    return f"waits for licence {build.licence}: {usage.used} of {usage.tokens} tokens in use"


def _allowance(session: Session, build: Build) -> str:
    if allowances.left(session, build.owner, 1):
        return ""
    may = f"may run {allowances.most(session, build.owner)} builds at once (quota running_builds)"
    return f"waits for others of its owner: the key {build.owner!r} {may}"


def _room(session: Session, build: Build) -> str:
    able = [node for node in nodes.all(session) if build.queue in node.capabilities and node.state == "active"]
    head, wanted = Head.of(build), Room(build.cpus, build.memory_gb)
    large = [node for node in able if rooms.is_large_enough(node, head)]
    if not large:
        most = ", ".join(f"{node.name} has {_text(Room(node.cpus, node.memory_gb))}" for node in able)
        return f"asks for {_text(wanted)}, more than any node that offers {build.queue} has: {most}"
    if head.is_light or any(rooms.has_room(session, node.name, head) for node in large):
        return ""
    left = ", ".join(f"{node.name} has {_text(rooms.free(session, node))} left" for node in large)
    return f"waits for room: it asks for {_text(wanted)}; {left}"


def _text(room: Room) -> str:
    return f"{room.cpus:g} CPUs and {room.memory_gb:g} GB"


def _names(found: Sequence[Node]) -> str:
    return ", ".join(node.name for node in found)
