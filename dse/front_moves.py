"""Moves of the points of a front, and children of two of them: of those that are drawn, the one that promises most.

The step from one design of a front to the next is mostly one knob, which is a neighbour of a design that is known.
So a proposal starts from a design of the front, one with much room around it (the crowding distance of Deb et al.,
2002) that was not tried often, and changes one to three of its parameters, or mixes it with another of the front
(uniform crossover). Some steps are two that only both improve a design: more lanes than fit, and smaller ones. So
others start from designs that the front beats by little, and from those that would be of it and exceed a bound by
little. Parameters whose moves led to the front before are moved more often (probability matching, Thierens 2005): on
GPT-2's block most of the parameters change little, which ones follows from the network. Of a dozen of such moves
`dse.forecast` says which promises most; a few are proposed without, so that it learns.

It knows neither knobs nor designs, and takes any axes, any number of objectives, all minimised, and what a point
exceeds of its bounds. The same seed and the same results give the same proposals.
"""

import random
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf, isfinite
from typing import Any, Protocol

from dse.archive import Entry, ParetoArchive
from dse.forecast import MENDED, Forecast
from dse.logarithms import logarithms, zero_marks

Params = Mapping[str, Any]

CHANGES = (3, 2, 1)
"""How often one, two and three parameters are changed, relatively."""
_CHANGES = list(accumulate(CHANGES))
CROSSED = 0.35
"""Share of the moves that are children of two designs; half of these are changed once besides."""
NEAR = 0.3
"""Share that starts near the front."""
_BEATEN = 0.03
"""A design is near that would be of the front if it were so much better in all objectives, or `MENDED` smaller."""
_NEAR_KEPT = 30
"""The last ones."""
_DRAWN, _UNASKED, _AT_ONCE = 16, 0.03, 8
"""Moves of which one is proposed, the share of proposals that are drawn alone, and how many are made together: numpy
takes little longer for more points.
"""
# Successes and moves that every parameter begins with. One that led to nothing, mostly to what is known, is a part of a
# move.
_SUCCESSES, _MOVES, _FAILED = 1.0, 3.0, 0.3
_LEAST_SHARE = 0.02
"""What no experience takes from a parameter, and no crowd from a design."""
_PATIENCE = 10.0
"""A design that was tried so often is tried half as often as one that never was."""
_DRAWS = 3
"""Moves that were proposed before are drawn again, this often at most."""


