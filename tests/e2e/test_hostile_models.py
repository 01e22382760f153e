"""Hostile files posted to the real service with the real importer: each is refused or contained, and it lives on."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import onnx_models
import pytest
import zip_bombs
from hostile_files import hostile_files
from running_service import RunningService, service_starter

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}
UPLOAD_LIMIT = 8 << 20
CALL = b"""func.func private @system(i32)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0 : i32
  func.call @system(%c) : (i32) -> ()
  return %x : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningService]:
    """A service with the real compiler and a small limit of uploads."""
    with service_starter(tmp_path_factory.mktemp("real")) as start:
        yield start(MILLRACE_STAGES="worker.stages.functions:STAGES", MILLRACE_MAX_UPLOAD_BYTES=UPLOAD_LIMIT)


def _post(service: RunningService, filename: str, content: bytes, name: str) -> Any:
    with service.http as http:
        return http.post("/v1/models", files={"file": (filename, content)}, data={"name": name})


def _explore(service: RunningService, model: str) -> str:
    return service.post("/v1/explorations", {"model": model, "budget": 1, "verify": 0})["id"]


def _npz_bomb(folder: Path) -> bytes:
    return zip_bombs.bomb(folder / "bomb", 64).read_bytes()


def test_at_the_door(real: RunningService, tmp_path: Path) -> None:
    """What is refused before anything is stored."""
    bomb = _npz_bomb(tmp_path)
    for filename, content, status, message in (
        ("net.pt2", bomb, 422, "runs whatever code they name"),
        ("net.zip", bomb, 422, "is no model"),
        ("weights.npz", bomb, 422, "is no model"),
        ("net.onnx", bytes(UPLOAD_LIMIT + 1), 413, "larger than"),
    ):
        reply = _post(real, filename, content, "x")
        assert reply.status_code == status, filename
        assert message in reply.json()["detail"], filename
    for field, value in (("n_embd", 1 << 40), ("n_layer", 3000)):
        with real.http as http:
            reply = http.post("/v1/models", json={"name": "x", "config": {**GPT2, field: value}})
        assert reply.status_code == 422
        assert f"{field} is {value}" in reply.json()["detail"]
    assert "x" not in [m["name"] for m in real.get("/v1/models")["items"]]


HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "nan": ("net.onnx", onnx_models.with_weight(float("nan")).SerializeToString(), "not finite"),
    "call": ("net.mlir", CALL, "line 4: func.call is not supported"),
}

KNOWN = ("20000-inputs.onnx", "external-passwd.onnx", "lying-dims.onnx", "random.onnx", "alias-types.mlir")


def test_by_a_look_at_the_file(real: RunningService) -> None:
    """What that tells is refused at once, and not stored."""
    for name in KNOWN:
        reply = _post(real, name, hostile_files()[name](), "known")
        assert reply.status_code == 422, (name, reply.text)
    assert "known" not in {m["name"] for m in real.get("/v1/models")["items"]}


def test_in_the_importer(real: RunningService) -> None:
    """What is stored, and fails its exploration with the reason; then a good network is imported by the same worker."""
    worker = real.child("worker").pid
    explorations: dict[str, str] = {}
    for name, (filename, content, _) in HOSTILE.items():
        assert _post(real, filename, content, name).status_code == 202, name
        explorations[name] = _explore(real, name)
    for name, exploration in explorations.items():
        ended = real.wait_state(exploration, "failed", "searching", "verifying", "done", seconds=240)
        assert ended["state"] == "failed", name
        assert HOSTILE[name][2] in ended["error"], (name, ended["error"])
    assert real.child("worker").pid == worker
    assert _post(real, "good.onnx", onnx_models.mlp(2, (3, 5, 7)).SerializeToString(), "good").status_code == 202
    lowered = real.wait_state(_explore(real, "good"), "failed", "searching", "verifying", "done", seconds=240)
    assert lowered["state"] != "failed", lowered["error"]
