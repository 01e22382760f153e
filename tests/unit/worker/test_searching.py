from types import SimpleNamespace
from typing import Any

import pytest
from farm_states import set_state, state_of
from sqlalchemy.exc import OperationalError

from compiler.errors import Violation
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs, TaskOverride
from db.errors import LeaseLostError
from db.models import Exploration
from db.repositories import builds, designs, events, explorations, leases
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign
from worker.farm import Farm
from worker.searching import TableSink, chosen, search, stored_designs
from worker.stages import Stages, load_stages


def design(number: int, latency: float | None, energy: float | None, **values: Any) -> EvaluatedDesign:
    knobs = Knobs(default_tile_size=number + 1, overrides=(TaskOverride("fc1", tile=4, order=(1, 0)),))
    metric = Metric("latency", float(number), "us", Fidelity.ESTIMATE, "millrace", "0")
    evaluation = Evaluation(knobs, latency, energy, (metric,), seconds=0.5, **values)
    return EvaluatedDesign(number, knobs, evaluation, f"key{number}")


@pytest.fixture
def token(farm: Farm, exploration: Exploration) -> int:
    set_state(farm, exploration, "searching")
    with farm.database.write() as session:
        taken = leases.claim(session, Exploration, exploration.id, "w", 60, ("searching",))
    assert taken is not None
    return taken


def test_designs_come_back_as_they_were_found(farm: Farm, exploration: Exploration, token: int) -> None:
    found = [
        design(0, 3.0, 1.0),
        design(1, 1.0, 2.0, violations=(Violation("dsp", 10.0, 9.0),)),
        design(2, None, None, reason="the tile does not fit"),
    ]
    TableSink(farm, exploration.id, token, []).write(found)
    with farm.database.read() as session:
        assert stored_designs(session, exploration.id) == found


def test_front_grows_with_the_batches(farm: Farm, exploration: Exploration, token: int) -> None:
    sink = TableSink(farm, exploration.id, token, [])
    sink.write([design(0, 3.0, 3.0), design(1, 5.0, 1.0)])
    sink.write([design(2, 2.0, 2.0), design(3, 1.0, 9.0, violations=(Violation("dsp", 10.0, 9.0),))])
    with farm.database.read() as session:
        assert [d.number for d in designs.front(session, exploration.id)] == [2, 1]
        told = events.since(session, exploration.id, 0)
        assert [e.kind for e in told] == ["designs", "front", "designs", "front"]
        assert told[2].data["on_front"] == [True, False]
        assert told[2].data["feasible"] == [True, False]


def test_history_counts_for_the_front(farm: Farm, exploration: Exploration, token: int) -> None:
    history = [design(0, 1.0, 1.0)]
    TableSink(farm, exploration.id, token, []).write(history)
    TableSink(farm, exploration.id, token, history).write([design(1, 2.0, 2.0)])
    with farm.database.read() as session:
        assert [d.number for d in designs.front(session, exploration.id)] == [0]


def test_lost_lease_writes_nothing(farm: Farm, exploration: Exploration, token: int) -> None:
    sink = TableSink(farm, exploration.id, token, [])
    assert not sink.should_stop()
    with farm.database.write() as session:
        leases.revoke(session, Exploration, exploration.id)
    assert sink.should_stop()
    with pytest.raises(LeaseLostError):
        sink.write([design(0, 1.0, 1.0)])
    with farm.database.read() as session:
        assert not designs.stored(session, exploration.id)
        assert not events.since(session, exploration.id, 0)


def test_batch_is_stored_whole_or_not_at_all(farm: Farm, exploration: Exploration, token: int) -> None:
    sink = TableSink(farm, exploration.id, token, [])
    with pytest.raises(Exception, match="UNIQUE"):
        sink.write([design(0, 1.0, 1.0), design(0, 2.0, 0.5)])
    with farm.database.read() as session:
        assert not designs.stored(session, exploration.id)


def row(key: str, latency: float, energy: float) -> Any:
    return SimpleNamespace(key=key, latency_us=latency, energy_uj=energy)


def test_ends_and_knee_are_verified_first() -> None:
    front = [row("a", 1, 100), row("b", 2, 90), row("c", 3, 5), row("d", 50, 4), row("e", 100, 1)]
    assert [d.key for d in chosen(front, 3)] == ["a", "c", "e"]
    assert [d.key for d in chosen(front, 1)] == ["a"]
    assert [d.key for d in chosen(front, 0)] == []
    assert len(chosen(front, 4)) == 4
    assert [d.key for d in chosen(front, 32)] == list("abcde")
    assert [d.key for d in chosen(front[:1], 3)] == ["a"]
    assert [d.key for d in chosen(front[:2], 3)] == ["a", "b"]


@pytest.fixture
def stages() -> Stages:
    return load_stages("service_stages:STAGES")


def test_search_ends_with_builds_of_the_front(farm: Farm, exploration: Exploration, token: int, stages: Stages) -> None:
    search(farm, stages, exploration.id, token)
    assert state_of(farm, exploration) == "verifying"
    with farm.database.read() as session:
        assert [d.number for d in designs.stored(session, exploration.id)] == list(range(24))
        front = designs.front(session, exploration.id)
        queued = builds.of_exploration(session, exploration.id)
        assert {front[0].id, front[-1].id} <= {b.design_id for b in queued}
        assert explorations.get(session, exploration.id).lease_owner is None


def test_interrupted_search_goes_on_from_what_is_stored(
    farm: Farm, exploration: Exploration, token: int, stages: Stages
) -> None:
    class Full(TableSink):
        batches = 0

        def write(self, designs: Any) -> None:
            Full.batches += 1
            if Full.batches == 2:
                raise OperationalError("INSERT", {}, Exception("database or disk is full"))
            super().write(designs)

    sink = Full(farm, exploration.id, token, [])
    from small_graphs import mlp

    from compiler.platforms.platform import load_platform
    from dse.explore import SearchOptions

    options = SearchOptions(budget=24, sampler="random")
    with pytest.raises(OperationalError):
        stages.search(mlp(), load_platform("u55c"), options, sink)
    with farm.database.read() as session:
        assert len(designs.stored(session, exploration.id)) == 16
    search(farm, stages, exploration.id, token)
    with farm.database.read() as session:
        stored = designs.stored(session, exploration.id)
        assert [d.number for d in stored] == list(range(24))
        assert len({d.key for d in stored}) == 24
