"""The searches of an exploration: one build for each island's turn (`dse.turns`).

The options of such a build say what it does: designs with numbers below `known` are its history, and it adds `count`
from number `first`. So its key is that of the same turn of another exploration, which adopts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from db.models import Build, Exploration
from db.repositories import builds, designs, explorations
from db.repositories.explorations import Counts
from db.repositories.new_build import NewBuild
from dse.turns import Turn, next_turns
from worker.farm import Farm
from worker.ladder import table as ladder
from worker.ladder.versions import digest, tools_of


def turn_of(options: Mapping[str, Any]) -> Turn:
    """Of a search's build."""
    return Turn(options["first"], options["count"], options["island"], options["islands"])


def last_turn(session: Session, exploration: Exploration) -> Sequence[Build]:
    """The builds of the newest turn; none where there is none yet of this version of the search."""
    found = builds.of_exploration(session, exploration.id, "search")
    found = [build for build in found if build.tool_versions == tools_of("search", {})]
    newest = max((build.options["known"] for build in found), default=0)
    return [build for build in found if build.options["known"] == newest]


def next_turn(farm: Farm, session: Session, exploration: Exploration, last: Sequence[Build]) -> Sequence[Build]:
    """Makes the builds of the turn behind the last one, which is done; none where the budget is spent, or no island
    finds anything new any more.
    """
    if last and all((build.verdict or {}).get("exhausted") for build in last):
        return ()
    ends = (turn_of(build.options).end for build in last)
    known = max(designs.next_number(session, exploration.id), *ends, 0)
    evaluated = explorations.counts(session, [exploration.id]).get(exploration.id, Counts()).evaluated
    turns = next_turns(exploration.budget, exploration.options.get("islands", 1), evaluated, known)
    return [builds.ensure(session, _new_build(farm, exploration, turn, known)) for turn in turns]


def _new_build(farm: Farm, exploration: Exploration, turn: Turn, known: int) -> NewBuild:
    return ladder.new_build(
        "search",
        digest(exploration.workload.digest, exploration.platform, exploration.objectives),
        {**exploration.options, "budget": exploration.budget, "known": known, **asdict(turn)},
        farm.settings,
        exploration_id=exploration.id,
        owner=exploration.owner or "",
        priority=exploration.priority,
    )
