"""Connections that bring nothing, at a door with a clock of the test's."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from api.addresses import Proxies
from api.connection import Connection, protocol_of
from api.door import PIECE, PROXY, Bounds, Door

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
BOUNDS = Bounds(most=80, of_host=40, patience=10, idle=15)


class Wire:
    """The transport of a connection: what was sent, and whether it is open."""

    def __init__(self, host: str) -> None:
        self.host, self.sent, self.is_open, self.unread = host, b"", True, 0
        self.protocol: Any = None

    def get_extra_info(self, name: str) -> Any:
        return {"peername": (self.host, 1), "sockname": ("127.0.0.1", 2)}.get(name)

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return not self.is_open

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    abort = close

    def get_write_buffer_size(self) -> int:
        return self.unread

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Hall:
    """A door with its clock, its log, and an application that reads the body and answers."""

    def __init__(self, bounds: Bounds = BOUNDS, proxies: tuple[str, ...] = ()) -> None:
        self.now = 100.0
        self.door = Door(bounds, lambda: self.now)
        config = Config(self._answer, http=protocol_of(self.door, Proxies(proxies)), log_config=None, interface="asgi3")
        config.load()
        named = {"config": config, "server_state": ServerState(), "app_state": {}}
        self._made: Callable[[], Any] = lambda: cast(Any, config.http_protocol_class)(**named)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        while message.get("more_body"):
            message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    def come(self, host: str = "10.0.0.1") -> tuple[Connection, Wire]:
        connection, wire = self._made(), Wire(host)
        wire.protocol = connection
        connection.connection_made(wire)
        return connection, wire

    async def wait(self, seconds: float) -> None:
        for _ in range(4):
            await asyncio.sleep(0)
        self.now += seconds
        await self.door.sweep()


@pytest.fixture
def hall() -> Hall:
    return Hall()


async def test_a_head_that_does_not_come(hall: Hall) -> None:
    silent, slow = hall.come(), hall.come()
    for _ in range(9):
        await hall.wait(1)
        slow[0].data_received(b"G" if not slow[0].conn.trailing_data[0] else b"x")
    assert (silent[1].is_open, slow[1].is_open) == (True, True)
    await hall.wait(1)
    assert (silent[1].is_open, slow[1].is_open) == (False, False)
    assert silent[1].sent == b""
    assert slow[1].sent.startswith(b"HTTP/1.1 408 ")
    assert b"too-slow" in slow[1].sent


async def test_a_body_has_to_come_at_a_least_rate(hall: Hall) -> None:
    slow, steady = hall.come(), hall.come()
    for connection, _ in (slow, steady):
        connection.data_received(POST % (100 * PIECE))
    for _ in range(5):
        await hall.wait(4)
        slow[0].data_received(b"x" * 100)
        steady[0].data_received(b"x" * PIECE)
    assert (slow[1].is_open, steady[1].is_open) == (False, True)
    assert slow[1].sent.startswith(b"HTTP/1.1 408 ")


async def test_who_is_served_or_held_is_not_hurried(hall: Hall) -> None:
    answered, held, expects = hall.come(), hall.come(), hall.come()
    answered[0].data_received(HEAD + b"\r\n")
    held[0].data_received(POST % (100 * PIECE))
    expects[0].data_received((POST % 5).replace(b"Host", b"Expect: 100-continue\r\nHost"))
    assert expects[0].is_held()
    for _ in range(5):
        await asyncio.sleep(0)
        held[0].flow.read_paused = True  # the application does not take as much as comes
        await hall.wait(2)
    assert answered[1].sent.endswith(b"ok")
    held[0].flow.read_paused = True
    await hall.wait(8)
    assert (answered[1].is_open, held[1].is_open) == (False, True)  # the first kept alive for too long, as any is
    assert b"100 Continue" in expects[1].sent


async def test_an_answer_has_to_be_taken(hall: Hall) -> None:
    never, slowly = hall.come(), hall.come()
    for connection, wire in (never, slowly):
        connection.data_received(HEAD + b"\r\n")
        wire.unread = 10 * PIECE
        connection.pause_writing()
    for _ in range(3):
        slowly[1].unread -= 2 * PIECE
        await hall.wait(10)
    assert (never[1].is_open, slowly[1].is_open) == (False, True)
    slowly[0].resume_writing()
    await hall.wait(0)
    assert slowly[1].sent.endswith(b"ok")


async def test_ipv4_at_a_socket_for_both(hall: Hall) -> None:
    connection, _ = hall.come("::ffff:10.0.0.1")
    assert (connection.host, connection.client) == ("10.0.0.1", ("10.0.0.1", 1))


async def test_a_flood_makes_room_for_others(hall: Hall) -> None:
    flood = [hall.come("10.6.6.6") for _ in range(300)]
    assert sum(wire.is_open for _, wire in flood) <= BOUNDS.of_host // 2
    hall.now += 2
    honest = [hall.come("10.6.6.6") for _ in range(10)]  # from the very same address
    for connection, _ in honest:
        connection.data_received(HEAD + b"\r\n")
    await hall.wait(0)
    assert all(wire.sent.endswith(b"ok") for _, wire in honest)
    assert sum(wire.is_open for _, wire in flood) <= BOUNDS.of_host // 8


async def test_slow_bodies_make_room_for_others(hall: Hall) -> None:
    flood = [hall.come() for _ in range(200)]
    for connection, _ in flood:
        connection.data_received(POST % 10_000_000)
    hall.now += 2
    connection, wire = hall.come()
    connection.data_received(POST % 5 + b"hello")
    await hall.wait(0)
    assert wire.sent.endswith(b"ok")


async def test_who_is_served_stays_and_the_newcomer_goes(hall: Hall) -> None:
    served: list[Wire] = []
    for _ in range(BOUNDS.of_host):
        connection, wire = hall.come()
        connection.data_received(HEAD + b"\r\n")
        served.append(wire)
    assert not hall.come()[1].is_open
    assert all(wire.is_open for wire in served)
    assert hall.come("10.0.0.2")[1].is_open


async def test_all_together_are_bounded(hall: Hall) -> None:
    wires: list[Wire] = []
    for number in range(2 * BOUNDS.most):
        connection, wire = hall.come(f"10.0.{number}.1")
        if wire.is_open:
            connection.data_received(HEAD + b"\r\n")
        wires.append(wire)
    assert [wire.is_open for wire in wires] == [True] * BOUNDS.most + [False] * BOUNDS.most
    await hall.wait(1)  # all are answered
    assert hall.come("10.1.1.1")[1].is_open
    assert sum(wire.is_open for wire in wires) == BOUNDS.most - 1


async def test_a_trusted_proxy_brings_many() -> None:
    hall = Hall(Bounds(most=4000, of_host=40), proxies=("10.0.0.0/8",))
    wires = [hall.come("10.1.2.3") for _ in range(400)]
    assert all(wire.is_open for _, wire in wires)
    assert wires[0][0].host == PROXY
    assert hall.come("2001:db8::1")[0].host == "2001:db8::/64"


async def test_it_is_said_once_in_a_while(hall: Hall, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="api.door"):
        for _ in range(20):
            hall.come()
            await hall.wait(10)
            await hall.wait(1)
    assert len([r for r in caplog.records if "connections ended: 1 brought too little" in r.getMessage()]) == 20
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="api.door"):
        for _ in range(300):
            hall.come()
        await hall.wait(10)
        await hall.wait(1)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("given", "host", "trusted"),
    [
        (("10.0.0.0/8",), "10.2.3.4", True),
        (("10.0.0.0/8",), "11.2.3.4", False),
        (("::1", "nginx"), "::1", True),
        (("nginx",), "nginx", False),
        (("10.0.0.0/8",), "::ffff:10.2.3.4", True),
        (("*",), "1.2.3.4", True),
        ((), "127.0.0.1", False),
    ],
)
def test_which_proxies_are_trusted(given: tuple[str, ...], host: str, trusted: bool) -> None:
    assert (host in Proxies(given)) is trusted
