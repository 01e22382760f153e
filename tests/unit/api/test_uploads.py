"""Models in files: what is taken, what is refused at the door, and the one workload that they have."""

import asyncio
import io
import json
import random
import zipfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import numpy as np
import onnx_models
import pytest
import zip_bombs
from fastapi.testclient import TestClient

from api.app import create_app
from api.services import uploads
from compiler.frontend.scan.pool import ScanPool
from db.migrate import upgrade
from worker.backup.make import named_digests
from worker.farm import Farm
from worker.settings import Settings


def documentation(length: int) -> bytes:
    """The field doc_string of an ONNX model, of so many bytes."""
    assert 1 << 7 <= length < 1 << 28
    digits = [length >> shift & 0x7F for shift in (0, 7, 14, 21)]
    return bytes([6 << 3 | 2, *(d | 0x80 for d in digits[:-1]), digits[-1]]) + b"x" * length


NET = onnx_models.mlp(1, (3, 5, 7)).SerializeToString()
LONGER = NET + documentation(1 << 7)
MLIR = b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"


def upload(client: TestClient, filename: str, content: bytes, **fields: str) -> Any:
    return client.post("/v1/models", files={"file": (filename, content)}, data=fields)


@pytest.fixture
def allowing(tmp_path: Path) -> Generator[TestClient]:
    """A service whose operator takes .pt2 archives."""
    settings = Settings(home=tmp_path / "allowing", allow_pt2=True)
    upgrade(settings.database)
    app = create_app(settings, lambda _: None)
    with TestClient(app, base_url="http://127.0.0.1:8642") as made:
        yield made


def test_a_network_is_stored_by_content(client: TestClient, farm: Farm) -> None:
    reply = upload(client, "net.onnx", NET)
    assert reply.status_code == 202
    stored = client.get("/v1/models/net").json()
    assert stored["id"] == reply.json()["id"]
    assert stored["kind"] == "onnx"
    assert stored["config"]["size"] == len(NET)
    assert farm.store.read(stored["config"]["digest"]) == NET
    assert upload(client, "net.onnx", NET).json()["id"] == stored["id"]
    assert upload(client, "net.onnx", NET, name="another").json()["id"] != stored["id"]


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def upload_with(client: TestClient, samples: tuple[str, bytes], model: tuple[str, bytes] = ("net.onnx", NET)) -> Any:
    return client.post("/v1/models", files={"file": model, "samples": samples}, data={"name": "calibrated"})


def test_samples_are_stored_with_the_network_that_they_calibrate(client: TestClient, farm: Farm) -> None:
    without = upload(client, "net.onnx", NET).json()
    given = npz(x=np.zeros((4, 3, 5), np.float32))
    made = upload_with(client, ("inputs.npz", given)).json()
    assert farm.store.read(made["config"]["samples"]) == given
    assert farm.store.read(made["config"]["digest"]) == NET
    assert made["config"]["size"] == len(NET) + len(given)
    assert "samples" not in without["config"]
    assert upload_with(client, ("inputs.npz", given)).json()["id"] == made["id"]
    other = upload_with(client, ("inputs.npz", npz(x=np.ones((4, 3, 5), np.float32))))
    assert other.status_code == 409
    assert {made["config"]["samples"], made["config"]["digest"]} <= named_digests(farm.database)  # so they are kept


@pytest.mark.parametrize(
    ("filename", "content", "why"),
    [
        ("inputs.npy", b"x", "is no .npz"),
        ("inputs.npz", b"PK", "is not a whole zip archive"),
        ("inputs.npz", npz(), "holds no samples"),
        ("inputs.npz", NET, "is not a whole zip archive"),
    ],
)
def test_what_is_no_samples_is_refused_at_the_door(client: TestClient, filename: str, content: bytes, why: str) -> None:
    reply = upload_with(client, (filename, content))
    assert (reply.status_code, why in reply.json()["detail"]) == (422, True)
    assert client.get("/v1/models/calibrated").status_code == 404


def test_samples_that_unpack_to_too_much_are_refused(client: TestClient, tmp_path: Path) -> None:
    reply = upload_with(client, ("inputs.npz", zip_bombs.bomb(tmp_path / "a", 8).read_bytes()))
    assert (reply.status_code, "a ratio of at most 200" in reply.json()["detail"]) == (422, True)


def test_samples_are_for_a_network_from_a_file(client: TestClient) -> None:
    reply = upload_with(client, ("inputs.npz", npz(x=np.zeros(3))), ("config.json", b"{}"))
    assert (reply.status_code, "samples are for a network from a file" in reply.json()["detail"]) == (400, True)


