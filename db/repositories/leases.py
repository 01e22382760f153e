"""Leases with fencing tokens on explorations and builds (see `db.models.Leased`).

Expiry compares the callers' clocks: machines of one farm keep time (NTP) to well below the lease's length.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from db.errors import LeaseLostError
from db.models import Build, Exploration
from db.repositories._statements import rowcount
from db.types import utcnow

LeasedTable = type[Exploration] | type[Build]


def claim(
    session: Session, table: LeasedTable, key: str, owner: str, seconds: float, states: Sequence[str]
) -> int | None:
    """Take the lease of row `key` if it is in one of `states` and nobody holds it; its new token, else None."""
    now = utcnow()
    taken = session.execute(
        update(table)
        .where(table.id == key, table.state.in_(states), _free(table, now))
        .values(
            lease_owner=owner,
            lease_expires=now + timedelta(seconds=seconds),
            lease_token=table.lease_token + 1,
        )
        .returning(table.lease_token)
    )
    return taken.scalar_one_or_none()


def renew(session: Session, table: LeasedTable, key: str, token: int, seconds: float) -> bool:
    """Push the expiry out; False when the lease is no longer held with `token`."""
    result = session.execute(
        update(table)
        .where(table.id == key, table.lease_token == token, table.lease_owner.is_not(None))
        .values(lease_expires=utcnow() + timedelta(seconds=seconds))
    )
    return rowcount(result) > 0


def holds(session: Session, table: LeasedTable, key: str, token: int) -> bool:
    """True while `token` is the newest lease and was not released or cancelled."""
    found = session.scalar(
        select(table.id).where(table.id == key, table.lease_token == token, table.lease_owner.is_not(None))
    )
    return found is not None


def fence(session: Session, table: LeasedTable, key: str, token: int) -> None:
    """Lock the row for this transaction and raise LeaseLostError unless `token` still holds it."""
    result = session.execute(
        update(table)
        .where(table.id == key, table.lease_token == token, table.lease_owner.is_not(None))
        .values(lease_token=token)
    )
    if rowcount(result) == 0:
        raise LeaseLostError(table.__tablename__, key, token)


def release(session: Session, table: LeasedTable, key: str, token: int) -> None:
    """Give the lease back, for another worker to take; nothing happens when it is no longer ours."""
    session.execute(
        update(table)
        .where(table.id == key, table.lease_token == token)
        .values(lease_owner=None, lease_expires=None, enqueued_at=None)
    )


def revoke(session: Session, table: LeasedTable, key: str) -> None:
    """Take the lease from whoever holds it: their next write raises LeaseLostError."""
    session.execute(
        update(table)
        .where(table.id == key)
        .values(lease_owner=None, lease_expires=None, lease_token=table.lease_token + 1, enqueued_at=None)
    )


def held(session: Session, table: LeasedTable) -> list[tuple[str, str]]:
    """(id, owner) of every row that somebody holds, expired or not."""
    rows = session.execute(select(table.id, table.lease_owner).where(table.lease_owner.is_not(None)))
    return [(key, owner) for key, owner in rows.all() if owner is not None]


def expired(session: Session, table: LeasedTable) -> list[str]:
    """Ids of the rows whose holder stopped renewing."""
    return list(session.scalars(select(table.id).where(table.lease_owner.is_not(None), table.lease_expires < utcnow())))


def count_loss(session: Session, table: LeasedTable, key: str) -> int:
    """Revoke the lease of a lost holder; how many holders this row has lost since it was last queued."""
    revoke(session, table, key)
    losses = session.execute(
        update(table).where(table.id == key).values(losses=table.losses + 1).returning(table.losses)
    )
    return losses.scalar_one()


def mark_enqueued(session: Session, table: LeasedTable, key: str) -> None:
    """Remember that a message for this row was just sent to the broker."""
    session.execute(update(table).where(table.id == key).values(enqueued_at=utcnow()))


def forget_message(session: Session, table: LeasedTable, key: str) -> None:
    """The message for this row could not be sent."""
    session.execute(update(table).where(table.id == key).values(enqueued_at=None))


def forget_messages(session: Session, table: LeasedTable) -> None:
    """Assume that no message is under way any more (the broker started empty)."""
    session.execute(update(table).where(table.lease_owner.is_(None)).values(enqueued_at=None))


def _free(table: LeasedTable, now: datetime):
    return or_(table.lease_owner.is_(None), table.lease_expires < now)
