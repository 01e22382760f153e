from typing import Any

import pytest
from farm_states import lower_build, set_state, state_of

from db.errors import ConflictError
from db.models import Build, Exploration
from db.repositories import builds, designs, events, explorations, leases
from db.repositories.designs import NewDesign
from worker import flow
from worker.farm import Farm


def advance(farm: Farm, exploration: Exploration) -> str:
    flow.advance(farm, exploration.id)
    return state_of(farm, exploration)


def finish_lowering(farm: Farm) -> None:
    with farm.database.write() as session:
        builds.finish(session, lower_build(farm).id, None, {})


def add_csim(farm: Farm, exploration: Exploration) -> Build:
    new = NewDesign(0, "k", {}, True, 1.0, 1.0, [], None, 0.1, ())
    with farm.database.write() as session:
        [design] = designs.add(session, exploration.id, [new])
        return builds.ensure(session, "csim", "c" * 64, {}, design_id=design)


def states_told(farm: Farm, exploration: Exploration) -> list[str]:
    with farm.database.read() as session:
        return [e.data["state"] for e in events.since(session, exploration.id, 0) if e.kind == "state"]


def test_course(farm: Farm, exploration: Exploration, sent: Any) -> None:
    assert advance(farm, exploration) == "lowering"
    assert sent.take() == [("lower", lower_build(farm).id)]
    finish_lowering(farm)
    assert advance(farm, exploration) == "searching"
    assert sent.take() == [("search", exploration.id)]
    csim = add_csim(farm, exploration)
    set_state(farm, exploration, "verifying")
    assert advance(farm, exploration) == "verifying"
    assert sent.take() == [("csim", csim.id)]
    with farm.database.write() as session:
        builds.finish(session, csim.id, {"passed": True}, {})
    assert advance(farm, exploration) == "done"
    assert states_told(farm, exploration) == ["lowering", "searching", "done"]


def test_step_is_taken_once_however_often_it_is_asked_for(farm: Farm, exploration: Exploration, sent: Any) -> None:
    for _ in range(3):
        advance(farm, exploration)
    assert len(sent.take()) == 1
    assert states_told(farm, exploration) == ["lowering"]


def test_what_somebody_holds_is_left_alone(farm: Farm, exploration: Exploration, sent: Any) -> None:
    set_state(farm, exploration, "searching")
    with farm.database.write() as session:
        assert leases.claim(session, Exploration, exploration.id, "w", 60, ("searching",))
    advance(farm, exploration)
    assert sent.take() == []


def test_second_exploration_of_a_workload_does_not_lower_again(farm: Farm, exploration: Exploration, sent: Any) -> None:
    advance(farm, exploration)
    finish_lowering(farm)
    sent.take()
    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        second = explorations.add(session, row.workload, "u55c", [], row.options, 10)
    assert advance(farm, second) == "searching"
    assert sent.take() == [("search", second.id)]


def test_failed_lowering_fails_the_exploration_and_a_new_one_tries_again(
    farm: Farm, exploration: Exploration, sent: Any
) -> None:
    advance(farm, exploration)
    with farm.database.write() as session:
        builds.fail(session, lower_build(farm).id, "tool", "no such operator")
    assert advance(farm, exploration) == "failed"
    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        assert row.error == "no such operator"
        second = explorations.add(session, row.workload, "u55c", [], row.options, 10)
    sent.take()
    assert advance(farm, second) == "lowering"
    assert [stage for stage, _ in sent.take()] == ["lower"]


def test_cancel_revokes_what_is_held(farm: Farm, exploration: Exploration) -> None:
    set_state(farm, exploration, "searching")
    with farm.database.write() as session:
        token = leases.claim(session, Exploration, exploration.id, "w", 60, ("searching",))
        assert token is not None
    with farm.database.write() as session:
        assert flow.cancel(farm, session, exploration.id).state == "cancelled"
    with farm.database.read() as session:
        assert not leases.holds(session, Exploration, exploration.id, token)


def test_cancel_stops_an_import_only_if_nobody_else_waits_for_it(farm: Farm, exploration: Exploration) -> None:
    advance(farm, exploration)
    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        second = explorations.add(session, row.workload, "u55c", [], row.options, 10)
    advance(farm, second)
    build = lower_build(farm)
    for one, expected in ((exploration, "queued"), (second, "cancelled")):
        with farm.database.write() as session:
            flow.cancel(farm, session, one.id)
            assert builds.get(session, build.id).state == expected


def test_cancel_of_a_finished_one_changes_nothing(farm: Farm, exploration: Exploration) -> None:
    set_state(farm, exploration, "done")
    with farm.database.write() as session:
        assert flow.cancel(farm, session, exploration.id).state == "done"


def test_resume_goes_on_from_the_start_of_the_course(farm: Farm, exploration: Exploration, sent: Any) -> None:
    advance(farm, exploration)
    finish_lowering(farm)
    set_state(farm, exploration, "failed")
    sent.take()
    with farm.database.write() as session:
        assert flow.resume(farm, session, exploration.id).state == "searching"
    assert sent.take() == [("search", exploration.id)]


def test_resume_queues_cancelled_simulations(farm: Farm, exploration: Exploration) -> None:
    csim = add_csim(farm, exploration)
    set_state(farm, exploration, "verifying")
    with farm.database.write() as session:
        flow.cancel(farm, session, exploration.id)
        assert builds.get(session, csim.id).state == "cancelled"
    with farm.database.write() as session:
        flow.resume(farm, session, exploration.id)
        assert builds.get(session, csim.id).state == "queued"


def test_resume_of_a_done_one_is_a_conflict(farm: Farm, exploration: Exploration) -> None:
    set_state(farm, exploration, "done")
    with farm.database.write() as session, pytest.raises(ConflictError, match="start a new one"):
        flow.resume(farm, session, exploration.id)


def test_broker_that_is_away_costs_nothing(farm: Farm, exploration: Exploration, sent: Any) -> None:
    sent.error = OSError("connection refused")
    assert advance(farm, exploration) == "lowering"
    sent.error = None
    advance(farm, exploration)
    assert [stage for stage, _ in sent.take()] == ["lower"]
