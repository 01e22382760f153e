"""The database layer on a real Postgres: the same promises as on SQLite."""

import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from build_contract import BuildContract
from farm_tables_contract import FarmTablesContract
from fastapi.testclient import TestClient
from lease_contract import LeaseContract
from naming_contract import NamingContract
from old_releases import MANY, RELEASES, check_downgraded, check_tables, check_upgraded, store_old_release
from queue_contract import QueueContract
from queued_builds import QUEUE, another, ensure, new_build
from quota_contract import QuotaContract
from race_contract import RaceContract
from relations_contract import RelationsContract
from simulation_contract import SimulationContract
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from text_contract import check_texts
from tool_reports_contract import ToolReportsContract

from api.app import create_app
from db import migrate
from db.engine import Database, make_engine
from db.ids import new_id
from db.models import Artifact, Build, Event, Exploration
from db.repositories import builds, catalog, events, explorations, idempotency, lanes, retention, turns
from db.types import utcnow
from worker.settings import Settings

pytestmark = pytest.mark.e2e


@pytest.fixture
def database(migrated_postgres_url: str) -> Generator[Database]:
    opened = Database(migrated_postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def exploration(database: Database) -> Exploration:
    with database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        return explorations.add(session, workload, "u55c", ["latency", "energy"], {"seed": 0}, 100)


def test_models_and_migrations_agree(postgres_url: str) -> None:
    engine = make_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE studies (id INTEGER)"))  # somebody else's
    engine.dispose()
    migrate.upgrade(postgres_url)
    check_tables(postgres_url)


def test_two_that_start_at_once_take_turns(postgres_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [postgres_url] * 4))


class TestLeasesOnPostgres(LeaseContract):
    """On Postgres."""


class TestSimulationOnPostgres(SimulationContract):
    """On Postgres."""


class TestBuildsOnPostgres(BuildContract):
    """On Postgres."""


class TestQueueOnPostgres(QueueContract):
    """On Postgres."""


class TestFarmTablesOnPostgres(FarmTablesContract):
    """On Postgres."""


class TestRacesOnPostgres(RaceContract):
    """On Postgres."""


class TestRelationsOnPostgres(RelationsContract):
    """On Postgres."""


class TestNamingOnPostgres(NamingContract):
    """On Postgres."""


class TestQuotasOnPostgres(QuotaContract):
    """On Postgres."""


class TestToolReportsOnPostgres(ToolReportsContract):
    """On Postgres."""


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_an_earlier_release_keeps_its_rows(postgres_url: str, release: str) -> None:
    store_old_release(postgres_url, release, MANY)
    check_upgraded(postgres_url, release)
    check_tables(postgres_url)


def test_a_deadlock_becomes_what_refutes_its_design_and_back(postgres_url: str) -> None:
    store_old_release(postgres_url, "0010")
    check_upgraded(postgres_url, "0010")
    check_downgraded(postgres_url)
    check_upgraded(postgres_url, "0010")


PLANS = {
    "the first lane": (lanes.FIRST_OF_QUEUE, "ix_builds_queue"),
    "the next lane": (lanes.NEXT_OF_OWNER, "ix_builds_queue"),
    "the next owner": (lanes.NEXT_OF_QUEUE, "ix_builds_queue"),
    "the head": (lanes.LOCKED_FIRST_OF_LANE, "ix_builds_queue"),
    "the level": (turns.LEVEL, "ix_builds_taken"),
}


@pytest.mark.parametrize("analyzed", [False, True])
def test_claims_and_places_are_found_by_index(database: Database, exploration: Exploration, analyzed: bool) -> None:
    rows = [
        {**new_build(exploration, new_id("k")).row(), "state": state, "fair_tag": n}
        for state in ("queued", "done")
        for n in range(10_000)
    ]
    with database.write() as session:
        session.execute(sa.insert(Build), rows)
    if analyzed:
        with database.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(sa.text("ANALYZE builds"))
    for name, (statement, index) in PLANS.items():
        plan = explained(database, statement)
        assert index in plan, f"{name}: {plan}"
        assert "Seq Scan" not in plan, f"{name}: {plan}"
        assert "Sort" not in plan, f"{name}: {plan}"


