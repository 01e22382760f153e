"""Above verification: what goes to Vitis and the board within the budget, and what becomes of failures."""

from typing import Any

import pytest
from farm_states import (
    SHELL,
    add_designs,
    announce,
    another,
    builds_of,
    run_build,
    set_options,
    set_state,
    state_of,
    take,
    told,
    work,
    work_once,
)

from db.models import Exploration, Failure, Stage
from db.repositories import builds, calibrations, designs, leases
from worker.farm import Farm
from worker.ladder import flow
from worker.running.orders import Order

ALL = {"csynth": 4, "cosim": 2, "link": 2, "measure": 1}


@pytest.fixture
def ids(farm: Farm, exploration: Exploration) -> list[str]:
    announce(farm)
    made = add_designs(farm, exploration)
    set_state(farm, exploration, "building")
    return made


def climb(farm: Farm, exploration: Exploration, **values: Any) -> list[str]:
    set_options(farm, exploration, verify=0, **values)
    flow.advance(farm, exploration.id)
    return work(farm)


def fail_for_good(farm: Farm, order: Order, failure: Failure) -> None:
    with farm.database.write() as session:
        build = leases.fence(session, order.build_id, order.token)
        builds.fail(session, build, failure, "no")


def of(farm: Farm, exploration: Exploration, stage: Stage) -> set[str | None]:
    return {b.design_id for b in builds_of(farm, exploration, stage)}


def test_each_rung_takes_its_budget_of_those_that_passed_the_one_below(
    farm: Farm, exploration: Exploration, ids: list[str]
) -> None:
    ran = climb(farm, exploration, builds=ALL)
    assert {stage: ran.count(stage) for stage in ALL} == ALL
    assert state_of(farm, exploration) == "done"
    csynth = of(farm, exploration, "csynth")
    assert csynth >= {ids[0], ids[3]}, "the ends of the front"
    assert len(csynth - set(ids[:4])) == 1, "one in four is for calibration"
    assert of(farm, exploration, "cosim") <= csynth
    assert of(farm, exploration, "link") <= csynth
    assert [e["stage"] for e in told(farm, exploration, "promoted")] == ["csynth", "cosim", "link", "measure"]


