"""Licences: how many builds that need a feature may run at once on the whole farm. A running build's lease is its
token, so that a crash frees the token with the lease. A feature without a row is not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from db.models import Build, Licence
from db.repositories._statements import insert_or_ignore, rowcount


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a feature, and the running builds that hold one."""

    tokens: int
    used: int


def put(session: Session, feature: str, tokens: int) -> None:
    """Let `tokens` builds that need the feature run at once. Those that run already go on."""
    if not insert_or_ignore(session, Licence, {"feature": feature, "tokens": tokens}):
        row = session.get_one(Licence, feature, with_for_update=True)
        row.tokens = tokens
        session.flush()


def ensure_defaults(session: Session, tokens: Mapping[str, int]) -> None:
    """Set what nobody has set yet."""
    for feature, number in tokens.items():
        insert_or_ignore(session, Licence, {"feature": feature, "tokens": number})


def forget(session: Session, feature: str) -> bool:
    """Count the feature no more; False when it was not counted."""
    return rowcount(session.execute(delete(Licence).where(Licence.feature == feature))) > 0


def usage(session: Session) -> dict[str, Usage]:
    """Usage by feature, in their order."""
    rows = session.execute(select(Licence.feature, Licence.tokens).order_by(Licence.feature)).all()
    return {feature: Usage(tokens, _used(session, feature)) for feature, tokens in rows}


def has_token(session: Session, feature: str, *, lock: bool = False) -> bool:
    """Whether one more build that needs the feature may run. With `lock` no other claim changes that meanwhile."""
    query = select(Licence.tokens).where(Licence.feature == feature)
    tokens = session.scalar(query.with_for_update() if lock else query)
    return tokens is None or _used(session, feature) < tokens


def _used(session: Session, feature: str) -> int:
    query = select(func.count()).where(Build.state == "running", Build.licence == feature)
    return session.scalars(query).one()
