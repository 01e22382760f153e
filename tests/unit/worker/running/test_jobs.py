from typing import Any

import pytest
from farm_states import announce, take
from sqlalchemy import update

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
