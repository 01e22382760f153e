"""How many builds of an owner may run at once: a bound of their key (`running_builds`), for all queues together."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.models import ApiKey
from db.repositories import holdings


def most(session: Session, owner: str) -> int | None:
    """How many builds of the owner may run at once, None for any number."""
    if not owner:
        return None
    quotas = session.scalars(select(ApiKey.quotas).where(ApiKey.name == owner)).first()
    return (quotas or {}).get("running_builds")


def left(session: Session, owner: str, wanted: int, *, lock: bool = False) -> int:
    """How many more of the owner's builds may run, `wanted` at most. With `lock` no other claim changes that before
    this transaction ends. Not by the key's row: who asks for builds locks that first, claims come to it last.
    """
    bound = most(session, owner)
    if bound is None:
        return wanted
    if lock and session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"running {owner}", 0))))
    return max(0, min(wanted, bound - holdings.running_builds(session, owner)))
