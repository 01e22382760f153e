from dataclasses import replace
from math import inf
from typing import Any

import pytest
from farm_states import set_state, state_of
from sqlalchemy.exc import OperationalError

from compiler.errors import Violation
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs, TaskOverride
from db.errors import LeaseLostError
from db.models import Exploration
from db.repositories import designs, events, explorations, leases
from db.repositories.designs import NewDesign
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign
from worker.farm import Farm
from worker.searching import TableSink, search, stored_designs
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
    TableSink(farm, exploration, token, []).write(found)
    with farm.database.read() as session:
        assert stored_designs(session, exploration.id) == found


def test_values_that_can_not_be_are_flagged(farm: Farm, exploration: Exploration, token: int) -> None:
    wild = Metric("power", inf, "W", Fidelity.ESTIMATE)
    found = design(0, 3.0, 1.0)
    evaluation = replace(found.evaluation, metrics=(*found.evaluation.metrics, wild))
    TableSink(farm, exploration, token, []).write([replace(found, evaluation=evaluation), design(1, 2.0, 2.0)])
    with farm.database.read() as session:
        first, second = designs.stored(session, exploration.id)
        assert [flag["metric"] for flag in first.flags] == ["power"]
        assert second.flags == []
        assert [m.name for m in designs.metrics_of(session, [first.id])[first.id]] == ["latency"]


def test_front_grows_with_the_batches(farm: Farm, exploration: Exploration, token: int) -> None:
    sink = TableSink(farm, exploration, token, [])
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
    TableSink(farm, exploration, token, []).write(history)
    TableSink(farm, exploration, token, history).write([design(1, 2.0, 2.0)])
    with farm.database.read() as session:
        assert [d.number for d in designs.front(session, exploration.id)] == [0]


def test_lost_lease_writes_nothing(farm: Farm, exploration: Exploration, token: int) -> None:
    sink = TableSink(farm, exploration, token, [])
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
    sink = TableSink(farm, exploration, token, [])
    with pytest.raises(Exception, match="UNIQUE"):
        sink.write([design(0, 1.0, 1.0), design(0, 2.0, 0.5)])
    with farm.database.read() as session:
        assert not designs.stored(session, exploration.id)


@pytest.fixture
def stages() -> Stages:
    return load_stages("service_stages:STAGES")


def test_search_ends_with_a_front_to_simulate(farm: Farm, exploration: Exploration, token: int, stages: Stages) -> None:
    search(farm, stages, exploration.id, token)
    assert state_of(farm, exploration) == "simulating"
    with farm.database.read() as session:
        assert [d.number for d in designs.stored(session, exploration.id)] == list(range(24))
        assert designs.front_ids(session, exploration.id)
        assert explorations.get(session, exploration.id).lease_owner is None


def test_a_design_that_is_known_to_deadlock_is_not_on_the_front_that_goes_up(
    farm: Farm, exploration: Exploration, token: int, stages: Stages
) -> None:
    """Someone had it simulated while the search went on, which goes by estimates alone."""
    knobs = {"overall_unroll": 65536, "default_tile_size": 16}
    with farm.database.write() as session:
        [best] = designs.add(
            session, exploration.id, [NewDesign(0, "best", knobs, True, 1e-3, 1e-3, [], None, 0.1, ())]
        )
        designs.set_simulated(session, best, None, "a waits for b", [])
    search(farm, stages, exploration.id, token)
    assert state_of(farm, exploration) == "simulating"
    with farm.database.read() as session:
        front = designs.front_ids(session, exploration.id)
    assert front
    assert best not in front


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

    sink = Full(farm, exploration, token, [])
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
