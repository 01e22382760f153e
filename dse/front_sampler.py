"""Our own sampler: moves of the designs of the front, and children of two of them (a Pareto local search with memory).

The step from one design of a front to the next is mostly one knob, which is a neighbour of a design that is known.
So a proposal starts from a design of the front, one with much room around it (the crowding distance of Deb et al.,
2002) that was not tried often, and changes one to three of its parameters, or mixes it with another of the front
(uniform crossover). Parameters whose moves led to the front before are moved more often (probability matching, Thierens
2005): on GPT-2's block most of the parameters change little, which ones follows from the network.

It knows neither knobs nor designs, only what Optuna tells every sampler, and takes any search space, any number of
objectives and constraints.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from threading import Lock
from typing import Any

from optuna.distributions import BaseDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from dse.archive import Entry, ParetoArchive
from dse.logarithms import logarithms, zero_marks

Params = Mapping[str, Any]
Draw = Callable[[str, BaseDistribution], Any]
"""Any value of a parameter, all as likely."""

CHANGES = (3, 2, 1)
"""How often one, two and three parameters are changed, relatively."""
CROSSED = 0.35
"""Share of the proposals that are children of two designs; half of these are changed once besides."""
# Successes and moves that every parameter begins with. A repeat of what is known is a part of a move.
_SUCCESSES, _MOVES, _REPEAT = 1.0, 3.0, 0.3
_LEAST_SHARE = 0.02
"""What no experience takes from a parameter, and no crowd from a design."""
_PATIENCE = 10.0
"""A design that was tried so often is tried half as often as one that never was."""
_DRAWS = 50
"""Proposals that this search made before are drawn again, this often at most."""


@dataclass
class _Parent:
    """A design to move: of the front, or while there is none the one that exceeds least."""

    params: Params
    tries: int = 0


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A point of the space, and the parameters that were changed for it."""

    params: Params
    moved: Sequence[str]

    @property
    def point(self) -> tuple[Any, ...]:
        return tuple(self.params.values())

    def is_of(self, trial: FrozenTrial) -> bool:
        """Not where the trial was enqueued with other values of some parameters: those say what became of it."""
        return all(trial.params.get(name) == value for name, value in self.params.items())


@dataclass
class _Experience:
    """Of one parameter: how many of its moves led to the front."""

    successes: float = _SUCCESSES
    moves: float = _MOVES

    @property
    def weight(self) -> float:
        return self.successes / self.moves + _LEAST_SHARE


@dataclass
class _Memory:
    """What the finished trials of a study tell."""

    signs: tuple[int, ...]
    archive: ParetoArchive
    parents: dict[str, _Parent] = field(default_factory=dict[str, _Parent])
    experience: defaultdict[str, _Experience] = field(default_factory=lambda: defaultdict(_Experience))
    proposed: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]])
    room: list[float] = field(default_factory=list[float])
    """Of the front's designs, in their order."""
    least_excess: float = inf

    def learn(self, trial: FrozenTrial, proposal: _Proposal | None) -> None:
        """`proposal`: what this sampler said when it was asked for the trial."""
        won = trial.state == TrialState.COMPLETE and self._add(trial)
        if proposal is None:
            return
        if not proposal.is_of(trial):
            self.proposed.discard(proposal.point)
            return
        for name in proposal.moved:
            found = self.experience[name]
            found.moves += _REPEAT if trial.state == TrialState.FAIL else 1
            found.successes += won

    def _add(self, trial: FrozenTrial) -> bool:
        """Whether it is now of the front."""
        if not all(map(isfinite, trial.values)):
            return False
        excess = sum(max(0.0, value) for value in trial.constraints.values())
        if excess > 0:
            return self._approach(trial, excess)
        # One objective is a front too, beside one that is always the same.
        costs = [sign * value for sign, value in zip(self.signs, trial.values, strict=True)]
        if not self.archive.add(str(trial.number), costs if len(costs) > 1 else [*costs, 0.0]):
            return False
        known = self.parents | {str(trial.number): _Parent(trial.params)}
        front = self.archive.front()
        self.parents = {entry.key: known[entry.key] for entry in front}
        self.room = room_of(front)
        return True

    def _approach(self, trial: FrozenTrial, excess: float) -> bool:
        if len(self.archive) or excess >= self.least_excess:
            return False
        self.least_excess, self.parents, self.room = excess, {"": _Parent(trial.params)}, [1.0]
        return True


