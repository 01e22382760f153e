"""Starts, watches and stops the processes of one machine: Redis (embedded), one worker, the API.

No child outlives this process, however it ends: each asks the kernel for a signal at its parent's death. Each runs in a
session of its own, so Ctrl-C reaches this process only, which then stops them in order.
"""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from sqlalchemy.exc import OperationalError

from db.migrate import check_whole, upgrade
from worker.errors import StartError
from worker.holder import START_SECONDS, Services, await_running, publish, take_home
from worker.logs import rotate
from worker.node.ballast import take_on_ballast
from worker.node.disk import is_disk_full
from worker.private import private_directory, tighten
from worker.processes import port_holder
from worker.redis_server import start_redis
from worker.settings import Settings
from worker.store.disk import disk_full_message
from worker.sweeps.webhook_secrets import WebhookSecrets

_STOP_SECONDS = 15
_MAX_RESTARTS = 5
_RESTART_WINDOW = 60

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy has no business on this machine

Announce = Callable[[str], None]


class _StoppedError(Exception):
    """Somebody wanted the services to stop while they were starting."""


def up(settings: Settings, on_ready: Callable[[Services], None], announce: Announce) -> None:
    """Run the services until SIGINT, SIGTERM or SIGHUP; call from the main thread.

    `on_ready` is called once they answer; `announce` receives what a person should know later (a restart). Raises
    StartError when the port or the home is taken, or when a child keeps dying.
    """
    stopping = threading.Event()
    with _signals_set(stopping):
        supervisor = Supervisor(settings, announce)
        try:
            address = supervisor.start(stopping)
            on_ready(Services(address, settings.home, started=True))
            supervisor.supervise(stopping)
        except _StoppedError:
            announce("stopped before everything was up")
        finally:
            supervisor.stop()


@contextmanager
def services(settings: Settings, announce: Announce) -> Generator[Services]:
    """The services for the duration of a command: those that run on this home already, else our own.

    Our own take another port when the usual one is taken. Call from a thread that lives as long as the context, best
    the main one: the children die with it. Raises StartError.
    """
    running = await_running(settings)
    if running is not None:
        yield running
        return
    supervisor = Supervisor(settings, announce, any_port=True)
    stopping, ended, stopped = threading.Event(), threading.Event(), threading.Event()

    def supervise() -> None:
        try:
            supervisor.supervise(stopping)
        except StartError as error:
            announce(str(error))
        ended.set()
        stopped.wait()  # the children that it has started again die with this thread: not before they are stopped

    watcher = threading.Thread(target=supervise, daemon=True, name="supervisor")
    try:
        address = supervisor.start(stopping)
        watcher.start()
        yield Services(address, settings.home, started=True)
    finally:
        stopping.set()
        if watcher.is_alive():
            ended.wait()
        supervisor.stop()
        stopped.set()
        if watcher.is_alive():
            watcher.join()


