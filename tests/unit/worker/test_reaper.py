from datetime import timedelta
from typing import Any

import pytest
from farm_states import lower_build, set_state, state_of
from sqlalchemy import update

from db.models import Build, Exploration
from db.repositories import builds, explorations, leases
from db.types import utcnow
from worker.farm import Farm
from worker.flow import advance
from worker.processes import identity
from worker.reaper import MAX_LOSSES, reap, recover


def hold(farm: Farm, exploration: Exploration, owner: str, seconds: float = 60) -> None:
    with farm.database.write() as session:
        assert leases.claim(session, Exploration, exploration.id, owner, seconds, ("searching",))


@pytest.fixture
def searching(farm: Farm, exploration: Exploration, sent: Any) -> Exploration:
    set_state(farm, exploration, "searching")
    advance(farm, exploration.id)
    assert sent.take() == [("search", exploration.id)]
    return exploration


def dead_owner() -> str:
    return identity().rsplit("/", 1)[0] + "/1"


def test_work_of_a_dead_worker_of_this_machine_is_taken_up_at_once(
    farm: Farm, searching: Exploration, sent: Any
) -> None:
    hold(farm, searching, dead_owner())
    recover(farm)
    assert sent.take() == [("search", searching.id)]


def test_work_of_the_living_is_left_to_them(farm: Farm, searching: Exploration, sent: Any) -> None:
    for owner in (identity(), "elsewhere/boot/1/2/3"):
        with farm.database.write() as session:
            leases.revoke(session, Exploration, searching.id)
        hold(farm, searching, owner)
        recover(farm)
        assert sent.take() == []


def test_expired_lease_is_taken_up(farm: Farm, searching: Exploration, sent: Any) -> None:
    hold(farm, searching, "elsewhere/boot/1/2/3", seconds=-1)
    reap(farm)
    assert sent.take() == [("search", searching.id)]


def test_lost_messages_are_sent_again_at_a_start(farm: Farm, searching: Exploration, sent: Any) -> None:
    reap(farm)
    assert sent.take() == []
    recover(farm)
    assert sent.take() == [("search", searching.id)]


def test_message_lost_long_ago_is_sent_again(farm: Farm, searching: Exploration, sent: Any) -> None:
    with farm.database.write() as session:
        session.execute(update(Exploration).values(enqueued_at=utcnow() - timedelta(hours=1)))
    reap(farm)
    assert sent.take() == [("search", searching.id)]


def test_exploration_that_keeps_losing_its_worker_fails(farm: Farm, searching: Exploration) -> None:
    for _ in range(MAX_LOSSES):
        assert state_of(farm, searching) == "searching"
        hold(farm, searching, "w", seconds=-1)
        reap(farm)
    assert state_of(farm, searching) == "failed"
    with farm.database.read() as session:
        assert "worker was lost 4 times" in str(explorations.get(session, searching.id).error)


def test_build_that_keeps_losing_its_worker_fails_with_its_exploration(farm: Farm, exploration: Exploration) -> None:
    advance(farm, exploration.id)
    build = lower_build(farm)
    for _ in range(MAX_LOSSES):
        with farm.database.write() as session:
            assert leases.claim(session, Build, build.id, "w", -1, ("queued", "running"))
        reap(farm)
    with farm.database.read() as session:
        assert builds.get(session, build.id).failure == "node"
    assert state_of(farm, exploration) == "failed"
