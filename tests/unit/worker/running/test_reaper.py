from datetime import timedelta
from typing import Any

import pytest
from farm_states import add_designs, announce, another, builds_of, set_state, state_of
from sqlalchemy import update

from db.models import Build, Exploration
from db.repositories import builds, designs, explorations, leases, queue
from db.types import utcnow
from worker.farm import Farm
from worker.ladder.flow import advance, start_build
from worker.processes import identity
from worker.running import reaper
from worker.running.reaper import reap, recover, top_up
from worker.running.recording import RETRIES


@pytest.fixture
def lowering(farm: Farm, exploration: Exploration, sent: Any) -> Exploration:
    announce(farm)
    advance(farm, exploration.id)
    assert sent.take() == ["lower"]
    return exploration


def hold(farm: Farm, owner: str, seconds: float = 60) -> str:
    with farm.database.write() as session:
        session.execute(update(Build).values(not_before=None))
        claimed = queue.claim(session, ["lower"], "here", owner, seconds)
        assert claimed is not None
        return claimed.build_id


def build_of(farm: Farm, build_id: str) -> Build:
    with farm.database.read() as session:
        return builds.get(session, build_id)


def dead_owner() -> str:
    return identity().rsplit("/", 1)[0] + "/1"


def test_work_of_a_dead_worker_of_this_machine_is_taken_up_at_once(farm: Farm, lowering: Exploration) -> None:
    build_id = hold(farm, dead_owner())
    recover(farm)
    build = build_of(farm, build_id)
    assert (build.state, build.losses, build.lease_owner) == ("queued", 1, None)
    assert [entry["failure"] for entry in build.history] == ["node"]


@pytest.mark.parametrize("owner", [identity(), "elsewhere/boot/1/2/3"], ids=["here", "elsewhere"])
def test_work_of_the_living_is_left_to_them(farm: Farm, lowering: Exploration, owner: str) -> None:
    build_id = hold(farm, owner)
    recover(farm)
    assert (build_of(farm, build_id).state, build_of(farm, build_id).lease_owner) == ("running", owner)


def test_expired_lease_is_taken_up_with_a_ticket(farm: Farm, lowering: Exploration, sent: Any) -> None:
    build_id = hold(farm, "elsewhere/boot/1/2/3", seconds=-1)
    reap(farm)
    assert build_of(farm, build_id).state == "queued"
    assert "lower" in sent.take()


def test_a_build_that_keeps_losing_its_worker_fails_with_its_exploration(farm: Farm, lowering: Exploration) -> None:
    for _ in range(RETRIES["node"].attempts):
        assert state_of(farm, lowering) == "lowering"
        build_id = hold(farm, "w", seconds=-1)
        reap(farm)
    build = build_of(farm, build_id)
    assert (build.state, build.failure, build.losses) == ("failed", "node", 4)
    assert "worker was lost" in str(build.error)
    assert state_of(farm, lowering) == "failed"


def test_a_step_that_was_cut_off_is_done(farm: Farm, lowering: Exploration) -> None:
    with farm.database.write() as session:
        session.execute(update(Build).values(state="done"))
    assert state_of(farm, lowering) == "lowering"
    reap(farm)
    assert state_of(farm, lowering) == "searching"


def test_explorations_that_wait_for_builds_are_left_alone(farm: Farm, lowering: Exploration) -> None:
    set_state(farm, lowering, "verifying")
    hold(farm, identity())
    with farm.database.write() as session:
        session.execute(update(Build).values(exploration_id=lowering.id, stage="csim"))
    reap(farm)
    assert state_of(farm, lowering) == "verifying"


def test_a_step_is_done_though_a_person_has_a_build_under_way(farm: Farm, lowering: Exploration) -> None:
    [design, *_] = add_designs(farm, lowering)  # simulating, and nothing is simulated
    with farm.database.write() as session:
        start_build(farm, session, designs.get(session, design), "csim")
    reap(farm)
    assert builds_of(farm, lowering, "simulate") != []


def test_what_goes_wrong_with_one_keeps_the_reaper_from_no_other(
    farm: Farm, lowering: Exploration, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def fail_first(_farm: Farm, key: str, *_: Any) -> None:
        done.append(key)
        if len(done) % 2:
            raise KeyError(key)

    second = another(farm, lowering)
    monkeypatch.setattr(reaper, "advance", fail_first)
    monkeypatch.setattr(reaper, "_lose", fail_first)
    monkeypatch.setattr(leases, "expired", lambda _: ["bld_1", "bld_2"])
    monkeypatch.setattr(reaper, "top_up", lambda _: done.append("tickets"))
    reap(farm)
    assert done == ["bld_1", "bld_2", *sorted([lowering.id, second.id]), "tickets"]
    assert f"exploration {lowering.id} could not be reaped" in caplog.text


def test_no_part_of_the_reaper_keeps_it_from_the_next(
    farm: Farm, lowering: Exploration, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(farm.bus), "queue_lengths", Lengths(0).queue_lengths)
    for module, name in ((leases, "expired"), (explorations, "active")):
        monkeypatch.setattr(module, name, lambda *_: 1 / 0)
    reap(farm)
    assert sent.take() == ["lower"]


class Lengths:
    """A broker that has so many tickets."""

    def __init__(self, tickets: int) -> None:
        self._tickets = tickets

    def queue_lengths(self, queues: Any) -> dict[str, int]:
        return dict.fromkeys(queues, self._tickets)


@pytest.mark.parametrize(("tickets", "sends"), [(0, ["lower"]), (1, []), (5, [])])
def test_queues_without_tickets_get_some(
    farm: Farm, lowering: Exploration, sent: Any, monkeypatch: pytest.MonkeyPatch, tickets: int, sends: list[str]
) -> None:
    monkeypatch.setattr(type(farm.bus), "queue_lengths", Lengths(tickets).queue_lengths)
    top_up(farm)
    assert sent.take() == sends


def test_builds_whose_time_has_not_come_need_no_ticket(
    farm: Farm, lowering: Exploration, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(farm.bus), "queue_lengths", Lengths(0).queue_lengths)
    with farm.database.write() as session:
        session.execute(update(Build).values(not_before=utcnow() + timedelta(seconds=30)))
    top_up(farm)
    assert sent.take() == []
