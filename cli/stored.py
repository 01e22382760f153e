"""What is stored, read straight from the database, as a service would send it: looking at results starts no service."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from api.principal import Principal
from api.services import builds, catalog, designs, explorations, farm, scatters, sweeps
from api.services.shapes import catalog as catalog_shapes
from db.migrate import upgrade
from db.repositories import builds as build_rows
from db.repositories import catalog as catalog_rows
from db.repositories import explorations as exploration_rows
from db.repositories import naming
from db.repositories import sweeps as sweep_rows
from db.repositories.builds import BuildFilter
from millrace.encoding import read
from millrace.wire import (
    Build,
    Design,
    DesignSummary,
    Exploration,
    Farm,
    Groups,
    Model,
    Scatter,
    Sweep,
    SweepRun,
    SweepRunSummary,
)
from worker.farm import open_farm
from worker.settings import Settings
from worker.sweeps.webhook_secrets import WebhookSecrets

_ALL = 100_000
_WHO = Principal(None, "admin", "this machine")  # who can read the database may read all of it


T = TypeVar("T")


def as_sent(kind: type[T], reply: BaseModel) -> T:
    """A reply of the API as its client reads it."""
    return read(kind, reply.model_dump(mode="json"))


def _all_as_sent(kind: type[T], replies: Iterable[BaseModel]) -> list[T]:
    return [as_sent(kind, reply) for reply in replies]


class Stored:
    """The reading half of `millrace.Client` without a service. Raises DatabaseError for what is not there."""

    def __init__(self, settings: Settings) -> None:
        upgrade(settings.database, WebhookSecrets(settings.secret_key).seal)
        self._farm = open_farm(settings)
        self._database = self._farm.database

    @property
    def address(self) -> None:
        return None

    def close(self) -> None:
        self._farm.close()

    def models(self, archived: bool = False) -> list[Model]:
        with self._database.write() as session:
            catalog.put_builtins(session)
            rows = catalog_rows.models_page(session, None, _ALL, archived=archived)
            return _all_as_sent(Model, map(catalog_shapes.model, rows))

    def model(self, model: str) -> Model:
        with self._database.write() as session:
            catalog.put_builtins(session)
            return as_sent(Model, catalog_shapes.model(catalog.find_model(session, model)))

    def explorations(self, archived: bool = False) -> list[Exploration]:
        with self._database.read() as session:
            rows = exploration_rows.page(session, None, _ALL, archived=archived)
            replies = explorations.shape_all(session, rows)
            return _all_as_sent(Exploration, (replies[row.id] for row in rows))

    def exploration(self, exploration: str) -> Exploration:
        with self._database.read() as session:
            row = naming.find_exploration(session, exploration)
            return as_sent(Exploration, explorations.shape(self._farm.settings, session, row))

    def front(self, exploration: str) -> list[DesignSummary]:
        with self._database.read() as session:
            return _all_as_sent(DesignSummary, designs.page(session, exploration, None, _ALL, front=True))

    def groups(self, exploration: str) -> Groups:
        with self._database.read() as session:
            return as_sent(Groups, explorations.groups(session, exploration))

    def scatter(self, exploration: str) -> Scatter:
        with self._database.read() as session:
            return as_sent(Scatter, scatters.scatter(session, exploration))

    def design(self, design: str) -> Design:
        with self._database.read() as session:
            return as_sent(Design, designs.describe(session, naming.find_design(session, design).id))

    def artifact(self, design: str, path: str) -> bytes:
        """The content of a file of the design directory."""
        with self._database.read() as session:
            designs.note_use(self._farm, session, design)
            return self._farm.store.read(designs.file(session, design, path).digest)

    def builds(self, limit: int, **filters: str) -> list[Build]:
        """Newest first, at most `limit`; the filters are those of GET /v1/builds."""
        named = {f"{name}_id" if name in ("exploration", "design") else name: value for name, value in filters.items()}
        with self._database.read() as session:
            rows = build_rows.page(session, BuildFilter(**named), None, limit)  # pyright: ignore[reportArgumentType]
            return _all_as_sent(Build, builds.shape_all(session, rows))

    def build(self, build: str) -> Build:
        with self._database.read() as session:
            return as_sent(Build, builds.shape(session, naming.find_build(session, build)))

    def build_log(self, build: str, attempt: int | None = None) -> str:
        with self._database.read() as session:
            return builds.log(self._farm, session, build, attempt).decode(errors="replace")

    def sweeps(self) -> list[Sweep]:
        with self._database.read() as session:
            rows = sweep_rows.page(session, None, _ALL)
            shaped = (sweeps.shape_listed(session, self._farm.settings, _WHO, row) for row in rows)
            return _all_as_sent(Sweep, shaped)

    def sweep(self, sweep: str) -> Sweep:
        with self._database.read() as session:
            return as_sent(Sweep, sweeps.shape(session, self._farm.settings, _WHO, sweep_rows.get(session, sweep)))

    def sweep_runs(self, sweep: str, limit: int) -> list[SweepRunSummary]:
        with self._database.read() as session:
            rows = sweep_rows.runs_page(session, sweep_rows.get(session, sweep).id, None, limit)
            return _all_as_sent(SweepRunSummary, sweeps.shape_runs(session, rows))

    def sweep_run(self, run: str) -> SweepRun:
        with self._database.read() as session:
            return as_sent(SweepRun, sweeps.shape_run(session, self._farm.settings, sweep_rows.get_run(session, run)))

    def farm(self) -> Farm:
        with self._database.read() as session:
            return as_sent(Farm, farm.describe(session))
