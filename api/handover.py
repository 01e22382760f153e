"""The API's end of what the process in front of it does: start it, take connections from it, tell it health."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from api.authentication import REMEMBERED_SECONDS, Authenticator
from api.caller import keys_wanted, names_of
from api.channel import Brought, DescriptorError, Keys, Logged, Message, Plan, Told, Used, encode, new_channel, receive
from api.connection import BUSY, LATE, Connection
from api.door import Bounds
from api.middleware import HEADERS
from api.routes.health import PROBED
from db.engine import Database
from db.repositories import api_keys
from worker.farm import Farm
from worker.settings import Settings

_TELL_SECONDS = 1.0
_MOST_KEYS = 1000
_AT_ONCE = 16
"""Connections that are taken before those that are there have their turn."""
_STOP_SECONDS = 5
_log = logging.getLogger(__name__)


class Handover:
    """A process in front of this one, from its start to its stop. For one event loop.

    It is told what `app` finds its health to be. `greet` makes the protocol of a connection, which is to begin with
    what it is given; `lost` is called should the process end by itself.
    """

    def __init__(
        self,
        app: FastAPI,
        listener: socket.socket,
        bounds: Bounds,
        greet: Callable[[bytes], Connection],
        lost: Callable[[], None],
    ) -> None:
        farm: Farm = app.state.farm
        self._greet = greet
        self._lost = lost
        self._authenticator = Authenticator(farm.database)
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._channel, theirs = new_channel()
        self._process = _start(listener, theirs)
        self._channel.send(encode(_plan(farm.settings, bounds)))
        self._loop.add_reader(self._channel, self._take)
        for path in PROBED:
            self._keep(self._repeat(_TELL_SECONDS, lambda path=path: _told(app, path)))
        self._keep(self._repeat(REMEMBERED_SECONDS, lambda: _valid(farm.database)))

    async def stop(self) -> None:
        """Take no more connections; the process ends, and with it the listener that was its."""
        self._loop.remove_reader(self._channel)
        self._channel.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.to_thread(_end, self._process)

    async def _repeat(self, seconds: float, find: Callable[[], Awaitable[Message]]) -> None:
        while True:
            try:
                self._say(await find())
            except Exception:  # noqa: BLE001 - whatever it is, it is tried again
                _log.exception("what the process in front is told could not be found out")
            await asyncio.sleep(seconds)

    def _say(self, message: Message) -> None:
        try:
            self._channel.send(encode(message))
        except BlockingIOError:  # all that the channel holds is unread: half a minute of it
            _log.error("the process in front of the API stands still")
            self._lost()
        except OSError:  # it has ended, as `_take` is told
            return

    def _take(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                message = receive(self._channel)
            except BlockingIOError:
                return
            except DescriptorError as error:
                _log.warning("%s", error)
                continue
            if message is None:
                self._loop.remove_reader(self._channel)
                self._lost()
                return
            self._hear(message)

    def _hear(self, message: Message | Brought) -> None:
        if isinstance(message, Brought):
            self._keep(self._connect(message.connection, message.data))
        elif isinstance(message, Used):
            self._keep(run_in_threadpool(self._authenticator.find, message.key))
        elif isinstance(message, Logged):
            _log.warning("in front: %s", message.line)

    async def _connect(self, connection: socket.socket, brought: bytes) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._greet(brought), connection)
        except OSError as error:
            _log.info("a connection ended before it was taken: %s", error)

    def _keep(self, work: Coroutine[object, object, object]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _plan(settings: Settings, bounds: Bounds) -> Plan:
    names = names_of(settings)
    return Plan(
        bounds=bounds,
        proxies=tuple(settings.trusted_proxies),
        hosts=tuple(names.hosts),
        others=names.others,
        needs_key=keys_wanted(settings),
        late=LATE.decode(),
        busy=BUSY.decode(),
        headers=HEADERS,
    )


async def _told(app: FastAPI, path: str) -> Told:
    status, found = await PROBED[path](app)
    return Told(path, status, found.model_dump_json())


async def _valid(database: Database) -> Keys:
    def find() -> Keys:
        with database.read() as session:
            return Keys(tuple(api_keys.valid_hashes(session, _MOST_KEYS)))

    return await run_in_threadpool(find)


def _start(listener: socket.socket, channel: socket.socket) -> subprocess.Popen[bytes]:
    """The process, which has both from now on."""
    descriptors = listener.fileno(), channel.fileno()
    command = [sys.executable, "-m", "api.front", *map(str, (os.getpid(), *descriptors))]
    with listener, channel:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=descriptors)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
