"""Moves of the points of a front, and children of two of them (a Pareto local search with memory).

The step from one design of a front to the next is mostly one knob, which is a neighbour of a design that is known.
So a proposal starts from a design of the front, one with much room around it (the crowding distance of Deb et al.,
2002) that was not tried often, and changes one to three of its parameters, or mixes it with another of the front
(uniform crossover). Parameters whose moves led to the front before are moved more often (probability matching, Thierens
2005): on GPT-2's block most of the parameters change little, which ones follows from the network.

It knows neither knobs nor designs, and takes any axes, any number of objectives, all minimised, and what a point
exceeds of its bounds. The same seed and the same results give the same proposals.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, Protocol

from dse.archive import Entry, ParetoArchive
from dse.logarithms import logarithms, zero_marks

Params = Mapping[str, Any]

CHANGES = (3, 2, 1)
"""How often one, two and three parameters are changed, relatively."""
CROSSED = 0.35
"""Share of the proposals that are children of two designs; half of these are changed once besides."""
# Successes and moves that every parameter begins with. One that led to nothing, mostly to what is known, is a part of a
# move.
_SUCCESSES, _MOVES, _FAILED = 1.0, 3.0, 0.3
_LEAST_SHARE = 0.02
"""What no experience takes from a parameter, and no crowd from a design."""
_PATIENCE = 10.0
"""A design that was tried so often is tried half as often as one that never was."""
_DRAWS = 50
"""Proposals that were made before are drawn again, this often at most."""


class Axis(Protocol):
    """The values of one parameter."""

    def draw(self) -> Any:
        """Any of them, all as likely."""
        ...

    def near(self, value: Any) -> Sequence[Any]:
        """Those next to this one; none where they are in no order."""
        ...


@dataclass(frozen=True, slots=True)
class Move:
    """A proposed point, and the parameters that were changed for it."""

    params: Params
    moved: Sequence[str]

    @property
    def point(self) -> tuple[Any, ...]:
        return tuple(self.params.values())


@dataclass
class _Parent:
    """A point to move: of the front, or while there is none the one that exceeds least."""

    params: Params
    tries: int = 0


@dataclass
class _Experience:
    """Of one parameter: how many of its moves led to the front."""

    successes: float = _SUCCESSES
    moves: float = _MOVES

    @property
    def weight(self) -> float:
        return self.successes / self.moves + _LEAST_SHARE


@dataclass
class FrontMoves:
    """`objectives`: how many there are."""

    rng: random.Random
    objectives: int
    _archive: ParetoArchive = field(init=False)
    _parents: dict[str, _Parent] = field(default_factory=dict[str, _Parent], init=False)
    _experience: defaultdict[str, _Experience] = field(default_factory=lambda: defaultdict(_Experience), init=False)
    _proposed: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]], init=False)
    _room: list[float] = field(default_factory=list[float], init=False)  # of the front's points, in their order
    _least_excess: float = field(default=inf, init=False)
    _learnt: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._archive = ParetoArchive(max(2, self.objectives))

    def propose(self, space: Mapping[str, Axis]) -> Move | None:
        """A point that was not proposed before, if it is easily found; None where there is nothing to move yet."""
        if not space or not self._parents:
            return None
        move = self._drawn(space)
        for _ in range(_DRAWS):
            if move.point not in self._proposed:
                break
            move = self._drawn(space)
        self._proposed.add(move.point)
        return move

    def learn(self, params: Params, values: Sequence[float], excess: float, move: Move | None = None) -> None:
        """What became of a point, and of the `move` that led to it where one did."""
        self._credit(move, 1.0, won=self._add(params, values, excess))

    def failed(self, move: Move | None) -> None:
        """The move led to nothing, or to what is known already."""
        self._credit(move, _FAILED, won=False)

    def forget(self, move: Move) -> None:
        """It was not tried, and may be proposed again."""
        self._proposed.discard(move.point)

    def _credit(self, move: Move | None, weight: float, *, won: bool) -> None:
        for name in move.moved if move is not None else ():
            found = self._experience[name]
            found.moves += weight
            found.successes += won

    def _add(self, params: Params, values: Sequence[float], excess: float) -> bool:
        """Whether it is now of the front."""
        if not all(map(isfinite, values)):
            return False
        if excess > 0:
            return self._approach(params, excess)
        # One objective is a front too, beside one that is always the same.
        name, self._learnt = str(self._learnt), self._learnt + 1
        if not self._archive.add(name, values if len(values) > 1 else [*values, 0.0]):
            return False
        known = self._parents | {name: _Parent(params)}
        front = self._archive.front()
        self._parents = {entry.key: known[entry.key] for entry in front}
        self._room = room_of(front)
        return True

    def _approach(self, params: Params, excess: float) -> bool:
        if len(self._archive) or excess >= self._least_excess:
            return False
        self._least_excess, self._parents, self._room = excess, {"": _Parent(params)}, [1.0]
        return True

    def _drawn(self, space: Mapping[str, Axis]) -> Move:
        parent = self._parent()
        parent.tries += 1
        changes = self.rng.choices(range(1, len(CHANGES) + 1), CHANGES)[0]
        sources = [parent.params]
        if self.rng.random() < CROSSED:
            sources.append(self.rng.choice(list(self._parents.values())).params)
            changes = self.rng.randrange(2)
        params = {name: self.rng.choice(sources)[name] for name in space}
        moved: list[str] = []
        for _ in range(min(changes, len(space))):
            others = [name for name in space if name not in moved]
            [name] = self.rng.choices(others, [self._experience[name].weight for name in others])
            moved.append(name)
            params[name] = self._moved_from(params[name], space[name])
        return Move(params, moved)

    def _parent(self) -> _Parent:
        parents = list(self._parents.values())
        weights = [
            (room + _LEAST_SHARE) / (1 + parent.tries / _PATIENCE)
            for room, parent in zip(self._room, parents, strict=True)
        ]
        return self.rng.choices(parents, weights)[0]

    def _moved_from(self, value: Any, axis: Axis) -> Any:
        """Where values are in order one of the two next to it, or any, as likely; else any."""
        near = axis.near(value)
        return self.rng.choice(near) if near and self.rng.random() < 0.5 else axis.draw()


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
