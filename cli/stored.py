"""What is stored, read straight from the database: looking at results starts no service."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from api.services import catalog, designs, explorations, shapes
from cli.replies import Design, DesignSummary, Exploration, Scatter, by_latency
from db.engine import Database
from db.migrate import upgrade
from db.repositories import catalog as catalog_rows
from db.repositories import explorations as exploration_rows
from worker.settings import Settings

_ALL = 100_000

Row = TypeVar("Row")


class Stored:
    """The reading half of `cli.client.Client` without a service. Raises DatabaseError for what is not there."""

    def __init__(self, settings: Settings) -> None:
        upgrade(settings.database)
        self._database = Database(settings.database)

    @property
    def address(self) -> None:
        return None

    def close(self) -> None:
        self._database.close()

    def models(self) -> list[dict[str, Any]]:
        with self._database.write() as session:
            catalog.put_builtins(session)
            return _shaped(catalog_rows.models_page(session, None, _ALL), shapes.model)

    def model(self, model: str) -> dict[str, Any]:
        with self._database.write() as session:
            catalog.put_builtins(session)
            return _plain(shapes.model(catalog.find_model(session, model)))

    def explorations(self) -> list[Exploration]:
        with self._database.read() as session:
            rows = exploration_rows.page(session, None, _ALL)
            replies = explorations.shape_all(session, rows)
            return _shaped(rows, lambda row: replies[row.id])

    def exploration(self, exploration: str) -> Exploration:
        with self._database.read() as session:
            return _plain(explorations.shape(session, exploration_rows.get(session, exploration)))

    def front(self, exploration: str) -> list[DesignSummary]:
        with self._database.read() as session:
            return by_latency(_plain(d) for d in designs.page(session, exploration, None, _ALL, front=True))

    def scatter(self, exploration: str) -> Scatter:
        with self._database.read() as session:
            return _plain(explorations.scatter(session, exploration))

    def design(self, design: str) -> Design:
        with self._database.read() as session:
            return _plain(designs.describe(session, design))


def _shaped(rows: Sequence[Row], shape: Callable[[Row], BaseModel]) -> list[Any]:
    return [_plain(shape(row)) for row in rows]


def _plain(reply: BaseModel) -> Any:
    """A reply as the JSON values that the REST interface would send."""
    return reply.model_dump(mode="json")
