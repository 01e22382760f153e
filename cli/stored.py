"""What is stored, read straight from the database: looking at results starts no service."""

from api.principal import Principal
from api.schemas.builds import Build
from api.schemas.catalog import Model
from api.schemas.designs import Design, DesignSummary
from api.schemas.explorations import Exploration, Scatter
from api.schemas.farm import Farm
from api.schemas.sweeps import Sweep, SweepRun, SweepRunSummary
from api.services import builds, catalog, designs, explorations, farm, scatters, sweeps
from api.services.shapes import catalog as catalog_shapes
from cli.replies import by_latency
from db.migrate import upgrade
from db.repositories import builds as build_rows
from db.repositories import catalog as catalog_rows
from db.repositories import explorations as exploration_rows
from db.repositories import naming
from db.repositories import sweeps as sweep_rows
from db.repositories.builds import BuildFilter
from worker.farm import open_farm
from worker.settings import Settings

_ALL = 100_000
_WHO = Principal(None, "admin", "this machine")  # who can read the database may read all of it


class Stored:
    """The reading half of `cli.client.Client` without a service. Raises DatabaseError for what is not there."""

    def __init__(self, settings: Settings) -> None:
        upgrade(settings.database)
        self._farm = open_farm(settings)
        self._database = self._farm.database

    @property
    def address(self) -> None:
        return None

    def close(self) -> None:
        self._farm.close()

    def models(self) -> list[Model]:
        with self._database.write() as session:
            catalog.put_builtins(session)
            return [catalog_shapes.model(row) for row in catalog_rows.models_page(session, None, _ALL)]

    def model(self, model: str) -> Model:
        with self._database.write() as session:
            catalog.put_builtins(session)
            return catalog_shapes.model(catalog.find_model(session, model))

    def explorations(self) -> list[Exploration]:
        with self._database.read() as session:
            rows = exploration_rows.page(session, None, _ALL)
            replies = explorations.shape_all(session, rows)
            return [replies[row.id] for row in rows]

    def exploration(self, exploration: str) -> Exploration:
        with self._database.read() as session:
            return explorations.shape(session, naming.find_exploration(session, exploration))

    def front(self, exploration: str) -> list[DesignSummary]:
        with self._database.read() as session:
            return by_latency(designs.page(session, exploration, None, _ALL, front=True))

    def scatter(self, exploration: str) -> Scatter:
        with self._database.read() as session:
            return scatters.scatter(session, exploration)

    def design(self, design: str) -> Design:
        with self._database.read() as session:
            return designs.describe(session, naming.find_design(session, design).id)

    def artifact(self, design: str, path: str) -> bytes:
        """The content of a file of the design directory."""
        with self._database.read() as session:
            return self._farm.store.read(designs.file(session, design, path).digest)

    def builds(self, limit: int, **filters: str) -> list[Build]:
        """Newest first, at most `limit`; the filters are those of GET /v1/builds."""
        named = {f"{name}_id" if name in ("exploration", "design") else name: value for name, value in filters.items()}
        with self._database.read() as session:
            rows = build_rows.page(session, BuildFilter(**named), None, limit)  # pyright: ignore[reportArgumentType]
            return builds.shape_all(session, rows)

    def build(self, build: str) -> Build:
        with self._database.read() as session:
            return builds.shape(session, naming.find_build(session, build))

    def build_log(self, build: str, attempt: int | None = None) -> str:
        with self._database.read() as session:
            return builds.log(self._farm, session, build, attempt).decode(errors="replace")

    def sweeps(self) -> list[Sweep]:
        with self._database.read() as session:
            return [sweeps.shape(session, _WHO, row) for row in sweep_rows.page(session, None, _ALL)]

    def sweep(self, sweep: str) -> Sweep:
        with self._database.read() as session:
            return sweeps.shape(session, _WHO, sweep_rows.get(session, sweep))

    def sweep_runs(self, sweep: str, limit: int) -> list[SweepRunSummary]:
        with self._database.read() as session:
            rows = sweep_rows.runs_page(session, sweep_rows.get(session, sweep).id, None, limit)
            return sweeps.shape_runs(session, rows)

    def sweep_run(self, run: str) -> SweepRun:
        with self._database.read() as session:
            return sweeps.shape_run(session, sweep_rows.get_run(session, run))

    def farm(self) -> Farm:
        with self._database.read() as session:
            return farm.describe(session)
