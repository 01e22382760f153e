"""Takes away what has expired: first rows, a transaction for each exploration, then contents of the store that no row
names any more.

Interrupted anywhere, it has taken away less, and nothing that a row names; started again, it goes on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Expiring
from db.repositories import explorations, retention
from db.repositories.retention import Expired
from db.types import utcnow
from worker.backup.collecting import collect
from worker.backup.make import NOTHING
from worker.comparison.comparing import stays
from worker.farm import Farm

_ANSWERS = timedelta(days=7)
"""How long the answer to a POST is kept for its `Idempotency-Key`."""


@dataclass(slots=True)
class Amount:
    """How many, and their bytes; of logs and files the bytes are those of the contents."""

    number: int = 0
    bytes: int = 0

    def add(self, number: int, size: int = 0) -> None:
        self.number += number
        self.bytes += size


@dataclass(slots=True)
class Retained:
    """What was taken away, or would be: rows; builds that lose their log, or their files; contents of the store, and
    half-written ones of writers that died. `deferred` says why contents stay for now.
    """

    events: Amount = field(default_factory=Amount)
    audit: Amount = field(default_factory=Amount)
    answers: Amount = field(default_factory=Amount)
    logs: Amount = field(default_factory=Amount)
    files: Amount = field(default_factory=Amount)
    contents: Amount = field(default_factory=Amount)
    unfinished: int = 0
    deferred: str | None = None

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def retain(farm: Farm, *, dry_run: bool, now: datetime | None = None) -> Retained:
    """Take away what has expired, or with `dry_run` only look: the same is then found."""
    now = now or utcnow()
    with farm.database.read() as session:
        days = retention.days(session)
    before: Mapping[Expiring, datetime] = {
        what: now - timedelta(days=after) for what, after in days.items() if after is not None
    }
    found = Retained()
    logs, files = _explorations(farm, before, found, dry_run)
    logs |= _imports(farm, before, found, dry_run)
    _audit(farm, before.get("audit"), found, dry_run)
    _answers(farm, now - _ANSWERS, found, dry_run)
    # Where it is only looked, the rows are still there.
    garbage = collect(farm.database, farm.store, delete=not dry_run, without=(logs, files) if dry_run else NOTHING)
    found.contents.add(garbage.contents, garbage.bytes)
    found.unfinished, found.deferred = garbage.unfinished, garbage.deferred
    return found


def _explorations(
    farm: Farm, before: Mapping[Expiring, datetime], found: Retained, dry_run: bool
) -> tuple[set[str], set[str]]:
    """The builds whose logs, and whose files, have expired."""
    logs, files = set[str](), set[str]()
    own: dict[Expiring, datetime] = {what: time for what, time in before.items() if what != "audit"}
    if not own:
        return logs, files
    with farm.database.read() as session:
        ended = retention.ended_explorations(session, max(own.values()))
    for exploration_id in ended:
        if dry_run:
            with farm.database.read() as session:
                expired = _look(session, exploration_id, own)
        else:
            expired = farm.database.retry(partial(_remove, exploration_id=exploration_id, before=own))
        found.events.add(expired.events, expired.event_bytes)
        found.logs.add(len(expired.logs))
        found.files.add(len(expired.files))
        logs |= expired.logs
        files |= expired.files
    return logs, files


def _look(session: Session, exploration_id: str, before: Mapping[Expiring, datetime]) -> Expired:
    try:
        exploration = explorations.get(session, exploration_id)
    except NotFoundError:  # somebody has deleted it meanwhile
        return Expired()
    needed = exploration.sweep_run_id is not None and stays(session, exploration.sweep_run_id)
    if needed or retention.is_kept(exploration):
        return Expired()
    return retention.expired_of(session, exploration_id, before)


def _remove(session: Session, exploration_id: str, before: Mapping[Expiring, datetime]) -> Expired:
    try:
        explorations.lock(session, exploration_id)
    except NotFoundError:
        return Expired()
    expired = _look(session, exploration_id, before)
    retention.remove(session, exploration_id, expired)
    return expired


def _imports(farm: Farm, before: Mapping[Expiring, datetime], found: Retained, dry_run: bool) -> set[str]:
    """Imports of models, which belong to no exploration, leave logs only."""
    if "logs" not in before:
        return set()
    with farm.database.read() if dry_run else farm.database.write() as session:
        expired = retention.expired_imports(session, before["logs"])
        if not dry_run:
            retention.remove(session, None, Expired(logs=expired))
    found.logs.add(len(expired))
    return set(expired)


def _audit(farm: Farm, before: datetime | None, found: Retained, dry_run: bool) -> None:
    if before is None:
        return
    with farm.database.read() as session:
        found.audit.add(*retention.old_audit(session, before))
    while not dry_run and farm.database.retry(lambda session: retention.delete_audit(session, before)):
        pass


def _answers(farm: Farm, before: datetime, found: Retained, dry_run: bool) -> None:
    with farm.database.read() as session:
        found.answers.add(*retention.old_answers(session, before))
    if not dry_run:
        farm.database.retry(lambda session: retention.delete_answers(session, before))
