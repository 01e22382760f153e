from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from evaluations import evaluated
from farm_states import announce, another, builds_of, now, run_build, state_of, take, told, work, work_once
from service_stages import STAGES, ServiceStages, evaluate
from small_graphs import mlp
from small_searches import MemorySink
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from compiler.errors import Violation
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs, TaskOverride
from compiler.platforms.platform import load_platform
from db.errors import LeaseLostError
from db.models import Build, Exploration
from db.repositories import designs, events, explorations, leases
from db.repositories.designs import NewDesign
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult
from dse.islands import search_islands
from worker.farm import Farm
from worker.fronts import estimated_front
from worker.ladder import flow
from worker.ladder.islands import turn_of
from worker.stages.context import JobContext
from worker.stages.searching import TableSink, stored_designs


def design(number: int, latency: float | None, energy: float | None, **values: Any) -> EvaluatedDesign:
    knobs = Knobs(default_tile_size=number + 1, overrides=(TaskOverride("fc1", tile=4, order=(1, 0)),))
    if latency is None or energy is None:
        return EvaluatedDesign(number, knobs, Evaluation(knobs, seconds=0.5, **values), f"key{number}")
    evaluation = evaluated(knobs, latency, energy, seconds=0.5, **values)
    return EvaluatedDesign(number, knobs, evaluation, f"key{number}")


@pytest.fixture
def job(farm: Farm, exploration: Exploration, tmp_path: Path) -> JobContext:
    """A search that is under way."""
    announce(farm)
    flow.advance(farm, exploration.id)
    assert work_once(farm) == "lower"
    order = take(farm, "search")
    assert order is not None

    def held() -> bool:
        with farm.database.read() as session:
            return leases.holds(session, order.build_id, order.token)

    [build] = builds_of(farm, exploration, "search")
    return JobContext(build, order.token, print, tmp_path, held)


def sink_of(farm: Farm, exploration: Exploration, job: JobContext) -> TableSink:
    return TableSink(farm, exploration, load_platform("u55c"), job)


