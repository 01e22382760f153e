"""Builds: lists, one, retry, cancel, clone."""

from typing import Any

import pytest
from farm_states import announce, take
from fastapi.testclient import TestClient

from db.repositories import builds, nodes, queue
from worker.farm import Farm


@pytest.fixture
def ladder(client: TestClient, farm: Farm, design_ids: list[str]) -> dict[str, dict[str, Any]]:
    """The builds of one design up to csynth, by stage; a node offers everything."""
    announce(farm)
    client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "csynth"})
    items = client.get("/v1/builds", params={"design": design_ids[1]}).json()["items"]
    return {item["stage"]: item for item in items}


def fail(farm: Farm, stage: str, failure: Any = "tool", error: str = "vitis_hls crashed") -> str:
    """Have the build of this stage fail for good; its id."""
    with farm.database.write() as session:
        claimed = queue.claim(session, [stage], "here", "w", 60)
        assert claimed is not None
        build = builds.get(session, claimed.build_id)
        builds.fail(session, build, failure, error)
        return build.id


def test_a_build_says_all_about_itself(ladder: dict[str, Any], design_ids: list[str]) -> None:
    csim, csynth = ladder["csim"], ladder["csynth"]
    assert (csim["state"], csim["queue"], csim["node"], csim["attempt"]) == ("queued", "csim", None, 0)
    assert csim["waiting"] == "waits for its turn: a worker that is free takes it"
    assert (csynth["state"], csynth["after"], csynth["licence"]) == ("blocked", csim["id"], "vitis_hls")
    assert csynth["queue"] == "csynth@2023.2"
    assert csynth["waiting"] == f"waits for csim {csim['id']}, which is queued"
    assert csynth["options"] == {"vitis": "2023.2"}
    assert (csynth["design_id"], csynth["live"], csynth["log_url"]) == (design_ids[1], False, None)