def test_samples_that_are_no_file_are_refused(client: TestClient) -> None:
    reply = upload(client, "net.onnx", NET, samples="inputs.npz")
    assert (reply.status_code, "holds no file" in reply.json()["detail"]) == (400, True)


def test_names(client: TestClient) -> None:
    assert upload(client, "my net.mlir", MLIR).json()["name"] == "my_net"
    assert upload(client, "net.onnx", NET, name="mine").json()["name"] == "mine"
    assert upload(client, "net.onnx", NET, name="../x").status_code == 422
    assert upload(client, "net.onnx", NET, name="gpt2").status_code == 409
    assert upload(client, "mine.onnx", LONGER).status_code == 409


def test_files_may_be_larger_than_other_bodies(client: TestClient) -> None:
    assert upload(client, "large.onnx", NET + documentation(2 << 20)).status_code == 202
    assert upload(client, "huge.onnx", bytes(5 << 20)).status_code == 413
    assert upload(client, "config.json", b" " * (2 << 20)).status_code in (400, 422)


@pytest.mark.parametrize("filename", ["net.zip", "weights.npz", "model.safetensors", "net.py", "net", "net.onnx.gz"])
def test_what_is_no_model(client: TestClient, filename: str) -> None:
    reply = upload(client, filename, b"content", name="x")
    assert reply.status_code == 422
    assert "is no model; upload a config.json, or one of .onnx, .mlir, .pt2" in reply.json()["detail"]
    assert client.get("/v1/models/x").status_code == 404


@pytest.mark.parametrize(
    ("filename", "content", "why"),
    [
        ("net.onnx", random.Random(0).randbytes(4096), "is no ONNX file: "),
        ("net.onnx", b"", "is no ONNX file: it holds no graph"),
        ("net.onnx", NET[:-3], "declares"),
        ("net.onnx", b"x" + NET, "is no ONNX file: "),
        ("net.mlir", random.Random(0).randbytes(4096), "is not text"),
        ("net.mlir", b"ML\xefR" + bytes(8), "is not text"),
        ("net.mlir", b"module {}", "has no function @main"),
        ("config.json", random.Random(0).randbytes(4096), "is not JSON"),
        ("config.json", b"[1]", "#/config"),
        ("config.json", b"{}", "model_type is"),
    ],
)
def test_what_is_not_what_its_name_says_is_refused_at_the_door(
    client: TestClient, filename: str, content: bytes, why: str
) -> None:
    reply = upload(client, filename, content, name="x")
    assert 400 <= reply.status_code < 500
    assert why in reply.json()["detail"]
    assert client.get("/v1/models/x").status_code == 404


def test_random_bytes_are_no_zip(allowing: TestClient) -> None:
    reply = upload(allowing, "net.pt2", random.Random(0).randbytes(4096))
    assert (reply.status_code, "not a whole zip archive" in reply.json()["detail"]) == (422, True)


def test_pt2_is_refused_unless_the_operator_allows_it(client: TestClient, allowing: TestClient) -> None:
    refused = upload(client, "net.pt2", b"PK")
    assert refused.status_code == 422
    assert "runs whatever code they name" in refused.json()["detail"]
    assert "MILLRACE_ALLOW_PT2" in refused.json()["detail"]
    assert "not a whole zip archive" in upload(allowing, "net.pt2", b"PK").json()["detail"]


def test_zip_bombs_are_refused_at_the_door(allowing: TestClient, tmp_path: Path) -> None:
    content = zip_bombs.bomb(tmp_path / "a", 8).read_bytes()
    reply = upload(allowing, "net.pt2", content)
    assert reply.status_code == 422
    assert "a ratio of at most 200" in reply.json()["detail"]
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        archive.writestr("net/models/model.json", "{}")
    good = (tmp_path / "b").read_bytes()
    assert upload(allowing, "net.pt2", good).json()["kind"] == "pt2"


