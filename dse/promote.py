"""Successive promotion: which designs go up one rung of the fidelity ladder, and how well the rung below did.

The front of the estimates is simulated, and with it a sample of the other feasible designs: a front is chosen by its
estimates, so the errors on it alone would be those of the luckiest ones.

Fidelities are never mixed in one comparison. The front that is shown stays that of the estimates, for every design has
one; what to recommend on it is decided among its simulated designs, by their simulated latency, as soon as there are
any. All else is the estimate in both: what it uses is settled by then, and the energy is that of the work done, which
hardly depends on how long tasks wait for it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil
from statistics import median
from typing import Literal

from dse.archive import Entry, front_of, knee
from dse.objectives import OBJECTIVES, at_latency


@dataclass(frozen=True, slots=True)
class Rated:
    """A feasible design of a front: its objectives by estimate and, where it was simulated, with that latency."""

    key: str
    estimated: tuple[float, ...]
    simulated: tuple[float, ...] | None

    @property
    def best(self) -> tuple[float, ...]:
        """At the best fidelity that is known."""
        return self.estimated if self.simulated is None else self.simulated

    @classmethod
    def of(cls, key: str, names: Sequence[str], estimated: Sequence[float], simulated_us: float | None) -> "Rated":
        """Of the objectives with these `names` and, where it was simulated, its latency by that."""
        known = None if simulated_us is None else at_latency(names, estimated, simulated_us)
        return cls(key, tuple(estimated), known)


@dataclass(frozen=True, slots=True)
class ErrorDistribution:
    """Relative errors of `n` estimates against a better fidelity. `median`, `p95` and `worst` are of absolute values,
    `worst_key` names the design that has the worst. `bias` is the signed median, and nine of ten errors lie from `low`
    to `high`, signed too.
    """

    n: int
    median: float
    p95: float
    worst: float
    bias: float
    low: float
    high: float
    worst_key: str

    @property
    def spread(self) -> float:
        """Half from `low` to `high`: how far errors lie from what all have in common, which moves designs alike."""
        return (self.high - self.low) / 2

    def truth(self, estimate: float) -> tuple[float, float]:
        """From where to where nine of ten designs with this estimate lie. An estimate of more than 0."""
        return estimate / (1 + self.high), estimate / (1 + self.low)


def ranking(front: Sequence[Entry]) -> list[Entry]:
    """A front sorted by the first objective in the order that designs are picked of it: the best in each objective, the
    knee, then always the middle of the widest gap.
    """
    if not front:
        return []
    picks = list(dict.fromkeys([*ends(front), knee(front)]))
    gaps = [(low - high, low, high) for low, high in pairwise(sorted(picks))]
    heapify(gaps)
    while gaps:
        width, low, high = heappop(gaps)
        if width < -1:
            middle = (low + high) // 2
            picks.append(middle)
            heappush(gaps, (low - middle, low, middle))
            heappush(gaps, (middle - high, middle, high))
    return [front[i] for i in picks]


def ends(front: Sequence[Entry]) -> list[int]:
    """Places of the best in each objective of a front that is not empty; of equal ones the first."""
    columns = zip(*(entry.objectives for entry in front), strict=True)
    return [min(range(len(front)), key=column.__getitem__) for column in columns]


def spread(front: Sequence[Entry], count: int) -> list[Entry]:
    """The first `count` of the ranking of a front, sorted as it is."""
    return sorted(ranking(front)[: max(0, count)], key=lambda entry: entry.objectives)


def calibration_sample(keys: Iterable[str], front: Collection[str], count: int, seed: int) -> list[str]:
    """`count` of the designs `keys` that are not in `front`, drawn by the seed; the same ones in whatever order.

    Each design has its place in the draw whatever the others are: where one is gone the next one takes its place, and
    all others stay.
    """
    drawn = sorted(set(keys).difference(front), key=lambda key: blake2b(f"{seed} {key}".encode()).digest())
    return drawn[:count]


def recommended(designs: Iterable[Rated]) -> list[Entry]:
    """The front among the simulated designs by simulated latency; among all by estimate where none is simulated."""
    known = list(designs)
    simulated = [(d.key, d.simulated) for d in known if d.simulated is not None]
    return front_of(simulated or [(d.key, d.estimated) for d in known])


@dataclass(frozen=True, slots=True)
class Pick:
    """A design to look at first, and at which fidelity its latency decided that. `kind` is "knee", or what the best in
    one objective is called.
    """

    kind: str
    design: Rated
    fidelity: Literal["estimate", "simulate"]

    @property
    def objectives(self) -> tuple[float, ...]:
        """At `fidelity`."""
        return self.design.estimated if self.fidelity == "estimate" else self.design.best


def picks(designs: Iterable[Rated], objectives: Sequence[str]) -> list[Pick]:
    """The best of a front in its first objective, the knee (`dse.archive.knee`), and the best in the others: by
    simulated latency among those that are simulated, by estimate where none is; none for an empty front.
    """
    by_key = {design.key: design for design in designs}
    front = recommended(by_key.values())
    if not front:
        return []
    fidelity = "simulate" if any(d.simulated is not None for d in by_key.values()) else "estimate"
    first, *others = zip((OBJECTIVES[name].best for name in objectives), ends(front), strict=True)
    places = (first, ("knee", knee(front)), *others)
    return [Pick(kind, by_key[front[place].key], fidelity) for kind, place in places]


def relative_error(estimate: float, truth: float) -> float:
    """Signed: -0.05 is an estimate that is 5 % below. `truth` is not 0."""
    return (estimate - truth) / truth


def error_distribution(errors: Sequence[tuple[str, float]]) -> ErrorDistribution | None:
    """What the signed relative errors of the designs by key amount to; None where there are none."""
    if not errors:
        return None
    signed = sorted(error for _, error in errors)
    ranked = sorted(map(abs, signed))
    worst_key, worst = max(errors, key=lambda pair: abs(pair[1]))
    return ErrorDistribution(
        n=len(errors),
        median=median(ranked),
        p95=ranked[ceil(0.95 * len(ranked)) - 1],
        worst=abs(worst),
        bias=median(signed),
        low=signed[ceil(0.05 * len(signed)) - 1],
        high=signed[ceil(0.95 * len(signed)) - 1],
        worst_key=worst_key,
    )
