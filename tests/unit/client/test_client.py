"""What both clients do, by the same cases: the blocking one, and the one that waits."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_replies import page, reply, sent

from millrace import client as clients
from millrace import routes, session
from millrace.client import AsyncClient, Client
from millrace.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    OtherVersionError,
    ProblemError,
    RateLimitError,
    ServiceUnavailableError,
    UsageError,
)
from millrace.events import Event
from millrace.version import VERSION
from millrace.wire import (
    Design,
    DesignChange,
    Exploration,
    ExplorationChange,
    Health,
    Model,
    NewBuild,
    NewExploration,
)

Handler = Callable[[httpx.Request], httpx.Response]
Ask = Callable[..., Any]
"""ask(handler, route, *arguments): what the route gives; of a stream the list of what comes."""


async def asked_blocking(handler: Handler, route: str, *arguments: Any) -> Any:
    with Client("http://millrace.test", transport=httpx.MockTransport(handler)) as client:
        found = getattr(client, route)(*arguments)
        return list(found) if inspect.isgenerator(found) else found


async def asked_waiting(handler: Handler, route: str, *arguments: Any) -> Any:
    async with AsyncClient("http://millrace.test", transport=httpx.MockTransport(handler)) as client:
        found = getattr(client, route)(*arguments)
        return [one async for one in found] if inspect.isasyncgen(found) else await found


@pytest.fixture(params=[asked_blocking, asked_waiting])
def ask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(session, "RECONNECT_S", 0)
    return request.param


def streamed(*chunks: bytes, lost: bool = False) -> httpx.Response:
    """An event stream that ends, or whose connection is lost, for either client."""

    class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self):
            yield from chunks
            if lost:
                raise httpx.ReadError("gone")

        async def __aiter__(self):
            for chunk in self:
                yield chunk

        async def aclose(self) -> None: ...

    return httpx.Response(200, stream=Stream())


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_both_clients_have_every_route(client: type) -> None:
    kinds = ("Call", "Listing", "Following", "Download")
    described = [
        name
        for name, function in inspect.getmembers(routes, inspect.isfunction)
        if str(function.__annotations__.get("return", "")).startswith(kinds)
    ]
    assert len(described) > 40
    for name in described:
        assert vars(client)[name].__wrapped__ is getattr(routes, name)


async def test_lists_follow_their_cursor(ask: Ask) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if "cursor" not in request.url.params:
            return page(reply(Model, id="a"), next_cursor="2")
        assert request.url.params["cursor"] == "2"
        return page(reply(Model, id="b"))

    assert [model.id for model in await ask(handler, "models")] == ["a", "b"]


async def test_a_list_ends_at_its_limit_and_where_a_page_is_empty(ask: Ask) -> None:
    def endless(request: httpx.Request) -> httpx.Response:
        return page(reply(Model), next_cursor="2") if "models" in request.url.path else page(next_cursor="2")

    assert await ask(lambda _: page(next_cursor="2"), "models") == []
    assert await ask(lambda r: endless(r) if "audit" not in r.url.path else page(next_cursor="1"), "audit", 3) == []


async def test_problem_documents_become_errors_of_their_kind(ask: Ask) -> None:
    problem = {
        "type": "urn:millrace:problem:invalid-input",
        "title": "Not acceptable input",
        "status": 422,
        "detail": "unknown platform u99",
        "errors": [{"pointer": "#/platform", "detail": "unknown"}],
    }
    with pytest.raises(InvalidInputError, match="unknown platform u99") as caught:
        await ask(lambda _: sent(problem, 422), "start_exploration", NewExploration(model="gpt2"), "key")
    assert (caught.value.status, caught.value.kind) == (422, "invalid-input")
    assert [field.pointer for field in caught.value.errors] == ["#/platform"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>bad gateway</html>", ProblemError),
        (b"[" * 100_000, ProblemError),
        (b'{"type": "urn:millrace:problem:of-later", "detail": "new"}', ProblemError),
        (b'{"type": "urn:millrace:problem:forbidden", "errors": 7}', ForbiddenError),
        (b'{"type": "urn:millrace:problem:not-found", "errors": [{}]}', NotFoundError),
        (b'"nothing"', ProblemError),
    ],
)
async def test_whatever_an_error_holds_it_is_one(ask: Ask, body: bytes, kind: type[ProblemError]) -> None:
    with pytest.raises(ProblemError) as caught:
        await ask(lambda _: httpx.Response(502, content=body), "health")
    assert type(caught.value) is kind
    assert caught.value.status == 502


async def test_a_reply_of_a_later_version_is_understood(ask: Ask) -> None:
    made = reply(Exploration, id="exp_1")
    later = {**sent(made).json(), "of_later": 1}
    assert await ask(lambda _: sent(later), "exploration", "exp_1") == made


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"front_size": None}, "Exploration lacks front_size"),
        ({"front_size": "7"}, "Exploration.front_size should be int, and is '7'"),
        ({"state": "dreaming"}, "Exploration.state should be 'queued' or"),
        ({"created_at": "yesterday"}, "Exploration.created_at should be a time"),
        ({"objectives": {}}, r"Exploration.objectives should be a list"),
        ("<html>welcome</html>", "it is not JSON"),
        ("[]", "Exploration should be an object"),
        ('{"id": "cut o', "it is not JSON"),
    ],
)
async def test_a_reply_that_lacks_something_is_of_another_version(ask: Ask, content: Any, why: str) -> None:
    made = sent(reply(Exploration)).json()
    if isinstance(content, dict):
        made |= content
        made = {name: value for name, value in made.items() if content.get(name, 0) is not None}
    answer = httpx.Response(200, json=made) if isinstance(content, dict) else httpx.Response(200, text=content)
    with pytest.raises(OtherVersionError, match="is of another version") as caught:
        await ask(lambda _: answer, "exploration", "exp_1")
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ({"version": "0.0.9"}, "(0.0.9)"),
        ({"version": VERSION}, f"(another build of {VERSION})"),
        ({"version": 7}, "(which it does not say)"),
        (["no", "object"], "(which it does not say)"),
        (httpx.ReadError("gone"), "(which it does not say)"),
    ],
)
async def test_both_versions_are_said_and_where_the_right_client_is(ask: Ask, health: Any, said: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/v1/health":
            return page({"id": "exp_1"}) if request.url.path == "/v1/explorations" else sent({"id": "exp_1"})
        if isinstance(health, Exception):
            raise health
        return sent(health, 503)

    for route, arguments in (("exploration", ("exp_1",)), ("explorations", ())):
        with pytest.raises(OtherVersionError, match="Exploration lacks") as caught:
            await ask(handler, route, *arguments)
        assert f"is of another version {said} than this client ({VERSION})" in str(caught.value)
        assert "http://millrace.test/client/" in str(caught.value)


@pytest.mark.parametrize("content", ["[]", '{"items": 7}', '{"next_cursor": null}', '{"items": [7]}', "<html>"])
async def test_a_page_that_is_none_is_of_another_version(ask: Ask, content: str) -> None:
    with pytest.raises(OtherVersionError):
        await ask(lambda _: httpx.Response(200, text=content), "models")


async def test_no_service(ask: Ask) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ServiceUnavailableError, match=r"`millrace up`, or name .* MILLRACE_SERVER .* server="):
        await ask(handler, "health")
    with pytest.raises(ServiceUnavailableError, match="refused"):
        await ask(handler, "archive", "dsg_1")


async def test_a_lost_event_stream_is_taken_up_where_it_broke(ask: Ask) -> None:
    seen: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/events"):
            return sent(reply(Exploration, state="searching" if len(seen) < 2 else "done"))
        seen.append(request.headers.get("Last-Event-ID"))
        if len(seen) == 1:  # the second event is cut off
            whole, cut = b'id: 1\nevent: state\ndata: {"state": "searching"}\n\n', b'id: 2\nevent: state\ndata: {"sta'
            return streamed(whole, cut, lost=True)
        return streamed(b'id: 2\nevent: state\ndata: {"state": "done"}\n\n')

    events = await ask(handler, "events", "exp_1")
    assert [event.data["state"] for event in events] == ["searching", "done"]
    assert seen == [None, "1"]


async def test_a_stream_that_stays_lost_is_given_up(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "LOST_S", -1)
    with pytest.raises(ServiceUnavailableError):
        await ask(lambda _: streamed(lost=True), "log_events", "bld_1")


async def test_an_earlier_end_of_a_resumed_exploration_is_not_the_end(ask: Ask) -> None:
    content = b"".join(b'event: state\ndata: {"state": "%s"}\n\n' % state for state in (b"failed", b"queued", b"done"))
    asked = iter(["queued", "done"])

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return streamed(content)
        return sent(reply(Exploration, state=next(asked)))

    assert [e.data["state"] for e in await ask(handler, "events", "exp_1")] == ["failed", "queued", "done"]


async def test_events_that_are_no_json_are_of_another_version(ask: Ask) -> None:
    with pytest.raises(OtherVersionError):
        await ask(lambda _: streamed(b"event: log\ndata: {oh\n\n"), "log_events", "bld_1")


async def test_a_log_is_followed_to_its_end(ask: Ask) -> None:
    seen: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Last-Event-ID"))
        if len(seen) == 1:
            return streamed(b'id: 4\nevent: log\ndata: "one\\n"\n\n', lost=True)
        return streamed(b'id: 8\nevent: log\ndata: "two\\n"\n\nevent: end\ndata: {"state": "done"}\n\n')

    assert await ask(handler, "log_events", "bld_1") == [Event("4", "log", "one\n"), Event("8", "log", "two\n")]
    assert seen == [None, "4"]


async def test_a_refused_stream_is_an_error(ask: Ask) -> None:
    refused = {"type": "urn:millrace:problem:not-found", "detail": "there is no build 'b'"}
    for route in ("log_events", "archive"):
        with pytest.raises(NotFoundError, match="there is no build"):
            await ask(lambda _: sent(refused, 404), route, "b")


async def test_an_upload_goes_by_its_own_name(ask: Ask, tmp_path: Path) -> None:
    seen: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if not isinstance(request.stream, httpx.SyncByteStream):
            assert request.headers["content-type"].startswith("multipart/form-data")
        seen.append(request.content)
        return sent(reply(Model, id="mdl_1"), 202)

    config, samples = tmp_path / "tiny.json", tmp_path / "inputs.npz"
    config.write_text("{}")
    samples.write_bytes(b"PK")
    assert (await ask(handler, "add_model", config, "tiny")).id == "mdl_1"
    assert (await ask(handler, "add_model", config, "tiny", samples)).id == "mdl_1"
    assert [b'name="samples"; filename="inputs.npz"' in content for content in seen] == [False, True]


async def test_the_key_is_sent(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Authorization"))
        return sent(reply(Health))

    monkeypatch.delenv("MILLRACE_API_KEY", raising=False)
    await ask(handler, "health")
    monkeypatch.setenv("MILLRACE_API_KEY", "mlr_x\n")
    await ask(handler, "health")
    assert keys == [None, "Bearer mlr_x"]


async def test_too_many_requests_wait_for_their_turn(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(_: object, seconds: float) -> None:
        slept.append(seconds)

    for connection in (session.BlockingConnection, session.WaitingConnection):
        monkeypatch.setattr(connection, "sleep", sleep)
    answers = iter([httpx.Response(429, headers={"Retry-After": "7"}, json={}), sent(reply(Health))])
    await ask(lambda _: next(answers), "health")
    assert slept == [7]
    problem = {"type": "urn:millrace:problem:rate-limit", "detail": "too many"}
    for wait in ("3600", "soon", "-1", "9" * 400, "0"):
        with pytest.raises(RateLimitError, match="too many"):
            await ask(lambda _, wait=wait: httpx.Response(429, headers={"Retry-After": wait}, json=problem), "health")


async def test_names_can_not_leave_their_place_in_the_path(ask: Ask) -> None:
    paths: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return httpx.Response(404, json={})

    with pytest.raises(ProblemError):
        await ask(handler, "design", "../keys?x=1")
    assert paths == [b"/v1/designs/..%2Fkeys%3Fx%3D1"]


async def test_what_is_not_given_is_not_sent(ask: Ask) -> None:
    bodies: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(404, json={})

    with pytest.raises(ProblemError):
        await ask(handler, "start_build", "dsg_1", NewBuild(stage="csim", vitis=None))
    assert bodies == [b'{"vitis":null,"stage":"csim"}']


async def test_a_change_sends_what_is_given_and_a_deletion_gives_nothing(ask: Ask) -> None:
    asked: list[tuple[str, str, bytes]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.path, request.content))
        if request.method == "DELETE":
            return httpx.Response(204)
        return sent(reply(Design if "designs" in request.url.path else Exploration))

    assert await ask(handler, "change_exploration", "exp_1", ExplorationChange(tags=[])) == reply(Exploration)
    assert await ask(handler, "change_design", "dsg_1", DesignChange(notes="n")) == reply(Design)
    assert await ask(handler, "delete_exploration", "exp_1") is None
    assert asked == [
        ("PATCH", "/v1/explorations/exp_1", b'{"tags":[]}'),
        ("PATCH", "/v1/designs/dsg_1", b'{"notes":"n"}'),
        ("DELETE", "/v1/explorations/exp_1", b""),
    ]


def test_an_address_that_is_none_is_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="'nonsense' is not the address"):
        Client("nonsense")
    monkeypatch.setenv("MILLRACE_SERVER", "http://lab:8642/")
    assert Client().address == "http://lab:8642"
    monkeypatch.delenv("MILLRACE_SERVER")
    assert Client().address == clients.DEFAULT_SERVER
