from typing import Any, get_args

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.schemas import explorations as schemas
from db.repositories import audit, designs, explorations, nodes, sweeps
from dse.at_most import BOUNDED
from dse.explore import MAX_BUDGET
from dse.strategies import SAMPLERS
from worker.farm import Farm
from worker.ladder.table import options_of
from worker.settings import Settings


def test_start_queues_the_import(client: TestClient, sent: list[str]) -> None:
    reply = client.post("/v1/explorations", json={"model": "gpt2", "budget": 50, "workload": {"length": 128}})
    assert reply.status_code == 202
    body = reply.json()
    assert (body["state"], body["budget"], body["evaluated"]) == ("lowering", 50, 0)
    assert body["workload"] == {
        "phase": "decode",
        "length": 128,
        "batch": 1,
        "precision": "w4a8",
        "layers": 1,
        "ports": "f32",
    }
    assert [o["name"] for o in body["objectives"]] == ["latency", "energy"]
    assert sent == ["lower"]
    assert client.get(f"/v1/explorations/{body['id']}").json() == body
    assert [e["id"] for e in client.get("/v1/explorations?state=lowering").json()["items"]] == [body["id"]]
    assert client.get("/v1/explorations?state=done").json()["items"] == []


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"model": "nope"}, 404, "known are gemma3-1b, gpt2, gpt2-medium"),
        ({"platform": "zcu102"}, 422, "known are u55c"),
        ({"workload": {"length": 0}}, 422, "between"),
        ({"workload": {"length": -5}}, 422, "between"),
        ({"workload": {"length": 2**40}}, 422, "between"),
        ({"workload": {"length": 2000}}, 422, "1024 positions"),
        ({"workload": {"layers": 20}}, 422, "gpt2 has 12"),
        ({"workload": {"batch": 0}}, 422, "batch is 0"),
        ({"workload": {"phase": "train"}}, 422, "#/workload/phase"),
        ({"workload": {"precision": "f64"}}, 422, "#/workload/precision"),
        ({"workload": {"length": "64"}}, 422, "#/workload/length"),
        ({"budget": 0}, 422, "#/budget"),
        ({"budget": 2**80}, 422, "#/budget"),
        ({"seed": -1}, 422, "#/seed"),
        ({"seed": 2**40}, 422, "#/seed"),
        ({"sampler": "magic"}, 422, "#/sampler"),
        ({"at_most": {"lut": 0}}, 422, "#/at_most/lut"),
        ({"at_most": {"dsp": 101}}, 422, "#/at_most/dsp"),
        ({"at_most": {"hbm_ports": 1.5}}, 422, "#/at_most/hbm_ports"),
        ({"at_most": {"dies": 2}}, 422, "#/at_most/dies"),
        ({"at_most": {"energy": 0}}, 422, "#/at_most/energy"),
        ({"at_most": {"tasks": 9}}, 422, "#/at_most/tasks"),
        ({"verify": -1}, 422, "#/verify"),
        ({"simulate": -1}, 422, "#/simulate"),
        ({"calibration": 2**20}, 422, "#/calibration"),
        ({"typo": 1}, 422, "#/typo"),
    ],
)
def test_bad_input_is_refused_at_the_door(
    client: TestClient, sent: list[str], change: dict[str, Any], status: int, message: str
) -> None:
    reply = client.post("/v1/explorations", json={"model": "gpt2"} | change)
    assert reply.status_code == status
    problem = reply.json()
    assert problem["status"] == status
    assert set(problem) >= {"type", "title", "detail"}
    assert message in problem["detail"]
    assert sent == []
    assert client.get("/v1/explorations").json()["items"] == []


def test_what_is_promoted_is_chosen_at_the_start(client: TestClient) -> None:
    body = client.post("/v1/explorations", json={"model": "gpt2"}).json()
    assert (body["simulate"], body["calibration"], body["promoted"], body["simulated"]) == (32, 4, 0, 0)
    assert body["estimate_errors"] is None
    body = client.post("/v1/explorations", json={"model": "gpt2", "simulate": 7, "calibration": 0}).json()
    assert (body["simulate"], body["calibration"]) == (7, 0)


def test_bounds_are_the_searchs(client: TestClient, farm: Farm) -> None:
    """Two that differ in them are two searches, of which one can not be taken for the other."""
    bodies = [{}, {"lut": 40}, {"lut": 40.5, "hbm_ports": 8}, {"dies": 1, "energy": 400}]
    made = [client.post("/v1/explorations", json={"model": "gpt2", "at_most": body}).json() for body in bodies]
    assert [one["at_most"] for one in made] == bodies
    with farm.database.read() as session:
        options = [explorations.get(session, one["id"]).options for one in made]
    assert [options_of("search", o).get("at_most") for o in options] == [None, *bodies[1:]]


