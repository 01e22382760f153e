"""The database layer on a real Postgres: the same promises as on SQLite."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from lease_contract import LeaseContract
from simulation_contract import SimulationContract, store_design_of_first_release

from db import migrate
from db.engine import Database, make_engine
from db.migrations.env_filter import include_name
from db.models import Base, Event, Exploration
from db.repositories import catalog, designs, events, explorations, idempotency

pytestmark = pytest.mark.e2e


@pytest.fixture
def database(postgres_url: str) -> Generator[Database]:
    migrate.upgrade(postgres_url)
    opened = Database(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def exploration(database: Database) -> Exploration:
    with database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        return explorations.add(session, workload, "u55c", [], {"seed": 0}, 100)


def test_models_and_migrations_agree(postgres_url: str) -> None:
    engine = make_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE studies (id INTEGER)"))  # somebody else's
    migrate.upgrade(postgres_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": include_name})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_two_that_start_at_once_take_turns(postgres_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [postgres_url] * 4))


class TestLeasesOnPostgres(LeaseContract):
    """On Postgres."""


class TestSimulationOnPostgres(SimulationContract):
    """On Postgres."""


def test_designs_of_the_first_release_stay(postgres_url: str) -> None:
    design = store_design_of_first_release(postgres_url)
    migrate.upgrade(postgres_url)
    opened = Database(postgres_url)
    with opened.read() as session:
        found = designs.get(session, design)
        assert (found.latency_us, found.simulated_us, found.deadlock, found.flags) == (1.0, None, None, [])
    opened.close()


def test_events_of_many_writers_become_visible_in_order(database: Database, exploration: Exploration) -> None:
    """A reader that goes on after the newest id it saw never misses one."""

    def write(n: int) -> None:
        for i in range(10):
            with database.write() as session:
                events.append(session, exploration.id, "state", {"n": n, "i": i})

    seen: list[int] = []
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, n) for n in range(4)]
        while not all(w.done() for w in writers) or len(seen) < 40:
            with database.read() as session:
                seen += [e.id for e in events.since(session, exploration.id, seen[-1] if seen else 0)]
    with database.read() as session:
        assert seen == list(session.scalars(sa.select(Event.id).order_by(Event.id)))


def test_same_idempotency_key_at_once_is_answered_once(database: Database) -> None:
    def post(n: int) -> str:
        with database.write() as session:
            stored = idempotency.reserve(session, "POST /x", "key", "b" * 64)
            if stored is not None:
                return stored["id"]
            idempotency.record(session, "POST /x", "key", {"id": str(n)})
            return str(n)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(post, range(8)))) == 1
