"""The moves of `dse.front_moves` as a sampler of Optuna, for any study. A search asks them without one (`_OfMoves` of
`dse.strategies`).
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from dse.front_moves import FrontMoves, Move


@dataclass(frozen=True, slots=True)
class _Distribution:
    """A distribution as an axis."""

    name: str
    distribution: BaseDistribution
    anywhere: Callable[[str, BaseDistribution], Any]

    @property
    def ordered(self) -> bool:
        return not isinstance(self.distribution, CategoricalDistribution)

    def draw(self) -> Any:
        return self.anywhere(self.name, self.distribution)

    def near(self, value: Any) -> list[int]:
        if not isinstance(self.distribution, IntDistribution):
            return []
        near = (value - self.distribution.step, value + self.distribution.step)
        return [v for v in near if self.distribution.low <= v <= self.distribution.high]


class FrontSampler(BaseSampler):
    """For one study. The same seed and the same results give the same proposals."""

    def __init__(self, seed: int | None = None) -> None:
        self._rng = random.Random(seed)
        self._anywhere = RandomSampler(seed)
        self._space = IntersectionSearchSpace()
        self._lock = Lock()
        self._moves: FrontMoves | None = None
        self._read = 0  # trials that are known
        self._open: list[int] = []  # of those, what was not finished when it was looked at
        self._proposals: dict[int, Move] = {}  # of trials that were not finished, by number

    def reseed_rng(self) -> None:
        self._rng.seed()
        self._anywhere.reseed_rng()

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        return {name: found for name, found in self._space.calculate(study).items() if not found.single()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._anywhere.sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        with self._lock:
            anywhere = partial(self._anywhere.sample_independent, study, trial)
            axes = {name: _Distribution(name, found, anywhere) for name, found in search_space.items()}
            move = self._learnt(study).propose(axes)
            if move is None:
                return {}
            self._proposals[trial.number] = move
            return dict(move.params)

    def _learnt(self, study: Study) -> FrontMoves:
        """With all trials that were finished since."""
        moves = self._moves
        if moves is None:
            moves = self._moves = FrontMoves(self._rng, len(study.directions))
        signs = [-1 if direction == StudyDirection.MAXIMIZE else 1 for direction in study.directions]
        trials = study.get_trials(deepcopy=False)
        numbers = [*self._open, *range(self._read, len(trials))]
        self._read = len(trials)
        self._open = [number for number in numbers if not trials[number].state.is_finished()]
        for number in numbers:
            if trials[number].state.is_finished():
                _learn(moves, signs, trials[number], self._proposals.pop(number, None))
        return moves


def _learn(moves: FrontMoves, signs: list[int], trial: FrozenTrial, move: Move | None) -> None:
    if move is not None and not all(trial.params.get(name) == value for name, value in move.params.items()):
        # It was enqueued with other values of some parameters: those say what became of it.
        moves.forget(move)
        move = None
    if trial.state != TrialState.COMPLETE:
        moves.failed(move)
        return
    excess = sum(max(0.0, value) for value in trial.constraints.values())
    moves.learn(trial.params, [sign * value for sign, value in zip(signs, trial.values, strict=True)], excess, move)