class Axis(Protocol):
    """The values of one parameter."""

    @property
    def ordered(self) -> bool:
        """Whether they are numbers, of which close ones are alike."""
        ...

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
    """A point to move: of the front, near it, or while there is none the one that exceeds least."""

    params: Params
    values: tuple[float, ...] = ()
    excess: float = 0.0
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
    _near: deque[_Parent] = field(default_factory=lambda: deque[_Parent](maxlen=_NEAR_KEPT), init=False)
    _forecast: Forecast = field(default_factory=Forecast, init=False)
    _experience: defaultdict[str, _Experience] = field(default_factory=lambda: defaultdict(_Experience), init=False)
    _proposed: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]], init=False)
    _ready: deque[tuple[_Parent, Move]] = field(default_factory=deque[tuple[_Parent, Move]], init=False)
    _ready_for: list[str] = field(default_factory=list[str], init=False)
    _room: list[float] = field(default_factory=list[float], init=False)  # of the front's points, in their order
    _least_excess: float = field(default=inf, init=False)
    _learnt: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._archive = ParetoArchive(max(2, self.objectives))

    def propose(self, space: Mapping[str, Axis]) -> Move | None:
        """A point that was not proposed before, if it is easily found; None where there is nothing to move yet."""
        if not space or not self._parents:
            return None
        if not self._forecast.waits or self._ready_for != [*space]:
            for _, move in self._ready:
                self.forget(move)
            self._ready.clear()
        if not self._ready:
            self._ready_for = [*space]
            self._ready += self._proposals(space)
        parent, move = self._ready.popleft()
        parent.tries += 1
        return move

    def _proposals(self, space: Mapping[str, Axis]) -> list[tuple[_Parent, Move]]:
        """The next ones: of each some that are drawn, the one that promises most."""
        asked = [len(self._archive) > 0 and self.rng.random() >= _UNASKED for _ in range(_AT_ONCE)]
        names, count = list(space), _DRAWN * sum(asked)
        usual = list(accumulate(self._experience[name].weight for name in names))
        starts = self._starts(count + len(asked) - sum(asked))
        drawn = [(parent, self._new(space, parent, names, usual)) for parent in starts]
        promises = self._promises(space, [move for _, move in drawn[:count]]) or [0.0] * count
        promises += [0.0] * (len(drawn) - count)
        groups = iter([range(first, first + _DRAWN) for first in range(0, count, _DRAWN)])
        alone = iter([range(only, only + 1) for only in range(count, len(drawn))])
        return [self._chosen(drawn, promises, next(groups if each else alone)) for each in asked]

    def _chosen(
        self, drawn: Sequence[tuple[_Parent, Move]], promises: Sequence[float], group: range
    ) -> tuple[_Parent, Move]:
        """The best of the group, new ones before all others."""
        best = max(group, key=lambda i: (drawn[i][1].point not in self._proposed, promises[i]))
        self._proposed.add(drawn[best][1].point)
        return drawn[best]

    def learn(self, params: Params, values: Sequence[float], excess: float, move: Move | None = None) -> None:
        """What became of a point, and of the `move` that led to it where one did."""
        self._credit(move, 1.0, won=all(map(isfinite, values)) and self._add(params, values, excess))

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
        # One objective is a front too, beside one that is always the same.
        found = _Parent(params, tuple(values) if len(values) > 1 else (*values, 0.0), excess)
        self._forecast.learn(params, found.values, excess)
        name, self._learnt = str(self._learnt), self._learnt + 1
        if excess > 0 and not len(self._archive):
            self._approach(found)
        elif excess <= 0 and self._archive.add(name, found.values):
            self._renew(self._parents | {name: found})
            return True
        elif self._is_near(found):
            self._near.append(found)
        return False

    def _approach(self, found: _Parent) -> None:
        if found.excess < self._least_excess:
            self._least_excess, self._parents, self._room = found.excess, {"": found}, [1.0]

    def _renew(self, known: Mapping[str, _Parent]) -> None:
        """The front has a new point."""
        front = self._archive.front()
        self._parents, self._room = {entry.key: known[entry.key] for entry in front}, room_of(front)
        self._near = deque(filter(self._is_near, self._near), _NEAR_KEPT)

    def _is_near(self, found: _Parent) -> bool:
        if found.excess > 0:
            return found.excess <= MENDED and self._archive.admits(found.values)
        return self._archive.admits([value - _BEATEN * abs(value) for value in found.values])

    def _promises(self, space: Mapping[str, Axis], drawn: Sequence[Move]) -> list[float] | None:
        if not drawn:
            return None
        ordered, front = {name: axis.ordered for name, axis in space.items()}, self._archive.front()
        points, goals = [move.params for move in drawn], [entry.objectives for entry in front]
        over = [parent.values for parent in self._near if parent.excess > 0]
        return self._forecast.promises(points, ordered, goals, self.rng.getrandbits(32), over)

    def _starts(self, count: int) -> list[_Parent]:
        parents = list(self._parents.values())
        weights = [
            (room + _LEAST_SHARE) / (1 + parent.tries / _PATIENCE)
            for room, parent in zip(self._room, parents, strict=True)
        ]
        starts = self.rng.choices(parents, weights, k=count)
        return [self.rng.choice(self._near) if self._near and self.rng.random() < NEAR else parent for parent in starts]

    def _new(self, space: Mapping[str, Axis], parent: _Parent, names: Sequence[str], weights: Sequence[float]) -> Move:
        """`weights` of the names, added up."""
        move = self._drawn(space, parent, names, weights)
        for _ in range(_DRAWS):
            if move.point not in self._proposed:
                break
            move = self._drawn(space, parent, names, weights)
        return move

    def _drawn(
        self, space: Mapping[str, Axis], parent: _Parent, names: Sequence[str], weights: Sequence[float]
    ) -> Move:
        [changes] = self.rng.choices(range(1, len(CHANGES) + 1), cum_weights=_CHANGES)
        params = {name: parent.params[name] for name in names}
        if self.rng.random() < CROSSED:
            other = self.rng.choice(list(self._parents.values())).params
            params |= {name: other[name] for name in names if self.rng.random() < 0.5}
            changes = self.rng.randrange(2)
        moved = dict.fromkeys(self.rng.choices(names, cum_weights=weights, k=changes))
        for name in moved:
            params[name] = self._moved_from(params[name], space[name])
        return Move(params, [*moved])

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
