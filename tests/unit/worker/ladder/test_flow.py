"""The course of an exploration, and what people do to it."""

from typing import Any

import pytest
from farm_states import (
    add_designs,
    announce,
    another,
    builds_of,
    lower_build,
    now,
    run_build,
    set_options,
    set_state,
    state_of,
    take,
    told,
    work,
    work_once,
)

from db.errors import ConflictError
from db.models import Build, Exploration
from db.repositories import builds, designs, leases
from worker.farm import Farm
from worker.ladder import flow
from worker.running.reaper import reap

FAILS_CSYNTH = '{"csynth": "placement"}'


@pytest.fixture(autouse=True)
def node(farm: Farm) -> None:
    announce(farm)


def advance(farm: Farm, exploration: Exploration) -> str:
    flow.advance(farm, exploration.id)
    return state_of(farm, exploration)


def start(farm: Farm, exploration: Exploration, **values: Any) -> None:
    set_options(farm, exploration, simulate=1, calibration=0, verify=1, **values)
    flow.advance(farm, exploration.id)


def states(farm: Farm, exploration: Exploration, *stages: Any) -> list[str]:
    return [b.state for b in builds_of(farm, exploration, *stages)]


def get(farm: Farm, build: Build) -> Build:
    with farm.database.read() as session:
        return builds.get(session, build.id)


def test_course(farm: Farm, exploration: Exploration) -> None:
    start(farm, exploration, builds={"csynth": 1})
    assert work(farm) == ["lower", "search", "simulate", "csim", "csynth", "calibrate"]
    moves = [e["state"] for e in told(farm, exploration, "state")]
    assert moves == ["lowering", "searching", "simulating", "verifying", "building", "done"]


def test_without_builds_it_ends_with_verification(farm: Farm, exploration: Exploration) -> None:
    start(farm, exploration)
    assert work(farm) == ["lower", "search", "simulate", "csim"]
    assert [e["state"] for e in told(farm, exploration, "state")][-2:] == ["verifying", "done"]


def test_a_step_is_taken_once_however_often_it_is_asked_for(farm: Farm, exploration: Exploration, sent: Any) -> None:
    for _ in range(3):
        advance(farm, exploration)
    assert sent.take() == ["lower"]
    assert [e["state"] for e in told(farm, exploration, "state")] == ["lowering"]


def test_second_exploration_of_a_workload_does_not_lower_again(farm: Farm, exploration: Exploration) -> None:
    advance(farm, exploration)
    assert work_once(farm) == "lower"
    assert advance(farm, another(farm, exploration, seed=1)) == "searching"


