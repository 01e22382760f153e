"""What the API and the process in front of it say to each other, each a message of a socket that keeps them apart.

The API says its `Plan` once, and then what it has `Told` and the `Keys` that are valid. The process in front says what
a connection has brought, which comes with the connection's descriptor; a message without one is `Used` or `Logged`.
"""

import json
import logging
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass

from api.addresses import Hosts
from api.door import Bounds

MOST_MESSAGE = 128 << 10
"""Bytes of a message."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Bounds, whom to trust, what the service is called and answers.

    `needs_key`: to ask for health in detail. `late` and `busy` are the whole answers to who is too slow, and to who
    comes while too many wait; `headers` are of all.
    """

    bounds: Bounds
    proxies: tuple[str, ...]
    hosts: tuple[str, ...]
    others: Hosts
    needs_key: bool
    late: str
    busy: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """Status and JSON that the API answers at `path` now."""

    path: str
    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Keys:
    """The digests of keys that are valid now: of all, or of those that were used last."""

    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Used:
    """A key that has asked for health."""

    key: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A line for the log."""

    line: str


@dataclass(frozen=True, slots=True)
class Brought:
    """A connection that is handed over, and what it has brought."""

    data: bytes
    connection: socket.socket


class DescriptorError(Exception):
    """A message has lost its connection."""


Message = Plan | Told | Keys | Used | Logged
_KINDS: dict[str, type[Message]] = {kind.__name__: kind for kind in (Plan, Told, Keys, Used, Logged)}


def encode(message: Message) -> bytes:
    return json.dumps({"kind": type(message).__name__, **asdict(message)}).encode()


def decode(data: bytes) -> Message:
    found = json.loads(data)
    kind = _KINDS[found.pop("kind")]
    return kind(**found | {"bounds": Bounds(**found["bounds"])}) if kind is Plan else kind(**found)


def receive(channel: socket.socket) -> Message | Brought | None:
    """What the other end says; None where it has ended. Raises BlockingIOError where there is nothing yet.

    Raises DescriptorError where the connection that came with it is lost.
    """
    try:
        data, descriptors, flags, _ = socket.recv_fds(channel, MOST_MESSAGE, 1)
    except ConnectionError:
        return None
    if flags & socket.MSG_CTRUNC:  # what a caller has brought must not be taken for a message
        raise DescriptorError("a connection is lost: this process has as many files open as it may")
    if descriptors:
        return Brought(data, socket.socket(fileno=descriptors[0]))
    return decode(data) if data else None


def new_channel() -> tuple[socket.socket, socket.socket]:
    """Its two ends; they wait for nothing."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_MESSAGE)  # the kernel takes twice as much
        end.setblocking(False)
    return ends


class ToTheApi(logging.Handler):
    """Has the API log what is logged in front of it."""

    def __init__(self, channel: socket.socket) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # it is full, or gone
            self._channel.send(encode(Logged(self.format(record))))
