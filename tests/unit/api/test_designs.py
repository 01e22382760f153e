import io
import tarfile
from typing import Any

import pytest
from fastapi.testclient import TestClient

from db.repositories import artifacts, builds, designs
from db.repositories.artifacts import NewArtifact
from db.repositories.designs import NewMetric
from db.repositories.new_build import NewBuild
from worker.farm import Farm
from worker.store.names import media_type

FILES = {"dataflow.json": b"{}", "hls/top.cpp": b"int x;", "hls/page.html": b"<script>alert(1)</script>"}
STALLING = {"ends": False, "cycles": 12, "fifo": "row", "deadlock": "a waits for row", "fidelity": "simulate"}
TIMED = ("dataflow.json", "design.json", "simulation.json")
FLAG = {"metric": "dsp", "fidelity": "simulate", "value": 15.0, "bound": 9.0, "unit": "DSP", "text": "too many"}


@pytest.fixture
def simulated(client: TestClient, farm: Farm, design_ids: list[str]) -> str:
    """A design with a finished C simulation and its files."""
    build = client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "csim"}).json()
    stored = [NewArtifact(p, farm.store.put_bytes(c), len(c), media_type(p)) for p, c in FILES.items()]
    verdict = {"passed": True, "outputs": [{"max_rel_error": 1e-7}, {"max_rel_error": 3e-6}]}
    with farm.database.write() as session:
        artifacts.replace(session, build["id"], design_ids[1], stored)
        builds.finish(session, builds.get(session, build["id"]), verdict, {"g++": "12"})
    return design_ids[1]


def test_description(client: TestClient, design_ids: list[str]) -> None:
    body = client.get(f"/v1/designs/{design_ids[1]}").json()
    assert body["metrics"] == [
        {
            "name": "dsp",
            "value": 12.0,
            "unit": "",
            "fidelity": "estimate",
            "tool": "millrace",
            "tool_version": "0.1",
            "build_id": None,
        }
    ]
    assert (body["builds"], body["csim"], body["dataflow_available"]) == ([], None, False)


def test_simulation_is_queued_once(client: TestClient, design_ids: list[str], sent: list[str]) -> None:
    sent.clear()
    path = f"/v1/designs/{design_ids[1]}/builds"
    first = client.post(path, json={"stage": "csim"})
    assert (first.status_code, first.json()["state"]) == (202, "queued")
    assert client.post(path, json={}).json()["id"] == first.json()["id"]
    assert sent == ["csim"]
    assert client.get(f"/v1/builds/{first.json()['id']}").json()["design_id"] == design_ids[1]


@pytest.fixture
def timed(client: TestClient, farm: Farm, design_ids: list[str]) -> str:
    """A design whose timing was simulated; it was not compared with the reference."""
    build = client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "simulate"}).json()
    stored = [NewArtifact(p, farm.store.put_bytes(b"{}"), 2, media_type(p)) for p in TIMED]
    values = (("dsp", 15.0), ("new", 1.0))
    metrics = [NewMetric(name, value, "", "simulate", "millrace", "0.1") for name, value in values]
    with farm.database.write() as session:
        artifacts.replace(session, build["id"], design_ids[1], stored)
        designs.record_build(session, design_ids[1], build["id"], "simulate", metrics)
        designs.set_simulated(session, design_ids[1], 10.0, None, [FLAG])
        builds.finish(session, builds.get(session, build["id"]), {"passed": True, "stalling": STALLING}, {})
    return design_ids[1]


def test_timing_simulation_is_a_stage(client: TestClient, timed: str, sent: list[str]) -> None:
    assert sent == ["lower", "simulate"]
    assert client.post(f"/v1/designs/{timed}/builds", json={"stage": "simulate"}).json()["state"] == "done"


def test_both_fidelities_are_shown_with_their_difference(client: TestClient, timed: str) -> None:
    body = client.get(f"/v1/designs/{timed}").json()
    assert body["simulation"] == {
        "state": "done",
        "latency_us": 10.0,
        "estimate_error": pytest.approx(-0.2),  # 8 us were estimated
        "refuted": None,
        "stalling": STALLING,
    }
    assert body["csim"] is None
    shown = [(m["name"], m["value"], m["fidelity"]) for m in body["metrics"]]
    assert shown == [("dsp", 12, "estimate"), ("dsp", 15, "simulate"), ("new", 1, "simulate")]
    assert body["differences"] == [
        {
            "metric": "dsp",
            "unit": "",
            "predicted_by": "estimate",
            "predicted": 12.0,
            "fidelity": "simulate",
            "value": 15.0,
            "error": pytest.approx(-0.2),
        }
    ]
    assert (body["latency_us"], body["flags"]) == (8.0, [FLAG])


