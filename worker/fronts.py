"""The Pareto fronts of stored designs."""

from collections.abc import Iterable

from db.models import Design
from dse.archive import Entry, ParetoArchive
from dse.promote import Rated


def rated(rows: Iterable[Design]) -> list[Rated]:
    """Designs that have both objectives."""
    return [
        Rated(d.key, d.latency_us, d.simulated_us, d.energy_uj)
        for d in rows
        if d.latency_us is not None and d.energy_uj is not None
    ]


def estimated_front(rows: Iterable[Design]) -> list[Entry]:
    """The Pareto front of the designs by estimate."""
    archive = ParetoArchive()
    for design in rated(rows):
        archive.add(design.key, (design.estimated_us, design.energy_uj))
    return archive.front()
