import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from compiler.frontend.models.config import BUILT_IN
from db.engine import Database
from db.repositories import catalog, explorations
from worker.settings import Settings

CONFIG = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 100, "transformers_version": "4"}


def test_platforms(client: TestClient) -> None:
    items = client.get("/v1/platforms").json()["items"]
    u55c = next(p for p in items if p["name"] == "u55c")
    assert u55c["budgets"]["dsp"] == 9020
    assert u55c["hbm"]["channels"] == 32


def test_built_in_models_are_there(client: TestClient) -> None:
    names = {m["name"]: m["kind"] for m in client.get("/v1/models").json()["items"]}
    assert names == dict.fromkeys(BUILT_IN, "builtin")
    assert client.get("/v1/models/gpt2").json()["config"]["n_embd"] == 768


def test_built_in_models_of_an_older_release_are_brought_up_to_date(settings: Settings) -> None:
    database = Database(settings.database)
    with database.write() as session:
        old = catalog.put_model(session, "gpt2", "builtin", {"n_embd": 768}, "0" * 64)
        workload = catalog.put_workload(session, old, "decode", 64, 1, "w4a8", 1, "w" * 64)
        stored = explorations.add(
            session, workload, "u55c", ["latency", "energy"], {"seed": 0, "sampler": "tpe", "verify": 0}, 10
        )
    database.close()
    with TestClient(create_app(settings, lambda *_: None), base_url="http://127.0.0.1:8642") as client:
        model = client.get("/v1/models/gpt2").json()
        assert (model["id"], model["config"]["n_layer"]) == (old.id, 12)
        assert client.get(f"/v1/explorations/{stored.id}").json()["model"]["id"] == old.id
        again = client.post("/v1/explorations", json={"model": "gpt2"})
        assert (again.status_code, again.json()["model"]["kind"]) == (202, "builtin")


def test_model_from_json(client: TestClient) -> None:
    reply = client.post("/v1/models", json={"name": "mine", "config": CONFIG})
    assert reply.status_code == 202
    stored = client.get(f"/v1/models/{reply.json()['id']}").json()
    assert stored["config"]["n_embd"] == 64
    assert "transformers_version" not in stored["config"]
    assert client.post("/v1/models", json={"name": "mine", "config": CONFIG}).json()["id"] == stored["id"]


def test_model_from_upload(client: TestClient) -> None:
    upload = {"file": ("config.json", json.dumps(CONFIG), "application/json")}
    reply = client.post("/v1/models", files=upload, data={"name": "mine"})
    assert reply.status_code == 202
    assert client.get("/v1/models/mine").json()["kind"] == "config"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"name": "x", "config": {"model_type": "mamba"}}, 422, "must be one of gpt2, llama, qwen2"),
        ({"name": "x", "config": {"model_type": "llama"}}, 422, "lacks hidden_size"),
        ({"name": "x", "config": CONFIG | {"n_embd": 0}}, 422, "n_embd is 0"),
        ({"name": "x", "config": CONFIG | {"n_embd": 2**40}}, 422, "n_embd is 1099511627776"),
        ({"name": "x", "config": CONFIG | {"n_layer": -1}}, 422, "n_layer is -1"),
        ({"name": "x", "config": []}, 422, "#/config"),
        ({"name": "../x", "config": CONFIG}, 422, "#/name"),
        ({"name": "", "config": CONFIG}, 422, "#/name"),
        ({"config": CONFIG}, 422, "#/name"),
        ({"name": "gpt2", "config": CONFIG}, 409, "built-in"),
        ({"name": "x", "config": CONFIG, "extra": 1}, 422, "#/extra"),
    ],
)
def test_bad_models(client: TestClient, body: Any, status: int, message: str) -> None:
    reply = client.post("/v1/models", json=body)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert message in reply.json()["detail"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 200_000])
def test_what_is_no_json(client: TestClient, content: bytes) -> None:
    reply = client.post("/v1/models", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert "not JSON" in reply.json()["detail"]


def test_upload_without_a_file(client: TestClient) -> None:
    reply = client.post("/v1/models", files={"other": ("x", b"{}")}, data={"name": "x"})
    assert reply.status_code == 400
    assert "`file`" in reply.json()["detail"]


def test_name_of_another_network_is_a_conflict(client: TestClient) -> None:
    client.post("/v1/models", json={"name": "mine", "config": CONFIG})
    reply = client.post("/v1/models", json={"name": "mine", "config": CONFIG | {"n_layer": 4}})
    assert reply.status_code == 409


def test_workloads(client: TestClient) -> None:
    body = {"model": "gpt2", "phase": "prefill", "length": 32, "precision": "f32"}
    first = client.post("/v1/workloads", json=body).json()
    assert client.post("/v1/workloads", json=body).json()["id"] == first["id"]
    assert [w["id"] for w in client.get("/v1/workloads").json()["items"]] == [first["id"]]
    assert first["model"]["name"] == "gpt2"


def test_pages(client: TestClient) -> None:
    for n in range(5):
        client.post("/v1/models", json={"name": f"m{n}", "config": CONFIG})
    names: list[str] = []
    query = ""
    for _ in range(10):
        page = client.get(f"/v1/models?limit=2{query}").json()
        names += [m["name"] for m in page["items"]]
        if page["next_cursor"] is None:
            break
        query = f"&cursor={page['next_cursor']}"
    assert sorted(names) == sorted([*BUILT_IN, "m0", "m1", "m2", "m3", "m4"])


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=100000", "limit=x", "cursor=%00", "cursor=%F0%9F%92%A9", "cursor=a"]
)
def test_bad_pages(client: TestClient, query: str) -> None:
    assert client.get(f"/v1/models?{query}").status_code in (400, 422)
