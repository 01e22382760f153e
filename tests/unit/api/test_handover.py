"""The API's end of the process in front: it does not go on beside one that has ended, or stands still."""

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api import handover
from api.channel import Told
from api.door import Bounds
from api.handover import Handover
from api.probes import LIVE


@asynccontextmanager
async def standing(client: TestClient, number: signal.Signals) -> AsyncGenerator[tuple[Handover, asyncio.Event]]:
    """With a process in front that gets this signal, and what is set when it is given up."""
    app: Any = client.app
    lost, listener = asyncio.Event(), socket.create_server(("127.0.0.1", 0))
    here = Handover(app, listener, Bounds(), lambda _: pytest.fail("nobody comes"), lost.set)
    here._process.send_signal(number)
    try:
        yield here, lost
    finally:
        await here.stop()


async def test_one_that_ends_is_noticed(client: TestClient) -> None:
    async with standing(client, signal.SIGKILL) as (_, lost):
        await asyncio.wait_for(lost.wait(), 60)


async def test_one_that_stands_still_is_noticed_and_ended(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "_STOP_SECONDS", 0.1)
    async with standing(client, signal.SIGSTOP) as (here, lost):
        said = 0
        while not lost.is_set():
            here._say(Told(LIVE, 200, "{}"))
            said += 1
        assert said > 60  # 20 s of what it is told: a machine may be busy for that long
