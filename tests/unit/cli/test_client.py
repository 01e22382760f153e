from pathlib import Path

import httpx
import pytest
from service_replies import reply

from api.schemas.catalog import Model
from api.schemas.common import Page, Reply
from api.schemas.explorations import Exploration
from api.schemas.farm import Health
from cli.client import Client, parse_events
from cli.errors import OtherVersionError, RefusedError, ServiceUnavailableError
from cli.replies import Event
from compiler.errors import InvalidInputError


def client(handler) -> Client:
    return Client("http://millrace.test", httpx.MockTransport(handler))


def sent(body: Reply, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body.model_dump(mode="json"))


def test_lists_follow_their_cursor():
    def handler(request: httpx.Request) -> httpx.Response:
        if "cursor" not in request.url.params:
            return sent(Page(items=[reply(Model, id="a")], next_cursor="2"))
        assert request.url.params["cursor"] == "2"
        return sent(Page(items=[reply(Model, id="b")]))

    assert [model.id for model in client(handler).models()] == ["a", "b"]


def test_problem_documents_become_errors():
    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(422, json={"title": "Invalid", "detail": "unknown platform u99"})

    with pytest.raises(RefusedError, match="unknown platform u99") as caught:
        client(handler).explore({}, "key")
    assert caught.value.status == 422


def test_a_reply_of_a_later_version_is_understood():
    later = reply(Exploration, id="exp_1").model_dump(mode="json") | {"of_later": 1}
    assert client(lambda _: httpx.Response(200, json=later)).exploration("exp_1") == reply(Exploration, id="exp_1")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (reply(Exploration).model_dump_json(exclude={"front_size"}), "Exploration.front_size: Field required"),
        ("<html>welcome</html>", "Exploration: Invalid JSON"),
    ],
)
def test_a_reply_that_lacks_something_is_of_another_version(content: str, why: str):
    with pytest.raises(OtherVersionError, match="is of another version") as caught:
        client(lambda _: httpx.Response(200, text=content)).exploration("exp_1")
    assert why in str(caught.value)


def test_no_service():
    def handler(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ServiceUnavailableError, match="millrace up"):
        client(handler).health()


def test_events_with_comments_ids_and_several_data_lines():
    text = ': ping\n\nid: 7\nevent: front\ndata: {"ids":\ndata: ["x"]}\n\nretry: 5\n\n'
    assert list(parse_events(iter(text.split("\n")))) == [Event("7", "front", {"ids": ["x"]})]


def test_a_lost_event_stream_is_taken_up_where_it_broke(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cli.client._RECONNECT_S", 0)
    seen: list[str | None] = []

    def broken():
        yield b'id: 1\nevent: state\ndata: {"state": "searching"}\n\n'
        raise httpx.ReadError("gone")

    def handler(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/events"):
            return sent(reply(Exploration, state="searching" if len(seen) < 2 else "done"))
        seen.append(request.headers.get("Last-Event-ID"))
        if len(seen) == 1:
            return httpx.Response(200, content=broken())
        return httpx.Response(200, content=b'id: 2\nevent: state\ndata: {"state": "done"}\n\n')

    states = [event.data["state"] for event in client(handler).events("exp_1")]
    assert states == ["searching", "done"]
    assert seen == [None, "1"]


def test_an_earlier_end_of_a_resumed_exploration_is_not_the_end():
    content = b"".join(b'event: state\ndata: {"state": "%s"}\n\n' % state for state in (b"failed", b"queued", b"done"))
    asked = iter(["queued", "done"])

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return httpx.Response(200, content=content)
        return sent(reply(Exploration, state=next(asked)))

    assert [e.data["state"] for e in client(handler).events("exp_1")] == ["failed", "queued", "done"]


def test_an_address_that_is_none_is_wrong_use():
    with pytest.raises(InvalidInputError, match="'nonsense' is not the address"):
        Client("nonsense")


def test_an_upload_goes_by_its_own_name(tmp_path: Path):
    def handler(request: httpx.Request) -> httpx.Response:
        assert b'filename="tiny.json"' in request.read()
        return sent(reply(Model, id="mdl_1"), 202)

    config = tmp_path / "tiny.json"
    config.write_text("{}")
    assert client(handler).add_model(config, "tiny").id == "mdl_1"


def test_the_key_is_sent(monkeypatch: pytest.MonkeyPatch):
    keys: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Authorization"))
        return sent(reply(Health))

    monkeypatch.delenv("MILLRACE_API_KEY", raising=False)
    client(handler).health()
    monkeypatch.setenv("MILLRACE_API_KEY", "mlr_x\n")
    client(handler).health()
    assert keys == [None, "Bearer mlr_x"]


def test_too_many_requests_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    monkeypatch.setattr("cli.client.sleep", slept.append)
    answers = iter([httpx.Response(429, headers={"Retry-After": "7"}, json={}), sent(reply(Health))])
    client(lambda _: next(answers)).health()
    assert slept == [7]
    late = httpx.Response(429, headers={"Retry-After": "3600"}, json={"detail": "too many"})
    with pytest.raises(RefusedError, match="too many"):
        client(lambda _: late).health()


def test_a_lost_log_stream_is_taken_up_where_it_broke(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cli.client._RECONNECT_S", 0)
    seen: list[str | None] = []

    def broken():
        yield b'id: 4\nevent: log\ndata: "one\\n"\n\n'
        raise httpx.ReadError("gone")

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Last-Event-ID"))
        if len(seen) == 1:
            return httpx.Response(200, content=broken())
        return httpx.Response(
            200, content=b'id: 8\nevent: log\ndata: "two\\n"\n\nevent: end\ndata: {"state": "done"}\n\n'
        )

    assert list(client(handler).follow_log("bld_1")) == ["one\n", "two\n"]
    assert seen == [None, "4"]
