"""Looking at, and moving along, what a farm has stored."""

from db.models import Build, Exploration, ExplorationState
from db.repositories import builds, explorations
from worker.farm import Farm


def lower_build(farm: Farm) -> Build:
    """The only import under way."""
    with farm.database.read() as session:
        [build] = builds.unfinished(session, "lower")
        return build


def state_of(farm: Farm, exploration: Exploration) -> str:
    with farm.database.read() as session:
        return explorations.get(session, exploration.id).state


def set_state(farm: Farm, exploration: Exploration, state: ExplorationState) -> None:
    with farm.database.write() as session:
        now = explorations.get(session, exploration.id).state
        explorations.transition(session, exploration.id, (now,), state)
