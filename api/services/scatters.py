"""The scatter of an exploration as compressed JSON, made once per event of the exploration."""

import gzip
from dataclasses import dataclass

from sqlalchemy.orm import Session

from api.schemas.explorations import Scatter
from api.services.kept import Kept
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
        self._kept: Kept[Packed] = Kept(_KEPT)

    def get(self, session: Session, exploration_id: str) -> Packed:
        """Every design of the exploration by column. Raises NotFoundError."""
        tag = tag_of(session, exploration_id)
        return self._kept.get(exploration_id, tag, lambda: _packed(session, exploration_id, tag))


def _packed(session: Session, exploration_id: str, tag: str) -> Packed:
    body = _read(session, exploration_id).model_dump_json().encode()
    return Packed(tag, gzip.compress(body, _LEVEL), len(body))


def tag_of(session: Session, exploration_id: str) -> str:
    """Read before the columns: what changes in between is then sent under the older tag, and asked for again."""
    explorations.get(session, exploration_id)
    return f'W/"{exploration_id}-{events.last_id(session, exploration_id)}"'


def scatter(session: Session, exploration_id: str) -> Scatter:
    """Every design of the exploration by column. Raises NotFoundError."""
    return _read(session, exploration_id)


def _read(session: Session, exploration_id: str) -> Scatter:
    count = len(explorations.get(session, exploration_id).objectives)
    simulations, csims = (overview.stage_states(session, exploration_id, stage) for stage in ("simulate", "csim"))
    return shapes.scatter(overview.points(session, exploration_id), count, simulations, csims)
