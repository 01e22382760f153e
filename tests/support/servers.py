"""Postgres and Redis of a test's own, which it may kill and start again.

Postgres: the system's binaries in a private folder, as another user where we are root, which Postgres refuses. Redis:
the system's, else the server of the embedded default. Both listen on a Unix socket, or, with a port, on 127.0.0.1 too.
"""

import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import redis
import sqlalchemy as sa
from processes import wait_for

from worker.redis_server import server_binary


class PostgresServer:
    """A cluster in a folder of its own. `url` is that of a database in which others may be created."""

    def __init__(self, binaries: Path, port: int | None = None) -> None:
        self._binaries = binaries
        self._user = _service_user()
        self.folder = Path(tempfile.mkdtemp(prefix="millrace-pg-", dir="/tmp"))  # short: its socket's path has a limit
        shutil.chown(self.folder, self._user)
        self._data = self.folder / "data"
        self._run(binaries / "initdb", "-D", self._data, "-U", "millrace", "--auth=trust", "--no-sync", "-E", "UTF8")
        listen = f"-c listen_addresses=127.0.0.1 -p {port}" if port else "-c listen_addresses=''"
        self._options = f"-k {self.folder} {listen} -c fsync=off"
        where = f"127.0.0.1:{port}/postgres" if port else f"/postgres?host={self.folder}"
        self.url = f"postgresql+psycopg://millrace@{where}"

    def start(self) -> None:
        log = self.folder / "log"
        self._run(self._binaries / "pg_ctl", "-D", self._data, "-o", self._options, "-l", log, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash: no checkpoint, connections are cut; `fast` rolls back what is open."""
        self._run(self._binaries / "pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _run(self, *command: str | Path) -> None:
        done = subprocess.run(
            _as_user(self._user, command), capture_output=True, text=True, timeout=120, cwd=self.folder, check=False
        )
        assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}\n{done.stderr}"


class RedisServer:
    """A server without persistence: what it held is gone when it starts again."""

    def __init__(self, port: int = 0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-redis-", dir="/tmp")
        self._socket = Path(self._folder.name) / "redis.sock"
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{port}/0" if port else f"unix://{self._socket}"

    def start(self) -> None:
        self._socket.unlink(missing_ok=True)
        where = ["--port", str(self._port), "--unixsocket", str(self._socket), "--dir", self._folder.name]
        binary = shutil.which("redis-server") or server_binary()
        command = [str(binary), *where, "--save", "", "--bind", "127.0.0.1"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        client = redis.Redis(unix_socket_path=str(self._socket))
        wait_for(lambda: self._socket.exists() and _answers(client), 10, "redis-server to start")
        client.close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait()

    def remove(self) -> None:
        self._folder.cleanup()


def new_database(server_url: str, name: str, template: str = "template1") -> str:
    """URL of a new database of the server, empty or a copy of another that nobody is connected to."""
    run_as_admin(server_url, f"CREATE DATABASE {name} TEMPLATE {template}")
    return sa.make_url(server_url).set(database=name).render_as_string(hide_password=False)


def run_as_admin(server_url: str, statement: str) -> None:
    """What is about databases is run outside a transaction."""
    admin = sa.create_engine(server_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(statement))
    admin.dispose()


def postgres_binaries() -> Path | None:
    """Folder of initdb and pg_ctl, the newest; None where Postgres is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).resolve().parent if on_path else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def _service_user() -> str:
    if os.getuid() != 0:
        return getpass.getuser()
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _as_user(user: str, command: Sequence[str | Path]) -> list[str]:
    plain = [str(part) for part in command]
    if os.getuid() != 0:
        return plain
    return ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups", *plain]
