"""Counts the requests of keys. Health is not counted: it is to be answered whatever else its key asks for."""

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import RateError
from api.limits import Limiter
from api.middleware import CHANGING, CLOSE, HEALTH
from api.principal import Principal
from api.problems import problem_of


class Counted:
    """Answers 429 to a request that is one too many of its key."""

    def __init__(self, app: ASGIApp, limiter: Limiter) -> None:
        self._app = app
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "http":
                await self._count(scope)
        except RateError as error:
            answer = problem_of(error)
            answer.headers.update(CLOSE)  # of a body that nobody has read
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _count(self, scope: Scope) -> None:
        principal: Principal = scope["state"]["principal"]
        if principal.name is None or scope["path"].startswith(HEALTH):
            return
        await run_in_threadpool(self._limiter.hit, f"key {principal.name}", scope["method"] in CHANGING)
