"""Event streams of keys: so many at once, and none for longer than its key is valid."""

import time
from collections import Counter
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.authentication import Authenticator
from api.caller import token_of
from api.errors import RateError
from api.principal import Principal
from api.problems import problem_of

MOST = 100
"""Streams of one key in one process: half of what it may have in progress by default."""
CHECK_SECONDS = 5.0
_RETRY_SECONDS = 5


class Streams:
    """Bounds the streams of each key, and ends those whose key was revoked or has expired; all else passes."""

    def __init__(self, app: ASGIApp, is_stream: Callable[[Scope], bool], keys: Authenticator) -> None:
        self._app = app
        self._is_stream = is_stream
        self._keys = keys
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_stream(scope):
            await self._app(scope, receive, send)
            return
        principal: Principal = scope["state"]["principal"]
        token = token_of(scope)
        if principal.name is None or token is None:
            await self._app(scope, receive, send)
        elif self._open[principal.name] >= MOST:
            detail = f"the key {principal.name!r} follows {MOST} event streams already; close some"
            await problem_of(RateError(detail, _RETRY_SECONDS))(scope, receive, send)
        else:
            self._open[principal.name] += 1
            try:
                await self._app(scope, receive, _WhileValid(send, lambda: self._keys.find(token) is not None))
            finally:
                self._open[principal.name] -= 1


class _WhileValid:
    """A `send` that ends the answer once `is_valid` says no. Streams send at least their heartbeat, so it is asked."""

    def __init__(self, send: Send, is_valid: Callable[[], bool]) -> None:
        self._send = send
        self._is_valid = is_valid
        self._asked = time.monotonic()
        self._ended = False

    async def __call__(self, message: Message) -> None:
        if self._ended:
            return
        if message["type"] == "http.response.body" and time.monotonic() - self._asked >= CHECK_SECONDS:
            self._asked = time.monotonic()
            self._ended = not await run_in_threadpool(self._is_valid)
        # The end of the answer has the server tell the stream that its reader is gone.
        await self._send({"type": "http.response.body", "body": b""} if self._ended else message)
