"""Wake-ups that say when a stream has read all there is and waits for more."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from api.sse import WakeUps


class WatchedWakeUps(WakeUps):
    """`waits` is set whenever a reader begins to wait."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.waits = asyncio.Event()

    @contextmanager
    def of(self, channel: str) -> Generator[asyncio.Event]:
        with super().of(channel) as event:
            wait = event.wait

            async def say_and_wait() -> Literal[True]:
                self.waits.set()
                return await wait()

            event.wait = say_and_wait
            yield event

    async def reader_waits(self) -> None:
        """Return once a reader waits that did not when this was called last."""
        await asyncio.wait_for(self.waits.wait(), 60)
        self.waits.clear()
