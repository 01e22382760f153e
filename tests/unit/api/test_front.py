"""Connections in front of the API: what they have brought is handed over with them, whole and in order."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from api.channel import MOST_MESSAGE, Logged, Plan, Told, ToTheApi, decode, encode, new_channel
from api.door import Bounds
from api.front import serve
from api.probes import LIVE

HEAD = b"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
PROBE = f"GET {LIVE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
LATE = "HTTP/1.1 408 Request Timeout\r\n\r\n"


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
async def hall(patience: float = 60) -> AsyncGenerator[Hall]:
    ours, theirs = new_channel()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    plan = Plan(Bounds(patience=patience), (), (), "none", needs_key=False, late=LATE, headers={})
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
