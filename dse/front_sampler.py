"""Proposes variants of designs near the Pareto front, on islands that later become one.

Variation of an archive, as in evolution strategies, whose parents are chosen by how far they are behind the front (the
additive epsilon of Zitzler et al. 2003, of logarithms): what is a few percent behind is nearly as good a start as what
is on it, and there is more of it. What the board can nearly hold is a parent too: the fastest designs lie beside that.
A search that settles around the first good designs stays there, so some begin apart and are united later.
"""

import random
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log, log1p
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

FRONT_SHARE = 0.7  # of the parents that are on the front; the others are behind it by up to
FIRST_GAP, LAST_GAP = 0.2, 0.005  # between these, in the logarithm of an objective, small ones as likely as large ones
MOST_EXCESS = 0.3  # of a bound, beyond which a parent may be; half of it counts as gap
MOST_PARENTS = 60  # the nearest
OFFERED = 3  # parents, of which the least used is taken
CROSSOVERS = 0.3  # share of the proposals that have two parents
ANOTHER_CHANGE = 0.55  # the chance of each change after the first
STEPS = 0.5  # share of the changes of a number that go to its neighbour
MOST_ISLANDS, PER_ISLAND = 4, 200  # as many trials of the budget for each
APART = 0.5  # share of the budget after which islands are one
MOST_KEPT = 1000  # designs of an island that may be parents later; of twice as many the farthest are forgotten
TRIES_PER_CHANGE, MOST_TRIES = 8, 200  # of a proposal that was made before


@dataclass(slots=True)
class Known:
    """A design that was told: its `scaled` objectives, of which less is better, and its `excess` over bounds."""

    params: dict[str, Any]
    scaled: tuple[float, ...]
    excess: float
    uses: int = 0


class Island:
    """Designs that breed among themselves."""

    def __init__(self) -> None:
        self.known: list[Known] = []
        self._front: list[tuple[float, ...]] = []
        self._parents: list[Known] = []
        self._gaps: list[float] = []

    def add(self, known: Known) -> None:
        self.known.append(known)
        self._parents = []
        if not known.excess and not any(_covers(other, known.scaled) for other in self._front):
            self._front = [*(p for p in self._front if not _covers(known.scaled, p)), known.scaled]

    def parent(self, rng: random.Random) -> Known:
        """Of those near the front the least used of some."""
        if not self._parents:
            self._choose()
        gap = 0.0 if rng.random() < FRONT_SHARE else FIRST_GAP * (LAST_GAP / FIRST_GAP) ** rng.random()
        near = max(1, bisect_right(self._gaps, gap))
        chosen = min((self._parents[rng.randrange(near)] for _ in range(OFFERED)), key=lambda known: known.uses)
        chosen.uses += 1
        return chosen

    def _choose(self) -> None:
        gaps = self._behind()
        order = sorted(range(len(gaps)), key=gaps.__getitem__)
        allowed = [i for i in order if self.known[i].excess <= MOST_EXCESS] or order
        self._parents = [self.known[i] for i in allowed[:MOST_PARENTS]]
        self._gaps = [gaps[i] for i in allowed[:MOST_PARENTS]]
        if len(order) > 2 * MOST_KEPT:
            self.known = [self.known[i] for i in order[:MOST_KEPT]]

    def _behind(self) -> list[float]:
        """How far each is behind the front, in the objective in which it is farthest: additive epsilon."""
        points = np.array([known.scaled for known in self.known])
        front = np.array(self._front) if self._front else points
        behind = (points[:, None, :] - front[None, :, :]).max(axis=2).min(axis=1)
        excess = np.array([known.excess for known in self.known])
        return (np.maximum(0.0, behind) + excess / 2).tolist()


