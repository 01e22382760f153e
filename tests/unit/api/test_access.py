"""Keys, roles, the login of the dashboard, quotas, rate limits, the audit."""

import asyncio
import re
import threading
import time
from collections.abc import Generator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from api_keys import add_key, bearer
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from api import authentication, crowd
from api.access import LOOK_UP_AT_ONCE, ROUTES, Access, route_of
from api.app import create_app
from api.authentication import Authenticator, Holder
from api.caller import keys_wanted
from api.limits import Limiter
from api.openapi import operations
from db.repositories import api_keys, designs, explorations
from db.repositories.designs import NewDesign
from db.types import utcnow
from worker.farm import Farm
from worker.settings import Settings

PHONE = "http://127.0.0.1:8642"
CONFIG = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"access": "on"})


@pytest.fixture
def key_of(farm: Farm) -> dict[str, dict[str, str]]:
    """A header by role."""
    return {role: bearer(add_key(farm, f"a {role}", role)) for role in ("viewer", "user", "node", "admin")}


@pytest.fixture
def mine(client: TestClient, key_of: dict[str, dict[str, str]]) -> dict[str, Any]:
    """An exploration of the user."""
    return client.post("/v1/explorations", json={"model": "gpt2"}, headers=key_of["user"]).json()


def path_of(template: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", template)


def test_every_operation_has_its_least_role(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    document = client.get("/openapi.json", headers=key_of["viewer"]).json()
    found = {(method, path): route_of(method, path_of(path)) for method, path, _ in operations(document)}
    assert [operation for operation, route in found.items() if route is None] == []
    missing = {route for route in ROUTES if "/v1/" in route} - set(found.values())
    assert missing == set()


def test_the_table_is_read_as_the_router_reads_it() -> None:
    assert route_of("GET", "/v1/designs/dsg_1") == "GET /v1/designs/{design}"
    files = "GET /v1/designs/{design}/artifacts/{path:path}"
    assert route_of("GET", "/v1/designs/dsg_1/artifacts/hls/top.cpp") == files
    assert route_of("GET", "/v1/designs/dsg_1/other") is None
    assert route_of("POST", "/v1/farm") is None
    assert route_of("GET", "/v1/farm/") is None


def test_without_a_key(client: TestClient) -> None:
    reply = client.get("/v1/explorations")
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert reply.headers["content-type"] == "application/problem+json"
    assert "`millrace farm key add" in reply.json()["detail"]


def test_a_service_from_a_checkout_says_what_is_typed_there(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_PROGRAM", "./millrace")
    assert "`./millrace farm key add" in client.get("/v1/explorations").json()["detail"]


@pytest.mark.parametrize("path", ["/", "/explorations/exp_1", "/assets/index-abc.js", "/v1/health/live"])
def test_what_is_open(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/v1/health", "/v1/me", "/v1/nothing", "/v1/keys"])
def test_what_is_closed(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401


@pytest.mark.parametrize(
    "key", ["", "mlr_", "mlr_00000000_" + "a" * 43, "Basic x", "mlr_0000000é_" + "a" * 43, "x" * 5000]
)
def test_keys_that_are_none(client: TestClient, key: str) -> None:
    assert client.get("/v1/me", headers=[(b"Authorization", f"Bearer {key}".encode())]).status_code == 401


def test_a_secret_that_is_off_by_one_letter(client: TestClient, farm: Farm) -> None:
    key = add_key(farm, "x", "admin")
    other = key[:-1] + ("a" if key[-1] != "a" else "b")
    assert client.get("/v1/me", headers=bearer(other)).status_code == 401
    assert client.get("/v1/me", headers=bearer(key)).json()["name"] == "x"


def test_only_a_digest_is_stored(farm: Farm) -> None:
    key = add_key(farm, "x", "admin")
    with farm.database.engine.connect() as connection:
        stored = str(connection.exec_driver_sql("SELECT * FROM api_keys").all())
    assert key.split("_", 2)[2] not in stored


ROLES = [
    ("GET", "/v1/explorations", None, {"viewer", "user", "admin"}),
    ("POST", "/v1/models", {"name": "m", "config": CONFIG}, {"user", "admin"}),
    ("GET", "/v1/farm", None, {"viewer", "user", "admin"}),
    ("POST", "/v1/farm/nodes/n", {"state": "paused"}, {"admin"}),
    ("PUT", "/v1/farm/licences/vivado", {"tokens": 1}, {"admin"}),
    ("POST", "/v1/farm/join", {"name": "n", "version": "1"}, {"node", "admin"}),
    ("GET", "/v1/keys", None, {"admin"}),
    ("GET", "/v1/audit", None, {"admin"}),
    ("GET", "/v1/me", None, {"viewer", "user", "node", "admin"}),
]


@pytest.mark.parametrize(("method", "path", "body", "allowed"), ROLES)
def test_roles(
    client: TestClient, key_of: dict[str, dict[str, str]], method: str, path: str, body: Any, allowed: set[str]
) -> None:
    passed = {
        role for role, key in key_of.items() if client.request(method, path, json=body, headers=key).status_code != 403
    }
    assert passed == allowed


ENOUGH = {
    "open": {"nobody", "viewer", "user", "node", "admin"},
    "any": {"viewer", "user", "node", "admin"},
    "viewer": {"viewer", "user", "admin"},
    "user": {"user", "admin"},
    "node": {"node", "admin"},
    "admin": {"admin"},
}


def test_every_route_there_is_has_a_role(client: TestClient) -> None:
    """Those too that the OpenAPI document leaves out."""
    app: Any = client.app
    routers = [included.original_router for included in app.routes if hasattr(included, "original_router")]
    served = {f"{method} {route.path}" for router in routers for route in router.routes for method in route.methods}
    assert served | {"GET /openapi.json"} == set(ROUTES)


@pytest.mark.slow
def test_every_route_asks_for_its_role(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    passed: dict[str, set[str]] = {}
    for route in ROUTES:
        method, _, template = route.partition(" ")
        path = path_of(template)
        answers = {role: client.request(method, path, headers=key).status_code for role, key in key_of.items()}
        passed[route] = {role for role, status in answers.items() if status not in (401, 403)}
        if client.request(method, path).status_code != 401:
            passed[route].add("nobody")
    assert passed == {route: ENOUGH[least] for route, least in ROUTES.items()}


def test_a_role_that_is_too_small_says_which_is_needed(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    detail = client.post("/v1/explorations", json={"model": "gpt2"}, headers=key_of["viewer"]).json()["detail"]
    assert detail == "this needs the role user; the key 'a viewer' has the role viewer"


def test_a_body_is_not_read_before_the_key(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    def body() -> Generator[bytes]:
        pytest.fail("the body was read")
        yield b""

    assert client.post("/v1/models", content=body(), headers=key_of["viewer"]).status_code == 403


def test_paths_that_nothing_lists(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    assert client.get("/v1/nothing", headers=key_of["user"]).status_code == 404
    assert client.get("/v1/nothing", headers=key_of["admin"]).status_code == 404
    assert client.delete("/v1/health", headers=key_of["admin"]).status_code == 405


def test_an_expired_key(client: TestClient, farm: Farm) -> None:
    key = add_key(farm, "x", "admin")
    with farm.database.write() as session:
        api_keys.find(session, "x").expires_at = utcnow() - timedelta(seconds=1)
    assert client.get("/v1/me", headers=bearer(key)).status_code == 401


def test_a_revoked_key(
    client: TestClient, farm: Farm, key_of: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 0)
    key = bearer(add_key(farm, "bob", "user"))
    assert client.get("/v1/me", headers=key).status_code == 200
    assert client.delete("/v1/keys/bob", headers=key_of["admin"]).status_code == 204
    assert client.get("/v1/me", headers=key).status_code == 401
    [listed] = [k for k in client.get("/v1/keys", headers=key_of["admin"]).json()["items"] if k["name"] == "bob"]
    assert listed["revoked_at"] is not None
    assert client.delete("/v1/keys/nobody", headers=key_of["admin"]).status_code == 404


def test_a_key_made_over_http_works(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    body = {"name": "carol", "role": "viewer", "quotas": {"open_builds": 3}, "days": 7}
    made = client.post("/v1/keys", json=body, headers=key_of["admin"])
    assert made.status_code == 201
    me = client.get("/v1/me", headers=bearer(made.json()["key"])).json()
    assert me == {"access": True, "name": "carol", "role": "viewer", "quotas": {"open_builds": 3}}
    assert "key" not in client.get("/v1/keys", headers=key_of["admin"]).json()["items"][0]
    assert client.post("/v1/keys", json=body, headers=key_of["admin"]).status_code == 409


def test_the_login_of_the_dashboard(client: TestClient, farm: Farm) -> None:
    key = add_key(farm, "x", "user")
    assert client.post("/v1/session", json={"key": "mlr_wrong"}).status_code == 401
    reply = client.post("/v1/session", json={"key": key})
    assert (reply.status_code, reply.json()["role"]) == (200, "user")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Secure" not in cookie
    assert client.get("/v1/me").json()["name"] == "x"
    assert client.delete("/v1/session").status_code == 204
    assert client.get("/v1/me").status_code == 401


def test_the_cookie_stays_on_https(settings: Settings, farm: Farm) -> None:
    with TestClient(create_app(settings, lambda _: None), base_url="https://localhost") as client:
        reply = client.post("/v1/session", json={"key": add_key(farm, "x", "user")})
        assert "Secure" in reply.headers["set-cookie"]


def test_a_foreign_page_can_not_use_the_cookie(client: TestClient, farm: Farm) -> None:
    client.post("/v1/session", json={"key": add_key(farm, "x", "user")})
    foreign = {"Origin": "http://evil.example"}
    assert client.post("/v1/explorations", json={"model": "gpt2"}, headers=foreign).status_code == 403
    assert client.post("/v1/explorations", json={"model": "gpt2"}).status_code == 202


def test_whose_it_is(client: TestClient, farm: Farm, key_of: dict[str, dict[str, str]], mine: dict[str, Any]) -> None:
    path = f"/v1/explorations/{mine['id']}"
    assert mine["owner"] == "a user"
    other = bearer(add_key(farm, "other", "user"))
    refused = client.post(f"{path}/cancel", headers=other)
    assert refused.status_code == 403
    assert refused.json()["detail"] == f"exploration {mine['id']} belongs to a user; ask that person, or an admin"
    assert client.get(path, headers=other).json()["state"] == "lowering"
    assert client.post(f"{path}/cancel", headers=key_of["user"]).json()["state"] == "cancelled"
    assert client.post(f"{path}/resume", headers=other).status_code == 403
    assert client.post(f"{path}/resume", headers=key_of["admin"]).json()["state"] == "lowering"
    listed = client.get("/v1/explorations?owner=other", headers=other).json()["items"]
    assert listed == []


def test_what_was_there_before_keys_is_the_admins(
    client: TestClient, farm: Farm, key_of: dict[str, dict[str, str]], mine: dict[str, Any]
) -> None:
    with farm.database.write() as session:
        explorations.get(session, mine["id"]).owner = None
    assert client.post(f"/v1/explorations/{mine['id']}/cancel", headers=key_of["user"]).status_code == 403


def test_quota_of_explorations(client: TestClient, farm: Farm) -> None:
    key = bearer(add_key(farm, "x", "user", active_explorations=1))
    first = client.post("/v1/explorations", json={"model": "gpt2"}, headers=key)
    assert first.status_code == 202
    second = client.post("/v1/explorations", json={"model": "gpt2"}, headers=key)
    assert (second.status_code, second.json()["type"]) == (403, "urn:millrace:problem:quota")
    assert "1 active explorations and may have 1" in second.json()["detail"]
    client.post(f"/v1/explorations/{first.json()['id']}/cancel", headers=key)
    assert client.post("/v1/explorations", json={"model": "gpt2"}, headers=key).status_code == 202


def test_quota_of_what_a_sweep_starts(client: TestClient, farm: Farm) -> None:
    key = bearer(add_key(farm, "x", "user", active_explorations=2))
    new = {"name": "s", "cron": "0 3 * * *", "matrix": {"models": ["gpt2"], "seeds": [0, 1, 2]}}
    refused = client.post("/v1/sweeps", json=new, headers=key)
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:millrace:problem:quota")
    two = {"models": ["gpt2"], "seeds": [0, 1]}
    assert client.post("/v1/sweeps", json={**new, "matrix": two}, headers=key).status_code == 202
    assert client.patch("/v1/sweeps/s", json={"matrix": new["matrix"]}, headers=key).status_code == 403
    client.post("/v1/explorations", json={"model": "gpt2"}, headers=key)
    assert client.post("/v1/sweeps/s/run", headers=key).status_code == 403


def test_where_a_webhook_goes_is_its_owners(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    webhook = "https://hooks.example.org/services/T0/a-password"
    new = {"name": "s", "cron": "0 3 * * *", "matrix": {"models": ["gpt2"]}, "webhook": webhook}
    assert client.post("/v1/sweeps", json=new, headers=key_of["user"]).json()["webhook"] == webhook
    shown = {role: client.get("/v1/sweeps/s", headers=key_of[role]).json()["webhook"] for role in ("user", "admin")}
    assert shown == {"user": webhook, "admin": webhook}
    for path in ("/v1/sweeps", "/v1/sweeps/s"):
        reply = client.get(path, headers=key_of["viewer"]).text
        assert "a-password" not in reply
        assert "https://hooks.example.org/..." in reply


def test_quota_of_builds(client: TestClient, farm: Farm, key_of: dict[str, dict[str, str]]) -> None:
    key = bearer(add_key(farm, "x", "user", open_builds=0))
    made = client.post("/v1/explorations", json={"model": "gpt2"}, headers=key).json()
    new = NewDesign(0, "k", {"default_tile_size": 1}, True, 9.0, 1.0, [9.0, 1.0], [], None, 0.1, ())
    with farm.database.write() as session:
        [design] = designs.add(session, made["id"], [new])
    reply = client.post(f"/v1/designs/{design}/builds", json={"stage": "csim"}, headers=key)
    assert reply.status_code == 403
    assert "unfinished builds and may have 0" in reply.json()["detail"]
    other = client.post(f"/v1/designs/{design}/builds", json={"stage": "csim"}, headers=key_of["user"])
    assert "belongs to x" in other.json()["detail"]


def test_quota_of_uploads(client: TestClient, farm: Farm) -> None:
    key = bearer(add_key(farm, "x", "user", upload_bytes=100))
    text = b"module { func.func @main() { return } }"
    assert client.post("/v1/models", files={"file": ("a.mlir", text.ljust(101))}, headers=key).status_code == 403
    assert client.post("/v1/models", files={"file": ("a.mlir", text.ljust(99))}, headers=key).status_code == 202


def test_an_upload_beyond_the_quota_is_not_received(client: TestClient, farm: Farm) -> None:
    key = bearer(add_key(farm, "x", "user", upload_bytes=100))
    assert client.post("/v1/models", files={"file": ("a.onnx", bytes(1 << 20))}, headers=key).status_code == 413

    def undeclared() -> Generator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.onnx"\r\n\r\n'
        yield from [bytes(1 << 16)] * 16
        yield b"\r\n--x--\r\n"

    form = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/v1/models", content=undeclared(), headers=key | form).status_code == 413


@pytest.fixture
def few(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """20 requests a minute, in a minute that does not end and with keys that are not looked up a second time: else an
    answer would depend on how long those before it took.
    """
    stopped = SimpleNamespace(time=lambda: 1_782_864_010.0, monotonic=time.monotonic)
    for module in ("limits.storage.memory", "limits.strategies", "api.limits"):
        monkeypatch.setattr(f"{module}.time", stopped)
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 3600.0)
    return settings.model_copy(update={"rate_limit": "20/minute"})


@pytest.fixture
def hurried(few: Settings) -> Generator[TestClient]:
    with TestClient(create_app(few, lambda _: None), base_url=PHONE) as made:
        yield made


def test_rate_limits_count_each_key(hurried: TestClient, farm: Farm) -> None:
    """Redis is away: this process counts."""
    one, other = (bearer(add_key(farm, name, "user")) for name in ("one", "other"))
    assert {hurried.get("/v1/me", headers=one).status_code for _ in range(20)} == {200}
    reply = hurried.get("/v1/me", headers=one)
    assert reply.status_code == 429
    assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert "20 per 1 minute requests of key one" in reply.json()["detail"]
    assert hurried.get("/v1/health", headers=one).status_code == 200
    assert hurried.get("/v1/me", headers=other).status_code == 200


def test_changes_are_limited_more_strictly(hurried: TestClient, farm: Farm) -> None:
    key = bearer(add_key(farm, "x", "user"))
    hurried.get("/v1/me", headers=key)
    answers = [hurried.post("/v1/explorations", json={"model": "gpt2"}, headers=key).status_code for _ in range(4)]
    assert answers == [202, 202, 429, 429]
    assert hurried.get("/v1/me", headers=key).status_code == 200


def test_guessing_keys_is_limited_by_address(hurried: TestClient) -> None:
    answers = [hurried.post("/v1/session", json={"key": "mlr_wrong"}).status_code for _ in range(4)]
    assert answers == [401, 401, 429, 429]


def test_who_asks_without_a_key_keeps_no_good_one_from_its_first_use(hurried: TestClient, farm: Farm) -> None:
    answers = [hurried.get("/v1/me").status_code for _ in range(21)]
    assert (answers[-2], answers[-1]) == (401, 429)
    assert hurried.get("/v1/me", headers=bearer(add_key(farm, "x", "user"))).status_code == 200


def test_a_network_of_ipv6_counts_as_one_address(few: Settings) -> None:
    app = create_app(few, lambda _: None)
    clients = [TestClient(app, base_url=PHONE, client=(f"2001:db8::{n}", 1)) for n in range(3)]
    answers = [client.post("/v1/session", json={"key": "mlr_wrong"}).status_code for client in clients]
    assert answers == [401, 401, 429]


def test_the_audit_has_what_was_done_and_what_was_refused(
    client: TestClient, farm: Farm, key_of: dict[str, dict[str, str]], mine: dict[str, Any]
) -> None:
    other = bearer(add_key(farm, "other", "user"))
    client.post(f"/v1/explorations/{mine['id']}/cancel", headers=other)
    client.post("/v1/explorations", json={"model": "nope"}, headers=other)
    client.post("/v1/explorations", json={"model": "gpt2"})
    client.post("/v1/keys", json={"name": "dave"}, headers=key_of["admin"])
    items = client.get("/v1/audit", headers=key_of["admin"]).json()["items"]
    cancel = "POST /v1/explorations/{exploration}/cancel"
    assert [(e["who"], e["action"], e["target"], e["detail"].get("refused", False)) for e in reversed(items)] == [
        ("a user", "POST /v1/explorations", mine["id"], False),
        ("other", cancel, f"/v1/explorations/{mine['id']}/cancel", True),
        (None, "POST /v1/explorations", "/v1/explorations", True),
        ("a admin", "POST /v1/keys", "dave", False),
    ]
    assert {e["address"] for e in items} == {"testclient"}
    assert len(client.get("/v1/audit?who=other", headers=key_of["admin"]).json()["items"]) == 1
    page = client.get("/v1/audit?limit=3", headers=key_of["admin"]).json()
    assert len(client.get(f"/v1/audit?cursor={page['next_cursor']}", headers=key_of["admin"]).json()["items"]) == 1


def test_idempotency_keys_belong_to_their_callers(client: TestClient, farm: Farm) -> None:
    keys = [bearer(add_key(farm, name, "user")) | {"Idempotency-Key": "k"} for name in ("one", "two")]
    made = [client.post("/v1/explorations", json={"model": "gpt2"}, headers=key).json() for key in keys]
    assert [m["owner"] for m in made] == ["one", "two"]


def test_metrics_need_a_key_from_everywhere(
    client: TestClient, settings: Settings, key_of: dict[str, dict[str, str]]
) -> None:
    with TestClient(create_app(settings, lambda _: None), base_url=PHONE, client=("127.0.0.1", 1)) as here:
        assert here.get("/metrics").status_code == 401
        assert here.get("/metrics", headers=key_of["viewer"]).status_code == 200


@pytest.mark.parametrize(
    ("access", "host", "wanted"),
    [
        ("auto", "127.0.0.1", False),
        ("auto", "::1", False),
        ("auto", "localhost", False),
        ("auto", "0.0.0.0", True),
        ("auto", "farm.example", True),
        ("on", "127.0.0.1", True),
        ("off", "0.0.0.0", False),
    ],
)
def test_when_keys_are_asked_for(access: Any, host: str, wanted: bool) -> None:
    assert keys_wanted(Settings(access=access, host=host)) is wanted


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("allowed_hosts", ("farm.example",), True),
        ("allowed_hosts", ("localhost", "127.0.0.1"), False),
        ("trusted_proxies", ("127.0.0.1",), True),
        ("public_url", "https://farm.example/millrace", True),
        ("public_url", "http://127.0.0.1:8642", False),
    ],
)
def test_a_proxy_before_the_loopback_is_others(setting: str, value: Any, wanted: bool) -> None:
    assert keys_wanted(Settings.model_validate({setting: value})) is wanted
    assert keys_wanted(Settings.model_validate({setting: value, "access": "off"})) is False


@pytest.mark.parametrize(("access", "status"), [("auto", 401), ("off", 200)])
def test_without_keys_nobody_comes_through_a_proxy_unnoticed(settings: Settings, access: str, status: int) -> None:
    open_to_all = settings.model_copy(update={"access": access})
    with TestClient(create_app(open_to_all, lambda _: None), base_url=PHONE, client=("127.0.0.1", 1)) as client:
        assert client.get("/v1/farm").status_code == 200
        reply = client.get("/v1/farm", headers={"X-Forwarded-For": "203.0.113.9"})
        assert reply.status_code == status
        assert status == 200 or "MILLRACE_ALLOWED_HOSTS" in reply.json()["detail"]


def test_requests_in_progress_are_bounded_but_for_health_and_admins(
    settings: Settings, key_of: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crowd, "KEPT", 100)
    for bound, status in (("connections", 503), ("address_connections", 429), ("key_connections", 429)):
        # What is left of 100 is nothing: the next request is one too many.
        most = {"key_connections": 0} if bound == "key_connections" else {bound: 100}
        full = settings.model_copy(update={"connections": 4000, **most})
        with TestClient(create_app(full, lambda _: None), base_url=PHONE) as busy:
            refused = busy.get("/v1/models", headers=key_of["user"])
            assert (bound, refused.status_code, refused.headers["retry-after"]) == (bound, status, "2")
            assert busy.get("/v1/models", headers=key_of["admin"]).status_code == 200
            assert busy.get("/v1/health/live").status_code == 200
            assert busy.get("/v1/health", headers=key_of["user"]).status_code == 200


def test_an_ended_request_makes_room(client: TestClient, key_of: dict[str, dict[str, str]]) -> None:
    for _ in range(3):
        assert client.get("/v1/models", headers=key_of["user"]).status_code == 200
        assert client.get("/v1/models/none", headers=key_of["user"]).status_code == 404
    crowds = [m for m in _middleware(client) if isinstance(m, crowd.Crowd)]
    assert [c.open for c in crowds] == [{}]


def _middleware(client: TestClient) -> list[Any]:
    app: Any = client.app
    found, inner = [], app.middleware_stack
    while inner is not None:
        found.append(inner)
        inner = getattr(inner, "_app", None) or getattr(inner, "app", None)
    return found


async def test_keys_are_looked_up_in_turns_for_which_health_does_not_wait(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [add_key(farm, f"p{number}", "user") for number in range(6)]
    go, begun = threading.Event(), list[str]()
    answered: list[str] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        answered.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Access(app, farm, Limiter(farm.settings.model_copy(update={"rate_limit": "100000/minute"})))
    find = Authenticator.find

    def slow(keys: Authenticator, text: str) -> Holder | None:
        begun.append(text)
        assert go.wait(10)
        return find(keys, text)

    monkeypatch.setattr(Authenticator, "find", slow)

    async def ask(text: str, path: str) -> None:
        headers = [(b"authorization", f"Bearer {text}".encode())]
        await guard({"type": "http", "method": "GET", "path": path, "headers": headers}, _nothing, _drop)

    people = [asyncio.create_task(ask(text, "/v1/models")) for text in texts for _ in range(3)]
    async with asyncio.timeout(5):
        while len(begun) < LOOK_UP_AT_ONCE:
            await asyncio.sleep(0.01)
        probe = asyncio.create_task(ask(texts[-1], "/v1/health"))
        while texts[-1] not in begun:
            await asyncio.sleep(0.01)
    assert len(begun) == LOOK_UP_AT_ONCE + 1
    go.set()
    await asyncio.gather(probe, *people)
    assert sorted(answered) == ["/v1/health"] + ["/v1/models"] * 18
    # Who waited for a turn finds the key known, but where another one's turn with it is not over.
    assert len(begun) <= LOOK_UP_AT_ONCE * len(texts) + 1 < len(people)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def _drop(_message: Message) -> None:
    """A `send` of which nobody reads."""