def test_filters_and_pages(
    client: TestClient, farm: Farm, ladder: dict[str, Any], exploration: dict[str, Any], design_ids: list[str]
) -> None:
    def found(**query: str) -> set[str]:
        return {item["stage"] for item in client.get("/v1/builds", params=query).json()["items"]}

    assert found() == {"lower", "csim", "csynth"}
    assert found(state="blocked") == {"csynth"}
    assert found(stage="csim") == {"csim"}
    assert found(queue="csynth@2023.2") == {"csynth"}
    assert found(exploration=exploration["id"]) == {"csim", "csynth"}
    assert found(design=design_ids[0]) == set()
    take(farm, "csim")
    assert found(node="here") == {"csim"}
    first = client.get("/v1/builds?limit=2").json()
    rest = client.get("/v1/builds", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert len({b["id"] for b in (*first["items"], *rest["items"])}) == 3
    assert rest["next_cursor"] is None
    assert client.get("/v1/builds?state=odd").status_code == 422


def test_reasons_are_asked_for_once(
    client: TestClient, farm: Farm, design_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    reason = queue.why_waiting

    def counted(session: Any, build: Any) -> str:
        asked.append(build.id)
        return reason(session, build)

    for design in (design_ids[i] for i in (0, 1, 2, 4)):
        client.post(f"/v1/designs/{design}/builds", json={"stage": "simulate"})
    monkeypatch.setattr(queue, "why_waiting", counted)
    items = client.get("/v1/builds?stage=simulate").json()["items"]
    assert [item["waiting"].partition(";")[0] for item in items] == ["no node offers simulate"] * 4
    assert len(asked) == 1


def test_what_waits_for_a_failed_build_is_cancelled_and_comes_back_with_it(
    client: TestClient, farm: Farm, ladder: dict[str, Any]
) -> None:
    failed = fail(farm, "csim")
    assert client.get(f"/v1/builds/{ladder['csynth']['id']}").json()["state"] == "cancelled"
    found = client.get(f"/v1/builds/{failed}").json()
    assert (found["state"], found["failure"], found["error"]) == ("failed", "tool", "vitis_hls crashed")
    again = client.post(f"/v1/builds/{failed}/retry")
    assert (again.status_code, again.json()["state"], again.json()["error"]) == (202, "queued", None)
    assert again.json()["history"][0]["error"] == "vitis_hls crashed"
    assert client.get(f"/v1/builds/{ladder['csynth']['id']}").json()["state"] == "blocked"
    assert client.post(f"/v1/builds/{failed}/retry").status_code == 409


def test_cancel_takes_what_waits_with_it(client: TestClient, ladder: dict[str, Any]) -> None:
    path = f"/v1/builds/{ladder['csim']['id']}"
    assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert client.get(f"/v1/builds/{ladder['csynth']['id']}").json()["state"] == "cancelled"
    assert client.post(f"{path}/cancel").status_code == 409


def test_clone_takes_other_options(client: TestClient, ladder: dict[str, Any]) -> None:
    path = f"/v1/builds/{ladder['csynth']['id']}/clone"
    made = client.post(path, json={"vitis": "2022.1"}).json()
    assert made["id"] != ladder["csynth"]["id"]
    assert made["options"] == {"vitis": "2022.1"}
    assert made["after"] == ladder["csim"]["id"]
    assert client.post(path, json={"vitis": "newest"}).status_code == 422
    assert client.post(path, json={"board": "u280"}).status_code == 422
    lower = client.get("/v1/builds?stage=lower").json()["items"][0]
    assert client.post(f"/v1/builds/{lower['id']}/clone", json={}).status_code == 409


def test_unknown_builds(client: TestClient) -> None:
    for action in ("retry", "cancel"):
        assert client.post(f"/v1/builds/bld_x/{action}").status_code == 404
    assert client.post("/v1/builds/bld_x/clone", json={}).status_code == 404
    assert client.get("/v1/builds/bld_x/log/stream").status_code == 404


def test_a_vitis_that_no_node_offers_waits_and_says_so(client: TestClient, farm: Farm, design_ids: list[str]) -> None:
    announce(farm)
    body = {"stage": "csynth", "vitis": "2024.1"}
    made = client.post(f"/v1/designs/{design_ids[1]}/builds", json=body).json()
    with farm.database.write() as session:
        csim = builds.get(session, made["after"])
        builds.finish(session, csim, {"passed": True}, {})
    assert "no node offers csynth@2024.1" in client.get(f"/v1/builds/{made['id']}").json()["waiting"]


def test_the_farm_at_a_glance(client: TestClient, farm: Farm, ladder: dict[str, Any]) -> None:
    client.put("/v1/farm/licences/vitis_hls", json={"tokens": 2})
    order = take(farm, "csim")
    found = client.get("/v1/farm").json()
    [node] = found["nodes"]
    assert (node["name"], node["state"], node["present"], node["running"]) == ("here", "active", True, 1)
    assert (node["used_cpus"], node["cpus"]) == (1.0, 64.0)
    queues = {q["name"]: (q["waiting"], q["running"], q["nodes"]) for q in found["queues"]}
    assert queues["csim"] == (0, 1, 1)
    assert queues["lower"] == (1, 0, 1)
    assert found["licences"] == [{"feature": "vitis_hls", "tokens": 2, "used": 0}]
    assert order is not None
    assert [b["id"] for b in found["running"]] == [order.build_id]


def test_nodes_are_drained_and_forgotten(client: TestClient, farm: Farm, ladder: dict[str, Any]) -> None:
    assert client.post("/v1/farm/nodes/here", json={"state": "draining"}).json()["state"] == "draining"
    with farm.database.read() as session:
        assert nodes.get(session, "here").state == "draining"
    assert client.post("/v1/farm/nodes/here", json={"state": "asleep"}).status_code == 422
    assert client.post("/v1/farm/nodes/none", json={"state": "paused"}).status_code == 404
    client.post("/v1/farm/nodes/here", json={"state": "active"})
    take(farm, "csim")
    assert client.delete("/v1/farm/nodes/here").status_code == 409
    client.post(f"/v1/builds/{ladder['csim']['id']}/cancel")
    assert client.delete("/v1/farm/nodes/here").status_code == 204
    assert client.get("/v1/farm").json()["nodes"] == []


def test_a_node_that_takes_work_again_is_woken(client: TestClient, farm: Farm, sent: list[str]) -> None:
    announce(farm, ["csim", "csynth@2023.2"])
    sent.clear()
    client.post("/v1/farm/nodes/here", json={"state": "paused"})
    assert sent == []
    client.post("/v1/farm/nodes/here", json={"state": "active"})
    assert sent == ["csim", "csynth@2023.2"]


def test_a_farm_of_one_machine_can_not_be_joined(client: TestClient) -> None:
    reply = client.post("/v1/farm/join", json={"name": "n", "version": "1"})
    assert reply.status_code == 409
    assert "Postgres" in reply.json()["detail"]