def test_the_same_exploration_again_runs_nothing(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    climb(farm, exploration, builds=ALL)
    second = another(farm, exploration)
    add_designs(farm, second)
    set_state(farm, second, "building")
    assert climb(farm, second, builds=ALL) == []
    assert state_of(farm, second) == "done"
    assert {b.state for b in builds_of(farm, second)} == {"done"}


def test_a_board_is_measured_after_its_link_and_a_simulated_one_without(
    farm: Farm, exploration: Exploration, ids: list[str]
) -> None:
    shell = "xilinx_u55c_gen3x16_xdma_3_202210_1"
    ran = climb(farm, exploration, builds={"csynth": 2, "link": 1, "measure": 2}, board=shell)
    assert ran.count("measure") == 1, "only one was linked"
    assert of(farm, exploration, "measure") == of(farm, exploration, "link")


def test_a_failure_below_hands_its_place_on_and_one_of_its_own_counts(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("FAIL", '{"csim": "wrong@2", "csynth": "placement@1"}')
    ran = climb(farm, exploration, builds={"csynth": 3})
    assert ran.count("csim") == 5, "two were wrong, so two more had their turn"
    assert ran.count("csynth") == 3
    states = sorted(b.state for b in builds_of(farm, exploration, "csynth"))
    assert states == ["cancelled", "cancelled", "done", "done", "failed"]
    assert state_of(farm, exploration) == "done"


@pytest.mark.parametrize("failure", ["infeasible", "timeout"])
def test_a_board_waits_for_no_link_that_has_failed(
    farm: Farm, exploration: Exploration, ids: list[str], failure: Failure
) -> None:
    """A clone of the link with another clock passes, which is not the one that the measurement would be of."""
    set_options(farm, exploration, verify=0, board=SHELL, builds={"csynth": 1, "link": 1, "measure": 1})
    flow.advance(farm, exploration.id)
    assert [work_once(farm), work_once(farm)] == ["csim", "csynth"]
    [link] = builds_of(farm, exploration, "link")
    with farm.database.write() as session:
        clone = flow.clone_build(farm, session, link.id, {"clock_mhz": 150.0})
    later = take(farm, link.queue), take(farm, link.queue)
    for order in later:
        assert order is not None
        if order.build_id == link.id:
            fail_for_good(farm, order, failure)
    run_build(farm, clone)
    assert of(farm, exploration, "measure") == set()
    assert "measure" not in [e["stage"] for e in told(farm, exploration, "promoted")]
    assert work(farm) == ["calibrate"]
    assert state_of(farm, exploration) == "done"


def test_nothing_is_linked_that_is_too_large(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import service_tools

    monkeypatch.setattr(service_tools, "DSP", 1e6)
    assert climb(farm, exploration, builds={"csynth": 2, "link": 2}).count("link") == 0
    assert state_of(farm, exploration) == "done"


def test_the_version_of_vitis_stays_that_of_csynth(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    announce(farm, ("csim", "csynth@2023.2", "csynth@2022.1", "cosim@2022.1", "cosim@2023.2", "calibrate"))
    set_options(farm, exploration, verify=0, vitis="2022.1", builds={"csynth": 1, "cosim": 1})
    flow.advance(farm, exploration.id)
    assert work(farm, "csim", "csynth@2022.1", "cosim@2022.1") == ["csim", "csynth", "cosim"]


def test_every_fidelity_of_a_design_has_its_latency(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    climb(farm, exploration, builds={"csynth": 1, "cosim": 1, "link": 1, "measure": 1})
    [design] = of(farm, exploration, "csynth")
    assert design is not None
    with farm.database.read() as session:
        known = designs.metrics_of(session, [design])[design]
    found = [(m.name, m.fidelity, m.tool) for m in known]
    assert [f for n, f, _ in found if n == "latency"] == ["estimate", "csynth", "cosim", "link", "simulate"]
    assert ("latency", "csynth", "millrace+vitis_hls") in found
    assert ("latency_reported", "csynth", "vitis") in found
    assert len({(name, fidelity) for name, fidelity, _ in found}) == len(found), "no number is shown twice"


def test_new_reports_refit_the_area_model_once(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    assert climb(farm, exploration, builds={"csynth": 2})[-1] == "calibrate"
    [build] = builds_of(farm, exploration, "calibrate")
    assert build.verdict is not None
    assert (build.verdict["designs"], build.verdict["largest_change"]) == (2, pytest.approx(0.5))
    with farm.database.read() as session:
        latest = calibrations.latest(session, "u55c")
    assert latest is not None
    assert (latest.digest, latest.build_id) == (build.verdict["digest"], build.id)
    second = another(farm, exploration, area_model=latest.digest, builds={})
    add_designs(farm, second)
    set_state(farm, second, "verifying")
    with farm.database.write() as session:
        design = designs.stored(session, second.id)[0]
        csim = flow.start_build(farm, session, design, "csim")
        assert csim.state == "queued", "another model makes another build"
    assert work(farm) == ["csim"]
    with farm.database.read() as session:
        assert builds.get(session, csim.id).options == {"area_model": latest.digest}


def test_a_link_gives_the_cycles_its_clock(farm: Farm, exploration: Exploration, ids: list[str]) -> None:
    climb(farm, exploration, builds={"csynth": 1, "link": 1})
    [design] = of(farm, exploration, "link")
    assert design is not None
    with farm.database.write() as session:
        known = designs.metrics_of(session, [design])[design]
        value = {(m.name, m.fidelity): m.value for m in known}
        assert value["latency", "link"] == pytest.approx(value["cycles", "csynth"] / value["clock", "link"])
        assert value["latency", "link"] != pytest.approx(value["latency", "csynth"])
        designs.set_simulated(session, design, 5.0, None, [])
        designs.retime(session, design)
        assert designs.get(session, design).simulated_us == value["latency", "link"]
        assert designs.clocked_latency(known, 5.0) == value["latency", "link"]
        assert designs.clocked_latency([m for m in known if m.fidelity == "estimate"], 5.0) == 5.0
