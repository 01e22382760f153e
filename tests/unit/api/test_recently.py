"""What a look found is told for a while; nobody looks twice at once, and who asks late waits for a new look."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from api import recently
from api.recently import Recently


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(recently, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


async def test_one_look_serves_all_who_ask_meanwhile(clock: list[float]) -> None:
    looks: list[int] = []
    look = Recently(lambda: looks.append(1) or len(looks))
    assert await asyncio.gather(*(look.get() for _ in range(20))) == [1] * 20
    clock[0] += recently.FRESH_SECONDS / 2
    assert await look.get() == 1
    assert len(looks) == 1


async def test_an_older_one_is_told_while_somebody_looks_again(clock: list[float]) -> None:
    go, looks = threading.Event(), list[int]()

    def look() -> int:
        looks.append(1)
        if len(looks) > 1:
            go.wait(10)
        return len(looks)

    found = Recently(look)
    assert await found.get() == 1
    clock[0] += recently.FRESH_SECONDS + 0.1
    assert await asyncio.gather(found.get(), found.get()) == [1, 1]
    clock[0] += recently.GOOD_SECONDS
    late = asyncio.create_task(found.get())
    await asyncio.sleep(0.05)
    assert not late.done()
    go.set()
    assert await late == 2
    assert len(looks) == 2


async def test_a_look_that_fails_is_raised_and_tried_again(clock: list[float]) -> None:
    left = [RuntimeError("no database")]

    def look() -> str:
        if left:
            raise left.pop()
        return "well"

    found = Recently(look)
    with pytest.raises(RuntimeError, match="no database"):
        await found.get()
    assert await found.get() == "well"