def test_designs_come_back_as_they_were_found(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    found = [
        design(0, 3.0, 1.0),
        design(1, 1.0, 2.0, violations=(Violation("dsp", 10.0, 9.0),)),
        design(2, None, None, reason="the tile does not fit"),
    ]
    sink_of(farm, exploration, job).write(found)
    with farm.database.read() as session:
        assert stored_designs(session, exploration.id) == found


def test_values_that_can_not_be_are_flagged(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    wild = Metric("power", inf, "W", Fidelity.ESTIMATE)
    found = design(0, 3.0, 1.0)
    evaluation = replace(found.evaluation, metrics=(*found.evaluation.metrics, wild))
    sink_of(farm, exploration, job).write([replace(found, evaluation=evaluation), design(1, 2.0, 2.0)])
    with farm.database.read() as session:
        first, second = designs.stored(session, exploration.id)
        assert [flag["metric"] for flag in first.flags] == ["power"]
        assert second.flags == []
        assert [m.name for m in designs.metrics_of(session, [first.id])[first.id]] == ["latency", "energy", "area"]


def test_front_grows_with_the_batches(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    sink = sink_of(farm, exploration, job)
    sink.write([design(0, 3.0, 3.0), design(1, 5.0, 1.0)])
    sink.write([design(2, 2.0, 2.0), design(3, 1.0, 9.0, violations=(Violation("dsp", 10.0, 9.0),))])
    with farm.database.read() as session:
        assert [d.number for d in designs.front(session, exploration.id)] == [2, 1]
        kinds = [e.kind for e in events.since(session, exploration.id, 0)]
    assert kinds[-4:] == ["designs", "front", "designs", "front"]
    _, last = told(farm, exploration, "designs")
    assert (last["on_front"], last["feasible"]) == ([True, False], [True, False])
    assert last["number"] == [2, 3]


def test_the_front_is_of_the_exploration_s_objectives(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    """The last design is beaten in latency and energy, and smaller than all others."""
    with farm.database.write() as session:
        explorations.get(session, exploration.id).objectives = ["area", "latency", "energy"]
    with farm.database.read() as session:
        asked = explorations.get(session, exploration.id)
    found = [design(0, 3.0, 3.0, area=5.0), design(1, 5.0, 5.0, area=6.0), design(2, 9.0, 9.0, area=4.0)]
    sink_of(farm, asked, job).write([*found, design(3, None, None, reason="the tile does not fit")])
    with farm.database.read() as session:
        assert [d.objectives for d in designs.stored(session, exploration.id)][1:] == [[6, 5, 5], [4, 9, 9], []]
        assert [d.number for d in designs.front(session, exploration.id)] == [2, 0]
        assert designs.front_ids(session, exploration.id) == [d.id for d in designs.front(session, exploration.id)]
    [told_of] = told(farm, exploration, "designs")
    assert told_of["objectives"] == [[5, 6, 4, None], [3, 5, 9, None], [3, 5, 9, None]]


def test_history_counts_for_the_front(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    history = [design(0, 1.0, 1.0)]
    sink_of(farm, exploration, job).write(history)
    sink_of(farm, exploration, job).write([design(1, 2.0, 2.0)])
    with farm.database.read() as session:
        assert [d.number for d in designs.front(session, exploration.id)] == [0]


def test_lost_lease_writes_nothing(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    sink = sink_of(farm, exploration, job)
    assert not sink.should_stop()
    with farm.database.write() as session:
        leases.revoke(session, job.build.id)
    assert sink.should_stop()
    with pytest.raises(LeaseLostError):
        sink.write([design(0, 1.0, 1.0)])
    with farm.database.read() as session:
        assert not designs.stored(session, exploration.id)
    assert told(farm, exploration, "designs") == []


def test_batch_is_stored_whole_or_not_at_all(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    sink = sink_of(farm, exploration, job)
    with pytest.raises(Exception, match="UNIQUE"):
        sink.write([design(0, 1.0, 1.0), design(0, 2.0, 0.5)])
    with farm.database.read() as session:
        assert not designs.stored(session, exploration.id)


@pytest.fixture
def found(farm: Farm, exploration: Exploration, job: JobContext) -> Build:
    """The search, run to its end."""
    run_build(farm, job.build)
    [build] = builds_of(farm, exploration, "search")
    return build


def test_search_ends_with_a_front_to_simulate(farm: Farm, exploration: Exploration, found: Build) -> None:
    assert (found.state, found.lease_owner) == ("done", None)
    assert found.verdict is not None
    assert found.verdict["designs"] == 24
    assert state_of(farm, exploration) == "simulating"
    with farm.database.read() as session:
        assert [d.number for d in designs.stored(session, exploration.id)] == list(range(24))
        assert len(designs.front_ids(session, exploration.id)) == found.verdict["front"]


def test_a_refuted_design_is_not_on_the_front_that_goes_up(
    farm: Farm, exploration: Exploration, job: JobContext
) -> None:
    """Someone had it simulated while the search went on, which goes by estimates alone."""
    knobs = {"overall_unroll": 65536, "default_tile_size": 16}
    with farm.database.write() as session:
        new = NewDesign(0, "best", knobs, True, 1e-3, 1e-3, [1e-3, 1e-3], [], None, 0.1, ())
        [best] = designs.add(session, exploration.id, [new])
        designs.set_simulated(session, best, None, "a waits for b", [])
    run_build(farm, job.build)
    assert state_of(farm, exploration) == "simulating"
    with farm.database.read() as session:
        front = designs.front_ids(session, exploration.id)
    assert front
    assert best not in front


@pytest.mark.parametrize(
    ("at_most", "said"),
    [
        ({}, "none of the 0 designs fits the u55c; try a larger budget"),
        ({"lut": 4.0, "hbm_ports": 2}, "fits the u55c with at most lut 4 %, hbm_ports 2; try more than that, a larger"),
    ],
)
def test_nothing_that_fits_fails_the_exploration(
    farm: Farm, exploration: Exploration, job: JobContext, at_most: dict[str, float], said: str
) -> None:
    class Nothing(ServiceStages):
        def search(self, *_: Any) -> SearchResult:
            return SearchResult((), (), None, 0, False, True, 0.0, 0.0)

    with farm.database.write() as session:
        row = explorations.get(session, exploration.id)
        row.options = row.options | {"at_most": at_most}
    run_build(farm, job.build, Nothing())
    assert said in str(now(farm, exploration).error)


def test_interrupted_search_goes_on_from_what_is_stored(farm: Farm, exploration: Exploration, job: JobContext) -> None:
    class Full(TableSink):
        batches = 0

        def write(self, designs: Any) -> None:
            Full.batches += 1
            if Full.batches == 2:
                raise OperationalError("INSERT", {}, Exception("database or disk is full"))
            super().write(designs)

    options, u55c = SearchOptions(budget=24, sampler="random"), load_platform("u55c")
    with pytest.raises(OperationalError):
        STAGES.search(mlp(), u55c, options, Full(farm, exploration, u55c, job), (), turn_of(job.build.options), ())
    with farm.database.read() as session:
        assert len(designs.stored(session, exploration.id)) == 16
    run_build(farm, job.build)
    with farm.database.read() as session:
        stored = designs.stored(session, exploration.id)
        assert [d.number for d in stored] == list(range(24))
        assert len({d.key for d in stored}) == 24


class _LostError(Exception):
    """The machine is gone."""


class _Dying(ServiceStages):
    """Its search is lost behind the first batch."""

    def search(self, graph: Any, platform: Any, options: Any, sink: Any, *rest: Any) -> SearchResult:
        def lost() -> bool:
            if written:
                raise _LostError
            return False

        written, write = list[Any](), sink.write
        sink.should_stop, sink.write = lost, lambda batch: (write(batch), written.append(batch))
        return super().search(graph, platform, options, sink, *rest)


@pytest.fixture
def islands(farm: Farm, exploration: Exploration) -> Exploration:
    """An exploration whose search is three islands, ready to be searched."""
    announce(farm)
    one = another(farm, exploration, islands=3)
    with farm.database.write() as session:
        explorations.get(session, one.id).budget = 200
    flow.advance(farm, one.id)
    assert work_once(farm) == "lower"
    return one


def as_one_process() -> list[tuple[int, str]]:
    """What the islands find."""
    options = SearchOptions(200, islands=3, sampler="random", jobs=1)
    found, _ = search_islands(mlp(), load_platform("u55c"), options, MemorySink(), evaluate)
    return [(d.number, d.key) for d in found]


def stored(farm: Farm, exploration: Exploration) -> list[tuple[int, str]]:
    with farm.database.read() as session:
        return [(d.number, d.key) for d in designs.stored(session, exploration.id)]


def test_islands_find_the_same_in_whatever_order_they_run(farm: Farm, islands: Exploration) -> None:
    """The builds of a turn run backwards, and the last is lost once in the middle of its work."""
    turn = builds_of(farm, islands, "search")
    assert [b.options["first"] for b in turn] == [0, 64, 128]
    with pytest.raises(_LostError):
        run_build(farm, turn[2], _Dying())
    begun = stored(farm, islands)
    assert begun
    assert min(number for number, _ in begun) >= 128
    for build in reversed(turn):
        run_build(farm, build)
    assert len(builds_of(farm, islands, "search")) > 3
    assert state_of(farm, islands) == "searching"
    work(farm, "search")
    assert stored(farm, islands) == as_one_process()
    assert state_of(farm, islands) == "simulating"
    with farm.database.read() as session:
        front = [d.key for d in designs.front(session, islands.id)]
        assert front == [e.key for e in estimated_front(designs.candidates(session, islands.id))]


def test_the_same_search_is_not_run_again(farm: Farm, exploration: Exploration, found: Build) -> None:
    second, other = another(farm, exploration), another(farm, exploration, seed=7)
    for one in (second, other):
        flow.advance(farm, one.id)
    [adopted] = builds_of(farm, second, "search")
    assert (adopted.state, adopted.adopted_from) == ("done", found.id)
    assert state_of(farm, other) == "searching"
    with farm.database.read() as session:
        fronts = [[d.key for d in designs.front(session, e.id)] for e in (exploration, second)]
    assert fronts[0] == fronts[1]
    assert sum(len(e["id"]) for e in told(farm, second, "designs")) == 24
    assert work(farm, "search") == ["search"]


def test_turns_of_islands_are_adopted_one_by_one(farm: Farm, islands: Exploration) -> None:
    work(farm, "search")
    with farm.database.write() as session:
        second = another(farm, islands)
        explorations.get(session, second.id).budget = 200
    flow.advance(farm, second.id)
    assert {b.adopted_from for b in builds_of(farm, second, "search")} == {
        b.id for b in builds_of(farm, islands, "search")
    }
    assert stored(farm, second) == stored(farm, islands)
    assert state_of(farm, second) == "simulating"
    assert sum(len(e["id"]) for e in told(farm, second, "designs")) == 200


def test_a_cancelled_turn_goes_on_where_it_was(farm: Farm, islands: Exploration) -> None:
    _, second, _ = builds_of(farm, islands, "search")
    run_build(farm, second)
    with farm.database.write() as session:
        flow.cancel(farm, session, islands.id)
        flow.resume(farm, session, islands.id)
    assert [b.state for b in builds_of(farm, islands, "search")] == ["queued", "done", "queued"]
    work(farm, "search")
    assert stored(farm, islands) == as_one_process()


def test_a_later_release_goes_on_from_all_that_an_earlier_one_found(farm: Farm, islands: Exploration) -> None:
    for build in builds_of(farm, islands, "search"):
        run_build(farm, build)
    before = stored(farm, islands)
    with farm.database.write() as session:
        flow.cancel(farm, session, islands.id)
        for build in session.scalars(select(Build).where(Build.stage == "search")):
            build.key, build.tool_versions = build.id, {"search": "of an earlier release"}
        flow.resume(farm, session, islands.id)
    assert {b.options["known"] for b in builds_of(farm, islands, "search") if b.state == "queued"} == {192}
    work(farm, "search")
    after = stored(farm, islands)
    assert after[: len(before)] == before
    assert len(after) == 200
