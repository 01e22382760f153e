"""Brings a database to the newest revision. Called at every start; a database that is there already costs one query.

New revision: change db/models.py, call `draft("0008", "what")`, read what it wrote, and set `HEAD` to it.
"""

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, inspect, make_url, text

from db.damage import DamagedDatabaseError
from db.engine import make_engine
from db.errors import ConflictError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0011"
_SCRIPTS = Path(__file__).parent / "migrations"
_POSTGRES_LOCK = 7_218_364_091  # any constant that no other program uses


Seal = Callable[[str], str]
"""`seal(secret)`: what the database may keep of a secret that an earlier release stored as it is."""


def upgrade(url: str, seal: Seal | None = None) -> None:
    """Create or upgrade the tables at `url`. Two that start at once take turns.

    Raises ConflictError for tables of a newer release, and where there are secrets and no `seal`.
    """
    engine = make_engine(url, limits=False)
    try:
        revision = current_revision(engine)
        if revision == HEAD:
            return
        if newer := newer_than_known(revision):
            raise ConflictError(newer)
        with _lock(engine):
            _run(engine, seal)
    finally:
        engine.dispose()


def newer_than_known(revision: str | None) -> str | None:
    """What to do about a database of a later release; None where it is not."""
    if revision is None or revision <= HEAD:
        return None
    return (
        f"the database is of a newer Millrace (revision {revision}, this one knows {HEAD}): use that one, or bring a "
        "backup that this one made into an empty database: millrace farm restore BACKUP, with another MILLRACE_HOME "
        "or MILLRACE_DATABASE_URL"
    )


def check_whole(url: str) -> None:
    """Read all of an SQLite database, about 1 s per GB; others see to that themselves. Raises DamagedDatabaseError."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not Path(str(parsed.database)).is_file():
        return
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            found = connection.execute(text("PRAGMA quick_check(1)")).scalar_one()
    finally:
        engine.dispose()
    if found != "ok":
        raise DamagedDatabaseError(str(parsed.database), str(found).replace("\n", " "))


def current_revision(engine: Engine) -> str | None:
    """The revision of the database, None when it is empty."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def draft(revision: str, message: str) -> None:
    """Write the revision that brings the migrated tables to db/models.py, for a person to read and correct."""
    from alembic import command  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/draft.db")
        _run(engine)
        with engine.connect() as connection:
            command.revision(_config(connection), message, autogenerate=True, rev_id=revision)


def _run(engine: Engine, seal: Seal | None = None) -> None:
    # Alembic takes a quarter of a second to load, which a start that has nothing to migrate should not pay.
    from alembic import command  # noqa: PLC0415

    # As a writer from its first query on: SQLite does not wait, but fails at once, where one that has read turns writer
    # while another has the lock, as who opens the database may have for a moment.
    with engine.connect().execution_options(millrace_write=True) as connection:
        if engine.dialect.name == "sqlite":
            _suspend_references(connection)
        with connection.begin():  # begun here, so that Alembic does not commit before the references are checked
            command.upgrade(_config(connection, seal), "head")
            _check_references(connection)


def _suspend_references(connection: Connection) -> None:
    # SQLite changes a table by making it anew: dropping the old one would delete what refers to its rows. Not possible
    # inside a transaction, hence below SQLAlchemy, which would begin one. The connection is closed after the upgrade.
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")


def _check_references(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    broken = connection.execute(text("PRAGMA foreign_key_check")).first()
    if broken is not None:
        raise ConflictError(f"upgrade undone: a row of {broken[0]} refers to a row of {broken[2]} that is not there")


def _config(connection: Connection, seal: Seal | None = None) -> "Config":
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes |= {"connection": connection, "seal": seal}
    return config


@contextmanager
def _lock(engine: Engine) -> Generator[None]:
    if engine.dialect.name == "sqlite":
        with _file_lock(Path(f"{make_url(engine.url).database}.migrate.lock")):
            yield
        return
    with engine.connect() as connection, _advisory_lock(connection):
        yield


@contextmanager
def _file_lock(path: Path) -> Generator[None]:
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:  # noqa: PTH123  # private from its first moment
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _advisory_lock(connection: Connection) -> Generator[None]:
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _POSTGRES_LOCK})
    connection.commit()
    try:
        yield
    finally:
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _POSTGRES_LOCK})
        connection.commit()
