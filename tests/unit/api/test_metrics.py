"""What Prometheus reads."""

from typing import Any

import pytest
from farm_states import announce, take
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api import recently
from db.repositories import builds
from worker.farm import Farm


def metrics(client: TestClient) -> dict[tuple[str, ...], float]:
    """Values by name and labels' values, in the order of the labels' names."""
    reply = client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def test_the_farm(client: TestClient, farm: Farm, design_ids: list[str], exploration: dict[str, Any]) -> None:
    announce(farm, ["csim", "csynth@2023.2"])
    client.put("/v1/farm/licences/vitis_hls", json={"tokens": 2})
    for design in (design_ids[0], design_ids[1], design_ids[2]):
        client.post(f"/v1/designs/{design}/builds", json={"stage": "csim"})
    order = take(farm, "csim")
    assert order is not None
    with farm.database.write() as session:
        builds.fail(session, builds.get(session, order.build_id), "tool", "crashed")
    take(farm, "csim")
    found = metrics(client)
    assert found["millrace_queue_waiting", "csim"] == 1
    assert found["millrace_queue_running", "csim"] == 1
    assert found["millrace_queue_waiting", "csynth@2023.2"] == 0
    assert 0 <= found["millrace_queue_oldest_seconds", "csim"] < 60
    assert found["millrace_builds", "tool", "csim", "failed"] == 1
    assert found["millrace_build_runs_total", "tool", "csim", "failed"] == 1
    assert found["millrace_node_up", "here", "active"] == 1
    assert found["millrace_node_cpus_used", "here"] == 1
    assert found["millrace_licence_tokens", "vitis_hls"] == 2
    assert found["millrace_licence_used", "vitis_hls"] == 0
    assert found["millrace_explorations", "lowering"] == 1


def test_requests_are_counted_by_their_route(client: TestClient, exploration: dict[str, Any]) -> None:
    for path in (exploration["id"], "exp_1", "exp_2"):
        client.get(f"/v1/explorations/{path}")
    client.get("/favicon.png")
    found = metrics(client)
    count = "millrace_http_request_seconds_count"
    assert found[count, "GET /v1/explorations/{exploration}", "200"] == 1
    assert found[count, "GET /v1/explorations/{exploration}", "404"] == 2
    assert found[count, "other", "404"] == 1


def test_an_empty_farm(client: TestClient) -> None:
    assert ("millrace_queue_waiting", "csim") not in metrics(client)


@pytest.mark.parametrize(("path", "status"), [("/v1/health/live", 200), ("/v1/health/ready", 503)])
def test_probes_without_a_broker(client: TestClient, path: str, status: int) -> None:
    assert client.get(path).status_code == status


def test_ready_says_what_is_missing(client: TestClient, farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recently, "GOOD_SECONDS", 0)
    monkeypatch.setattr(recently, "FRESH_SECONDS", 0)
    assert "the broker does not answer" in client.get("/v1/health/ready").json()["detail"]
    monkeypatch.setattr(type(farm.bus), "ping", lambda _: None)
    assert client.get("/v1/health/ready").json() == {"status": "ready", "detail": None}
    monkeypatch.setattr("api.services.health.HEAD", "9999")
    assert "this release needs 9999" in client.get("/v1/health/ready").json()["detail"]