@dataclass
class _Child:
    """A process to keep running, and when it was started again."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    restarts: list[float] = field(default_factory=list[float])


class Supervisor:
    """The children of one home. `start`, then `supervise`, then `stop`; `stop` is safe at any time."""

    def __init__(self, settings: Settings, announce: Announce, *, any_port: bool = False) -> None:
        self._settings = settings
        self._announce = announce
        self._any_port = any_port
        self._lock: IO[str] | None = None
        self._socket: socket.socket | None = None
        self._children: list[_Child] = []

    def start(self, stopping: threading.Event) -> str:
        """Start everything and wait until the API answers; its address.

        Raises StartError; ends early with a private error when `stopping` is set meanwhile.
        """
        try:
            return self._start(stopping)
        except (OSError, OperationalError) as error:
            if is_disk_full(error):
                raise StartError(disk_full_message(self._settings.home)) from error
            raise StartError(f"can not start on {self._settings.home}: {error}") from error

    def _start(self, stopping: threading.Event) -> str:
        for text in tighten(self._settings):
            self._announce(text)
        private_directory(self._settings.run_dir)
        self._settings.log_dir.mkdir(exist_ok=True)
        self._lock = take_home(self._settings)
        take_on_ballast(self._settings)
        self._socket = self._listen()
        host, port = self._socket.getsockname()[:2]
        address = f"http://{_reachable(host)}:{port}"
        if self._settings.redis_url is None:
            self._add("redis", lambda: start_redis(self._settings))
        check_whole(self._settings.database)
        upgrade(self._settings.database, WebhookSecrets(self._settings.secret_key).seal)
        self._add("worker", lambda: self._spawn("worker", ["-m", "worker", str(os.getpid())]))
        api = self._add("api", self._spawn_api)
        self._await_health(api, address, stopping)
        publish(self._lock, address)
        return address

    def supervise(self, stopping: threading.Event) -> None:
        """Restart children that die, until `stopping` is set. Raises StartError when one keeps dying."""
        while not stopping.wait(0.2):
            for child in self._children:
                rotate(child.log, self._settings.log_bytes, self._settings.log_files)
                if child.process is not None and child.process.poll() is not None and not stopping.is_set():
                    self._restart(child)

    def stop(self) -> None:
        """Stop all children, the broker last, and let go of port and home."""
        broker = [c for c in self._children if c.name == "redis"]
        _terminate([c.process for c in self._children if c not in broker and c.process is not None])
        _terminate([c.process for c in broker if c.process is not None])
        self._children.clear()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def _listen(self) -> socket.socket:
        # Bound here and handed down: a taken port is known before anything starts, and stays ours over a restart.
        host, port = self._settings.host, self._settings.port
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and self._any_port:
                return _bind(host, 0)
            raise StartError(_port_message(host, port, error)) from error

    def _add(self, name: str, start: Callable[[], subprocess.Popen[bytes]]) -> _Child:
        child = _Child(name, start, self._settings.log_dir / f"{name}.log")
        child.process = start()
        self._children.append(child)
        return child

    def _restart(self, child: _Child) -> None:
        assert child.process is not None
        now = time.monotonic()
        child.restarts = [t for t in child.restarts if now - t < _RESTART_WINDOW] + [now]
        if len(child.restarts) > _MAX_RESTARTS:
            raise StartError(f"{child.name} keeps ending; its log {child.log} ends with:\n{_tail(child.log)}")
        self._announce(f"{child.name} ended with status {child.process.returncode}; started again (log: {child.log})")
        child.process = child.start()

    def _spawn_api(self) -> subprocess.Popen[bytes]:
        assert self._socket is not None
        descriptor = self._socket.fileno()
        return self._spawn("api", ["-m", "api", str(os.getpid()), str(descriptor)], descriptor)

    def _spawn(self, name: str, arguments: list[str], *descriptors: int) -> subprocess.Popen[bytes]:
        with (self._settings.log_dir / f"{name}.log").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=descriptors,
                env=self._settings.environment(),
            )

    def _await_health(self, api: _Child, address: str, stopping: threading.Event) -> None:
        deadline = time.monotonic() + START_SECONDS
        assert api.process is not None
        while not _answers(address):
            if stopping.is_set():
                raise _StoppedError
            if api.process.poll() is not None:
                raise StartError(f"the API did not start; its log {api.log} ends with:\n{_tail(api.log)}")
            if time.monotonic() > deadline:
                raise StartError(
                    f"the API did not answer within {START_SECONDS} s: is this machine very busy? "
                    f"Its log {api.log} ends with:\n{_tail(api.log)}"
                )
            time.sleep(0.02)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def _port_message(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} on {host} is taken by {port_holder(port)}. Use http://{_reachable(host)}:{port} if that is "
            "Millrace, stop that process, or choose another port (--port N or MILLRACE_PORT)"
        )
    return f"can not listen on {host}:{port} ({error.strerror}); choose another --host or --port"


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _answers(address: str) -> bool:
    try:
        with _DIRECT.open(f"{address}/v1/health", timeout=1):
            return True
    except urllib.error.HTTPError:
        return True  # it runs; what it says about database and broker is not about starting
    except OSError:
        return False


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-1500:].strip() if log.is_file() else ""


def _terminate(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _STOP_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _signals_set(event: threading.Event) -> Generator[None]:
    def handle(_signal: int, _frame: FrameType | None) -> None:
        event.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, handle) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
