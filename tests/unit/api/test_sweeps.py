"""/v1/sweeps and /v1/sweep-runs without a worker: what is stored, checked and answered."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from db.repositories import comparisons, sweeps
from worker.farm import Farm
from worker.sweeps.webhook_secrets import WebhookSecrets

NEW = {"name": "nightly", "cron": "0 3 * * *", "zone": "Europe/Berlin", "matrix": {"models": ["gpt2"]}}


@pytest.fixture
def sweep(client: TestClient) -> dict[str, Any]:
    reply = client.post("/v1/sweeps", json=NEW)
    assert reply.status_code == 202, reply.text
    return reply.json()


def refused(client: TestClient, **changes: Any) -> tuple[int, str]:
    reply = client.post("/v1/sweeps", json={**NEW, **changes})
    assert reply.headers["content-type"] == "application/problem+json"
    return reply.status_code, reply.json()["detail"]


def test_a_new_sweep(client: TestClient, sweep: dict[str, Any]) -> None:
    assert (sweep["enabled"], sweep["explorations"], sweep["last_run"]) == (True, 1, None)
    [workload] = sweep["matrix"]["workloads"]
    assert (workload["model"]["name"], workload["phase"], workload["length"]) == ("gpt2", "decode", 64)
    assert (sweep["options"]["priority"], sweep["options"]["tolerance"]) == ("low", 0.02)
    assert client.get("/v1/sweeps/nightly").json() == client.get(f"/v1/sweeps/{sweep['id']}").json() == sweep
    assert client.get("/v1/sweeps").json()["items"] == [sweep]
    from datetime import datetime
    from zoneinfo import ZoneInfo

    assert datetime.fromisoformat(sweep["next_at"]).astimezone(ZoneInfo("Europe/Berlin")).hour == 3


def test_a_matrix_is_every_combination(client: TestClient) -> None:
    matrix = {"models": ["gpt2"], "phases": ["prefill", "decode"], "lengths": [32, 64], "seeds": [0, 1, 1]}
    made = client.post("/v1/sweeps", json={**NEW, "matrix": matrix}).json()
    assert made["explorations"] == 8
    assert [(w["phase"], w["length"]) for w in made["matrix"]["workloads"]] == [
        ("prefill", 32), ("prefill", 64), ("decode", 32), ("decode", 64),
    ]  # fmt: skip


def test_a_head_has_neither_length_nor_layers(client: TestClient) -> None:
    matrix = {"models": ["gpt2"], "phases": ["decode", "head"], "lengths": [32, 64], "layers": [1, 2]}
    made = client.post("/v1/sweeps", json={**NEW, "matrix": matrix}).json()
    assert made["explorations"] == 5
    assert [(w["phase"], w["length"], w["layers"]) for w in made["matrix"]["workloads"]] == [
        ("decode", 32, 1), ("decode", 32, 2), ("decode", 64, 1), ("decode", 64, 2), ("head", 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({"cron": "0 3 * * * *"}, 422, "five fields"),
        ({"cron": "0 3 31 2 *"}, 422, "cron expression"),
        ({"zone": "Mars/Olympus"}, 422, "is no time zone"),
        ({"matrix": {"models": ["nothing"]}}, 404, "there is no model 'nothing'"),
        ({"matrix": {"models": []}}, 422, "#/matrix/models"),
        ({"matrix": {"models": ["gpt2"], "lengths": [10**9]}}, 422, "length is 1000000000"),
        (
            {"matrix": {"models": ["gpt2"], "lengths": list(range(2, 103)), "seeds": [0, 1]}},
            422,
            "has 202 explorations",
        ),
        ({"matrix": {"models": ["gpt2"] * 200, "lengths": list(range(200)), "seeds": list(range(200))}}, 422, "40000"),
        ({"matrix": {"models": ["gpt2"], "platforms": ["nope"]}}, 422, "nope"),
        ({"options": {"board": "no such board"}}, 422, "#/options/board"),
        ({"options": {"board": "other_shell"}}, 422, "board is 'other_shell'"),
        ({"options": {"objectives": ["latency", "prompt_time"]}}, 422, "prompt_time is known of a token"),
        ({"options": {"objectives": ["latency", "input_interval"]}}, 422, "input_interval is known of launches"),
        ({"options": {"tolerance": 1.5}}, 422, "#/options/tolerance"),
        ({"webhook": "http://127.0.0.1:8642/x"}, 422, "is not public"),
        ({"webhook": "ftp://example.org"}, 422, "must be an address like https://host/path"),
        ({"webhook_secret": "s" * 16}, 422, "give a webhook too"),
        ({"webhook": "https://example.org/", "webhook_secret": "short"}, 422, "#/webhook_secret"),
        ({"surprise": 1}, 422, "#/surprise"),
    ],
)
def test_what_is_refused(client: TestClient, changes: dict[str, Any], status: int, text: str) -> None:
    found = refused(client, **changes)
    assert found[0] == status, found
    assert text in found[1]
    assert client.get("/v1/sweeps").json()["items"] == []


def test_a_name_belongs_to_one_sweep(client: TestClient, sweep: dict[str, Any]) -> None:
    assert refused(client)[0] == 409


def test_idempotency(client: TestClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first, second = (client.post("/v1/sweeps", json=NEW, headers=headers) for _ in range(2))
    assert first.json() == second.json()
    runs = [client.post("/v1/sweeps/nightly/run", headers=headers).json()["id"] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_secret_is_never_shown(client: TestClient, farm: Farm) -> None:
    secret = "a secret that signs"
    body = {**NEW, "webhook": "https://example.org/hook", "webhook_secret": secret}
    made = client.post("/v1/sweeps", json=body, headers={"Idempotency-Key": "one"})
    assert made.json()["signed"] is True
    for reply in (made, client.get("/v1/sweeps/nightly"), client.get("/v1/audit")):
        assert reply.status_code in (200, 202)
        assert secret not in reply.text
    with farm.database.read() as session:
        row = sweeps.get(session, "nightly")
        stored, options = row.webhook_secret or "", row.options
    assert (secret in stored, "webhook_secret" in options) == (False, False)
    key = farm.settings.secret_key
    assert (WebhookSecrets(key).open(stored), key.stat().st_mode & 0o777) == (secret, 0o600)
    assert client.get("/v1/sweeps/nightly").json()["webhook_problem"] is None


def test_a_secret_that_can_not_be_read_is_to_be_set_again(client: TestClient, farm: Farm) -> None:
    body = {**NEW, "webhook": "https://example.org/hook", "webhook_secret": "a secret that signs"}
    client.post("/v1/sweeps", json=body)
    farm.settings.secret_key.unlink()
    (shown,) = client.get("/v1/sweeps").json()["items"]
    assert shown["signed"]
    assert "set the secret again" in shown["webhook_problem"]
    again = client.patch("/v1/sweeps/nightly", json={"webhook_secret": "another that signs"})
    assert (again.status_code, again.json()["webhook_problem"]) == (200, None)


def test_changes(client: TestClient, sweep: dict[str, Any]) -> None:
    off = client.patch("/v1/sweeps/nightly", json={"enabled": False}).json()
    assert (off["enabled"], off["next_at"], off["cron"]) == (False, None, sweep["cron"])
    other = client.patch("/v1/sweeps/nightly", json={"cron": "30 4 * * *", "zone": "UTC", "misfire": "run_once"}).json()
    assert (other["enabled"], other["misfire"]) == (False, "run_once")
    on = client.patch("/v1/sweeps/nightly", json={"enabled": True}).json()
    assert on["next_at"].endswith("04:30:00Z")
    hook = client.patch(
        "/v1/sweeps/nightly", json={"webhook": "https://example.org/a", "webhook_secret": "sixteen letters!"}
    ).json()
    assert hook["signed"]
    kept = client.patch("/v1/sweeps/nightly", json={"options": {"budget": 7}, "matrix": {"models": ["gpt2", "llama"]}})
    assert kept.status_code in (200, 404)
    gone = client.patch("/v1/sweeps/nightly", json={"webhook": None}).json()
    assert (gone["webhook"], gone["signed"]) == (None, False)
    assert client.patch("/v1/sweeps/nightly", json={"cron": "nonsense"}).status_code == 422
    assert client.patch("/v1/sweeps/nope", json={"enabled": True}).status_code == 404


def test_a_run_and_its_course(client: TestClient, farm: Farm, sweep: dict[str, Any]) -> None:
    reply = client.post("/v1/sweeps/nightly/run")
    assert reply.status_code == 202, reply.text
    run = reply.json()
    assert (run["state"], run["cause"], run["sweep"]) == ("running", "manual", "nightly")
    assert (run["explorations"], run["ended"], run["regressions"], run["slots"]) == (1, 0, [], [])
    again = client.post("/v1/sweeps/nightly/run")
    assert (again.status_code, again.json()["type"]) == (409, "urn:millrace:problem:conflict")
    assert client.delete("/v1/sweeps/nightly").status_code == 409
    assert client.get("/v1/sweeps/nightly").json()["last_run"]["id"] == run["id"]
    with farm.database.read() as session:
        [exploration] = comparisons.explorations(session, run["id"])
    assert client.get(f"/v1/explorations/{exploration.id}").json()["priority"] == "low"
    cancelled = client.post(f"/v1/sweep-runs/{run['id']}/cancel").json()
    assert (cancelled["state"], cancelled["ended"]) == ("cancelled", 1)
    assert client.post(f"/v1/sweep-runs/{run['id']}/accept").status_code == 409
    assert client.get(f"/v1/sweep-runs/{run['id']}").json() == cancelled
    assert [r["id"] for r in client.get("/v1/sweeps/nightly/runs").json()["items"]] == [run["id"]]
    assert client.delete("/v1/sweeps/nightly").status_code == 204
    assert client.get(f"/v1/sweep-runs/{run['id']}").status_code == 404
    assert client.get(f"/v1/explorations/{exploration.id}").status_code == 200


def test_runs_are_paged(client: TestClient, farm: Farm, sweep: dict[str, Any]) -> None:
    with farm.database.write() as session:
        noted = [sweeps.note_skipped(session, sweep["id"], None, f"note {i}").id for i in range(3)]
    first = client.get("/v1/sweeps/nightly/runs?limit=2").json()
    rest = client.get(f"/v1/sweeps/nightly/runs?limit=2&cursor={first['next_cursor']}").json()
    assert sorted(r["id"] for r in first["items"] + rest["items"]) == sorted(noted)
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("path", ["/v1/sweeps/x", "/v1/sweeps/x/runs", "/v1/sweep-runs/x"])
def test_what_is_not_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_stage_that_no_node_offers_is_said(client: TestClient, sweep: dict[str, Any]) -> None:
    assert sweep["warnings"] == []
    made = client.post("/v1/sweeps", json={**NEW, "name": "s", "options": {"builds": {"csynth": 1}}})
    [warning] = made.json()["warnings"]
    assert warning.startswith("csynth will wait: no node offers csynth")
    assert client.get("/v1/sweeps/s").json()["warnings"] == [warning]
    assert [one["warnings"] for one in client.get("/v1/sweeps").json()["items"]] == [[], []]
    run = client.post("/v1/sweeps/s/run").json()
    assert run["warnings"] == [warning]
    assert client.post(f"/v1/sweep-runs/{run['id']}/cancel").json()["warnings"] == []
