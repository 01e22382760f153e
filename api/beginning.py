"""When a request is begun with: one that has a body once a piece of it has come, event streams a few at a time.

The event loop goes around all that has begun before it comes back to a request for health. So a body that hardly comes
costs a connection and little else, and 200 dashboards that open at once wait for each other, not all others for them.
"""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.door import PIECE

STREAMS_AT_ONCE = 3


class Beginning:
    """Lets a request pass when its body has come or is more than a `PIECE`, a stream when it is its turn.

    Who asks by `Expect: 100-continue` whether to send a body is answered at once.
    """

    def __init__(self, app: ASGIApp, is_stream: Callable[[Scope], bool]) -> None:
        self._app = app
        self._is_stream = is_stream
        self._turns = asyncio.Semaphore(STREAMS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._is_stream(scope):
            await self._in_turn(scope, receive, send)
        elif _brings_body(scope):
            await self._once_brought(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A turn ends when the answer begins."""
        await self._turns.acquire()
        turn = [self._turns.release]

        async def send_and_end_turn(message: Message) -> None:
            if turn:
                turn.pop()()
            await send(message)

        try:
            await self._app(scope, receive, send_and_end_turn)
        finally:
            if turn:
                turn.pop()()

    async def _once_brought(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = bytearray(), True
        while more and len(body) < PIECE:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        brought: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": more}]

        async def receive_brought() -> Message:
            return brought.pop() if brought else await receive()

        await self._app(scope, receive_brought, send)


def _brings_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return has_body and "expect" not in headers
