"""The whole way, nothing stood in: upload, search, emitted C++ against PyTorch; on Postgres, Redis and Chromium."""

from pathlib import Path

import pytest
from chromium import open_browser, open_page
from running_service import StartService
from walk import check_timing, walk

SMALL_GPT2 = {
    "model_type": "gpt2",
    "n_embd": 64,
    "n_head": 4,
    "n_layer": 1,
    "n_inner": 256,
    "n_positions": 64,
    "vocab_size": 128,
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
}


@pytest.mark.e2e
@pytest.mark.browser
@pytest.mark.slow
def test_an_uploaded_network_becomes_verified_designs_that_a_person_can_look_at(
    start_service: StartService, postgres_url: str, redis_url: str, tmp_path: Path
) -> None:
    service = start_service(
        MILLRACE_DATABASE_URL=postgres_url,
        MILLRACE_REDIS_URL=redis_url,
        MILLRACE_STAGES="worker.stages.functions:STAGES",
    )
    model = service.post("/v1/models", {"name": "small", "config": SMALL_GPT2})["id"]
    workload = {"phase": "decode", "length": 8, "precision": "w4a8", "batch": 1, "layers": 1}
    exploration = service.explore(model=model, workload=workload, budget=48, simulate=4, calibration=1, verify=2)
    found = service.wait_state(exploration, "done", "failed", seconds=300)
    assert found["state"] == "done", found["error"]
    assert found["evaluated"] == 48
    front = service.get(f"/v1/explorations/{exploration}/designs?front=true")["items"]
    verified = [d["csim"] for d in front if d["csim"] is not None]
    assert len(verified) == min(2, len(front))
    assert all(verdict["passed"] for verdict in verified)
    simulated = {d["id"]: d["simulation"] for d in front if d["simulation"] is not None}
    assert len(simulated) == min(4, len(front))
    assert all(
        s["state"] == "done" and s["latency_us"] > 0 and abs(s["estimate_error"]) < 1 for s in simulated.values()
    )
    assert found["promoted"] == found["simulated"] == found["estimate_errors"]["n"] == len(simulated) + 1
    for design, simulation in simulated.items():
        url = f"/v1/designs/{design}/artifacts/simulation.json"
        assert service.get(url)["latency_us"] == simulation["latency_us"]

    with open_browser() as browser, open_page(browser) as page:
        design_json, archive = walk(page, service.address, exploration, tmp_path)
        check_timing(page, service.address, next(iter(simulated)), 60)
    assert design_json.stat().st_size > 0
    assert archive.stat().st_size > 0
