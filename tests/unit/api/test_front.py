"""Connections in front of the API: what they have brought is handed over with them, whole and in order."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from api.channel import MOST_MESSAGE, Logged, Plan, Told, ToTheApi, decode, encode, new_channel
from api.door import KEPT, Bounds
from api.front import Caller, serve
from api.probes import LIVE

HEAD = b"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
PROBE = f"GET {LIVE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
LATE = "HTTP/1.1 408 Request Timeout\r\n\r\n"
BUSY = "HTTP/1.1 503 Service Unavailable\r\n\r\n"


class Hall:
    """What the API sees of the process in front, which runs on the test's own event loop."""

    def __init__(self, channel: socket.socket, port: int) -> None:
        self.channel, self.port = channel, port

    async def come(self, *parts: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.01)
        return reader, writer

    async def come_silently(self, part: bytes) -> asyncio.StreamWriter:
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(part)
        return writer

    async def handed(self) -> tuple[bytes, socket.socket]:
        """What the next connection has brought, and it."""
        async with asyncio.timeout(10):
            while True:
                try:
                    data, descriptors, _, _ = socket.recv_fds(self.channel, MOST_MESSAGE, 1)
                    return data, socket.socket(fileno=descriptors[0])
                except BlockingIOError:
                    await asyncio.sleep(0.005)


@asynccontextmanager
async def hall(patience: float = 60, of_host: int = 2000, host: str = "127.0.0.1") -> AsyncGenerator[Hall]:
    ours, theirs = new_channel()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family, dualstack_ipv6=family is socket.AF_INET6)
    port = listener.getsockname()[1]
    bounds = Bounds(patience=patience, of_host=of_host)
    plan = Plan(bounds, (), (), "none", needs_key=False, late=LATE, busy=BUSY, headers={})
    task = asyncio.create_task(serve(listener, theirs, plan))
    try:
        yield Hall(ours, port)
    finally:
        ours.close()
        await asyncio.wait_for(task, 5)  # the channel's end is its end


async def test_a_connection_is_handed_over_once_its_head_is_whole() -> None:
    async with hall() as here:
        reader, writer = await here.come(HEAD[:20], HEAD[20:-1])
        await asyncio.sleep(0.1)
        other = await here.come(HEAD + b"other")
        assert (await here.handed())[0] == HEAD + b"other"  # of the first nothing is known yet
        writer.write(HEAD[-1:] + b"half ")
        brought, connection = await here.handed()
        assert brought == HEAD + b"half "
        writer.write(b"body")
        await asyncio.sleep(0.1)
        assert connection.recv(100) == b"body"
        connection.sendall(b"answer")
        connection.close()
        assert await asyncio.wait_for(reader.read(), 5) == b"answer"  # nobody else held it
        other[1].close()
        writer.close()


@pytest.mark.parametrize("sent", [HEAD.replace(b"\r\n", b"\n"), HEAD[:-2] + b"\n", b"\x16\x03\x01\x02\x00", b"\r\n"])
async def test_what_ends_otherwise_or_is_no_request_does_not_wait(sent: bytes) -> None:
    async with hall() as here:
        _, writer = await here.come(sent)
        assert (await here.handed())[0] == sent
        writer.close()


@pytest.mark.slow
async def test_who_is_a_little_slow_is_waited_for_beside_a_flood() -> None:
    """Of the same address; a tab that opens on a busy machine may take two seconds for its head."""
    async with hall() as here:
        flood = [await here.come_silently(HEAD[:20]) for _ in range(1200)]
        _, writer = await here.come(HEAD[:20])
        await asyncio.sleep(2.5)
        writer.write(HEAD[20:])
        assert (await here.handed())[0] == HEAD
        for other in flood:
            other.close()


