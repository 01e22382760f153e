from datetime import timedelta
from typing import get_args

import pytest
from farm_states import QUEUES, add_designs, announce, set_state, state_of, take, work
from sqlalchemy import update

from compiler.metrics import Fidelity, Metric
from db.errors import LeaseLostError
from db.models import Build, Exploration, Failure
from db.repositories import builds, designs, leases, relations
from db.types import utcnow
from worker.farm import Farm
from worker.ladder.flow import advance, clone_build, start_build
from worker.running.orders import Order
from worker.running.recording import RETRIES, record
from worker.stages.outcome import Outcome
from worker.store.artifacts import StoredFile


@pytest.fixture
def lowering(farm: Farm, exploration: Exploration) -> Order:
    """The import that the exploration waits for, claimed."""
    announce(farm)
    advance(farm, exploration.id)
    return claimed(farm)


def claimed(farm: Farm) -> Order:
    with farm.database.write() as session:  # whatever it waits for
        session.execute(update(Build).values(not_before=None))
    order = take(farm, "lower")
    assert order is not None
    return order


def failed(failure: Failure) -> Outcome:
    return Outcome(None, {}, failure=failure, error=f"the {failure} went wrong")


def build_of(farm: Farm, order: Order) -> Build:
    with farm.database.read() as session:
        return builds.get(session, order.build_id)


@pytest.mark.parametrize("failure", get_args(Failure))
def test_a_build_fails_for_good_after_as_many_attempts_as_its_failure_is_worth(
    farm: Farm, exploration: Exploration, lowering: Order, failure: Failure
) -> None:
    order, attempts = lowering, RETRIES[failure].attempts
    for attempt in range(1, attempts):
        record(farm, order, failed(failure), None)
        build = build_of(farm, order)
        assert (build.state, build.attempt, len(build.history)) == ("queued", attempt, attempt)
        assert state_of(farm, exploration) == "lowering"
        order = claimed(farm)
    record(farm, order, failed(failure), None)
    build = build_of(farm, order)
    assert (build.state, build.failure, build.attempt) == ("failed", failure, attempts)
    assert state_of(farm, exploration) == "failed"


def test_failures_of_other_kinds_do_not_count(farm: Farm, lowering: Order) -> None:
    for failure in ("tool", "timeout", "node", "licence"):
        record(farm, lowering, failed(failure), None)
        lowering = claimed(farm)
    record(farm, lowering, failed("tool"), None)
    assert build_of(farm, lowering).state == "failed"


def test_waits_for_a_licence_grow_to_ten_minutes() -> None:
    waits = [RETRIES["licence"].wait_s(n) for n in range(1, 20)]
    assert waits[:6] == [30, 60, 120, 240, 480, 600]
    assert max(waits) == 600


def test_a_licence_is_waited_for(farm: Farm, lowering: Order) -> None:
    record(farm, lowering, failed("licence"), None)
    not_before = build_of(farm, lowering).not_before
    assert not_before is not None
    assert timedelta(seconds=20) < not_before - utcnow() <= timedelta(seconds=30)
    assert take(farm, "lower") is None


def test_what_follows_is_in_the_same_transaction(farm: Farm, exploration: Exploration, lowering: Order) -> None:
    files = (StoredFile("simulation.json", "a" * 64, 1, "application/json"),)
    seen: list[str] = []

    def effect(_farm: Farm, session: object) -> None:
        seen.append("effect")

    metric = Metric("latency", 1.0, "us", Fidelity.SIMULATE)
    record(farm, lowering, Outcome({"passed": True}, {"t": "1"}, (metric,), files, effect=effect), "f" * 64)
    build = build_of(farm, lowering)
    assert (build.state, build.verdict, build.tool_versions) == ("done", {"passed": True}, {"t": "1"})
    assert build.log_digest == "f" * 64
    assert seen == ["effect"]
    assert state_of(farm, exploration) == "searching"
    with farm.database.read() as session:
        assert list(relations.files_of(session, build.id)) == ["simulation.json"]


@pytest.mark.parametrize("measured", [False, True])
def test_a_failure_takes_the_place_of_what_was_measured_only_with_metrics(
    farm: Farm, exploration: Exploration, measured: bool
) -> None:
    announce(farm, (*QUEUES, "csynth@2022.1"))
    [design, *_] = add_designs(farm, exploration)
    set_state(farm, exploration, "done")
    with farm.database.write() as session:
        first = start_build(farm, session, designs.get(session, design), "csynth")
    work(farm)
    with farm.database.write() as session:
        clone = clone_build(farm, session, first.id, {"vitis": "2022.1"})
    order = take(farm, "csynth@2022.1")
    assert order is not None
    metrics = (Metric("latency", 9.0, "us", Fidelity.CSYNTH),) if measured else ()
    record(farm, order, Outcome(None, {}, metrics, failure="licence", error="none left"), None)
    with farm.database.read() as session:
        found = designs.metrics_of(session, [design])[design]
    assert {m.build_id for m in found if m.fidelity == "csynth"} == {clone.id if measured else first.id}


def test_nothing_is_written_without_the_lease(farm: Farm, lowering: Order) -> None:
    with farm.database.write() as session:
        leases.revoke(session, lowering.build_id)
    effects: list[object] = []
    with pytest.raises(LeaseLostError):
        record(farm, lowering, Outcome({}, {}, effect=lambda f, _: effects.append(f)), "f" * 64)
    build = build_of(farm, lowering)
    assert (build.state, build.verdict, build.log_digest, effects) == ("queued", None, None, [])


def test_an_effect_that_fails_leaves_nothing_behind(farm: Farm, lowering: Order) -> None:
    def effect(_farm: Farm, _session: object) -> None:
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        record(farm, lowering, Outcome({}, {}, effect=effect), None)
    assert build_of(farm, lowering).state == "running"
