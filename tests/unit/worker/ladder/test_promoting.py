"""From the end of a search to the verified front: which designs go up, and what becomes of refuted ones."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from farm_states import (
    add_designs,
    another,
    builds_of,
    new_design,
    run_build,
    set_options,
    set_state,
    state_of,
    told,
)
from service_stages import STALLING, ServiceStages

from compiler.metrics import Fidelity, Metric
from db.models import Build, Exploration
from db.repositories import artifacts, builds, designs, explorations
from worker.farm import Farm
from worker.ladder import flow
from worker.ladder.promoting import promote
from worker.stages.functions import Simulated, Stages, load_stages

UNROLLS = (64, 128, 256, 512)
REFUTED = {
    "DEADLOCK": "task a waits for b for ever",
    "EXCEEDS": "with certified FIFOs: lut of SLR0 290,000 of 284,130",
}
"""What refutes a design, by what the stages are told to have it so."""
each_refuted = pytest.mark.parametrize(("what", "why"), REFUTED.items())


@pytest.fixture
def ids(farm: Farm, exploration: Exploration) -> list[str]:
    """Four designs of a front, then eight that are beaten by the slowest of it."""
    return add_designs(farm, exploration)


@pytest.fixture
def stages() -> Stages:
    return load_stages("service_stages:STAGES")


def advance(farm: Farm, exploration: Exploration) -> list[Build]:
    flow.advance(farm, exploration.id)
    return builds_of(farm, exploration, "simulate")


def run_all(farm: Farm, exploration: Exploration) -> None:
    for build in advance(farm, exploration):
        if build.state == "queued":
            run_build(farm, build)


def test_front_and_a_sample_are_promoted_once(farm: Farm, exploration: Exploration, ids: list[str], sent: Any) -> None:
    promoted = advance(farm, exploration)
    assert {b.design_id for b in promoted} >= set(ids[:4])
    assert len(promoted) == 8
    assert sent.take() == ["simulate"] * 8
    assert [b.id for b in advance(farm, exploration)] == [b.id for b in promoted]
    assert sent.take() == []
    [event] = told(farm, exploration, "promoted")
    assert sorted(event["ids"]) == sorted(ids[:4])
    assert len(set(event["calibration"]) & set(ids[4:])) == 4
    with farm.database.read() as session:
        counts = explorations.counts(session, [exploration.id])[exploration.id]
        assert (counts.promoted, counts.simulated) == (8, 0)


def test_options_bound_what_is_promoted(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    set_options(farm, exploration, simulate=2, calibration=1)
    found = [b.design_id for b in advance(farm, exploration)]
    assert set(found[:2]) == {ids[0], ids[3]}  # the ends
    assert len(found) == 3


def test_nothing_to_simulate_goes_on_to_verification(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    set_options(farm, exploration, simulate=0, calibration=0)
    assert advance(farm, exploration) == []
    assert state_of(farm, exploration) == "verifying"


def test_simulated_design_has_metrics_files_and_an_error(
    farm: Farm, exploration: Exploration, ids: list[str], stages: Stages
) -> None:
    build = next(b for b in advance(farm, exploration) if b.design_id == ids[1])
    run_build(farm, build)
    with farm.database.read() as session:
        design = designs.get(session, ids[1])
        assert design.latency_us is not None
        assert design.simulated_us == pytest.approx(1.25 * design.latency_us)
        metrics = designs.metrics_of(session, [ids[1]])[ids[1]]
        assert [(m.name, m.fidelity, m.build_id) for m in metrics] == [
            ("latency", "estimate", None),
            ("latency", "simulate", build.id),
            ("cycles", "simulate", build.id),
        ]
        found = builds.get(session, build.id)
        assert found.state == "done"
        assert found.verdict is not None
        assert found.verdict["estimate_error"] == pytest.approx(-0.2)
        assert found.verdict["stalling"] == STALLING
        paths = [a.path for a in artifacts.of_design(session, ids[1])]
        assert paths == ["dataflow.json", "design.json", "simulation.json"]
        assert not artifacts.is_compiled(session, ids[1])
        assert explorations.counts(session, [exploration.id])[exploration.id].simulated == 1
    [event] = told(farm, exploration, "simulated")
    assert (event["id"], event["state"], event["refuted"]) == (ids[1], "done", None)
    assert event["estimate_error"] == pytest.approx(-0.2)


def test_verification_starts_when_all_have_ended_and_goes_by_simulated_latency(
    farm: Farm, exploration: Exploration, ids: list[str], stages: Stages, sent: Any
) -> None:
    set_options(farm, exploration, verify=1)
    fastest, *others = sorted(advance(farm, exploration), key=lambda b: b.design_id != ids[3])
    run_build(farm, fastest)
    with farm.database.write() as session:  # as if the fastest by estimate had turned out slower than the next
        designs.set_simulated(session, ids[3], 1e6, None, [])
    for build in others:
        assert state_of(farm, exploration) == "simulating"
        run_build(farm, build)
    sent.tickets = [ticket for ticket in sent.tickets if ticket == "csim"]
    assert state_of(farm, exploration) == "verifying"
    with farm.database.read() as session:
        [csim] = builds.of_exploration(session, exploration.id, "csim")
    assert csim.design_id == ids[2]
    assert sent.take() == ["csim"]


@each_refuted
def test_refuted_design_leaves_the_front_and_the_next_ones_follow(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch, what: str, why: str
) -> None:
    """It is the slowest of the front; the best that it beat comes onto the front and is simulated too. What exceeds a
    budget has a latency all the same.
    """
    monkeypatch.setenv(what, "64")
    set_options(farm, exploration, calibration=0)
    run_all(farm, exploration)
    with farm.database.read() as session:
        design = designs.get(session, ids[0])
        assert (design.on_front, design.feasible, design.refuted) == (False, True, why)
        assert (design.simulated_us is None) == (what == "DEADLOCK")
        build = next(b for b in builds.of_design(session, ids[0]) if b.stage == "simulate")
        assert (build.state, build.failure, build.error) == ("failed", "infeasible", why)
        assert [a.path for a in artifacts.of_design(session, ids[0])][-1] == "simulation.json"
        assert designs.front_ids(session, exploration.id) == [ids[3], ids[2], ids[1]]
    assert told(farm, exploration, "front")[-1] == {"ids": [ids[3], ids[2], ids[1]]}
    assert [e["state"] for e in told(farm, exploration, "simulated") if e["id"] == ids[0]] == ["refuted"]


def test_what_was_asked_for_at_most_is_asked_of_a_design_with_certified_fifos(
    farm: Farm, exploration: Exploration, ids: list[str]
) -> None:
    """Of its resources, DSPs here, 5,120 and half as many; latency is bounded by estimate, as the search did."""
    set_options(farm, exploration, calibration=0, at_most={"dsp": 40, "latency": 1e-3})
    run_all(farm, exploration)
    with farm.database.read() as session:
        refuted = [designs.get(session, each).refuted for each in ids[:4]]
    assert refuted == [None, None, None, "with certified FIFOs: dsp 5,120 of 3,608"]


@pytest.mark.parametrize("what", REFUTED)
def test_what_is_mended_brings_the_design_back(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv(what, "64")
    build = next(b for b in advance(farm, exploration) if b.design_id == ids[0])
    run_build(farm, build)
    monkeypatch.delenv(what)
    with farm.database.write() as session:
        assert ids[0] not in designs.front_ids(session, exploration.id)
        builds.requeue(session, build.id)
    build = builds_of(farm, exploration, "simulate")[
        [b.id for b in builds_of(farm, exploration, "simulate")].index(build.id)
    ]
    run_build(farm, build)
    with farm.database.read() as session:
        assert ids[0] in designs.front_ids(session, exploration.id)
        assert designs.get(session, ids[0]).simulated_us is not None


def test_as_many_are_verified_as_were_asked_for(
    farm: Farm, exploration: Exploration, ids: list[str], stages: Stages
) -> None:
    """One design beats all others once they are simulated: it comes first, then others of the estimates' front."""
    first, *others = sorted(advance(farm, exploration), key=lambda b: b.design_id != ids[0])
    run_build(farm, first)
    with farm.database.write() as session:
        designs.set_simulated(session, ids[0], 1e-3, None, [])
    for build in others:
        run_build(farm, build)
    with farm.database.read() as session:
        verified = [b.design_id for b in builds.of_exploration(session, exploration.id, "csim")]
    assert verified[0] == ids[0]
    assert len(set(verified)) == 3


