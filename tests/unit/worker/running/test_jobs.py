from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from farm_states import announce, take
from sqlalchemy import update

from compiler.machine import find_machine
from db.models import Build, Exploration
from worker.errors import CorruptArtifactError, DiskFullError, StoreAwayError
from worker.farm import Farm
from worker.ladder.flow import advance
from worker.ladder.versions import tools_of
from worker.running.jobs import run_stage
from worker.running.orders import Order
from worker.stages.functions import Stages, load_stages
from worker.stages.outcome import Outcome


@pytest.fixture
def lowering(farm: Farm, exploration: Exploration) -> Order:
    announce(farm)
    advance(farm, exploration.id)
    order = take(farm, "lower")
    assert order is not None
    return order


def test_nothing_is_made_with_other_tools_than_the_key_says(farm: Farm, lowering: Order) -> None:
    stages = load_stages(farm.settings.stages)
    assert run_stage(farm, stages, lowering).failure is None
    with farm.database.write() as session:
        session.execute(update(Build).values(tool_versions={"millrace": "0.0.9+older"}))
    outcome = run_stage(farm, stages, lowering)
    assert outcome.failure == "node"
    assert "is to be done with millrace 0.0.9+older" in str(outcome.error)
    assert tools_of("lower", {})["millrace"] not in str(outcome.error)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (StoreAwayError("the store does not answer"), "node"),
        (DiskFullError("no room"), "node"),
        (CorruptArtifactError("not what was stored"), "tool"),
        (MemoryError(), "node"),
    ],
)
def test_what_the_surroundings_do_to_a_stage_is_not_its_tool_s_fault(
    farm: Farm, lowering: Order, error: Exception, failure: str
) -> None:
    class Fails(Stages):
        def run(self, *_: Any) -> Outcome:
            raise error

    assert run_stage(farm, Fails(), lowering).failure == failure


class Writes(Stages):
    """Leaves files in its scratch folder, and then does as it is told."""

    def __init__(self, files: int, size: int, then: Outcome | Exception) -> None:
        self.files, self.size, self.then = files, size, then

    def run(self, _farm: Farm, job: Any) -> Outcome:
        for number in range(self.files):
            (job.scratch / str(number)).write_bytes(bytes(self.size))
        if isinstance(self.then, Exception):
            raise self.then
        return self.then


FAILED = Outcome(None, {}, failure="tool", error="a tool crashed")


@pytest.mark.parametrize(
    ("stages", "failure", "says"),
    [
        (Writes(3, 100, FAILED), "tool", "a tool crashed"),
        (Writes(50, 100, FAILED), "limit", "limit of files"),
        (Writes(4, 300_000, FAILED), "limit", "limit of disk"),
        (Writes(1, 2_000_000, FAILED), "limit", "limit of disk"),  # no file is larger: the write is refused
        (Writes(4, 300_000, Outcome({}, {})), None, None),  # what has ended well was not too large
    ],
)
def test_a_job_that_fails_at_a_limit_fails_for_it(
    farm: Farm, lowering: Order, stages: Stages, failure: str | None, says: str | None
) -> None:
    small = replace(lowering, limits=replace(lowering.limits, files=20, disk_gb=1_000_000 / (1 << 30)))
    outcome = run_stage(farm, stages, small)
    assert outcome.failure == failure
    assert says is None or says in str(outcome.error)
    assert not Path(lowering.scratch).exists()


def test_a_job_is_told_how_much_memory_it_has(farm: Farm, lowering: Order) -> None:
    found: list[int] = []

    class Looks(Stages):
        def run(self, *_: Any) -> Outcome:
            found.append(find_machine().memory_bytes)
            return Outcome({}, {})

    run_stage(farm, Looks(), replace(lowering, limits=replace(lowering.limits, memory_gb=0.5)))
    assert found == [1 << 29]
    assert find_machine().memory_bytes > 1 << 29
