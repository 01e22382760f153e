from typing import Any

import pytest
from farm_states import announce, take

from db.models import Exploration, Model, Workload
from db.repositories import builds
from worker.farm import Farm
from worker.ladder.flow import advance, retry_build
from worker.ladder.import_limits import import_limits, weight_bytes
from worker.running.recording import record
from worker.settings import Settings
from worker.stages.outcome import Outcome

GB = 1 << 30
SETTINGS = Settings(memory_gb=64)


def workload(kind: str, config: dict[str, Any], layers: int = 1) -> Workload:
    return Workload(model=Model(name="net", kind=kind, config=config), layers=layers)


def gpt2(width: int) -> dict[str, Any]:
    return {"model_type": "gpt2", "n_embd": width, "n_layer": 48, "n_head": 16}


def test_small_networks_have_five_minutes_and_four_gb() -> None:
    for small in (workload("config", gpt2(768)), workload("onnx", {"size": 100 << 20}), workload("builtin", {})):
        limits = import_limits(small, SETTINGS)
        assert (limits.memory_gb, limits.timeout_s) == (4, 300)


def test_large_weights_ask_for_more() -> None:
    large = workload("onnx", {"size": 8 * GB})
    assert (import_limits(large, SETTINGS).memory_gb, import_limits(large, SETTINGS).timeout_s) == (21, 1200)
    deep = workload("config", gpt2(1600), layers=48)
    assert weight_bytes(deep) == 48 * weight_bytes(workload("config", gpt2(1600)))
    assert import_limits(deep, SETTINGS).memory_gb > 10
    whole = workload("config", gpt2(1600))
    whole.phase = "token"
    assert weight_bytes(whole) == weight_bytes(workload("config", gpt2(1600))) + 2 * 4 * 50257 * 1600


def test_the_operator_s_figures_are_the_least() -> None:
    settings = Settings(memory_gb=64, requests={"lower": {"memory_gb": 12, "timeout_s": 7}})
    limits = import_limits(workload("onnx", {"size": 4 * GB}), settings)
    assert (limits.memory_gb, limits.timeout_s) == (12, 600)


def test_a_small_machine_gives_what_it_has() -> None:
    assert import_limits(workload("onnx", {"size": 1}), Settings(memory_gb=3)).memory_gb == 3


@pytest.mark.parametrize("memory_gb", [9.0, 2.0])
def test_a_build_that_is_retried_asks_for_what_the_settings_say_now(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch, memory_gb: float
) -> None:
    announce(farm)
    advance(farm, exploration.id)
    order = take(farm, "lower")
    assert order is not None
    record(farm, order, Outcome(None, {}, failure="limit", error="too large"), None)
    farm.settings.requests["lower"] = {"memory_gb": memory_gb, "timeout_s": 900}
    with farm.database.write() as session:
        retry_build(farm, session, order.build_id)
        build = builds.get(session, order.build_id)
    assert (build.state, build.memory_gb, build.timeout_s) == ("queued", memory_gb, 900)
    assert build.request == f"/1/{memory_gb:g}"