class FrontSampler(BaseSampler):
    """For studies of any number of objectives in one process, with constraints or without.

    `budget`: how many trials there will be. Objectives should be positive, for it is their ratios that count. A
    proposal takes the same time however many there were. The same seed and results give the same proposals.
    """

    def __init__(self, budget: int, seed: int | None = None) -> None:
        self._budget = budget
        self._rng = random.Random(seed)
        self._independent = RandomSampler(seed)
        self._spaces = IntersectionSearchSpace()
        self._lock = threading.Lock()  # trials may be asked for in several threads
        self._has_read = False
        self._told = 0
        self.islands = [Island() for _ in range(max(1, min(MOST_ISLANDS, budget // PER_ISLAND)))]
        self._made: dict[tuple[Any, ...], int] = {}  # the island of each proposal

    def reseed_rng(self) -> None:
        self._rng.seed()
        self._independent.reseed_rng()

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002 # Optuna's
    ) -> dict[str, BaseDistribution]:
        return {name: d for name, d in self._spaces.calculate(study).items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        with self._lock:
            self._read(study)
            number = len(self._made) % len(self.islands)
            island = self.islands[number]
            names = search_space.keys()
            if not (names and island.known and all(known.params.keys() >= names for known in island.known)):
                return {}

            def draw(name: str) -> Any:
                return self._independent.sample_independent(study, trial, name, search_space[name])

            child = self._child(island, search_space, draw)
            for attempt in range(MOST_TRIES):
                if _key(child) not in self._made:
                    break
                child = self._child(island, search_space, draw, 1 + attempt // TRIES_PER_CHANGE)
            self._made[_key(child)] = number
            return child

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        with self._lock:
            self._read(study)
            self._add(trial, values if state == TrialState.COMPLETE else None, study.directions)

    def _read(self, study: Study) -> None:
        """What was in the study before: nobody is told of trials that are added finished."""
        if not self._has_read:
            self._has_read = True
            for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                self._add(trial, trial.values, study.directions)

    def _add(self, trial: FrozenTrial, values: Sequence[float] | None, directions: Iterable[StudyDirection]) -> None:
        number = self._made.setdefault(_key(trial.params), -1)
        if values is None or not all(map(isfinite, values)):
            return
        signed = (-v if d == StudyDirection.MAXIMIZE else v for v, d in zip(values, directions, strict=True))
        excess = max(0.0, max(trial.constraints.values(), default=0.0))
        known = Known(dict(trial.params), tuple(map(_scaled, signed)), excess)
        self._told += 1
        for island in self.islands if number < 0 else [self.islands[number % len(self.islands)]]:
            island.add(known)
        if len(self.islands) > 1 and self._told >= APART * self._budget:
            self._unite()

    def _unite(self) -> None:
        united = Island()
        for known in {id(known): known for island in self.islands for known in island.known}.values():
            united.add(known)
        self.islands = [united]

    def _child(
        self,
        island: Island,
        space: Mapping[str, BaseDistribution],
        draw: Callable[[str], Any],
        least: int = 1,
    ) -> dict[str, Any]:
        """Of one or two parents, with `least` parameters changed or some more; `draw` gives a value of one."""
        one = island.parent(self._rng)
        two = island.parent(self._rng) if self._rng.random() < CROSSOVERS else one
        child = {name: (one if one is two or self._rng.random() < 0.5 else two).params[name] for name in space}
        count = least
        while self._rng.random() < ANOTHER_CHANGE:
            count += 1
        for name in self._rng.sample(list(space), min(count, len(space))):
            stepped = self._stepped(child[name], space[name])
            child[name] = draw(name) if stepped is None else stepped
        return child

    def _stepped(self, value: Any, distribution: BaseDistribution) -> Any:
        """The neighbour of a number, as often as not; else None."""
        if not isinstance(distribution, IntDistribution) or distribution.log or self._rng.random() >= STEPS:
            return None
        step = distribution.step * self._rng.choice((-1, 1))
        return value + step if distribution.low <= value + step <= distribution.high else value - step


def _key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(params[name] for name in sorted(params))


def _scaled(value: float) -> float:
    """Its logarithm; what has none lies below all of those, in its order."""
    return log(value) if value > 0 else -1e3 - log1p(-value)


def _covers(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether `one` is nowhere worse."""
    return all(a <= b for a, b in zip(one, other, strict=True))