def test_failed_lowering_fails_the_exploration_and_a_new_one_tries_again(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOWER", "fail")
    advance(farm, exploration)
    assert work(farm) == ["lower", "lower"], "a crash of a tool is tried twice"
    assert now(farm, exploration).state == "failed"
    assert "did not like it" in str(now(farm, exploration).error)
    monkeypatch.delenv("LOWER")
    second = another(farm, exploration)
    assert advance(farm, second) == "lowering"
    assert work_once(farm) == "lower"
    assert state_of(farm, second) == "searching"


def test_an_exploration_of_which_everything_failed_says_so(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", '{"simulate": "x"}')
    start(farm, exploration)
    set_options(farm, exploration, verify=0)
    work(farm)
    assert state_of(farm, exploration) == "failed"
    assert "all 1 builds of its designs failed; the first, simulate: the simulation failed" in str(
        now(farm, exploration).error
    )


def test_failures_of_vitis_do_not_fail_the_exploration(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", FAILS_CSYNTH)
    start(farm, exploration, builds={"csynth": 1, "link": 1})
    work(farm)
    assert state_of(farm, exploration) == "done"
    [csynth] = builds_of(farm, exploration, "csynth")
    assert (csynth.state, csynth.failure, csynth.attempt) == ("failed", "infeasible", 1)
    assert builds_of(farm, exploration, "link") == []


def test_a_wrong_result_stops_the_ladder(farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", '{"csim": "wrong"}')
    [first, *_] = add_designs(farm, exploration)
    set_state(farm, exploration, "done")
    with farm.database.write() as session:
        cosim = flow.start_build(farm, session, designs.get(session, first), "cosim")
        assert cosim.state == "blocked"
    assert work(farm) == ["csim"]
    csim, csynth, cosim = builds_of(farm, exploration, "csim", "csynth", "cosim")
    assert (csim.state, csynth.state, cosim.state) == ("done", "cancelled", "cancelled")
    assert csim.verdict is not None
    assert csim.verdict["passed"] is False
    assert csynth.error == f"not run: the csim of this design gave a wrong result ({csim.id})"
    with farm.database.write() as session, pytest.raises(ConflictError, match="csynth of this design has no point"):
        flow.start_build(farm, session, designs.get(session, first), "csynth")
    with farm.database.write() as session, pytest.raises(ConflictError, match="fails whenever it is run"):
        flow.retry_build(farm, session, csynth.id)


class TestCancel:
    def test_what_is_held_is_revoked(self, farm: Farm, exploration: Exploration) -> None:
        start(farm, exploration)
        assert work_once(farm) == "lower"
        order = take(farm)
        assert order is not None
        with farm.database.write() as session:
            assert flow.cancel(farm, session, exploration.id).state == "cancelled"
        with farm.database.read() as session:
            assert not leases.holds(session, order.build_id, order.token)
        assert states(farm, exploration) == ["cancelled"]

    def test_an_import_is_stopped_only_if_nobody_else_waits_for_it(self, farm: Farm, exploration: Exploration) -> None:
        advance(farm, exploration)
        second = another(farm, exploration)
        advance(farm, second)
        build = lower_build(farm)
        for one, expected in ((exploration, "queued"), (second, "cancelled")):
            with farm.database.write() as session:
                flow.cancel(farm, session, one.id)
                assert builds.get(session, build.id).state == expected

    def test_a_running_build_goes_on_for_the_exploration_that_waits_for_it(
        self, farm: Farm, exploration: Exploration
    ) -> None:
        second = another(farm, exploration)
        start(farm, exploration)
        start(farm, second)
        assert work_once(farm) == "lower"
        order = take(farm)
        assert order is not None
        with farm.database.write() as session:
            first = builds.get(session, order.build_id)
            owner, waits = (first.exploration_id, {exploration.id, second.id} - {first.exploration_id})
            assert owner is not None
            flow.cancel(farm, session, owner)
            assert leases.holds(session, order.build_id, order.token)
        [waiting] = waits
        with farm.database.write() as session:
            flow.cancel(farm, session, waiting)
            assert not leases.holds(session, order.build_id, order.token), "now nobody waits for it"
            assert builds.get(session, order.build_id).state == "cancelled"

    def test_of_a_finished_one_changes_nothing(self, farm: Farm, exploration: Exploration) -> None:
        set_state(farm, exploration, "done")
        with farm.database.write() as session:
            assert flow.cancel(farm, session, exploration.id).state == "done"


class TestResume:
    def test_starts_at_the_failed_stage(
        self, farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAIL", '{"simulate": "x"}')
        start(farm, exploration)
        set_options(farm, exploration, verify=0)
        work(farm)
        assert state_of(farm, exploration) == "failed"
        monkeypatch.delenv("FAIL")
        with farm.database.write() as session:
            assert flow.resume(farm, session, exploration.id).state == "simulating"
        assert work(farm) == ["simulate"]
        assert state_of(farm, exploration) == "done"

    def test_queues_what_was_cancelled_but_not_what_leads_nowhere(
        self, farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAIL", FAILS_CSYNTH)
        first, second, *_ = add_designs(farm, exploration)
        set_state(farm, exploration, "building")
        with farm.database.write() as session:
            flow.start_build(farm, session, designs.get(session, first), "link")
        work(farm)
        set_state(farm, exploration, "building")
        with farm.database.write() as session:
            flow.start_build(farm, session, designs.get(session, second), "csynth")
            flow.cancel(farm, session, exploration.id)
        with farm.database.write() as session:
            flow.resume(farm, session, exploration.id)
        found = [(b.stage, b.state) for b in builds_of(farm, exploration, "csim", "csynth", "link")]
        assert found[:3] == [("csim", "done"), ("csynth", "failed"), ("link", "cancelled")]
        assert found[3:] == [("csim", "queued"), ("csynth", "blocked")]

    def test_of_a_done_one_is_a_conflict(self, farm: Farm, exploration: Exploration) -> None:
        set_state(farm, exploration, "done")
        with farm.database.write() as session, pytest.raises(ConflictError, match="start a new one"):
            flow.resume(farm, session, exploration.id)


class TestBuilds:
    def test_a_chain_is_made_up_to_the_stage(self, farm: Farm, exploration: Exploration) -> None:
        [first, *_] = add_designs(farm, exploration)
        set_state(farm, exploration, "done")
        with farm.database.write() as session:
            link = flow.start_build(farm, session, designs.get(session, first), "link")
        assert (link.stage, link.state) == ("link", "blocked")
        assert work(farm) == ["csim", "csynth", "link"]
        told_states = [(e["stage"], e["state"]) for e in told(farm, exploration, "build")]
        assert ("csynth", "queued") in told_states
        assert ("link", "done") in told_states

    def test_retry_runs_the_build_and_what_was_cancelled_behind_it(
        self, farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAIL", '{"csynth": "tool_crash"}')
        [first, *_] = add_designs(farm, exploration)
        set_state(farm, exploration, "done")
        with farm.database.write() as session:
            link = flow.start_build(farm, session, designs.get(session, first), "link")
        assert work(farm) == ["csim", "csynth", "csynth"]
        assert get(farm, link).state == "cancelled"
        monkeypatch.delenv("FAIL")
        with farm.database.write() as session:
            assert flow.retry_build(farm, session, link.id).state == "blocked"
        assert work(farm) == ["csynth", "link"]
        with farm.database.write() as session, pytest.raises(ConflictError, match="is done; only failed"):
            flow.retry_build(farm, session, link.id)

    def test_cancelling_one_cancels_what_waits_for_it(self, farm: Farm, exploration: Exploration) -> None:
        [first, *_] = add_designs(farm, exploration)
        set_state(farm, exploration, "building")
        with farm.database.write() as session:
            flow.start_build(farm, session, designs.get(session, first), "cosim")
        csim, *_ = builds_of(farm, exploration, "csim")
        with farm.database.write() as session:
            assert flow.cancel_build(farm, session, csim.id).state == "cancelled"
        assert states(farm, exploration, "csim", "csynth", "cosim") == ["cancelled"] * 3
        assert state_of(farm, exploration) == "failed", "nothing of it was done"
        with farm.database.write() as session, pytest.raises(ConflictError, match="is cancelled already"):
            flow.cancel_build(farm, session, csim.id)

    def test_cancelling_the_search_cancels_the_exploration(self, farm: Farm, exploration: Exploration) -> None:
        start(farm, exploration)
        assert work_once(farm) == "lower"
        [search] = builds_of(farm, exploration, "search")
        with farm.database.write() as session:
            flow.cancel_build(farm, session, search.id)
        assert state_of(farm, exploration) == "cancelled"
        with farm.database.write() as session:
            assert flow.retry_build(farm, session, search.id).state == "queued"
        assert state_of(farm, exploration) == "searching"

    def test_a_clone_is_a_chain_of_its_own_from_the_stage_that_differs(
        self, farm: Farm, exploration: Exploration
    ) -> None:
        announce(farm, ("csim", "csynth@2023.2", "csynth@2022.1"))
        [first, *_] = add_designs(farm, exploration)
        set_state(farm, exploration, "done")
        with farm.database.write() as session:
            csynth = flow.start_build(farm, session, designs.get(session, first), "csynth")
        work(farm)
        with farm.database.write() as session:
            clone = flow.clone_build(farm, session, csynth.id, {"vitis": "2022.1"})
            assert clone.id != csynth.id
            assert (clone.after_id, clone.queue) == (get(farm, csynth).after_id, "csynth@2022.1")
        with farm.database.write() as session:
            same = flow.clone_build(farm, session, clone.id, {})
            assert same.id == clone.id
        assert work(farm, "csynth@2022.1") == ["csynth"]

    def test_only_builds_of_designs_are_cloned(self, farm: Farm, exploration: Exploration) -> None:
        advance(farm, exploration)
        with farm.database.write() as session, pytest.raises(ConflictError, match="is the lower of no design"):
            flow.clone_build(farm, session, lower_build(farm).id, {})


def test_the_end_of_a_build_looks_at_no_other(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the last one of its stage does, which is when the next ones are chosen."""
    add_designs(farm, exploration)
    advance(farm, exploration)
    *others, last = builds_of(farm, exploration, "simulate")
    assert len(others) == 7
    with monkeypatch.context() as patch:
        for module, name in ((builds, "of_exploration"), (designs, "candidates"), (designs, "stored")):
            patch.setattr(module, name, lambda *_: pytest.fail("all rows were read"))
        for build in others:
            run_build(farm, build)
    assert state_of(farm, exploration) == "simulating"
    run_build(farm, last)
    assert state_of(farm, exploration) == "verifying"


def test_a_step_that_fails_leaves_the_result_and_is_done_by_the_reaper(
    farm: Farm, exploration: Exploration, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The list of reports for a calibration can not be stored, say."""
    add_designs(farm, exploration)
    set_state(farm, exploration, "building")
    set_options(farm, exploration, verify=0, builds={"csynth": 1})
    advance(farm, exploration)
    assert work_once(farm) == "csim"
    with monkeypatch.context() as away:
        away.setattr(type(farm.store), "put_bytes", lambda *_: 1 / 0)
        assert work_once(farm) == "csynth"
    assert states(farm, exploration, "csynth") == ["done"]
    assert states(farm, exploration, "calibrate") == []
    assert f"what follows for {exploration.id} is left to the reaper" in caplog.text
    reap(farm)
    assert states(farm, exploration, "calibrate") == ["queued"]


def test_broker_that_is_away_costs_nothing(farm: Farm, exploration: Exploration, sent: Any) -> None:
    sent.error = OSError("connection refused")
    assert advance(farm, exploration) == "lowering"
