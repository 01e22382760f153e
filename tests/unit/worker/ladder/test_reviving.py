"""Builds that are queued again: after a resume, and one by one."""

import pytest
from farm_states import add_designs, announce, another, builds_of, set_state, take, work, work_once

from db.models import Build, DesignStage, Exploration
from db.repositories import builds, designs
from worker.farm import Farm
from worker.ladder import flow
from worker.ladder.reviving import revive
from worker.running.recording import record
from worker.stages.outcome import Outcome

NO_LICENCE = Outcome(None, {}, failure="licence", error="none left")


@pytest.fixture
def ids(farm: Farm, exploration: Exploration) -> list[str]:
    announce(farm)
    made = add_designs(farm, exploration)
    set_state(farm, exploration, "building")
    return made


def start(farm: Farm, ids: list[str], stage: DesignStage) -> None:
    with farm.database.write() as session:
        flow.start_build(farm, session, designs.get(session, ids[0]), stage)


def cancel(farm: Farm, exploration: Exploration) -> None:
    with farm.database.write() as session:
        flow.cancel(farm, session, exploration.id)


def states(farm: Farm, exploration: Exploration) -> list[tuple[str, str]]:
    found = builds_of(farm, exploration)
    return sorted((b.stage, b.state) for b in found)


def test_what_another_exploration_has_done_meanwhile_is_taken_over(
    farm: Farm, exploration: Exploration, ids: list[str]
) -> None:
    start(farm, ids, "csynth")
    cancel(farm, exploration)
    second = another(farm, exploration)
    others = add_designs(farm, second)
    set_state(farm, second, "done")
    start(farm, others, "csynth")
    assert work(farm) == ["csim", "csynth"]
    with farm.database.write() as session:
        revive(farm, session, builds.of_exploration(session, exploration.id))
    assert states(farm, exploration) == [("csim", "done"), ("csynth", "done")]
    assert work(farm) == []


def test_nothing_waits_for_what_another_exploration_has_found_to_be_wrong(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", '{"csim": "wrong"}')
    start(farm, ids, "csynth")
    cancel(farm, exploration)
    second = another(farm, exploration)
    others = add_designs(farm, second)
    set_state(farm, second, "done")
    start(farm, others, "csynth")
    assert work(farm) == ["csim"]
    with farm.database.write() as session:
        revive(farm, session, builds.of_exploration(session, exploration.id))
    assert states(farm, exploration) == [("csim", "done"), ("csynth", "cancelled")]


def test_nothing_is_blocked_behind_a_dead_end_whatever_their_ids(
    farm: Farm, exploration: Exploration, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids that were made within a millisecond are in no order."""
    monkeypatch.setenv("FAIL", '{"csynth": "placement"}')
    start(farm, ids, "link")
    assert work(farm) == ["csim", "csynth"]
    with farm.database.write() as session:
        found = list[Build](builds.of_exploration(session, exploration.id))
        revive(farm, session, reversed(found))
    assert states(farm, exploration) == [("csim", "done"), ("csynth", "failed"), ("link", "cancelled")]


def test_what_is_tried_again_for_another_exploration_ends_with_it(
    farm: Farm, exploration: Exploration, ids: list[str]
) -> None:
    start(farm, ids, "csynth")
    assert work_once(farm) == "csim"
    order = take(farm, "csynth@2023.2")
    assert order is not None
    second = another(farm, exploration)
    others = add_designs(farm, second)
    set_state(farm, second, "building")
    start(farm, others, "csynth")
    cancel(farm, exploration)
    record(farm, order, NO_LICENCE, None)
    assert ("csynth", "queued") in states(farm, exploration)
    cancel(farm, second)
    assert states(farm, exploration) == [("csim", "done"), ("csynth", "cancelled")]