def test_values_that_can_not_be_are_flagged(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    impossible = Metric("hbm_bandwidth", 5000.0, "GB/s", Fidelity.SIMULATE)

    class TooWell(ServiceStages):
        def simulate(self, design: Path) -> Simulated:
            found = super().simulate(design)
            return replace(found, metrics=(*found.metrics, impossible))

    build = next(b for b in advance(farm, exploration) if b.design_id == ids[1])
    run_build(farm, build, TooWell())
    with farm.database.read() as session:
        [flag] = designs.get(session, ids[1]).flags
    assert (flag["metric"], flag["fidelity"], flag["value"]) == ("hbm_bandwidth", "simulate", 5000.0)
    assert "can not be" in flag["text"]


@pytest.mark.parametrize("what", REFUTED)
def test_what_a_refuted_design_had_beaten_is_promoted_in_its_place(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv(what, "512")
    set_options(farm, exploration, calibration=0)
    with farm.database.write() as session:
        [extra] = designs.add(session, exploration.id, [new_design(12, 500, 4.5)])
    run_all(farm, exploration)
    with farm.database.read() as session:
        assert designs.front_ids(session, exploration.id)[0] == extra
    assert [b.state for b in advance(farm, exploration) if b.design_id == extra] == ["queued"]
    assert state_of(farm, exploration) == "simulating"
    run_all(farm, exploration)
    flow.advance(farm, exploration.id)
    assert state_of(farm, exploration) == "verifying"
    verified = {b.design_id for b in builds_of(farm, exploration, "csim")}
    assert extra in verified
    assert ids[3] not in verified


@pytest.mark.parametrize("what", REFUTED)
def test_exploration_of_which_every_design_is_refuted_fails(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with farm.database.write() as session:
        designs.add(session, exploration.id, [new_design(0, 64, 1.0)])
        designs.set_front(session, exploration.id, {"k0"})
    set_state(farm, exploration, "simulating")
    monkeypatch.setenv(what, "64")
    run_all(farm, exploration)
    flow.advance(farm, exploration.id)
    assert state_of(farm, exploration) == "failed"
    with farm.database.read() as session:
        assert "every feasible design is refuted by its simulation" in str(
            explorations.get(session, exploration.id).error
        )


def test_failed_simulation_does_not_hold_the_others_up(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = advance(farm, exploration)
    monkeypatch.setenv("FAIL", '{"simulate": "x"}')
    run_build(farm, first)
    run_build(farm, first)
    assert builds_of(farm, exploration, "simulate")[0].state == "failed"
    monkeypatch.delenv("FAIL")
    for build in others:
        run_build(farm, build)
    flow.advance(farm, exploration.id)
    assert state_of(farm, exploration) == "verifying"
    with farm.database.read() as session:
        assert first.design_id in designs.front_ids(session, exploration.id)


@pytest.mark.parametrize("what", REFUTED)
def test_resume_runs_what_broke_but_not_what_is_refuted(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv(what, "64")
    waiting = {b.design_id: b for b in advance(farm, exploration)}
    run_build(farm, waiting[ids[0]])
    with farm.database.write() as session:
        flow.cancel(farm, session, exploration.id)
        assert builds.get(session, waiting[ids[1]].id).state == "cancelled"
    with farm.database.write() as session:
        flow.resume(farm, session, exploration.id)
        assert builds.get(session, waiting[ids[1]].id).state == "queued"
        assert builds.get(session, waiting[ids[0]].id).failure == "infeasible"


def test_the_same_design_in_another_exploration_is_not_simulated_again(
    farm: Farm, exploration: Exploration, ids: list[str], stages: Stages, sent: Any
) -> None:
    for build in advance(farm, exploration):
        run_build(farm, build)
    second = another(farm, exploration)
    with farm.database.write() as session:
        [twin] = designs.add(session, second.id, [new_design(0, UNROLLS[0], 1.0)])
        designs.set_front(session, second.id, {"k0"})
    with farm.database.write() as session:
        assert promote(farm, session, explorations.lock(session, second.id))[0].state == "done"
        design = designs.get(session, twin)
        assert design.simulated_us == designs.get(session, ids[0]).simulated_us
        assert [m.name for m in designs.metrics_of(session, [twin])[twin]] == ["latency", "latency", "cycles"]
        assert [a.path for a in artifacts.of_design(session, twin)][-1] == "simulation.json"
    assert [e["state"] for e in told(farm, second, "simulated")] == ["done"]
