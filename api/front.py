"""The process in front of the API: it waits for requests, tells health by itself, and hands connections over.

python -m api.front PARENT LISTENER CHANNEL        # two descriptors; `api.handover` starts it

The API does all its work in one process, in which threads and event loop wait for each other: a request for health
waits for what all others ask. What needs no more than patience is done here: connections wait until the head of their
first request is whole. Then the API gets the connection itself, with what it has brought. What the API finds its health
to be it says here once a second, and probes are told that.

It imports little: it is up in a tenth of a second and holds 20 MB.
"""

import asyncio
import gc
import logging
import re
import signal
import socket
import sys
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import cast

from api.addresses import Proxies, counted_as
from api.channel import MOST_MESSAGE, Plan, ToTheApi, Used, decode, encode
from api.door import KEPT, PROXY, Door
from api.probes import Probes
from worker.processes import die_with

_HEAD_BYTES = MOST_MESSAGE // 2
"""Of a longer head this much is handed over, and the API refuses it. No more is read at once."""
_HEAD_ENDS = re.compile(rb"\n\r?\n")
"""As the API reads it: lines may end without a carriage return."""
_TAKEN_AT_ONCE = 64
"""Connections that are taken before those that are there have their turn."""
_WAITING = 4096
"""Connections that the kernel keeps until they are taken."""


_log = logging.getLogger(__name__)


class Front:
    """What connections come to: their door, and the way to the API. For one event loop."""

    def __init__(self, channel: socket.socket, plan: Plan) -> None:
        self.door = Door(replace(plan.bounds, expected=1.0))  # here one that brings nothing costs little
        self.proxies = Proxies(plan.proxies)
        self.late, self._busy = plan.late.encode(), plan.busy.encode()
        self.room = bytearray(_HEAD_BYTES)
        self.ended = asyncio.Event()
        """Set when the API has closed the channel."""
        self._probes = Probes(plan, self._say_used)
        self._channel = channel
        self._waiting: deque[Caller] = deque()
        self._most_waiting = min(plan.bounds.most, plan.bounds.of_host) - KEPT
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(channel, self._hear)

    def take(self, caller: "Caller") -> None:
        """Answer the connection, or hand it over."""
        answer = self._probes.answer(bytes(caller.brought))
        if answer is None and len(self._waiting) >= self._most_waiting:
            answer = self._busy
        if answer is None:
            self.door.serve(caller)
            caller.transport.pause_reading()
            self._waiting.append(caller)
            self._hand_over()
        else:
            self.door.leave(caller)
            caller.transport.write(answer)
            caller.transport.close()

    def _hand_over(self) -> None:
        """Hand over who waits, as far as the API takes it."""
        while self._waiting:
            caller = self._waiting[0]
            try:
                socket.send_fds(self._channel, [caller.brought], [caller.descriptor()])
            except BlockingIOError:
                self._loop.add_writer(self._channel, self._hand_over)
                return
            except ConnectionError:  # the API has ended, as `_hear` is told
                return
            except OSError as error:
                _log.warning("a connection could not be handed over: %s", error)
            self.door.leave(caller)
            self._waiting.popleft().transport.abort()  # our end of it: the connection is the API's
        self._loop.remove_writer(self._channel)

    def _say_used(self, key: str) -> None:
        with suppress(OSError):  # it is behind, or has ended
            self._channel.send(encode(Used(key)))

    def _hear(self) -> None:
        try:
            data = self._channel.recv(MOST_MESSAGE)
        except ConnectionError:
            data = b""
        if data:
            self._probes.hear(decode(data))
        else:
            self._loop.remove_reader(self._channel)
            self.ended.set()


class Caller(asyncio.BufferedProtocol):
    """A connection whose first request is on its way; a visitor of the door."""

    transport: asyncio.Transport

    def __init__(self, front: Front) -> None:
        self._front = front
        self.host = "unknown"
        self.brought = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if peer:
            self.host = PROXY if peer[0] in self._front.proxies else counted_as(peer[0])
        self._front.door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._front.door.leave(self)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002
        return self._front.room  # one for all: it is emptied before another one reads

    def buffer_updated(self, nbytes: int) -> None:
        seen = max(0, len(self.brought) - 2)
        self.brought += memoryview(self._front.room)[:nbytes]
        if self._is_enough(seen):
            self._front.take(self)

    def _is_enough(self, seen: int) -> bool:
        """Whether the head is whole; or too long, or none, which the API says. Its end is not before `seen`."""
        is_none = self.brought[0] <= ord(" ")  # TLS, for one, begins so
        return is_none or len(self.brought) >= _HEAD_BYTES or _HEAD_ENDS.search(self.brought, seen) is not None

    def descriptor(self) -> int:
        return self.transport.get_extra_info("socket").fileno()

    def is_held(self) -> bool:
        return False

    def took_some(self) -> bool:
        return True

    def send_away(self, *, late: bool) -> None:
        if late and self.brought:
            self.transport.write(self._front.late)
        self.transport.close()


async def serve(listener: socket.socket, channel: socket.socket, plan: Plan) -> None:
    """Wait for connections until the API closes the channel."""
    front, loop = Front(channel, plan), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Caller(front), sock=listener, backlog=_TAKEN_AT_ONCE)
    listener.listen(_WAITING)
    while not front.ended.is_set():
        await front.door.sweep()
        with suppress(TimeoutError):
            await asyncio.wait_for(front.ended.wait(), 1)
    server.close()


def main(parent: int, listener: int, channel: int) -> None:
    """Serve until the API closes the channel."""
    die_with(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the API ends first, and this with it
    to_the_api = socket.socket(fileno=channel)
    to_the_api.setblocking(True)
    plan = decode(to_the_api.recv(MOST_MESSAGE))
    assert isinstance(plan, Plan)
    to_the_api.setblocking(False)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[ToTheApi(to_the_api)])
    gc.freeze()
    asyncio.run(serve(socket.socket(fileno=listener), to_the_api, plan))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
