"""What a look has found a moment ago: good enough for all who ask meanwhile, of whom none waits for a thread."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")

FRESH_SECONDS = 0.5
"""So long nobody looks again."""
GOOD_SECONDS = 2.0
"""So long it is told, while somebody looks again."""


class Recently(Generic[T]):
    """Looks, in a thread, where the last look is too long ago; never twice at the same time. For one event loop."""

    def __init__(self, look: Callable[[], T]) -> None:
        self._look = look
        self._found: list[T] = []
        self._since = -math.inf
        self._looking: asyncio.Task[None] | None = None

    async def get(self) -> T:
        """What was found. Raises what the look raises."""
        age = time.monotonic() - self._since
        if age >= FRESH_SECONDS and self._looking is None:
            self._looking = asyncio.create_task(self._renew())
        if self._looking is not None and age >= GOOD_SECONDS:
            await asyncio.shield(self._looking)
        return self._found[0]

    async def _renew(self) -> None:
        begun = time.monotonic()
        try:
            self._found = [await run_in_threadpool(self._look)]
            self._since = begun
        finally:
            self._looking = None