def test_simulated_design_in_lists(
    client: TestClient, farm: Farm, timed: str, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    with farm.database.write() as session:
        designs.set_simulated(session, design_ids[2], None, "a waits for b", [])
        new = NewBuild("simulate", "s" * 64, {}, "simulate", exploration_id=exploration["id"], design_id=design_ids[2])
        builds.fail(session, builds.ensure(session, new), "infeasible", "a waits for b")
    path = f"/v1/explorations/{exploration['id']}"
    columns = client.get(f"{path}/scatter").json()
    assert columns["simulated_us"] == [None, 10.0, None, None, None]
    assert columns["simulation"] == [None, "done", "refuted", None, None]
    items = client.get(f"{path}/designs").json()["items"]
    assert items[1]["simulation"]["latency_us"] == 10.0
    assert items[2]["simulation"]["refuted"] == "a waits for b"
    assert items[0]["simulation"] is None
    counted = client.get(path).json()
    assert (counted["promoted"], counted["simulated"]) == (2, 2)


def test_simulation_is_a_file_of_the_design_but_no_whole_directory(client: TestClient, timed: str) -> None:
    body = client.get(f"/v1/designs/{timed}").json()
    assert (body["simulation_available"], body["dataflow_available"], body["archive_available"]) == (True, True, False)
    assert client.get(f"/v1/designs/{timed}/artifacts/simulation.json").content == b"{}"
    assert client.get(f"/v1/designs/{timed}/archive").status_code == 409


def test_files_of_both_stages_are_one_directory(client: TestClient, timed: str, simulated: str) -> None:
    assert timed == simulated
    items = client.get(f"/v1/designs/{timed}/artifacts").json()["items"]
    assert [i["path"] for i in items] == sorted({*FILES, *TIMED})
    assert client.get(f"/v1/designs/{timed}").json()["archive_available"]
    assert client.get(f"/v1/designs/{timed}/archive").status_code == 200


def test_unknown_stage_and_unbuildable_design(client: TestClient, design_ids: list[str]) -> None:
    assert client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "magic"}).status_code == 422
    reply = client.post(f"/v1/designs/{design_ids[3]}/builds", json={})
    assert reply.status_code == 409
    assert "the tile does not fit" in reply.json()["detail"]


def test_verdict_is_shown_with_the_design(client: TestClient, simulated: str, exploration: dict[str, Any]) -> None:
    body = client.get(f"/v1/designs/{simulated}").json()
    assert body["csim"] == {"state": "done", "passed": True, "max_rel_error": 3e-6}
    assert body["dataflow_available"]
    assert body["builds"][0]["tool_versions"] == {"g++": "12"}
    assert client.get(f"/v1/explorations/{exploration['id']}/scatter").json()["csim"][1] == "passed"
    assert client.post(f"/v1/designs/{simulated}/builds", json={}).json()["state"] == "done"  # not run again


def test_the_whole_proof_is_a_build_of_its_own(client: TestClient, simulated: str) -> None:
    def start(**body: str) -> dict[str, Any]:
        return client.post(f"/v1/designs/{simulated}/builds", json={"stage": "csim", **body}).json()

    quick, whole = start(), start(proof="whole")
    assert (quick["state"], quick["options"]) == ("done", {})
    assert (whole["state"], whole["options"]) == ("queued", {"proof": "whole"})
    assert start(proof="whole")["id"] == whole["id"]
    assert client.post(f"/v1/designs/{simulated}/builds", json={"proof": "half"}).status_code == 422


def test_files(client: TestClient, simulated: str) -> None:
    items = client.get(f"/v1/designs/{simulated}/artifacts").json()["items"]
    assert [i["path"] for i in items] == sorted(FILES)
    for item in items:
        reply = client.get(item["url"])
        assert reply.content == FILES[item["path"]]
        assert reply.headers["etag"] == f'"{item["digest"]}"'
        assert client.get(item["url"], headers={"If-None-Match": reply.headers["etag"]}).status_code == 304


