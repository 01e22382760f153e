"""Who may call what: every route with the least role that it needs, and the middleware that holds requests to it.

A request that passes has its `Principal` in `request.state.principal`. What belongs to somebody (explorations, builds)
is checked further in, by `Principal.require_owner`.
"""

import asyncio
import re
from contextlib import nullcontext

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.addresses import counted_as
from api.audit import record_refusal
from api.authentication import Authenticator, Holder
from api.caller import address_of, keys_wanted, token_of, was_forwarded
from api.crowd import Crowd
from api.door import most_connections
from api.errors import ApiError, ForbiddenError, UnauthorizedError
from api.limits import Limiter
from api.middleware import CHANGING, CLOSE, HEALTH
from api.principal import Least, Principal
from api.problems import problem_of
from api.streams import Streams
from db.errors import NotFoundError
from worker.farm import Farm

_HOW = (
    "send one as `Authorization: Bearer mlr_...` (MILLRACE_API_KEY for the command line; the dashboard has a login). "
    "An admin makes keys with `millrace farm key add NAME`; the first one is made so on the machine of the service"
)
_PROXY = (
    "name the host that the proxy answers to in MILLRACE_ALLOWED_HOSTS, and it will; or MILLRACE_ACCESS=off, where all "
    "who reach the proxy may do everything"
)

ROUTES: dict[str, Least] = {
    "GET /v1/health": "any",
    "GET /v1/health/live": "open",
    "GET /v1/health/ready": "open",
    "GET /v1/me": "any",
    "POST /v1/session": "open",
    "DELETE /v1/session": "open",
    "GET /v1/platforms": "viewer",
    "GET /v1/models": "viewer",
    "POST /v1/models": "user",
    "GET /v1/models/{model}": "viewer",
    "PATCH /v1/models/{model}": "user",
    "DELETE /v1/models/{model}": "user",
    "GET /v1/models/{model}/deletion": "viewer",
    "GET /v1/workloads": "viewer",
    "POST /v1/workloads": "user",
    "GET /v1/explorations": "viewer",
    "POST /v1/explorations": "user",
    "POST /v1/explorations/batch": "user",
    "GET /v1/explorations/{exploration}": "viewer",
    "PATCH /v1/explorations/{exploration}": "user",
    "DELETE /v1/explorations/{exploration}": "user",
    "GET /v1/explorations/{exploration}/deletion": "viewer",
    "POST /v1/explorations/{exploration}/cancel": "user",
    "POST /v1/explorations/{exploration}/resume": "user",
    "GET /v1/explorations/{exploration}/designs": "viewer",
    "GET /v1/explorations/{exploration}/table": "viewer",
    "GET /v1/explorations/{exploration}/groups": "viewer",
    "GET /v1/explorations/{exploration}/scatter": "viewer",
    "GET /v1/explorations/{exploration}/events": "viewer",
    "GET /v1/designs/{design}": "viewer",
    "PATCH /v1/designs/{design}": "user",
    "DELETE /v1/designs/{design}": "user",
    "GET /v1/designs/{design}/deletion": "viewer",
    "POST /v1/designs/{design}/builds": "user",
    "GET /v1/designs/{design}/artifacts": "viewer",
    "GET /v1/designs/{design}/artifacts/{path:path}": "viewer",
    "GET /v1/designs/{design}/archive": "viewer",
    "GET /v1/builds": "viewer",
    "GET /v1/builds/{build}": "viewer",
    "POST /v1/builds/{build}/retry": "user",
    "POST /v1/builds/{build}/cancel": "user",
    "POST /v1/builds/{build}/clone": "user",
    "GET /v1/builds/{build}/log": "viewer",
    "GET /v1/builds/{build}/log/stream": "viewer",
    "GET /v1/sweeps": "viewer",
    "POST /v1/sweeps": "user",
    "GET /v1/sweeps/{sweep}": "viewer",
    "PATCH /v1/sweeps/{sweep}": "user",
    "DELETE /v1/sweeps/{sweep}": "user",
    "POST /v1/sweeps/{sweep}/run": "user",
    "GET /v1/sweeps/{sweep}/runs": "viewer",
    "GET /v1/sweep-runs/{run}": "viewer",
    "POST /v1/sweep-runs/{run}/accept": "user",
    "POST /v1/sweep-runs/{run}/cancel": "user",
    "GET /v1/farm": "viewer",
    "POST /v1/farm/join": "node",
    "POST /v1/farm/nodes/{node}": "admin",
    "DELETE /v1/farm/nodes/{node}": "admin",
    "PUT /v1/farm/licences/{feature}": "admin",
    "GET /v1/farm/retention": "viewer",
    "PATCH /v1/farm/retention": "admin",
    "GET /v1/keys": "admin",
    "POST /v1/keys": "admin",
    "PATCH /v1/keys/{key}": "admin",
    "DELETE /v1/keys/{key}": "admin",
    "GET /v1/audit": "admin",
    "GET /metrics": "viewer",
    "GET /docs": "any",
    "GET /docs/reference.js": "any",
    "GET /openapi.json": "any",
    "GET /client/": "open",
    "GET /client/{name}": "open",
}
_STREAMS = frozenset({"GET /v1/explorations/{exploration}/events", "GET /v1/builds/{build}/log/stream"})
LOOK_UP_AT_ONCE = 2
"""Keys that are looked up at the same time: all of a building come at once, and health does not wait for them."""
_GUARDED = ("/v1/", "/metrics", "/docs", "/openapi.json")  # all else is the dashboard's files, which hold no data