def explained(database: Database, statement: sa.Select[*tuple[Any, ...]]) -> str:
    given = {"queue": QUEUE, "owner": "", "request": "/0/0", "exploration": "exp", "now": utcnow()}
    with database.read() as session:
        dialect = postgresql.dialect(paramstyle="pyformat")
        compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        values = {name: given.get(name, value) for name, value in compiled.params.items()}
        found = session.connection().exec_driver_sql(f"EXPLAIN {compiled}", values)
        return "\n".join(row[0] for row in found)


def break_connection(database: Database, session: Session) -> None:
    mine = session.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    with database.engine.connect() as other:
        other.execute(sa.text("SELECT pg_terminate_backend(:mine, 5000)"), {"mine": mine})


def test_a_broken_connection_is_replaced_and_its_work_done_again(database: Database, exploration: Exploration) -> None:
    attempts = 0

    def queue_one(session: Session) -> str:
        nonlocal attempts
        attempts += 1
        [build] = ensure(session, exploration, "a")
        if attempts < 3:
            break_connection(database, session)
        return build.id

    made = database.retry(queue_one, 30)
    assert attempts == 3
    with database.read() as session:
        assert [b.id for b in builds.of_exploration(session, exploration.id)] == [made]


def test_a_broken_connection_is_told_to_who_does_not_retry(database: Database) -> None:
    with pytest.raises(OperationalError), database.write() as session:
        break_connection(database, session)
    database.ping()


def test_a_deadlock_is_resolved(database: Database, exploration: Exploration) -> None:
    with database.write() as session:
        keys = [exploration.id, another(session, exploration).id]
    both = threading.Barrier(2)
    first_time = threading.local()

    def lock_both(session: Session, order: list[str]) -> None:
        explorations.lock(session, order[0])
        if not getattr(first_time, "over", False):
            first_time.over = True
            both.wait(10)
        explorations.lock(session, order[1])

    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(database.retry, lambda session, order=order: lock_both(session, order), 20)
            for order in (keys, keys[::-1])
        ]
        for each in done:
            each.result(timeout=30)


def test_no_statement_holds_up_the_farm_for_ever(database: Database, migrated_postgres_url: str) -> None:
    with database.read() as session:
        assert session.execute(sa.text("SHOW statement_timeout")).scalar_one() == "1min"
        assert session.execute(sa.text("SHOW lock_timeout")).scalar_one() == "30s"
    engine = make_engine(migrated_postgres_url, limits=False)  # as migrations do
    with engine.connect() as connection:
        assert connection.execute(sa.text("SHOW statement_timeout")).scalar_one() == "0"
    engine.dispose()


def expire(database: Database, exploration: Exploration, build: Build) -> None:
    with database.write() as session:
        session.execute(sa.text("SET LOCAL lock_timeout = '100ms'"))
        retention.remove(session, exploration.id, retention.Expired(files=frozenset({build.id})))


def test_what_is_being_adopted_does_not_expire_meanwhile(database: Database, exploration: Exploration) -> None:
    """Between the two a collection of garbage would find contents that nobody names yet."""
    with database.write() as session:
        [twin] = ensure(session, exploration, "a")
        twin.state = "done"
        other = another(session, exploration)
        session.flush()
        session.add(Artifact(build_id=twin.id, path="f", digest="d" * 64, size=1, media_type="t"))
    with database.write() as adopting:
        [adopted] = ensure(adopting, other, "a")
        assert adopted.adopted_from == twin.id
        with pytest.raises(OperationalError, match="lock timeout"):
            expire(database, exploration, twin)
    expire(database, exploration, twin)
    with database.read() as session:
        assert session.scalars(sa.select(Artifact.build_id)).all() == [adopted.id]


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


@pytest.mark.slow
def test_texts_that_postgres_takes_not_are_refused(migrated_postgres_url: str, tmp_path: Path) -> None:
    app = create_app(Settings(home=tmp_path / "home", database_url=migrated_postgres_url), lambda _: None)
    with TestClient(app, base_url="http://127.0.0.1:8642", raise_server_exceptions=False) as client:
        assert check_texts(client, app) > 150