def room_of(front: Sequence[Entry]) -> list[float]:
    """Of each design: how far its neighbours in each objective are from one another, over the extent of the front, in
    all. At an end twice as far as its one neighbour. On logarithmic axes where no objective is negative.
    """
    points = [entry.objectives for entry in front]
    if min(map(min, points)) >= 0:
        points = logarithms(points, zero_marks(points))
    room = [0.0] * len(front)
    for column in zip(*points, strict=True):
        ranked = sorted(range(len(front)), key=column.__getitem__)
        extent = column[ranked[-1]] - column[ranked[0]] or 1.0
        ends = (ranked[0], ranked[-1])
        for before, here, after in zip([ranked[0], *ranked], ranked, [*ranked[1:], ranked[-1]], strict=False):
            room[here] += (column[after] - column[before]) / extent * (2 if here in ends else 1)
    return room


class FrontSampler(BaseSampler):
    """For one study. The same seed and the same results give the same proposals."""

    def __init__(self, seed: int | None = None) -> None:
        self._rng = random.Random(seed)
        self._anywhere = RandomSampler(seed)
        self._space = IntersectionSearchSpace()
        self._lock = Lock()
        self._memory: _Memory | None = None
        self._read = 0  # trials that are known
        self._open: list[int] = []  # of those, what was not finished when it was looked at
        self._proposals: dict[int, _Proposal] = {}  # of trials that were not finished, by number

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
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        with self._lock:
            memory = self._learnt(study)
            if not search_space or not memory.parents:
                return {}
            anywhere = partial(self._anywhere.sample_independent, study, trial)
            proposal = self._proposal(memory, search_space, anywhere)
            for _ in range(_DRAWS):
                if proposal.point not in memory.proposed:
                    break
                proposal = self._proposal(memory, search_space, anywhere)
            memory.proposed.add(proposal.point)
            self._proposals[trial.number] = proposal
            return dict(proposal.params)

    def _learnt(self, study: Study) -> _Memory:
        """With all trials that were finished since."""
        memory = self._memory
        if memory is None:
            signs = tuple(-1 if direction == StudyDirection.MAXIMIZE else 1 for direction in study.directions)
            memory = self._memory = _Memory(signs, ParetoArchive(max(2, len(signs))))
        trials = study.get_trials(deepcopy=False)
        numbers = [*self._open, *range(self._read, len(trials))]
        self._read = len(trials)
        self._open = [number for number in numbers if not trials[number].state.is_finished()]
        for number in numbers:
            if trials[number].state.is_finished():
                memory.learn(trials[number], self._proposals.pop(number, None))
        return memory

    def _proposal(self, memory: _Memory, space: Mapping[str, BaseDistribution], anywhere: Draw) -> _Proposal:
        parent = self._parent(memory)
        parent.tries += 1
        changes = self._rng.choices(range(1, len(CHANGES) + 1), CHANGES)[0]
        sources = [parent.params]
        if self._rng.random() < CROSSED:
            sources.append(self._rng.choice(list(memory.parents.values())).params)
            changes = self._rng.randrange(2)
        params = {name: self._rng.choice(sources)[name] for name in space}
        moved: list[str] = []
        for _ in range(min(changes, len(space))):
            others = [name for name in space if name not in moved]
            [name] = self._rng.choices(others, [memory.experience[name].weight for name in others])
            moved.append(name)
            params[name] = self._moved_from(params[name], name, space[name], anywhere)
        return _Proposal(params, moved)

    def _parent(self, memory: _Memory) -> _Parent:
        parents = list(memory.parents.values())
        weights = [
            (room + _LEAST_SHARE) / (1 + parent.tries / _PATIENCE)
            for room, parent in zip(memory.room, parents, strict=True)
        ]
        return self._rng.choices(parents, weights)[0]

    def _moved_from(self, value: Any, name: str, distribution: BaseDistribution, anywhere: Draw) -> Any:
        """Where values are whole numbers one of the two next to it, or any, as likely; else any."""
        if isinstance(distribution, IntDistribution) and self._rng.random() < 0.5:
            near = (value - distribution.step, value + distribution.step)
            return self._rng.choice([v for v in near if distribution.low <= v <= distribution.high])
        return anywhere(name, distribution)