def test_errors_of_the_estimates(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    """Estimates of 9 and 8 us; the first is simulated to be 10 us, the second 8 us, the third is refuted."""
    with farm.database.write() as session:
        designs.set_simulated(session, design_ids[0], 10.0, None, [])
        designs.set_simulated(session, design_ids[1], 8.0, None, [])
        designs.set_simulated(session, design_ids[2], None, "a waits", [])
    errors = client.get(f"/v1/explorations/{exploration['id']}").json()["estimate_errors"]
    assert errors == {
        "metric": "latency",
        "fidelity": "simulate",
        "n": 2,
        "median": pytest.approx(0.05),
        "p95": pytest.approx(0.1),
        "worst": pytest.approx(0.1),
        "bias": pytest.approx(-0.05),
        "low": pytest.approx(-0.1),
        "high": pytest.approx(0.0),
        "worst_design": design_ids[0],
    }
    assert client.get("/v1/explorations").json()["items"][0]["estimate_errors"] == errors


def test_picks_and_distinct_designs(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    """The front is of numbers 1 (8 us, 2 uJ) and 4 (5 us, 5 uJ); by simulation 4 is at 9 us, so that 1 beats it."""
    path = f"/v1/explorations/{exploration['id']}"
    found = client.get(path).json()
    assert found["distinct"] == 4
    assert [(p["kind"], p["number"], p["fidelity"]) for p in found["picks"]] == [
        ("fastest", 4, "estimate"), ("knee", 1, "estimate"), ("least_energy", 1, "estimate"),
    ]  # fmt: skip
    with farm.database.write() as session:
        designs.set_simulated(session, design_ids[1], 8.5, None, [])
        designs.set_simulated(session, design_ids[4], 9.0, None, [])
    fastest = client.get(path).json()["picks"][0]
    assert fastest == {
        "kind": "fastest", "design_id": design_ids[1], "number": 1, "objectives": [8.5, 2.0],
        "fidelity": "simulate", "estimates": [8.0, 2.0],
    }  # fmt: skip
    assert client.get("/v1/explorations").json()["items"][0]["picks"][0] == fastest


def test_groups_of_the_front(
    client: TestClient, farm: Farm, exploration: dict[str, Any], design_ids: list[str]
) -> None:
    """The front is of numbers 1 (8 us, 2 uJ) and 4 (5 us, 5 uJ). Errors of -50 and 300 % make them one."""
    path = f"/v1/explorations/{exploration['id']}/groups"
    found = client.get(path).json()
    assert (found["error"], [g["number"] for g in found["groups"]]) == (0.0, [4, 1])
    assert found["groups"][0] == {
        "design_id": design_ids[4], "number": 4, "rank": 1, "objectives": [5.0, 5.0], "fidelity": "estimate",
        "latency_range": None, "members": [design_ids[4]],
    }  # fmt: skip
    with farm.database.write() as session:
        designs.set_simulated(session, design_ids[1], 16.0, None, [])
        designs.set_simulated(session, design_ids[0], 3.6, None, [])
        farm.emit(session, exploration["id"], "simulated", {})
    assert client.get(path).json() == {
        "error": pytest.approx(1.0),
        "groups": [
            {
                "design_id": design_ids[4], "number": 4, "rank": 2, "objectives": [5.0, 5.0], "fidelity": "estimate",
                "latency_range": [pytest.approx(2.0), pytest.approx(10.0)], "members": [design_ids[4]],
            },
            {
                "design_id": design_ids[1], "number": 1, "rank": 1, "objectives": [16.0, 2.0], "fidelity": "simulate",
                "latency_range": [16.0, 16.0], "members": [design_ids[1]],
            },
        ],
    }  # fmt: skip
    with farm.database.write() as session:
        designs.set_simulated(session, design_ids[0], 2.25, None, [])
        farm.emit(session, exploration["id"], "simulated", {})
    [group] = client.get(path).json()["groups"]
    assert (group["number"], group["members"]) == (1, [design_ids[4], design_ids[1]])


def test_limits_are_those_of_the_search() -> None:
    assert set(get_args(schemas.Sampler)) == set(SAMPLERS)
    assert schemas.MAX_BUDGET == MAX_BUDGET
    assert tuple(schemas.AtMost.model_fields) == BOUNDED


def test_idempotency_key(client: TestClient, sent: list[str]) -> None:
    headers = {"Idempotency-Key": "abc"}
    first = client.post("/v1/explorations", json={"model": "gpt2"}, headers=headers)
    again = client.post("/v1/explorations", json={"model": "gpt2", "budget": 200}, headers=headers)
    assert (again.status_code, again.json()) == (202, first.json())
    other = client.post("/v1/explorations", json={"model": "gpt2", "budget": 7}, headers=headers)
    assert other.status_code == 409
    assert "send a new key" in other.json()["detail"]
    assert len(client.get("/v1/explorations").json()["items"]) == 1
    assert len(sent) == 1
    assert client.post("/v1/explorations", json={"model": "gpt2"}).json()["id"] != first.json()["id"]


def test_failed_request_does_not_use_up_its_key(client: TestClient) -> None:
    headers = {"Idempotency-Key": "abc"}
    assert client.post("/v1/explorations", json={"model": "nope"}, headers=headers).status_code == 404
    assert client.post("/v1/explorations", json={"model": "gpt2"}, headers=headers).status_code == 202


def test_cancel_and_resume(client: TestClient, exploration: dict[str, Any]) -> None:
    path = f"/v1/explorations/{exploration['id']}"
    assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{path}/resume").json()["state"] == "lowering"
    assert client.post("/v1/explorations/exp_none/cancel").status_code == 404


def test_names_tags_and_notes(client: TestClient, farm: Farm) -> None:
    made = client.post("/v1/explorations", json={"model": "gpt2"}).json()
    assert (made["name"], made["tags"], made["notes"]) == ("gpt2-decode-64-w4a8", [], "")
    assert client.post("/v1/explorations", json={"model": "gpt2"}).json()["name"] == "gpt2-decode-64-w4a8-2"
    mine = client.post("/v1/explorations", json={"model": "gpt2", "name": "mine", "tags": ["a"], "notes": "n"}).json()
    assert (mine["name"], mine["tags"], mine["notes"]) == ("mine", ["a"], "n")
    taken = client.post("/v1/explorations", json={"model": "gpt2", "name": "mine"})
    assert (taken.status_code, "named 'mine' exists" in taken.json()["detail"]) == (409, True)
    path = f"/v1/explorations/{made['id']}"
    changed = client.patch(path, json={"name": "yours", "tags": ["x", "y"], "notes": None}).json()
    assert (changed["name"], changed["tags"], changed["notes"]) == ("yours", ["x", "y"], "")
    assert client.get("/v1/explorations/yours").json() == client.get(path).json()
    assert (
        client.post("/v1/explorations", json={"model": "gpt2", "name": "a b"}).json()["type"].endswith("invalid-input")
    )
    for body, status in (({"name": "mine"}, 409), ({"name": "latest"}, 422), ({"tags": ["a b"]}, 422), ({"x": 1}, 422)):
        assert client.patch(path, json=body).status_code == status
    with farm.database.read() as session:
        newest = audit.page(session, None, None, 1)[0]
        assert (newest.action, newest.target) == ("PATCH /v1/explorations/{exploration}", made["id"])


def test_notes_of_a_design(client: TestClient, design_ids: list[str]) -> None:
    path = f"/v1/designs/{design_ids[1]}"
    changed = client.patch(path, json={"tags": ["best"], "notes": "for the demo"}).json()
    assert (changed["tags"], changed["notes"]) == (["best"], "for the demo")
    assert client.get(path).json()["notes"] == "for the demo"
    for key in ("1", "latest%231"):
        assert client.get(f"/v1/designs/{key}").json()["id"] == design_ids[1]


def test_delete(client: TestClient, exploration: dict[str, Any], design_ids: list[str]) -> None:
    path = f"/v1/explorations/{exploration['id']}"
    running = client.delete(path)
    assert (running.status_code, "is lowering; cancel it first" in running.json()["detail"]) == (409, True)
    client.post(f"{path}/cancel")
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == client.get(f"/v1/designs/{design_ids[0]}").status_code == 404
    assert client.get("/v1/explorations").json()["items"] == []


def test_the_baseline_of_a_sweep_stays(client: TestClient, farm: Farm) -> None:
    matrix = {"models": ["gpt2"], "seeds": [0, 1]}
    client.post("/v1/sweeps", json={"name": "nightly", "cron": "0 3 * * *", "matrix": matrix})
    run = client.post("/v1/sweeps/nightly/run").json()["id"]
    exploration, _ = client.get("/v1/explorations").json()["items"]
    path = f"/v1/explorations/{exploration['id']}"
    client.post(f"{path}/cancel")
    refused = client.delete(path)
    assert (refused.status_code, f"run {run} of the sweep 'nightly' is under way" in refused.text) == (409, True)
    with farm.database.write() as session:
        sweeps.finish(session, sweeps.lock_run(session, run), "same", {}, {}, None)
    refused = client.delete(path)
    assert (refused.status_code, f"run {run} is the baseline of the sweep 'nightly'" in refused.text) == (409, True)
    assert client.delete("/v1/sweeps/nightly").status_code == 204
    assert client.delete(path).status_code == 204


BOARD = "xilinx_u55c_gen3x16_xdma_3_202210_1"


@pytest.mark.parametrize(
    ("change", "builds", "said"),
    [
        ({"builds": {"link": 1}}, {"link": 1, "csynth": 1}, ["link 1 implies csynth 1: it reads what that makes"]),
        ({"builds": {"cosim": 2}}, {"cosim": 2, "csynth": 2}, ["cosim 2 implies csynth 2: it reads what that makes"]),
        (
            {"builds": {"measure": 1}, "verify": 0},
            {"measure": 1},
            ["measure 1 implies verify 1: it reads what that makes"],
        ),
        (
            {"builds": {"measure": 1}, "board": BOARD},
            {"measure": 1, "link": 1, "csynth": 1},
            [f"{stage} implies {below}: it reads what that makes" for stage, below in
             (("measure 1", "link 1"), ("link 1", "csynth 1"))],
        ),
        ({"builds": {"link": 1, "csynth": 3}}, {"link": 1, "csynth": 3}, []),
    ],
)  # fmt: skip
def test_what_a_stage_reads_is_made_too_and_said(
    client: TestClient, farm: Farm, change: dict[str, Any], builds: dict[str, int], said: list[str]
) -> None:
    made = client.post("/v1/explorations", json={"model": "gpt2"} | change).json()
    assert [text for text in made["warnings"] if "implies" in text] == said
    with farm.database.read() as session:
        options = explorations.get(session, made["id"]).options
    asked = {stage: count for stage, count in options["builds"].items() if count}
    assert (asked, options["verify"] > 0) == (builds, True)
    sweep = {"name": "s", "cron": "0 3 * * *", "matrix": {"models": ["gpt2"]}, "options": change}
    stored = client.post("/v1/sweeps", json=sweep).json()["options"]["builds"]
    assert {stage: count for stage, count in stored.items() if count} == builds


def test_a_pool_that_starts_nodes_offers_what_it_says(settings: Settings) -> None:
    wanted = {"model": "gpt2", "builds": {"csynth": 1, "link": 1}, "vitis": "2023.2", "require_nodes": True}
    pool = settings.model_copy(update={"autoscaled": ("csynth@2023.2", "link")})
    with TestClient(create_app(pool, lambda _: None), base_url="http://127.0.0.1:8642") as client:
        started = client.post("/v1/explorations", json=wanted)
        assert (started.status_code, started.json()["warnings"]) == (202, [])
        refused = client.post("/v1/explorations", json=wanted | {"vitis": "2024.1"})
        assert (refused.status_code, "csynth@2024.1" in refused.text, "link" in refused.json()["detail"]) == (
            409, True, False,
        )  # fmt: skip


def test_a_stage_that_no_node_offers_is_said_at_the_start(client: TestClient, farm: Farm) -> None:
    wanted = {"model": "gpt2", "builds": {"csynth": 1, "link": 1, "measure": 1}, "vitis": "2023.2"}
    with farm.database.write() as session:
        nodes.announce(session, "lab1", {"measure@simulated": {}}, {"csynth": "vitis_hls is not on PATH"}, 8, 16, "0")
    made = client.post("/v1/explorations", json=wanted).json()
    assert made["warnings"] == [
        "csynth will wait: no node offers csynth@2023.2 (lab1: vitis_hls is not on PATH)",
        made["warnings"][1],
    ]
    assert made["warnings"][1].startswith(
        "link will wait: no node offers link@2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1;"
    )
    assert client.get(f"/v1/explorations/{made['id']}").json()["warnings"] == made["warnings"]
    refused = client.post("/v1/explorations", json=wanted | {"require_nodes": True})
    assert (refused.status_code, made["warnings"][0] in refused.json()["detail"]) == (409, True)
    assert client.post("/v1/explorations", json={"model": "gpt2", "require_nodes": True}).json()["warnings"] == []


@pytest.mark.parametrize(("phase", "names"), [("decode", []), ("token", ["prompt_time"])])
def test_what_is_usual_follows_from_the_phase(client: TestClient, phase: str, names: list[str]) -> None:
    for asked in ({}, {"objectives": None}):
        made = client.post("/v1/explorations", json={"model": "gpt2", "workload": {"phase": phase}, **asked})
        assert [one["name"] for one in made.json()["objectives"]] == ["latency", "energy", *names]


def test_objectives_are_chosen(client: TestClient) -> None:
    names = ["area", "latency", "hbm_ports"]
    made = client.post("/v1/explorations", json={"model": "gpt2", "objectives": names})
    assert made.status_code == 202
    assert made.json()["objectives"] == [
        {"name": "area", "unit": "%", "best": "least_area"},
        {"name": "latency", "unit": "us", "best": "fastest"},
        {"name": "hbm_ports", "unit": "ports", "best": "least_hbm_ports"},
    ]
    table = client.get(f"/v1/explorations/{made.json()['id']}/table").json()
    assert table["objectives"] == ["area_percent", "latency_us", "hbm_ports_used"]
    for wrong, said in ((["latency", "speed"], "no objective is called speed"), (["area", "area"], "different")):
        refused = client.post("/v1/explorations", json={"model": "gpt2", "objectives": wrong})
        assert (refused.status_code, said in refused.json()["detail"]) == (422, True)


def test_the_time_of_a_prompt_is_that_of_a_token(client: TestClient) -> None:
    names = ["latency", "prompt_time"]
    for phase, status in (("token", 202), ("decode", 422)):
        body = {"model": "gpt2", "workload": {"phase": phase}, "objectives": names}
        assert client.post("/v1/explorations", json=body).status_code == status


def test_designs_and_scatter(client: TestClient, exploration: dict[str, Any], design_ids: list[str]) -> None:
    path = f"/v1/explorations/{exploration['id']}"
    items = client.get(f"{path}/designs?limit=3").json()
    assert [d["number"] for d in items["items"]] == [0, 1, 2]
    rest = client.get(f"{path}/designs?limit=3&cursor={items['next_cursor']}").json()
    assert [d["number"] for d in rest["items"]] == [3, 4]
    assert rest["items"][0]["reason"] == "the tile does not fit"
    assert [d["id"] for d in client.get(f"{path}/designs?front=true").json()["items"]] == [design_ids[1], design_ids[4]]
    scatter = client.get(f"{path}/scatter").json()
    assert scatter["id"] == design_ids
    assert scatter["objectives"] == [[9.0, 8.0, 7.0, None, 5.0], [1.0, 2.0, 3.0, None, 5.0]]
    assert scatter["latency_us"] == [9.0, 8.0, 7.0, None, 5.0]
    assert scatter["on_front"] == [False, True, False, False, True]
    found = client.get(path).json()
    assert (found["evaluated"], found["feasible"], found["front_size"]) == (5, 4, 2)


def test_unknown_ids(client: TestClient) -> None:
    for path in (
        "explorations/x",
        "explorations/x/scatter",
        "explorations/x/groups",
        "explorations/x/designs",
        "explorations/x/events",
        "designs/x",
        "designs/x/artifacts",
        "designs/x/archive",
        "builds/x",
        "builds/x/log",
        "models/x",
    ):
        reply = client.get(f"/v1/{path}")
        assert reply.status_code == 404, path
        assert reply.headers["content-type"] == "application/problem+json"
        assert "there is no" in reply.json()["detail"]


def test_several_start_in_one_request(client: TestClient) -> None:
    body = {"explorations": [{"model": "gpt2", "seed": seed} for seed in range(3)]}
    headers = {"Idempotency-Key": "k"}
    started = client.post("/v1/explorations/batch", json=body, headers=headers).json()["explorations"]
    assert [one["seed"] for one in started] == [0, 1, 2]
    again = client.post("/v1/explorations/batch", json=body, headers=headers).json()["explorations"]
    assert [one["id"] for one in again] == [one["id"] for one in started]
    assert len(client.get("/v1/explorations").json()["items"]) == 3


def test_where_one_is_refused_none_starts(client: TestClient, sent: list[str]) -> None:
    body = {"explorations": [{"model": "gpt2"}, {"model": "nope"}]}
    answer = client.post("/v1/explorations/batch", json=body)
    assert answer.status_code == 404
    assert client.get("/v1/explorations").json()["items"] == []
    assert sent == []
    assert client.post("/v1/explorations/batch", json={"explorations": []}).status_code == 422
