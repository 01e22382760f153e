import io
import tarfile
from typing import Any

import pytest
from fastapi.testclient import TestClient

from db.repositories import artifacts, builds
from db.repositories.artifacts import NewArtifact
from worker.farm import Farm
from worker.store import media_type

FILES = {"dataflow.json": b"{}", "hls/top.cpp": b"int x;", "hls/page.html": b"<script>alert(1)</script>"}


@pytest.fixture
def simulated(client: TestClient, farm: Farm, design_ids: list[str]) -> str:
    """A design with a finished C simulation and its files."""
    build = client.post(f"/v1/designs/{design_ids[1]}/builds", json={"stage": "csim"}).json()
    stored = [NewArtifact(p, farm.store.put_bytes(c), len(c), media_type(p)) for p, c in FILES.items()]
    verdict = {"passed": True, "outputs": [{"max_rel_error": 1e-7}, {"max_rel_error": 3e-6}]}
    with farm.database.write() as session:
        artifacts.replace(session, build["id"], design_ids[1], stored)
        builds.finish(session, build["id"], verdict, {"g++": "12"})
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


def test_simulation_is_queued_once(client: TestClient, design_ids: list[str], sent: list[Any]) -> None:
    sent.clear()
    path = f"/v1/designs/{design_ids[1]}/builds"
    first = client.post(path, json={"stage": "csim"})
    assert (first.status_code, first.json()["state"]) == (202, "queued")
    assert client.post(path, json={}).json()["id"] == first.json()["id"]
    assert sent == [("csim", first.json()["id"])]
    assert client.get(f"/v1/builds/{first.json()['id']}").json()["design_id"] == design_ids[1]


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
    assert reply.status_code in (400, 404)
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
