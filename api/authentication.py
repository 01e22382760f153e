"""Keys to their holders, looked up at most every few seconds."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from api.services.keys import find_valid
from api.tokens import parse
from db.engine import Database
from db.models import ApiKey, Role
from db.repositories import api_keys

REMEMBERED_SECONDS = 5.0
"""For so long a key that was revoked may still work."""
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Holder:
    """What a valid key says of its holder."""

    name: str
    role: Role
    quotas: dict[str, Any]


class Authenticator:
    """Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[str, tuple[float, Holder]] = OrderedDict()
        self._lock = Lock()

    def remembered(self, text: str) -> Holder | None:
        """The holder, if the key was looked up a moment ago. Asks nobody."""
        token = parse(text)
        if token is None:
            return None
        until, holder = self._known.get(token.digest, (0.0, None))
        return holder if until > time.monotonic() else None

    def was_valid(self, text: str) -> bool:
        """Whether the key was valid when it was looked up last, however long ago: nobody guesses with such a one."""
        token = parse(text)
        return token is not None and token.digest in self._known

    def find(self, text: str) -> Holder | None:
        """The holder of a valid key, from the database."""
        row, token = self._row(text), parse(text)
        if row is None or token is None:
            with self._lock:
                self._known.pop(token.digest if token else "", None)
            return None
        holder = Holder(row.name, row.role, row.quotas)
        with self._lock:
            self._known[token.digest] = (time.monotonic() + REMEMBERED_SECONDS, holder)
            self._known.move_to_end(token.digest)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return holder

    def _row(self, text: str) -> ApiKey | None:
        with self._database.read() as session:
            row = find_valid(session, text)
        if row is not None and api_keys.is_stale(row):
            with self._database.write() as session:
                api_keys.touch(session, row.id)
        return row
