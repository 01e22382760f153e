"""The API against its own OpenAPI document: whatever is sent, the answer is one that the document has."""

from collections.abc import Generator
from typing import Any, cast

import pytest
import schemathesis
from api_keys import add_key, bearer
from farm_states import announce
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.python import asgi

from api.app import create_app
from api.openapi import operations
from db.migrate import upgrade
from db.repositories import designs
from db.repositories.designs import NewDesign
from worker.farm import Farm
from worker.redis_server import start_redis
from worker.settings import Settings

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

EXAMPLES = 12
# What is not a plain answer: event streams have no end.
STREAMS = ("/events", "/log/stream")
CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)
BASE = "http://127.0.0.1:8642"
HOSTS = ("testserver", "localhost")  # as what schemathesis calls it


@pytest.fixture(scope="module", params=["off", "on"])
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[FastAPI]:
    home = tmp_path_factory.mktemp("home")
    made = Settings(home=home, access=request.param, rate_limit="1000000/minute", allowed_hosts=HOSTS)
    upgrade(made.database)
    server = start_redis(made)
    app = create_app(made, lambda _: None)
    with TestClient(app, base_url=BASE):
        yield app
    asgi.shutdown_lifespans()  # else schemathesis lets the application listen to Redis until the process ends
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def headers(app: FastAPI) -> dict[str, str]:
    farm: Farm = app.state.farm
    return bearer(add_key(farm, "admin", "admin"))


@pytest.fixture(scope="module")
def ids(app: FastAPI, headers: dict[str, str]) -> dict[str, str]:
    """Something of each kind, by the name of the path's parameter."""
    farm: Farm = app.state.farm
    announce(farm)
    client = TestClient(app, base_url=BASE, headers=dict(headers))
    exploration = client.post("/v1/explorations", json={"model": "gpt2"}).json()["id"]
    new = [
        NewDesign(n, f"k{n}", {"tile": n}, True, 9.0 - n, 1.0 + n, [9.0 - n, 1.0 + n], [], None, 0.1, ())
        for n in range(3)
    ]
    with farm.database.write() as session:
        [design, *_] = designs.add(session, exploration, new)
    build = client.post(f"/v1/designs/{design}/builds", json={"stage": "csynth"}).json()["id"]
    return {"exploration": exploration, "design": design, "build": build, "model": "gpt2", "node": "here"}


def test_no_answer_is_undocumented(app: FastAPI, headers: dict[str, str], ids: dict[str, str]) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers)
    tried = 0
    for result in schema.get_all_operations():
        operation: Any = cast(Any, result).ok()
        if operation.path.endswith(STREAMS):
            continue
        _try(operation, headers, ids)
        tried += 1
    document = app.openapi()
    assert tried == sum(not path.endswith(STREAMS) for _, path, _ in operations(document))


def _try(operation: Any, headers: dict[str, str], ids: dict[str, str]) -> None:
    turn = 0

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example],
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy())
    def conforms(case: Any) -> None:
        nonlocal turn
        turn += 1
        if turn % 2:  # every other time something that is there
            case.path_parameters |= {name: ids[name] for name in case.path_parameters or () if name in ids}
        case.call_and_validate(headers=headers, checks=CHECKS)

    conforms()


def test_without_a_key_nothing_is_answered(app: FastAPI) -> None:
    """Every operation that is not open says 401, before it reads anything."""
    client = TestClient(app, base_url=BASE)
    if app.state.farm.settings.access == "off":
        pytest.skip("no keys are asked for")
    for method, path, operation in operations(app.openapi()):
        if operation["x-least-role"] != "open":
            assert client.request(method, path, content=b"{").status_code == 401, f"{method} {path}"
