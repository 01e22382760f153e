"""What routes ask for: who asks, the farm, a session, and once-only execution of a POST.

What only looks something up is `async`: FastAPI would run it in a thread, which costs more than a small answer.
"""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from api import audit
from api.principal import Principal
from db.repositories import idempotency
from worker.farm import Farm
from worker.ladder.versions import digest

Made = TypeVar("Made", bound=BaseModel)

_KEY = "a text of your choice; the same request with the same text is done once and answered alike"


async def get_principal(request: Request) -> Principal:
    """Whom `api.access` has found out."""
    return request.state.principal


PrincipalDep = Annotated[Principal, Depends(get_principal)]


async def get_farm(request: Request) -> Farm:
    return request.app.state.farm


FarmDep = Annotated[Farm, Depends(get_farm)]


async def _turn(request: Request) -> AsyncGenerator[None]:
    """A session's turn: so many hold a connection at once as there are for sure.

    A request keeps its session over several threads. Without turns some would wait in all threads for a connection, of
    those that wait for a thread to give theirs back.
    """
    async with request.app.state.turns:
        yield


_TurnDep = Annotated[None, Depends(_turn, scope="function")]


async def _read(farm: FarmDep, _turn: _TurnDep) -> AsyncGenerator[Session]:
    reading = ExitStack()
    session = reading.enter_context(farm.database.read())  # has no connection yet
    try:
        yield session
    finally:
        await run_in_threadpool(reading.close)


def _write(farm: FarmDep, request: Request, who: PrincipalDep, _turn: _TurnDep) -> Generator[Session]:
    """A transaction that is kept in the audit, with what `Once` has made or what the path names."""
    with farm.database.write() as session:
        yield session
        target = getattr(request.state, "made", None) or "/".join(request.path_params.values()) or None
        audit.record(session, who, f"{request.method} {request.scope['route'].path}", target, {})


ReadSession = Annotated[Session, Depends(_read, scope="function")]
# "function": the commit comes before the reply, so that nobody reads an id that is not there yet.
WriteSession = Annotated[Session, Depends(_write, scope="function")]


class Once:
    """Runs a POST once per key of its caller (`Idempotency-Key`): a repetition gets the first answer, another body a
    conflict.
    """

    def __init__(self, request: Request, session: Session, who: Principal, key: str | None) -> None:
        self._request = request
        self._route = f"{request.method} {request.url.path}" + (f" {digest(who.name)[:16]}" if who.name else "")
        self._session = session
        self._key = key

    def __call__(self, body: BaseModel, reply: type[Made], make: Callable[[], Made]) -> Made:
        """`make()`, or the stored answer as a `reply`. Raises ConflictError."""
        made = self._once(body, reply, make)
        self._request.state.made = getattr(made, "id", None)
        return made

    def _once(self, body: BaseModel, reply: type[Made], make: Callable[[], Made]) -> Made:
        if self._key is None:
            return make()
        stored: dict[str, Any] | None = idempotency.reserve(
            self._session, self._route, self._key, digest(body.model_dump(mode="json"))
        )
        if stored is not None:
            return reply.model_validate(stored)
        made = make()
        idempotency.record(self._session, self._route, self._key, made.model_dump(mode="json"))
        return made


async def _once(
    request: Request,
    session: WriteSession,
    who: PrincipalDep,
    idempotency_key: Annotated[str | None, Header(max_length=200, min_length=1, description=_KEY)] = None,
) -> Once:
    return Once(request, session, who, idempotency_key)


OnceDep = Annotated[Once, Depends(_once, scope="function")]