def _pattern(template: str) -> str:
    parts = re.split(r"(\{\w+(?::path)?\})", template)
    return "".join((".*" if p.endswith(":path}") else "[^/]+") if p.startswith("{") else re.escape(p) for p in parts)


def _compiled(method: str) -> re.Pattern[str]:
    """One expression for all routes of a method; the group that matched is the route's number among them."""
    paths = [route.partition(" ")[2] for route in ROUTES if route.startswith(f"{method} ")]
    return re.compile("|".join(f"({_pattern(p)})" for p in paths) or r"(?!)")


_METHODS = {method: _compiled(method) for method in ("GET", *CHANGING)}
_LISTED = {method: [r for r in ROUTES if r.startswith(f"{method} ")] for method in _METHODS}


def route_of(method: str, path: str) -> str | None:
    """The entry of `ROUTES` that a request is for."""
    match = _METHODS[method].fullmatch(path) if method in _METHODS else None
    return None if match is None or match.lastindex is None else _LISTED[method][match.lastindex - 1]


def is_stream(scope: Scope) -> bool:
    """Whether a request asks for events as they come."""
    return route_of(scope["method"], scope["path"]) in _STREAMS


def least_of(scope: Scope) -> Least:
    """The role that a request needs. A path of ours that is not in the table is the admins', not everybody's."""
    route = route_of(scope["method"], scope["path"])
    if route is None:
        return "admin" if scope["path"].startswith(_GUARDED) else "open"
    return ROUTES[route]


class Access:
    """Lets a request pass whose key has the role that its route needs; answers 401, 403, 404 or 429 to the others."""

    def __init__(self, app: ASGIApp, farm: Farm, limiter: Limiter) -> None:
        self._keys = Authenticator(farm.database)
        settings = farm.settings
        streams = Streams(app, is_stream, self._keys)
        self._app = Crowd(streams, most_connections(settings), settings.address_connections, settings.key_connections)
        self._farm = farm
        self._on = keys_wanted(farm.settings)
        self._here_only = not self._on and farm.settings.access == "auto"
        self._limiter = limiter
        self._turns = asyncio.Semaphore(LOOK_UP_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["principal"] = Principal(None, "viewer" if self._on else "admin", address_of(scope))
        watched = _Watched(send)
        try:
            if self._on:
                await self._admit(scope)
            elif self._here_only and was_forwarded(scope) and least_of(scope) != "open":
                raise UnauthorizedError(f"this came through a proxy, and the service asks for no key: {_PROXY}")
        except (ApiError, NotFoundError) as error:
            answer = problem_of(error)
            answer.headers.update(CLOSE)  # of a body that nobody has read
            await answer(scope, receive, watched)
        else:
            await self._app(scope, receive, watched)
        if self._on and scope["method"] in CHANGING and watched.status in (401, 403):
            action = route_of(scope["method"], scope["path"]) or scope["method"]
            await run_in_threadpool(record_refusal, self._farm, state["principal"], action, scope["path"])

    async def _admit(self, scope: Scope) -> None:
        """Raise UnauthorizedError, ForbiddenError, NotFoundError or RateError unless the request may pass."""
        least = least_of(scope)
        if least == "open" and scope["method"] not in CHANGING:
            return
        principal = await self._identify(scope)
        if principal is not None:
            scope["state"]["principal"] = principal
        if least == "open":
            return
        if principal is None:
            raise UnauthorizedError(f"this service asks for an API key: {_HOW}")
        if principal.may(least):
            return  # `Counted` counts it, once its body is there
        await run_in_threadpool(self._limiter.hit, f"key {principal.name}", scope["method"] in CHANGING)
        if route_of(scope["method"], scope["path"]) is None:
            raise NotFoundError("route", f"{scope['method']} {scope['path']}")
        raise ForbiddenError(f"this needs the role {least}; the key {principal.name!r} has the role {principal.role}")

    async def _identify(self, scope: Scope) -> Principal | None:
        """Whose key the request carries, None where it carries none that is valid. Raises RateError."""
        token, address = token_of(scope), address_of(scope)
        key = None if token is None else self._keys.remembered(token)
        if key is None:
            async with nullcontext() if scope["path"].startswith(HEALTH) else self._turns:
                key = await self._found(token, address, scope["method"] in CHANGING)
        return None if key is None else Principal(key.name, key.role, address, key.quotas)

    async def _found(self, token: str | None, address: str, changes: bool) -> Holder | None:
        if token is None or not self._keys.was_valid(token):
            # Apart: who asks without a key keeps nobody of the same address from the first use of a good one.
            who = f"address {counted_as(address)}" if token is None else f"new keys from address {counted_as(address)}"
            await run_in_threadpool(self._limiter.hit, who, changes)
        if token is None:
            return None
        return self._keys.remembered(token) or await run_in_threadpool(self._keys.find, token)


class _Watched:
    """A `send` that remembers the status that was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
