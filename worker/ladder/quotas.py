"""The bounds of a key on what it may have.

They are counted while the key's row is locked, until the transaction ends: requests at once count each other's.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy.orm import Session

from db.models import ApiKey
from db.repositories import holdings
from worker.errors import QuotaError

_LESS = "wait for one to end, or cancel one"


class Bound(NamedTuple):
    """One bound: what it counts, in words, how to have less of it, and the option of `millrace farm key quota`."""

    count: Callable[[Session, str], int]
    what: str
    less: str
    option: str


BOUNDS: dict[str, Bound] = {
    "active_explorations": Bound(holdings.active_explorations, "active explorations", _LESS, "explorations"),
    "open_builds": Bound(holdings.open_builds, "unfinished builds", _LESS, "builds"),
    "designs": Bound(
        holdings.designs, "designs, found or to be found,", "delete some, or ask for a smaller budget", "designs"
    ),
    "stored_bytes": Bound(holdings.stored_bytes, "bytes stored", "delete models, explorations or designs", "stored-mb"),
}
"""By the name of the quota; `running_builds` is the queue's, `upload_bytes` that of one upload."""


@contextmanager
def bounded(session: Session, owner: str | None, *names: str) -> Generator[None]:
    """Raise QuotaError from the end of a block that gives `owner` more of what these bounds count than they allow."""
    key = holdings.lock_key(session, owner) if owner is not None else None
    before = _counts(session, key, names)
    yield
    if key is None:
        return
    session.flush()
    for name, after in _counts(session, key, names).items():
        if after > before[name] and after > key.quotas[name]:
            raise QuotaError(_text(key, name, before[name]))


def check_room(session: Session, owner: str | None, more: int = 1) -> None:
    """Raise QuotaError where `owner` has no room for so many bytes more."""
    key = holdings.lock_key(session, owner) if owner is not None else None
    if key is None:
        return
    for name, stored in _counts(session, key, ("stored_bytes",)).items():
        if stored + more > key.quotas[name]:
            raise QuotaError(_text(key, name, stored))


def _counts(session: Session, key: ApiKey | None, names: tuple[str, ...]) -> dict[str, int]:
    """What the key has of that which has a bound."""
    if key is None:
        return {}
    return {name: BOUNDS[name].count(session, key.name) for name in names if key.quotas.get(name) is not None}


def _text(key: ApiKey, name: str, have: int) -> str:
    bound = BOUNDS[name]
    return (
        f"the key {key.name!r} has {have} {bound.what} and may have {key.quotas[name]} (quota {name}); {bound.less}, "
        f"or ask an admin for more: millrace farm key quota {key.name} --{bound.option} N"
    )
