"""What becomes of builds whose makers' files are lost, where those can not be made again."""

from typing import Any

import pytest
from farm_states import add_designs, announce, builds_of, set_state, state_of, take, told, work, work_once

from db.models import Build, DesignStage, Exploration, Stage
from db.repositories import builds, designs, relations
from worker.farm import Farm
from worker.ladder import flow
from worker.running.recording import record
from worker.stages.outcome import Outcome
from worker.stages.stored import LostFileError, from_store

CSYNTH = "csynth@2023.2"
CRASH = Outcome(None, {}, failure="tool", error="crash")


@pytest.fixture
def first(farm: Farm, exploration: Exploration) -> str:
    announce(farm)
    first, *_ = add_designs(farm, exploration)
    set_state(farm, exploration, "building")
    return first


def start(farm: Farm, design: str, *stages: DesignStage) -> None:
    with farm.database.write() as session:
        for stage in stages:
            flow.start_build(farm, session, designs.get(session, design), stage)


def the(farm: Farm, exploration: Exploration, stage: Stage) -> Build:
    [build] = builds_of(farm, exploration, stage)
    return build


def lose_files(farm: Farm, build: Build) -> None:
    """What others read of it; not what the reports of others have in common with it."""
    with farm.database.read() as session:
        found = relations.files_of(session, build.id)
    for path, digest in found.items():
        if path.endswith((".cpp", ".xo")):
            farm.store.delete(digest)


def fail(farm: Farm, queue: str) -> None:
    """As often as it takes."""
    for _ in range(2):
        order = take(farm, queue)
        assert order is not None
        record(farm, order, CRASH, None)


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_what_needs_files_from_further_down_is_cancelled_where_their_maker(
    farm: Farm, exploration: Exploration, first: str, how: str
) -> None:
    start(farm, first, "link")
    assert [work_once(farm), work_once(farm)] == ["csim", "csynth"]
    lose_files(farm, the(farm, exploration, "csim"))
    assert work_once(farm) == "link"
    assert (the(farm, exploration, "csynth").state, the(farm, exploration, "link").state) == ("done", "blocked")
    if how == "fails":
        fail(farm, "csim")
    else:
        with farm.database.write() as session:
            flow.cancel_build(farm, session, the(farm, exploration, "csim").id)
    assert the(farm, exploration, "link").state == "cancelled"
    assert work(farm) == ["calibrate"]
    assert state_of(farm, exploration) == "done"


def test_what_finds_that_its_maker_has_failed_meanwhile_is_cancelled(
    farm: Farm, exploration: Exploration, first: str
) -> None:
    """The cosim was taken before its csynth was run again."""
    start(farm, first, "cosim", "link")
    assert [work_once(farm, "csim"), work_once(farm, CSYNTH)] == ["csim", "csynth"]
    csynth = the(farm, exploration, "csynth")
    lose_files(farm, csynth)
    assert work_once(farm, the(farm, exploration, "link").queue) == "link"
    fail(farm, CSYNTH)

    def lost(*_: Any) -> Outcome:
        raise LostFileError(csynth.id, "left no files")

    order = take(farm, "cosim@2023.2")
    assert order is not None
    with farm.database.read() as session:
        job: Any = type("Job", (), {"build": builds.get(session, order.build_id)})()
    record(farm, order, from_store(lost)(farm, None, job), None)  # pyright: ignore[reportArgumentType]
    cosim = the(farm, exploration, "cosim")
    assert cosim.state == "cancelled"
    assert cosim.error == f"csynth {csynth.id}, which it waited for, failed: crash"
    assert told(farm, exploration, "build")[-1]["state"] == "cancelled"
    assert state_of(farm, exploration) == "done"
    assert work(farm) == []
