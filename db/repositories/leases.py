"""Leases with fencing tokens on running builds (see `db.models.Build`); `queue.claim` gives them.

Expiry compares the callers' clocks: machines of one farm keep time (NTP) to well below the lease's length.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, or_, select, tuple_, update
from sqlalchemy.orm import Session

from db.errors import LeaseLostError
from db.models import Build
from db.repositories import attempts, builds
from db.types import utcnow


def holds(session: Session, build_id: str, token: int) -> bool:
    """True while `token` is the newest lease and was not released, revoked or cancelled."""
    return session.scalar(select(Build.id).where(_held(build_id, token))) is not None


def renew_all(session: Session, pairs: Collection[tuple[str, int]], seconds: float) -> set[tuple[str, int]]:
    """Push the expiry of all (id, token) out; those that are still held."""
    expires = utcnow() + timedelta(seconds=seconds)
    statement = update(Build).where(_among(pairs)).values(lease_expires=expires).returning(Build.id, Build.lease_token)
    rows = session.execute(statement, execution_options={"synchronize_session": False})
    return {(build_id, token) for build_id, token in rows.all()}


def holds_all(session: Session, pairs: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Which of the (id, token) are still held."""
    rows = session.execute(select(Build.id, Build.lease_token).where(_among(pairs)))
    return {(build_id, token) for build_id, token in rows.all()}


def lost(session: Session, pairs: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Which of the (id, token) were released, revoked, cancelled or given to another: a build that its holder has
    brought to its end is not among them.
    """
    ids = [build_id for build_id, _ in pairs]
    tokens = dict(session.execute(select(Build.id, Build.lease_token).where(Build.id.in_(ids))).all())
    return {(build_id, token) for build_id, token in pairs if tokens.get(build_id) != token}


def fence(session: Session, build_id: str, token: int) -> Build:
    """Lock the row for this transaction and read it. Raises LeaseLostError unless `token` still holds it."""
    query = select(Build).where(_held(build_id, token)).with_for_update()
    build = session.scalars(query.execution_options(populate_existing=True)).first()
    if build is None:
        raise LeaseLostError("build", build_id, token)
    return build


def release(session: Session, build_id: str, token: int) -> bool:
    """Give the build back, for another worker to take at once; it counts neither as an attempt nor as a loss.

    False, and nothing happens, when it is no longer ours.
    """
    return _update(session, _held(build_id, token), _given_back())


def revoke(session: Session, build_id: str) -> bool:
    """Take a running build from whoever holds it, for another worker to take; their next write raises LeaseLostError.

    False when it is not running. Counts neither as an attempt nor as a loss.
    """
    return _update(session, _running(build_id), _given_back())


def held(session: Session) -> list[tuple[str, str]]:
    """(id, owner) of every running build, its lease expired or not."""
    rows = session.execute(select(Build.id, Build.lease_owner).where(Build.state == "running").order_by(Build.id))
    return [(key, owner) for key, owner in rows.all() if owner is not None]


def expired(session: Session) -> list[str]:
    """Ids of the running builds whose holder stopped renewing."""
    gone = or_(Build.lease_owner.is_(None), Build.lease_expires < utcnow())
    return list(session.scalars(select(Build.id).where(Build.state == "running", gone).order_by(Build.id)))


def count_loss(session: Session, build_id: str) -> int:
    """Queue a running build again whose holder was lost; how many holders it has lost since it was last queued by a
    person or a flow. The lost attempt is kept in its history.
    """
    query = select(Build).where(_running(build_id)).with_for_update()
    build = session.scalars(query.execution_options(populate_existing=True)).first()
    if build is None:
        return builds.get(session, build_id).losses
    attempts.remember(build, "node", f"node {build.node} stopped renewing its lease")
    build.state, build.node, build.losses = "queued", None, build.losses + 1
    build.lease_owner, build.lease_expires, build.lease_token = None, None, build.lease_token + 1
    session.flush()
    return build.losses


def _held(build_id: str, token: int) -> ColumnElement[bool]:
    return _running(build_id) & (Build.lease_token == token) & Build.lease_owner.is_not(None)


def _among(pairs: Collection[tuple[str, int]]) -> ColumnElement[bool]:
    leases = tuple_(Build.id, Build.lease_token).in_(pairs)
    return leases & (Build.state == "running") & Build.lease_owner.is_not(None)


def _running(build_id: str) -> ColumnElement[bool]:
    return (Build.id == build_id) & (Build.state == "running")


def _given_back() -> Mapping[str, object]:
    values: dict[str, object] = {"state": "queued", "node": None, "attempt": Build.attempt - 1}
    return values | {"lease_owner": None, "lease_expires": None, "lease_token": Build.lease_token + 1}


def _update(session: Session, which: ColumnElement[bool], values: Mapping[str, object]) -> bool:
    statement = update(Build).where(which).values(**values).returning(Build)
    options = {"synchronize_session": False, "populate_existing": True}
    return session.scalars(statement, execution_options=options).first() is not None
