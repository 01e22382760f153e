"""Models, explorations and designs: archived, pinned, deleted, and why they can not be."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from db.models import Build, Exploration
from db.repositories import artifacts, builds, designs, explorations
from db.repositories.artifacts import NewArtifact
from db.repositories.new_build import NewBuild
from worker.farm import Farm

CONFIG = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}


def end(farm: Farm, exploration: str) -> None:
    """The exploration has ended, and none of its builds is open."""
    with farm.database.write() as session:
        row = explorations.lock(session, exploration)
        row.state = "done"
        for build in session.query(Build).all():
            build.state = "done"


def leave_files(farm: Farm, exploration: str, design: str, files: dict[str, tuple[str, int]]) -> str:
    """A done build of the design that has left files of these digests and sizes; its id."""
    with farm.database.write() as session:
        key = f"{design}{sorted(files)}"[:60]
        new = NewBuild("csim", key, {}, "csim", exploration_id=exploration, design_id=design)
        build = builds.ensure(session, new)
        found = [NewArtifact(path, digest * 64, size, "t") for path, (digest, size) in files.items()]
        artifacts.replace(session, build.id, design, found)
        build.state = "done"
        return build.id


@pytest.fixture
def ended(client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]) -> str:
    end(farm, exploration["id"])
    return exploration["id"]


def test_what_goes_with_an_exploration_and_how_many_bytes(
    client: TestClient, farm: Farm, ended: str, design_ids: list[str]
) -> None:
    other = client.post("/v1/explorations", json={"model": "gpt2", "name": "other"}).json()["id"]
    with farm.database.write() as session:
        [twin] = designs.add(
            session, other, [designs.NewDesign(0, "k", {}, True, 1.0, 1.0, [1.0, 1.0], [], None, 0.1, ())]
        )
    leave_files(farm, ended, design_ids[0], {"a": ("a", 100), "b": ("b", 20), "c": ("a", 100)})
    leave_files(farm, ended, design_ids[1], {"a": ("a", 100), "d": ("d", 3)})
    leave_files(farm, other, twin, {"b": ("b", 20)})
    found = client.get(f"/v1/explorations/{ended}/deletion").json()
    assert (found["needed"], found["designs"], found["builds"]) == ([], 5, 2)
    assert (found["files"], found["bytes"]) == (2, 103)  # b is the other's too
    one = client.get(f"/v1/designs/{design_ids[1]}/deletion").json()
    assert (one["name"], one["files"], one["bytes"]) == ("gpt2-decode-64-w4a8#1", 1, 3)
    assert client.delete(f"/v1/explorations/{ended}").status_code == 204
    assert client.get(f"/v1/explorations/{ended}/deletion").status_code == 404
    assert client.get(f"/v1/designs/{twin}/artifacts").json()["items"][0]["path"] == "b"


def test_archived_ones_are_listed_where_somebody_asks(client: TestClient, ended: str, design_ids: list[str]) -> None:
    path = f"/v1/explorations/{ended}"
    tag = client.get(f"{path}/scatter").headers["etag"]
    assert client.patch(f"/v1/designs/{design_ids[4]}", json={"archived": True}).json()["archived"]
    for ask, numbers in ((f"{path}/designs", [0, 1, 2, 3]), (f"{path}/designs?archived=true", [0, 1, 2, 3, 4])):
        assert [d["number"] for d in client.get(ask).json()["items"]] == numbers
    scatter = client.get(f"{path}/scatter", headers={"If-None-Match": tag})
    assert (scatter.status_code, scatter.json()["number"]) == (200, [0, 1, 2, 3])
    assert client.get(f"{path}/table").json()["rows"] == 4
    assert client.get(f"/v1/designs/{design_ids[4]}").json()["number"] == 4
    client.patch(path, json={"archived": True})
    assert client.get("/v1/explorations").json()["items"] == []
    assert [e["id"] for e in client.get("/v1/explorations?archived=true").json()["items"]] == [ended]
    client.patch(path, json={"archived": False})
    assert [e["id"] for e in client.get("/v1/explorations").json()["items"]] == [ended]


def test_a_pin_keeps_a_design_and_its_exploration(client: TestClient, ended: str, design_ids: list[str]) -> None:
    path, pinned = f"/v1/explorations/{ended}", f"/v1/designs/{design_ids[1]}"
    client.patch(pinned, json={"pinned": True})
    for target, text in ((pinned, "it is pinned; take the pin off first"), (path, "1 design (#1) of it with a pin")):
        refused = client.delete(target)
        assert (refused.status_code, text in refused.json()["detail"]) == (409, True)
    client.patch(pinned, json={"pinned": False})
    client.patch(path, json={"pinned": True})
    assert "its exploration is pinned" in client.delete(pinned).json()["detail"]
    assert "it is pinned" in client.delete(path).json()["detail"]
    client.patch(path, json={"pinned": False})
    assert client.delete(path).status_code == 204


def test_deleting_a_design_finds_the_front_anew(
    client: TestClient, farm: Farm, ended: str, design_ids: list[str]
) -> None:
    """Numbers 0 to 4 without 3: slower ones take less energy, all are on a front that is found anew."""
    client.get(f"/v1/explorations/{ended}/scatter")
    assert client.delete(f"/v1/designs/{design_ids[4]}").status_code == 204
    left = client.get(f"/v1/explorations/{ended}/designs?front=true").json()["items"]
    assert [d["number"] for d in left] == [0, 1, 2]
    assert client.get(f"/v1/explorations/{ended}/scatter").json()["number"] == [0, 1, 2, 3]


def test_a_search_that_lacks_a_design_is_taken_over_by_nobody(
    client: TestClient, farm: Farm, ended: str, design_ids: list[str]
) -> None:
    whole = {"first": 0, "count": 24}

    def adopted_by(name: str) -> bool:
        new = {"model": "gpt2", "name": name}
        key = client.post("/v1/explorations", json=new).json()["id"]
        with farm.database.write() as session:
            search = NewBuild("search", "same", {}, "search", exploration_id=key, options=whole)
            return builds.ensure(session, search).adopted_from is not None

    with farm.database.write() as session:
        first = NewBuild("search", "same", {}, "search", exploration_id=ended, options=whole)
        builds.ensure(session, first).state = "done"
    assert adopted_by("before")
    with farm.database.write() as session:  # the one that has adopted it is whole
        session.delete(session.query(Build).filter(Build.adopted_from.is_not(None)).one())
    client.delete(f"/v1/designs/{design_ids[0]}")
    assert not adopted_by("after")


def test_a_design_that_is_built_stays(client: TestClient, farm: Farm, ended: str, design_ids: list[str]) -> None:
    with farm.database.write() as session:
        new = NewBuild("csim", "k", {}, "csim", exploration_id=ended, design_id=design_ids[0])
        builds.ensure(session, new)
    refused = client.delete(f"/v1/designs/{design_ids[0]}")
    assert (refused.status_code, "builds of it have not ended" in refused.json()["detail"]) == (409, True)
    assert client.get(f"/v1/designs/{design_ids[0]}/deletion").json()["needed"] != []
    assert client.delete(f"/v1/designs/{design_ids[1]}").status_code == 204


def test_models(client: TestClient, farm: Farm) -> None:
    assert client.post("/v1/models", json={"name": "mine", "config": CONFIG}).status_code == 202
    assert "it is built in" in client.delete("/v1/models/gpt2").json()["detail"]
    client.patch("/v1/models/gpt2", json={"archived": True})
    names = [m["name"] for m in client.get("/v1/models").json()["items"]]
    assert ("gpt2" in names, "mine" in names) == (False, True)
    assert "gpt2" in [m["name"] for m in client.get("/v1/models?archived=true").json()["items"]]
    made = client.post("/v1/explorations", json={"model": "mine"}).json()
    client.post("/v1/sweeps", json={"name": "nightly", "cron": "0 3 * * *", "matrix": {"models": ["mine"]}})
    needed = client.get("/v1/models/mine/deletion").json()["needed"]
    assert needed[0] == "there is 1 exploration (mine-decode-64-w4a8) of it; delete those first"
    assert needed[1] == "there is 1 sweep (nightly) of it; change or remove those first"
    assert "it is being imported" in needed[2]
    assert client.delete("/v1/models/mine").status_code == 409
    end(farm, made["id"])
    assert client.delete(f"/v1/explorations/{made['id']}").status_code == 204
    assert client.delete("/v1/sweeps/nightly").status_code == 204
    assert client.delete("/v1/models/mine").status_code == 204
    assert client.get("/v1/models/mine").status_code == 404


def test_files_that_expired_are_made_again_for_who_asks(
    client: TestClient, farm: Farm, ended: str, design_ids: list[str]
) -> None:
    path = f"/v1/designs/{design_ids[0]}/builds"
    first = client.post(path, json={"stage": "csim"}).json()
    end(farm, ended)
    assert client.post(path, json={"stage": "csim"}).json()["state"] == "done"
    with farm.database.write() as session:
        build = builds.get(session, first["id"])
        build.expired_at = build.created_at
    again = client.post(path, json={"stage": "csim"}).json()
    assert (again["id"], again["state"]) == (first["id"], "queued")


def test_reading_a_file_is_using_its_design(client: TestClient, farm: Farm, ended: str, design_ids: list[str]) -> None:
    build = leave_files(farm, ended, design_ids[0], {"a.txt": ("a", 1)})
    with farm.database.write() as session:
        artifacts.replace(
            session, build, design_ids[0], [NewArtifact("a.txt", farm.store.put_bytes(b"x"), 1, "text/plain")]
        )
        assert designs.get(session, design_ids[0]).used_at is None
    assert client.get(f"/v1/designs/{design_ids[0]}/artifacts/a.txt").text == "x"
    with farm.database.read() as session:
        assert designs.get(session, design_ids[0]).used_at is not None
        assert session.get_one(Exploration, ended).pinned is False
