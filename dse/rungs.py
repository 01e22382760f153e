"""Which designs go up the rungs that cost minutes to days: C synthesis, RTL simulation, link, the board.

A budget is a number of builds. Each choice is a ranking: whatever is left out, because it was chosen before or has no
point, hands its place to the next one, and all others keep theirs. So a choice may be made again at any time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from compiler.platforms.platform import Platform
from dse.archive import Entry, front_of
from dse.promote import calibration_sample, ranking

CALIBRATION_SHARE = 4
"""One in so many csynth builds goes to a design beside the front, at least one where there are three."""


@dataclass(frozen=True, slots=True)
class Synthesised:
    """A design that passed csynth: its objectives, by csynth where that has them, and what it uses by resource."""

    key: str
    objectives: tuple[float, ...]
    amounts: Mapping[str, float]


def calibration_count(budget: int) -> int:
    """How many of `budget` csynth builds are for calibration."""
    return max(budget // CALIBRATION_SHARE, int(budget >= 3))


def to_synthesise(
    front: Sequence[Entry], feasible: Iterable[str], budget: int, seed: int, without: Collection[str] = ()
) -> list[str]:
    """Up to `budget` designs for csynth: the front's ends, knee and widest gaps first, and a calibration sample of the
    other `feasible` ones. Where one of the two is short the other takes its places. None of `without`.
    """
    inside = [entry.key for entry in ranking(front) if entry.key not in without]
    beside = [
        key
        for key in calibration_sample(feasible, {entry.key for entry in front}, budget + len(without), seed)
        if key not in without
    ]
    sample = min(calibration_count(budget), len(beside))
    picks = inside[: max(0, budget - sample)]
    return [*picks, *beside[: max(0, budget - len(picks))]]


def by_front(designs: Iterable[Synthesised]) -> list[str]:
    """All of them: their front by its ends, knee and widest gaps, then the others by the first objective."""
    known = sorted(designs, key=lambda d: (d.objectives, d.key))
    best = [entry.key for entry in ranking(front_of((d.key, d.objectives) for d in known))]
    return [*best, *(d.key for d in known if d.key not in set(best))]


def to_link(designs: Iterable[Synthesised], platform: Platform) -> list[str]:
    """Those that fit the board by csynth's amounts, in the order of `by_front`."""
    return by_front(design for design in designs if fits(design.amounts, platform))


def fits(amounts: Mapping[str, float], platform: Platform) -> bool:
    """Whether csynth's amounts are within what a design may use of the board. They are taken as they are: what routing
    makes of them differs by more between designs than the budget has to spare.
    """
    return all(amount <= platform.limit(name) for name, amount in amounts.items() if hasattr(platform.budget, name))


def choose(ranked: Iterable[str], budget: int, taken: Collection[str], without: Collection[str] = ()) -> list[str]:
    """The next of `ranked` until `budget` are taken, those `taken` before included; none of `without`."""
    free = [key for key in ranked if key not in taken and key not in without]
    return free[: max(0, budget - len(taken))]