def test_the_workload_is_what_the_file_says(client: TestClient) -> None:
    upload(client, "net.onnx", NET)
    made = client.post("/v1/workloads", json={"model": "net"}).json()
    shape = {k: made[k] for k in ("phase", "length", "batch", "precision", "layers", "ports")}
    assert shape == {"phase": "prefill", "length": 1, "batch": 1, "precision": "f32", "layers": 1, "ports": "f32"}
    same = client.post("/v1/workloads", json={"model": "net", **shape})
    assert same.json()["id"] == made["id"]
    quantised = client.post("/v1/workloads", json={"model": "net", "precision": "w8a8"}).json()
    assert (quantised["precision"], quantised["id"] == made["id"]) == ("w8a8", False)
    asked = {"model": "net", "precision": "w8a8", "ports": "i8"}
    integers = client.post("/v1/workloads", json=asked).json()
    assert (integers["ports"], integers["id"] == quantised["id"]) == ("i8", False)
    started = client.post("/v1/explorations", json={"model": "net", "workload": {"precision": "w8a8", "ports": "i8"}})
    assert (started.json()["workload"]["ports"], started.json()["name"]) == ("i8", "net-w8a8-i8-ports")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"model": "net", "ports": "i8"}, "the precision is f32"),
        ({"model": "net", "precision": "w8a8", "ports": "i4"}, "should be 'f32' or 'i8'"),
        ({"model": "gpt2", "ports": "i8"}, "those of gpt2 are f32"),
    ],
)
def test_ports_of_integers_are_those_of_a_file_in_integers(client: TestClient, asked: dict[str, str], why: str) -> None:
    upload(client, "net.onnx", NET)
    reply = client.post("/v1/workloads", json=asked)
    assert reply.status_code == 422
    assert why in reply.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"precision": "w2a8"}, "w4a8"),
        ({"layers": 2}, "layers must be 1"),
        ({"phase": "decode"}, "phase is decode; net comes from an .onnx file"),
        ({"length": 64}, "length is 64; net comes from an .onnx file, which has its shapes in it"),
    ],
)
def test_what_a_file_cannot_be(client: TestClient, fields: dict[str, Any], message: str) -> None:
    upload(client, "net.onnx", NET)
    reply = client.post("/v1/workloads", json={"model": "net", **fields})
    assert reply.status_code == 422
    assert message in reply.json()["detail"]


def test_a_sweep_may_have_lengths_for_its_other_models(client: TestClient) -> None:
    upload(client, "net.onnx", NET)
    matrix = {"models": ["net", "gpt2"], "phases": ["decode"], "lengths": [32, 64]}
    made = client.post("/v1/sweeps", json={"name": "s", "cron": "0 3 * * *", "matrix": matrix}).json()
    assert [(w["model"]["name"], w["length"]) for w in made["matrix"]["workloads"]] == [
        ("net", 1), ("gpt2", 32), ("gpt2", 64),
    ]  # fmt: skip


def test_explorations_of_files(client: TestClient, sent: list[str]) -> None:
    upload(client, "net.onnx", NET)
    made = client.post("/v1/explorations", json={"model": "net", "budget": 4}).json()
    assert made["workload"]["precision"] == "f32"
    assert sent == ["lower"]


def test_idempotency_of_uploads(client: TestClient) -> None:
    def post(content: bytes) -> Any:
        return client.post("/v1/models", files={"file": ("net.onnx", content)}, headers={"Idempotency-Key": "k"})

    first = post(NET)
    assert post(NET).json() == first.json()
    assert post(LONGER).status_code == 409


def test_config_uploads_are_what_they_were(client: TestClient) -> None:
    config = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}
    assert upload(client, "config.json", json.dumps(config).encode(), name="mine").json()["kind"] == "config"


def test_four_are_looked_at_at_once_and_the_service_answers_meanwhile(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    four, done = Barrier(uploads.AT_ONCE + 1), Event()
    looking: list[int] = []

    def wait(*_arguments: Any) -> None:
        looking.append(1)
        if len(looking) <= uploads.AT_ONCE:
            four.wait(30)
        assert done.wait(30)

    monkeypatch.setattr(ScanPool, "scan", wait)
    with ThreadPoolExecutor(50) as threads:
        replies = [threads.submit(upload, client, "net.onnx", NET, name=f"net{i}") for i in range(50)]
        four.wait(30)
        assert client.get("/v1/health").json()["database"]
        assert client.get("/v1/models").status_code == 200
        assert len(looking) == uploads.AT_ONCE
        done.set()
        assert {reply.result().status_code for reply in replies} == {202}


def test_an_upload_waits_so_long_and_is_told_to_come_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.01)
    monkeypatch.setattr(client.app.state.uploads, "_slots", asyncio.Semaphore(0))  # pyright: ignore[reportAttributeAccessIssue]
    reply = upload(client, "net.onnx", NET)
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert "nothing was stored, upload it again" in reply.json()["detail"]
    assert client.get("/v1/models/net").status_code == 404
