"""Where a search's proposals come from: our own moves, or a sampler of Optuna with a study of its own.

Our own are not asked through a study: that takes milliseconds a trial, and more the longer the study is.
"""

import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseGASampler, BaseSampler, NSGAIISampler, QMCSampler, RandomSampler, TPESampler
from optuna.study import StudyDirection
from optuna.trial import TrialState, create_trial

from dse.front_moves import FrontMoves, Move
from dse.space import DesignSpace

Indices = Mapping[str, int]
"""Of choices, by parameter."""

# On GPT-2's block (decode, w4a8) small populations of NSGA-II, so more generations, did better than 50 at 200 to 600
# designs.
MIN_POPULATION, MAX_POPULATION, GENERATIONS = 16, 50, 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A proposal, of which its strategy wants to know what became of it."""

    number: int
    indices: Indices


class Strategy(Protocol):
    """Values are minimised; `excess` is by how much bounds are exceeded, all together."""

    def ask(self) -> Asked: ...

    def ask_for(self, indices: Indices) -> Asked:
        """These, whatever the strategy would propose."""
        ...

    def tell(self, asked: Asked, values: Sequence[float], excess: float) -> None: ...

    def fail(self, asked: Asked) -> None:
        """Nothing came of it, or what is known."""
        ...

    def repeat(self, asked: Asked, values: Sequence[float], excess: float, /) -> None:
        """Nothing new came of it: a design that is known, of which this is."""
        ...

    def add(self, indices: Indices, values: Sequence[float], excess: float) -> None:
        """A design that was found elsewhere."""
        ...


@dataclass(frozen=True, slots=True)
class _Choices:
    """The choices of a parameter as an axis."""

    count: int
    ordered: bool
    rng: random.Random

    def draw(self) -> int:
        return self.rng.randrange(self.count)

    def near(self, value: int) -> list[int]:
        return [v for v in (value - 1, value + 1) if 0 <= v < self.count] if self.ordered else []


class _OfMoves:
    """Our own."""

    def __init__(self, space: DesignSpace, objectives: int, _budget: int, seed: int) -> None:
        rng = random.Random(seed)
        axes = {p.name: _Choices(len(p.choices), p.ordered, rng) for p in space.parameters}
        self._free = {name: axis for name, axis in axes.items() if axis.count > 1}
        self._fixed = dict.fromkeys(axes, 0)
        self._moves = FrontMoves(rng, objectives)
        self._open: dict[int, Move | None] = {}
        self._next = 0

    def ask(self) -> Asked:
        move = self._moves.propose(self._free)
        params = {name: axis.draw() for name, axis in self._free.items()} if move is None else move.params
        return self._asked(self._fixed | {**params}, move)

    def ask_for(self, indices: Indices) -> Asked:
        return self._asked(indices, None)

    def _asked(self, indices: Indices, move: Move | None) -> Asked:
        asked = Asked(self._next, indices)
        self._open[asked.number] = move
        self._next += 1
        return asked

    def tell(self, asked: Asked, values: Sequence[float], excess: float) -> None:
        self._moves.learn(asked.indices, values, excess, self._open.pop(asked.number))

    def fail(self, asked: Asked) -> None:
        self._moves.failed(self._open.pop(asked.number))

    def repeat(self, asked: Asked, values: Sequence[float], excess: float) -> None:
        self.fail(asked)
        self.add(asked.indices, values, excess)

    def add(self, indices: Indices, values: Sequence[float], excess: float) -> None:
        self._moves.learn(indices, values, excess)


_EXCESS = "excess"
"""The one constraint of a study: samplers that model each by itself take longer the more there are."""


class _OfStudy:
    """A sampler's. NSGA-II does not learn what it has not asked for: such a trial is of no generation."""

    def __init__(self, sampler: BaseSampler, space: DesignSpace, objectives: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._study = optuna.create_study(directions=[StudyDirection.MINIMIZE] * objectives, sampler=sampler)
        self._open: dict[int, optuna.Trial] = {}

    def ask(self) -> Asked:
        trial = self._study.ask()
        self._open[trial.number] = trial
        return Asked(trial.number, self._space.suggest(trial))

    def ask_for(self, indices: Indices) -> Asked:
        self._study.enqueue_trial({**indices})
        asked = self.ask()
        if isinstance(self._study.sampler, BaseGASampler):
            # Trials that are enqueued belong to no generation, and no parent would come from them, until this is asked.
            self._study.sampler.get_trial_generation(self._study, self._study.get_trials(deepcopy=False)[-1])
        return asked

    def tell(self, asked: Asked, values: Sequence[float], excess: float) -> None:
        trial = self._open.pop(asked.number)
        trial.set_constraint(_EXCESS, excess)
        self._study.tell(trial, values)

    def fail(self, asked: Asked) -> None:
        self._study.tell(self._open.pop(asked.number), state=TrialState.FAIL)

    def repeat(self, asked: Asked, _values: Sequence[float], _excess: float) -> None:
        self.fail(asked)  # copies of one design would take over a population

    def add(self, indices: Indices, values: Sequence[float], excess: float) -> None:
        found = create_trial(
            params={**indices}, distributions=self._space.distributions, values=values, constraints={_EXCESS: excess}
        )
        self._study.add_trial(found)


Sampler = Callable[[int, int], BaseSampler]
"""From budget and seed."""
Start = Callable[[DesignSpace, int, int, int], Strategy]
"""From space, number of objectives, budget and seed."""


def of_study(sampler: Sampler) -> Start:
    """The strategy of a sampler of Optuna."""

    def start(space: DesignSpace, objectives: int, budget: int, seed: int) -> Strategy:
        return _OfStudy(sampler(budget, seed), space, objectives)

    return start


def _nsga2(budget: int, seed: int) -> BaseSampler:
    population = max(MIN_POPULATION, min(MAX_POPULATION, budget // GENERATIONS))
    return NSGAIISampler(population_size=population, seed=seed)


def _tpe(_budget: int, seed: int) -> BaseSampler:
    return TPESampler(seed=seed)


def _random(_budget: int, seed: int) -> BaseSampler:
    return RandomSampler(seed=seed)


def _qmc(_budget: int, seed: int) -> BaseSampler:
    # Experimental in name since Optuna 3.0; the version is pinned.
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        return QMCSampler(scramble=True, seed=seed, warn_independent_sampling=False)


SAMPLERS: dict[str, Start] = {
    "front": _OfMoves,
    "nsga2": of_study(_nsga2),
    "tpe": of_study(_tpe),
    "random": of_study(_random),
    "qmc": of_study(_qmc),
}
