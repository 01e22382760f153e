"""Real servers and a real `up` for end-to-end tests.

Postgres: MILLRACE_TEST_POSTGRES_URL, else the system's binaries in a private folder. Redis: MILLRACE_TEST_REDIS_URL,
else the system's, else the server of the embedded default. Where CI=true a missing server fails the test, elsewhere it
is skipped.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest
import redis as redis_client
from migrated import migrated_on
from running_service import RunningService, StartService, service_starter
from servers import PostgresServer, RedisServer, free_port, new_database, postgres_binaries, run_as_admin
from sqlalchemy import make_url


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """URL of a Postgres in which databases may be created."""
    given = os.environ.get("MILLRACE_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    server = new_postgres()
    server.start()
    yield server.url
    server.stop()
    server.remove()


def new_postgres(port: int | None = None) -> PostgresServer:
    """A server that the test may kill; without binaries it is skipped, or fails where CI=true."""
    binaries = postgres_binaries()
    if binaries is None:
        _missing("no Postgres: install postgresql, or set MILLRACE_TEST_POSTGRES_URL")
    return PostgresServer(binaries, port)


@pytest.fixture
def own_postgres() -> Generator[PostgresServer]:
    """A started server of the test's own, to kill and to start again, on a TCP port."""
    server = new_postgres(free_port())
    server.start()
    yield server
    with suppress(AssertionError):  # it may be stopped
        server.stop()
    server.remove()


@pytest.fixture
def own_redis() -> Generator[RedisServer]:
    """Like `own_postgres`."""
    server = RedisServer(free_port())
    server.start()
    yield server
    server.stop()
    server.remove()


@pytest.fixture
def postgres_url(postgres_server: str) -> Generator[str]:
    """URL of an empty database of its own."""
    with _dropped(new_database(postgres_server, _new_name()), postgres_server) as url:
        yield url


@pytest.fixture
def migrated_postgres_url(postgres_server: str) -> Generator[str]:
    """URL of a database of its own with all tables."""
    with _dropped(migrated_on(postgres_server, _new_name()), postgres_server) as url:
        yield url


def _new_name() -> str:
    return f"test_{os.urandom(6).hex()}"


@contextmanager
def _dropped(url: str, server: str) -> Generator[str]:
    yield url
    run_as_admin(server, f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


@pytest.fixture
def redis_url() -> Generator[str]:
    """URL of an empty Redis of its own."""
    given = os.environ.get("MILLRACE_TEST_REDIS_URL")
    if given:
        client = redis_client.Redis.from_url(given)
        client.flushdb()
        yield given
        client.flushdb()
        return
    server = RedisServer()
    server.start()
    yield server.url
    server.stop()
    server.remove()


@pytest.fixture
def start_service(tmp_path: Path) -> Generator[StartService]:
    """`start_service(**environment)`: an `up` on `home` (default: one for the test). Nothing is left at the end."""
    with service_starter(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningService]:
    """An `up` that the tests of a module share; they leave it running."""
    with service_starter(tmp_path_factory.mktemp("shared")) as start:
        yield start()