async def test_while_too_many_wait_others_are_told_so_and_health_is_told() -> None:
    async with hall(of_host=KEPT + 10) as here:
        here.channel.send(encode(Told(LIVE, 200, "{}")))
        big = HEAD + bytes(60_000)  # few of them fill the channel
        callers = [await here.come(big) for _ in range(40)]
        answers = [await asyncio.wait_for(reader.read(), 5) for reader, _ in callers[20:]]
        assert set(answers) == {BUSY.encode()}
        assert (await asyncio.wait_for((await here.come(PROBE))[0].read(), 1)).startswith(b"HTTP/1.1 200")
        for _ in range(10):
            assert (await here.handed())[0][: len(HEAD)] == HEAD
        await asyncio.sleep(0.1)
        _, writer = await here.come(HEAD)  # there is room again
        while (await here.handed())[0] != HEAD:
            pass
        writer.close()


async def test_one_that_can_not_be_handed_over_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptors, real = [-1], Caller.descriptor
    monkeypatch.setattr(Caller, "descriptor", lambda self: descriptors.pop() if descriptors else real(self))
    async with hall() as here:
        lost, kept = await here.come(HEAD), await here.come(HEAD + b"kept")
        assert (await here.handed())[0] == HEAD + b"kept"
        assert await asyncio.wait_for(lost[0].read(), 5) == b""
        kept[1].close()


async def test_ipv4_and_ipv6_at_one_socket() -> None:
    async with hall(host="::", of_host=100) as here:
        flood = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(100)]
        reader, writer = await asyncio.open_connection("::1", here.port)
        _, other = await asyncio.open_connection("127.0.0.1", here.port, local_addr=("127.0.0.2", 0))
        await asyncio.sleep(0.2)
        assert not any(come.at_eof() for come, _ in (*flood, (reader, writer)))  # each address has its own room
        writer.write(HEAD)
        assert (await here.handed())[0] == HEAD
        for _, come in flood:
            come.close()
        other.close()


async def test_hundreds_wait_for_an_api_that_is_busy() -> None:
    async with hall() as here:
        callers = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(600)]
        for number, (_, writer) in enumerate(callers):
            writer.write(HEAD + b"%09d" % number + bytes(4000))
        await asyncio.sleep(0.2)
        callers[-1][1].write(b"more")  # of one that waits: it is the API's to read
        await asyncio.sleep(0.2)
        found = [await here.handed() for _ in callers]
        assert {data[len(HEAD) : len(HEAD) + 9] for data, _ in found} == {b"%09d" % number for number in range(600)}
        assert found[-1][0] == HEAD + b"%09d" % 599 + bytes(4000)
        assert found[-1][1].recv(100) == b"more"
        for _, writer in callers:
            writer.close()


@pytest.mark.slow
async def test_health_is_told_whatever_the_api_does() -> None:
    async with hall() as here:
        here.channel.send(encode(Told(LIVE, 200, '{"status":"ok"}')))
        for _ in range(300):
            await here.come(HEAD + bytes(4000))  # more than the channel holds
        for _ in range(3):
            reader, _ = await here.come(PROBE[:-10], PROBE[-10:])
            answer = await asyncio.wait_for(reader.read(), 1)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b'{"status":"ok"}')


async def test_a_head_that_does_not_come_or_end() -> None:
    async with hall(patience=0.5) as here:
        slow, silent = await here.come(HEAD[:20]), await here.come()
        await here.come(b"GET / HTTP/1.1\r\n" + b"x" * 200_000)
        brought, _ = await here.handed()
        assert 60_000 < len(brought) <= MOST_MESSAGE  # the API says what is wrong with it
        assert await asyncio.wait_for(slow[0].read(), 5) == LATE.encode()
        assert await asyncio.wait_for(silent[0].read(), 5) == b""


async def test_what_it_logs_is_the_apis_to_log() -> None:
    ours, theirs = new_channel()
    logger = logging.Logger("front")
    logger.addHandler(ToTheApi(theirs))
    logger.warning("connections ended: %d", 7)
    assert decode(ours.recv(MOST_MESSAGE)) == Logged("connections ended: 7")
    for end in (ours, theirs):
        end.close()
