"""What holds for every route: limits, headers, problem documents, the dashboard."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import OperationalError

from api.app import create_app
from worker.farm import Farm
from worker.settings import Settings

LIMIT = 1 << 20


def test_declared_size_is_refused_before_anything_is_read(client: TestClient) -> None:
    def body() -> Iterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    reply = client.post("/v1/models", content=body(), headers={"Content-Length": str(2 << 30)})
    assert reply.status_code == 413
    assert reply.headers["content-type"] == "application/problem+json"
    assert "1024 KiB" in reply.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x"])
def test_undeclared_size_is_counted(client: TestClient, kind: str) -> None:
    def body() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="c"\r\n\r\n'
        for _ in range(50):
            yield bytes(LIMIT // 10)

    reply = client.post("/v1/models", content=body(), headers={"Content-Type": kind})
    assert reply.status_code == 413


def test_a_body_that_ends_at_two_places_ends_its_connection(client: TestClient) -> None:
    two = {"Content-Length": "4", "Transfer-Encoding": "chunked"}
    reply = client.post("/v1/workloads", content=b"{}", headers=two)
    assert (reply.status_code, reply.headers["connection"]) == (400, "close")
    assert "both Content-Length and Transfer-Encoding" in reply.json()["detail"]


@pytest.mark.parametrize("path", ["/v1/explorations", "/v1/workloads"])
def test_limit_holds_everywhere(client: TestClient, path: str) -> None:
    assert client.post(path, content=b" " * (LIMIT + 1)).status_code == 413


def test_security_headers(client: TestClient) -> None:
    for path in ("/", "/v1/health", "/v1/nothing"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"].split("style-src")[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_the_documentation_is_served(client: TestClient) -> None:
    page = client.get("/learn")
    assert (page.status_code, page.url.path) == (200, "/learn/")
    assert "<title>Millrace" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/learn/using.html").headers["cache-control"] == "no-cache"
    assert client.get("/learn/nothing.html").status_code == 404


def test_foreign_host_is_refused(client: TestClient) -> None:
    reply = client.get("/v1/models", headers={"Host": "evil.example"})
    assert reply.status_code == 403
    assert "MILLRACE_ALLOWED_HOSTS" in reply.json()["detail"]
    assert client.get("/v1/models", headers={"Host": "localhost:1"}).status_code == 200
    assert client.get("/v1/models", headers={"Host": "[::1]:1"}).status_code == 200


def test_foreign_page_can_not_post(client: TestClient) -> None:
    body = {"model": "gpt2"}
    assert client.post("/v1/explorations", json=body, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/v1/explorations", json=body, headers={"Origin": "null"}).status_code == 403
    assert client.post("/v1/explorations", json=body, headers={"Origin": "http://["}).status_code == 403
    own = {"Origin": "http://127.0.0.1:8642"}
    assert client.post("/v1/explorations", json=body, headers=own).status_code == 202


def test_allowed_hosts(settings: Settings) -> None:
    named = settings.model_copy(update={"allowed_hosts": ("lab.example",), "host": "0.0.0.0", "access": "off"})
    with TestClient(create_app(named, lambda *_: None), base_url="http://lab.example") as client:
        assert client.get("/v1/models").status_code == 200
        assert client.get("/v1/models", headers={"Host": "other"}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.2", "0.0.0.0"])
def test_a_name_bound_to_this_machine_is_refused_where_no_key_is_asked_for(settings: Settings, host: str) -> None:
    bare = settings.model_copy(update={"host": host, "access": "off"})
    with TestClient(create_app(bare, lambda *_: None), base_url="http://evil.example") as client:
        assert client.get("/v1/models").status_code == 403
        for address in ("127.0.0.2:8642", "192.168.1.5", "[fd00::1]:8642", "localhost"):
            assert client.get("/v1/models", headers={"Host": address}).status_code == 200


def test_a_service_with_keys_answers_to_every_name(settings: Settings) -> None:
    keyed = settings.model_copy(update={"host": "0.0.0.0"})
    with TestClient(create_app(keyed, lambda *_: None), base_url="http://farm.example") as client:
        assert client.get("/v1/models").status_code == 401


@pytest.mark.parametrize(("path", "method", "status"), [("/v1/nothing", "GET", 404), ("/v1/health", "DELETE", 405)])
def test_every_error_is_a_problem_document(client: TestClient, path: str, method: str, status: int) -> None:
    reply = client.request(method, path)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == status


def test_unexpected_error_tells_nothing_inside(client: TestClient, farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.services.catalog.platforms", lambda: 1 / 0)
    reply = client.get("/v1/platforms")
    assert reply.status_code == 500
    assert "division" not in reply.text
    assert "api.log" in reply.json()["detail"]


def test_full_disk(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    monkeypatch.setattr("api.services.explorations.start", full)
    reply = client.post("/v1/explorations", json={"model": "gpt2"})
    assert reply.status_code == 507
    assert "Free some space" in reply.json()["detail"]


def test_the_log_has_no_values_of_statements(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def locked(*_: Any) -> None:
        raise OperationalError("INSERT", {"options": "a secret of a webhook"}, Exception("database is locked"))

    monkeypatch.setattr("api.services.explorations.start", locked)
    assert client.post("/v1/explorations", json={"model": "gpt2"}).status_code == 503
    assert "database is locked" in caplog.text
    assert "a secret of a webhook" not in caplog.text


def test_health_without_broker_and_worker(client: TestClient) -> None:
    body = client.get("/v1/health").json()
    assert (body["status"], body["database"], body["broker"], body["workers"]) == ("degraded", True, False, 0)
    assert "broker" in body["detail"]


def test_dashboard(client: TestClient) -> None:
    for path in ("/", "/explorations/exp_1", "/designs"):
        reply = client.get(path)
        assert "<title>dashboard</title>" in reply.text
        assert reply.headers["cache-control"] == "no-cache"
    asset = client.get("/assets/index-abc.js")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "path", ["/assets/none.js", "/favicon.png", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd"]
)
def test_what_the_dashboard_does_not_have(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404 or "<title>dashboard</title>" in reply.text
    assert "root:" not in reply.text


def test_without_a_built_dashboard(settings: Settings, tmp_path: Path) -> None:
    bare = settings.model_copy(update={"web_dist": tmp_path / "none"})
    with TestClient(create_app(bare, lambda *_: None), base_url="http://localhost") as client:
        assert "npm run build" in client.get("/").text


def test_reference_page_needs_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs").text
    for path in ("/v1/explorations/{exploration}/events", "/v1/designs/{design}/archive", "/v1/models"):
        assert path in page
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(source.startswith(("/", "#")) and not source.startswith("//") for source in sources)
    assert re.findall(r"<script[^>]*>", page) == ['<script defer src="/docs/reference.js">']
    script = client.get("/docs/reference.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "http" not in script.text


def test_reference_page_describes_fields_and_sends_requests(client: TestClient) -> None:
    page = client.get("/docs").text
    assert "Estimated latency, us; null where it can not be built." in page
    assert '<form data-method="POST" data-path="/v1/explorations">' in page
    assert all(f'id="{target}"' in page for target in set(re.findall(r'href="#(\w+)"', page)))


async def test_who_leaves_while_a_body_comes_is_no_error(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    app: Any = client.app
    parts = iter([{"type": "http.request", "body": b"--x\r\n", "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"multipart/form-data; boundary=x")]
    await app(
        {
            "type": "http", "method": "POST", "path": "/v1/models", "raw_path": b"/v1/models", "query_string": b"",
            "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8642), "scheme": "http",
            "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"},
        },
        receive,
        send,
    )  # fmt: skip
    assert sent[0]["status"] == 400
    assert [record for record in caplog.records if record.name != "api.sse"] == []  # which finds no Redis here
