"""The scatter of an exploration as compressed JSON, made once per event of the exploration."""

import gzip
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from sqlalchemy.orm import Session

from api.schemas.explorations import Scatter
from api.services.shapes import explorations as shapes
from db.repositories import events, explorations, overview

_KEPT = 32
_LEVEL = 3


@dataclass(frozen=True, slots=True)
class Packed:
    """A scatter as it is sent. `tag` changes with the exploration."""

    tag: str
    body: bytes
    plain_size: int

    @property
    def plain(self) -> bytes:
        return gzip.decompress(self.body)


class Scatters:
    """Those that were asked for last. Safe to share between threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Packed] = OrderedDict()
        self._lock = Lock()

    def get(self, session: Session, exploration_id: str) -> Packed:
        """Every design of the exploration by column. Raises NotFoundError."""
        tag = tag_of(session, exploration_id)
        kept = self._kept.get(exploration_id)
        if kept is not None and kept.tag == tag:
            return kept
        body = _read(session, exploration_id).model_dump_json().encode()
        packed = Packed(tag, gzip.compress(body, _LEVEL), len(body))
        with self._lock:
            self._kept[exploration_id] = packed
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return packed


def tag_of(session: Session, exploration_id: str) -> str:
    """Read before the columns: what changes in between is then sent under the older tag, and asked for again."""
    explorations.get(session, exploration_id)
    return f'W/"{exploration_id}-{events.last_id(session, exploration_id)}"'


def scatter(session: Session, exploration_id: str) -> Scatter:
    """Every design of the exploration by column. Raises NotFoundError."""
    explorations.get(session, exploration_id)
    return _read(session, exploration_id)


def _read(session: Session, exploration_id: str) -> Scatter:
    simulations, csims = (overview.stage_states(session, exploration_id, stage) for stage in ("simulate", "csim"))
    return shapes.scatter(overview.points(session, exploration_id), simulations, csims)
