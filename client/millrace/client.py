"""The two clients: `Client` blocks, `AsyncClient` waits. Both have the routes of `millrace.routes` as methods."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from millrace import errors, routes
from millrace.events import Event
from millrace.routes import Call, Download, Following, Listing
from millrace.session import BlockingConnection, Session, WaitingConnection, finish, iterate

P = ParamSpec("P")
T = TypeVar("T")

KEY_VARIABLE = "MILLRACE_API_KEY"
SERVER_VARIABLE = "MILLRACE_SERVER"
DEFAULT_SERVER = "http://127.0.0.1:8642"


def _call(route: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    @wraps(route)
    def method(self: Client, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(self.session.call(route(*args, **kwargs)))

    return method


def _items(route: Callable[P, Listing[T]]) -> Callable[Concatenate[Client, P], list[T]]:
    @wraps(route)
    def method(self: Client, *args: P.args, **kwargs: P.kwargs) -> list[T]:
        return finish(self.session.items(route(*args, **kwargs)))

    return method


def _follow(route: Callable[P, Following]) -> Callable[Concatenate[Client, P], Generator[Event, None, None]]:
    @wraps(route)
    def method(self: Client, *args: P.args, **kwargs: P.kwargs) -> Generator[Event, None, None]:
        return iterate(self.session.follow(route(*args, **kwargs)))

    return method


def _download(route: Callable[P, Download]) -> Callable[Concatenate[Client, P], Generator[bytes, None, None]]:
    @wraps(route)
    def method(self: Client, *args: P.args, **kwargs: P.kwargs) -> Generator[bytes, None, None]:
        return iterate(self.session.download(route(*args, **kwargs)))

    return method


def _call_async(route: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @wraps(route)
    def method(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self.session.call(route(*args, **kwargs))

    return method


def _items_async(
    route: Callable[P, Listing[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, list[T]]]:
    @wraps(route)
    def method(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, list[T]]:
        return self.session.items(route(*args, **kwargs))

    return method


def _follow_async(
    route: Callable[P, Following],
) -> Callable[Concatenate[AsyncClient, P], AsyncGenerator[Event, None]]:
    @wraps(route)
    def method(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[Event, None]:
        return self.session.follow(route(*args, **kwargs))

    return method


def _download_async(
    route: Callable[P, Download],
) -> Callable[Concatenate[AsyncClient, P], AsyncGenerator[bytes, None]]:
    @wraps(route)
    def method(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[bytes, None]:
        return self.session.download(route(*args, **kwargs))

    return method


class Client:
    """Talks to the service at `server`, else at MILLRACE_SERVER, else on this machine; with `key`, else the one in
    MILLRACE_API_KEY if there is one.

    Raises ProblemError for what the service refuses, ServiceUnavailableError where none is, OtherVersionError for an
    answer that this version does not understand.
    """

    def __init__(
        self, server: str | None = None, *, key: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        address = server_address(server)
        http = httpx.Client(base_url=f"{address}/v1", headers=_headers(key), transport=transport, trust_env=False)
        self.session = Session(address, BlockingConnection(http))

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        finish(self.session.connection.close())

    @property
    def address(self) -> str:
        """Of the service."""
        return self.session.address

    health = _call(routes.health)
    me = _call(routes.me)
    platforms = _items(routes.platforms)
    models = _items(routes.models)
    model = _call(routes.model)
    add_model = _call(routes.add_model)
    change_model = _call(routes.change_model)
    model_deletion = _call(routes.model_deletion)
    delete_model = _call(routes.delete_model)
    explorations = _items(routes.explorations)
    exploration = _call(routes.exploration)
    start_exploration = _call(routes.start_exploration)
    start_explorations = _call(routes.start_explorations)
    change_exploration = _call(routes.change_exploration)
    exploration_deletion = _call(routes.exploration_deletion)
    delete_exploration = _call(routes.delete_exploration)
    cancel = _call(routes.cancel)
    resume = _call(routes.resume)
    events = _follow(routes.events)
    designs = _items(routes.designs)
    front = _items(routes.front)
    groups = _call(routes.groups)
    table = _call(routes.table)
    table_file = _call(routes.table_file)
    scatter = _call(routes.scatter)
    design = _call(routes.design)
    change_design = _call(routes.change_design)
    design_deletion = _call(routes.design_deletion)
    delete_design = _call(routes.delete_design)
    start_build = _call(routes.start_build)
    artifacts = _items(routes.artifacts)
    artifact = _call(routes.artifact)
    archive = _download(routes.archive)
    builds = _items(routes.builds)
    build = _call(routes.build)
    retry_build = _call(routes.retry_build)
    cancel_build = _call(routes.cancel_build)
    clone_build = _call(routes.clone_build)
    build_log = _call(routes.build_log)
    log_events = _follow(routes.log_events)
    farm = _call(routes.farm)
    set_node_state = _call(routes.set_node_state)
    forget_node = _call(routes.forget_node)
    put_licence = _call(routes.put_licence)
    retention = _call(routes.retention)
    change_retention = _call(routes.change_retention)
    keys = _items(routes.keys)
    add_key = _call(routes.add_key)
    change_key = _call(routes.change_key)
    revoke_key = _call(routes.revoke_key)
    audit = _items(routes.audit)
    sweeps = _items(routes.sweeps)
    sweep = _call(routes.sweep)
    add_sweep = _call(routes.add_sweep)
    change_sweep = _call(routes.change_sweep)
    remove_sweep = _call(routes.remove_sweep)
    run_sweep = _call(routes.run_sweep)
    sweep_runs = _items(routes.sweep_runs)
    sweep_run = _call(routes.sweep_run)
    accept_run = _call(routes.accept_run)
    cancel_run = _call(routes.cancel_run)


class AsyncClient:
    """`Client` for asynchronous programs: its methods are coroutines and asynchronous generators."""

    def __init__(
        self, server: str | None = None, *, key: str | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        address = server_address(server)
        http = httpx.AsyncClient(base_url=f"{address}/v1", headers=_headers(key), transport=transport, trust_env=False)
        self.session = Session(address, WaitingConnection(http))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self.session.connection.close()

    @property
    def address(self) -> str:
        """Of the service."""
        return self.session.address

    health = _call_async(routes.health)
    me = _call_async(routes.me)
    platforms = _items_async(routes.platforms)
    models = _items_async(routes.models)
    model = _call_async(routes.model)
    add_model = _call_async(routes.add_model)
    change_model = _call_async(routes.change_model)
    model_deletion = _call_async(routes.model_deletion)
    delete_model = _call_async(routes.delete_model)
    explorations = _items_async(routes.explorations)
    exploration = _call_async(routes.exploration)
    start_exploration = _call_async(routes.start_exploration)
    start_explorations = _call_async(routes.start_explorations)
    change_exploration = _call_async(routes.change_exploration)
    exploration_deletion = _call_async(routes.exploration_deletion)
    delete_exploration = _call_async(routes.delete_exploration)
    cancel = _call_async(routes.cancel)
    resume = _call_async(routes.resume)
    events = _follow_async(routes.events)
    designs = _items_async(routes.designs)
    front = _items_async(routes.front)
    groups = _call_async(routes.groups)
    table = _call_async(routes.table)
    table_file = _call_async(routes.table_file)
    scatter = _call_async(routes.scatter)
    design = _call_async(routes.design)
    change_design = _call_async(routes.change_design)
    design_deletion = _call_async(routes.design_deletion)
    delete_design = _call_async(routes.delete_design)
    start_build = _call_async(routes.start_build)
    artifacts = _items_async(routes.artifacts)
    artifact = _call_async(routes.artifact)
    archive = _download_async(routes.archive)
    builds = _items_async(routes.builds)
    build = _call_async(routes.build)
    retry_build = _call_async(routes.retry_build)
    cancel_build = _call_async(routes.cancel_build)
    clone_build = _call_async(routes.clone_build)
    build_log = _call_async(routes.build_log)
    log_events = _follow_async(routes.log_events)
    farm = _call_async(routes.farm)
    set_node_state = _call_async(routes.set_node_state)
    forget_node = _call_async(routes.forget_node)
    put_licence = _call_async(routes.put_licence)
    retention = _call_async(routes.retention)
    change_retention = _call_async(routes.change_retention)
    keys = _items_async(routes.keys)
    add_key = _call_async(routes.add_key)
    change_key = _call_async(routes.change_key)
    revoke_key = _call_async(routes.revoke_key)
    audit = _items_async(routes.audit)
    sweeps = _items_async(routes.sweeps)
    sweep = _call_async(routes.sweep)
    add_sweep = _call_async(routes.add_sweep)
    change_sweep = _call_async(routes.change_sweep)
    remove_sweep = _call_async(routes.remove_sweep)
    run_sweep = _call_async(routes.run_sweep)
    sweep_runs = _items_async(routes.sweep_runs)
    sweep_run = _call_async(routes.sweep_run)
    accept_run = _call_async(routes.accept_run)
    cancel_run = _call_async(routes.cancel_run)


def server_address(server: str | None) -> str:
    """The address of the service that is meant. Raises UsageError for what is no address."""
    address = server or os.environ.get(SERVER_VARIABLE) or DEFAULT_SERVER
    if not address.startswith(("http://", "https://")):
        raise errors.UsageError(f"{address!r} is not the address of a service; write it like {DEFAULT_SERVER}")
    return address.rstrip("/")


def _headers(key: str | None) -> dict[str, str]:
    key = (key or os.environ.get(KEY_VARIABLE, "")).strip()
    return {"Authorization": f"Bearer {key}"} if key else {}
