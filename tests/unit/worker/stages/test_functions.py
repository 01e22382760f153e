"""Loading stages; the real functions of the stage simulate, on designs as the compiler writes them."""

import json
import re
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
from small_bundles import bundle_of
from small_graphs import mlp
from stepping_networks import SLOTS, replying

from compiler.analysis.estimate import estimate
from compiler.graph.layers import folded
from compiler.graph.task_graph import TaskGraph
from compiler.metrics import Fidelity
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from worker.errors import SettingsError
from worker.settings import Settings
from worker.stages.functions import STAGES, load_stages

PLATFORM = load_platform("u55c")


@pytest.fixture
def tasks() -> TaskGraph:
    return planned_tasks(mlp(rows=32), Knobs(fifo="whole"), PLATFORM)


def written(tasks: TaskGraph, directory: Path, **others: object) -> Path:
    (directory / "dataflow.json").write_text(json.dumps(tasks.to_json()))
    metrics = [m.to_json() for m in estimate(tasks, PLATFORM).metrics]
    description = {"platform": "u55c", "metrics": metrics, "digests": {}, **others}
    (directory / "design.json").write_text(json.dumps(description))
    return directory


def test_the_default_is_the_real_stages() -> None:
    assert load_stages(Settings().stages) is STAGES


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nowhere:STAGES", "No module named 'nowhere'"),
        ("worker.stages.functions:NOTHING", "has no attribute 'NOTHING'"),
        ("worker.stages.functions:Stages", "got <class"),
        ("worker.stages.functions", "got <module"),
        ("", "invalid format"),
    ],
)
def test_what_names_no_stages_is_refused_by_the_setting_s_name(name: str, found: str) -> None:
    expected = f"MILLRACE_STAGES is {name!r}: expected module:ATTRIBUTE of a worker.stages.functions.Stages, "
    with pytest.raises(SettingsError, match=f"^{re.escape(expected)}.*{re.escape(found)}"):
        load_stages(name)


def test_a_design_may_exceed_with_certified_fifos_what_it_was_estimated_to_use(tmp_path: Path) -> None:
    """It fits the board by the search's estimate, to the LUT; its certified FIFOs take more."""
    bundle = bundle_of("softmax", tmp_path / "bundle")
    tasks = planned_tasks(bundle.graph, Knobs(), PLATFORM)
    luts = next(m.value for m in estimate(tasks, PLATFORM, bundle.graph).metrics if m.name == "lut")
    budget = replace(PLATFORM.budget, lut=ceil(luts / PLATFORM.dies.fill))
    platform = replace(PLATFORM, budget=budget)
    assert estimate(tasks, platform, bundle.graph).feasible
    found = STAGES.time(bundle, Knobs(), PLATFORM, tmp_path / "fits", print)
    assert found.violations == ()
    assert {metric.name: metric.value for metric in found.metrics}["lut"] > luts
    [over] = STAGES.time(bundle, Knobs(), platform, tmp_path / "exceeds", print).violations
    assert (over.resource, over.bound) == ("lut", platform.limit("lut"))
    assert over.demand > over.bound


def test_a_design_is_timed(tasks: TaskGraph, tmp_path: Path) -> None:
    found = STAGES.simulate(written(tasks, tmp_path))
    assert found.deadlock is None
    assert found.cycles == pytest.approx(found.latency_us * found.document["clock_mhz"])
    assert found.document["clock_mhz"] < PLATFORM.clock_mhz  # of its design
    assert {m.fidelity for m in found.metrics} == {Fidelity.SIMULATE}
    assert {m.name: m.value for m in found.metrics}["latency"] == found.latency_us
    document = json.loads(json.dumps(found.document))
    assert document["cycles"] == found.cycles
    assert document["estimate_cycles"] == pytest.approx(found.cycles, rel=0.5)


def test_a_design_that_chooses_tokens_is_timed_for_a_whole_reply(tmp_path: Path) -> None:
    graph = folded(replying())
    assert graph is not None
    tasks, least = planned_tasks(graph, Knobs(), PLATFORM), 4.21e6  # which take 10 us
    found = STAGES.simulate(written(tasks, tmp_path, least_bytes=least, workload={"length": SLOTS}))
    metrics = {m.name: m.value for m in found.metrics}
    assert {m.fidelity for m in found.metrics} == {Fidelity.SIMULATE}
    assert metrics["time_per_token"] <= found.latency_us / 1e3  # that of the last position
    assert metrics["tokens_per_second"] == pytest.approx(1e3 / metrics["time_per_token"])
    assert metrics["hbm_share"] == pytest.approx(100 * 0.01 / metrics["time_per_token"])
    later = SLOTS - SLOTS // 2
    assert metrics["reply_time"] == pytest.approx(metrics["first_token_time"] + later * metrics["time_per_token"])
    assert metrics["first_token_time"] > 0.27


def test_a_deadlock_is_an_outcome_with_an_explanation(tasks: TaskGraph, tmp_path: Path) -> None:
    """The skip connection around the two products has room for two tokens."""
    short = replace(tasks, streams=tuple(s._replace(depth=2) for s in tasks.streams))
    found = STAGES.simulate(written(short, tmp_path))
    assert found.deadlock is not None
    waits = found.document["deadlock"]["cycle"]
    assert any(wait["task"] in found.deadlock for wait in waits)
    assert found.metrics == ()
    assert found.document["deadlock"]["text"] == found.deadlock