def test_files_are_no_pages_of_ours(client: TestClient, simulated: str) -> None:
    reply = client.get(f"/v1/designs/{simulated}/artifacts/hls/page.html")
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fmillrace.db", "%2fetc%2fpasswd", "hls/%2e%2e/%2e%2e/x", "a%00b", "a%5cb"],
)
def test_paths_that_leave_the_directory(client: TestClient, simulated: str, path: str) -> None:
    reply = client.get(f"/v1/designs/{simulated}/artifacts/{path}")
    assert reply.status_code in (400, 404, 422)
    assert reply.headers["content-type"] == "application/problem+json"


def read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file is not None
    return file.read()


def test_archive(client: TestClient, simulated: str) -> None:
    reply = client.get(f"/v1/designs/{simulated}/archive")
    assert reply.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(reply.content)) as tar:
        content = {name: read(tar, name) for name in tar.getnames()}
    assert content == {f"{simulated}/{p}": c for p, c in FILES.items()}


def test_archive_of_a_design_that_was_not_compiled(client: TestClient, design_ids: list[str]) -> None:
    reply = client.get(f"/v1/designs/{design_ids[0]}/archive")
    assert reply.status_code == 409
    assert "start its C simulation" in reply.json()["detail"]


def test_damaged_file_is_not_served(client: TestClient, farm: Farm, simulated: str) -> None:
    item = client.get(f"/v1/designs/{simulated}/artifacts").json()["items"][0]
    farm.store.path(item["digest"]).write_bytes(b"!!")
    for path in (item["url"], f"/v1/designs/{simulated}/archive"):
        reply = client.get(path)
        assert reply.status_code == 500
        assert "is damaged" in reply.json()["detail"]


def test_log_of_a_build_that_has_none_yet(client: TestClient, design_ids: list[str]) -> None:
    build = client.post(f"/v1/designs/{design_ids[1]}/builds", json={}).json()
    assert build["log_url"] is None
    assert client.get(f"/v1/builds/{build['id']}/log").status_code == 404


def test_the_ladder_has_every_stage(client: TestClient, design_ids: list[str]) -> None:
    client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "csynth", "vitis": "2023.2"})
    ladder = client.get(f"/v1/designs/{design_ids[1]}").json()["ladder"]
    assert [rung["stage"] for rung in ladder] == ["simulate", "csim", "csynth", "cosim", "link", "measure"]
    assert [rung["state"] for rung in ladder] == [None, "queued", "blocked", None, None, None]
    assert "no node offers csim" in ladder[1]["waiting"]
    assert ladder[2]["waiting"] == f"waits for csim {ladder[1]['build_id']}, which is queued"


def test_neighbouring_fidelities_are_compared(client: TestClient, farm: Farm, timed: str) -> None:
    """Between the simulation and the board nothing is known of `new`; of `dsp` csynth is."""
    values = [("dsp", 20.0, "csynth"), ("dsp", 40.0, "board"), ("new", 2.0, "board")]
    metrics = [NewMetric(name, value, "", fidelity, "vitis", "2023.2") for name, value, fidelity in values]
    build = client.post(f"/v1/designs/{timed}/builds", json={"stage": "csim"}).json()["id"]
    with farm.database.write() as session:
        designs.record_build(session, timed, build, "csim", metrics)
    found = [
        (d["metric"], d["predicted_by"], d["predicted"], d["fidelity"], d["value"], d["error"])
        for d in client.get(f"/v1/designs/{timed}").json()["differences"]
    ]
    assert found == [
        ("dsp", "estimate", 12.0, "simulate", 15.0, pytest.approx(-0.2)),
        ("dsp", "simulate", 15.0, "csynth", 20.0, pytest.approx(-0.25)),
        ("dsp", "csynth", 20.0, "board", 40.0, pytest.approx(-0.5)),
        ("new", "simulate", 1.0, "board", 2.0, pytest.approx(-0.5)),
    ]


def test_a_board_that_the_design_is_not_linked_for(client: TestClient, design_ids: list[str]) -> None:
    reply = client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "measure", "board": "u280_shell"})
    assert reply.status_code == 422
    assert "run on 'simulated' or 'xilinx_u55c" in reply.json()["detail"]
