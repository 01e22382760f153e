"""The Pareto fronts of stored designs."""

from collections.abc import Iterable

from db.models import Design, Exploration
from dse.archive import Entry, front_of
from dse.promote import Rated


def rated(exploration: Exploration, rows: Iterable[Design]) -> list[Rated]:
    """Its designs that can be built."""
    names = exploration.objectives
    return [Rated.of(d.key, names, d.objectives, d.simulated_us) for d in rows if d.objectives]


def estimated_front(rows: Iterable[Design]) -> list[Entry]:
    """The Pareto front of the designs that can be built, by estimate."""
    return front_of((design.key, design.objectives) for design in rows if design.objectives)
