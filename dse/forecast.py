"""How much points promise, by what is known of others.

Most moves from a good design are many times worse, and those that were made say which: the best of a dozen by
forecast is worth many that are drawn. The forecast is a Gaussian process. Its kernel falls with the parameters in which
two points differ, each by a weight of its own, which follows from what is known (automatic relevance, MacKay 1994): on
GPT-2's block most parameters change little. What a point promises is its expected improvement (Jones et al., 1998), by
how far it lies before the front (the additive epsilon of Zitzler et al., 2003), on logarithmic axes.

What exceeds a bound by little is worth a part of that: on a block of MLP-Mixer the way to the fastest designs leads
past such ones, and a forecast to which they are worth nothing does not go there.

It looks at the last points and at those nearest to the front, and at one of each value, so that its time does not grow
with what is known. New points join these with all else as it is, which is a step of linear algebra; now and then it
chooses points and weights anew. The weights are pulled to usual ones, as a prior does: few points would have them
follow what is chance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from dse.logarithms import zero_marks

Params = Mapping[str, Any]
Matrix = npt.NDArray[np.float64]

LEAST = 24
"""Fewer points say nothing."""
NEWS = 8
"""New points that it waits for before it looks at them."""
_NEAREST, _LAST, _MOST_ADDED = 96, 64, 64
"""Points that it looks at: those nearest to the front, and the last; then what is new, up to so many."""
_KEPT = 1024
"""Others are forgotten where there are more than twice as many."""
_FAR = 1.5
"""What is so far behind the worst of the front, in logarithms, is as bad as all that is worse."""
_FITS, _MOST_EXCESS = -0.1, 0.5
"""An excess of none counts as a little less, so that it differs from a small one; and none as more than half."""
_SAMPLES = 12
"""Of the objectives of each point."""
_DOUBT = 0.5
"""How much of its doubt about a point counts for each objective beyond the second: the more there are, the more of what
is not known would lie before the front in one of them, and of a dozen of points that would be chosen of which least is
known.
"""
_BEHIND = 0.01
"""What it counts to lie behind the front by less, where nothing lies before it."""
MENDED, _MENDS = 0.3, 0.3
"""What exceeds a bound by no more may be mended by a move, and what of its gain that is worth."""
_DIGITS = 8
# The weights are those that make what is known likely: steps of Adam (Kingma and Ba, 2015), at first and each time that
# it chooses its points, their length, what keeps them from following a slope of nothing but rounding, and what the
# logarithms of weights begin with, are pulled to, and may be. The last one is that of noise.
_FIRST_STEPS, _STEPS, _RATE, _FLAT = 10, 3, 0.1, 1e-3
_FIRST, _USUAL, _PULL, _RANGE = np.log(0.15), np.log(0.05), 0.4, (-9.0, 1.5)
_FIRST_NOISE, _MOST_NOISE = np.log(0.01), 0.0


@dataclass
class _Weights:
    """Logarithms: of each parameter, and of the noise."""

    logs: Matrix
    _mean: Matrix = field(init=False)
    _square: Matrix = field(init=False)
    _steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._mean, self._square = np.zeros_like(self.logs), np.zeros_like(self.logs)

    def climb(self, slope: Matrix) -> None:
        self._steps += 1
        self._mean = 0.9 * self._mean + 0.1 * slope
        self._square = 0.99 * self._square + 0.01 * slope**2
        mean, square = self._mean / (1 - 0.9**self._steps), self._square / (1 - 0.99**self._steps)
        self.logs = np.clip(self.logs + _RATE * mean / (np.sqrt(square) + _FLAT), *_RANGE)
        self.logs[-1] = min(self.logs[-1], _MOST_NOISE)


@dataclass
class _Column:
    """The values of a parameter as features: their squared distance is that of two values, which is 1; of numbers half
    of it, and in steps between those that are known up to 1 more.
    """

    name: str
    known: Sequence[Any]
    ordered: bool
    codes: dict[Any, int] = field(init=False)
    """Rows of the table by value, of those that were met later too."""
    table: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.codes = {value: code for code, value in enumerate(self.known)}
        self.table = self._features(self.known)

    def rows(self, points: Sequence[Params]) -> Matrix:
        values = [point[self.name] for point in points]
        if new := [value for value in dict.fromkeys(values) if value not in self.codes]:
            self.table = np.vstack([self.table, self._features(new)])
            self.codes |= {value: len(self.codes) + code for code, value in enumerate(new)}
        return self.table[[self.codes[value] for value in values]]

    def _features(self, values: Sequence[Any]) -> Matrix:
        same = np.array([[value == other for other in self.known] for value in values], dtype=np.float64)
        other = 1 - same.sum(axis=1, keepdims=True)
        each = np.hstack([same, other]) * np.sqrt(0.25 if self.ordered else 0.5)
        if not self.ordered or len(self.known) < 2:
            return each
        steps = np.array(values, dtype=np.float64)[:, None] > np.array(self.known[:-1], dtype=np.float64)
        return np.hstack([each, steps / np.sqrt(len(self.known) - 1)])


@dataclass(frozen=True, slots=True)
class _Features:
    """Points as rows of which the squared distance, each feature times its parameter's weight, is the kernel's."""

    columns: Sequence[_Column]
    owners: npt.NDArray[np.int64]
    """Of each feature the number of its column."""

    def rows(self, points: Sequence[Params]) -> Matrix:
        return np.hstack([column.rows(points) for column in self.columns])

    def weighted(self, rows: Matrix, logs: Matrix) -> Matrix:
        return rows * np.exp(0.5 * logs[:-1])[self.owners]


def _kernel(a: Matrix, b: Matrix) -> Matrix:
    """Of rows that are weighted."""
    squares = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * a @ b.T
    return np.exp(-np.maximum(squares, 0))


@dataclass(frozen=True, slots=True)
class _Scale:
    """Of the goals, which are objectives and excess: what 0 counts as in each objective, None where these are not
    positive; the worst that counts, and mean and spread of all.
    """

    zeros: Matrix | None
    worst: Matrix
    mean: Matrix
    spread: Matrix

    def goals(self, values: Matrix, excess: Matrix) -> Matrix:
        return (_goals(self.logarithms(values), excess, self.worst) - self.mean) / self.spread

    def logarithms(self, values: Matrix) -> Matrix:
        return values if self.zeros is None else np.log(np.where(values > 0, values, self.zeros))


def _goals(values: Matrix, excess: Matrix, worst: Matrix) -> Matrix:
    excess = np.where(excess > 0, np.minimum(excess, _MOST_EXCESS), _FITS)
    return np.column_stack([np.minimum(values, worst), excess])


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The process, given its points."""

    features: _Features
    logs: Matrix
    scale: _Scale
    rows: Matrix
    """Weighted."""
    goals: Matrix
    inverse: Matrix
    """Of the kernel of its points."""

    def promises(self, points: Sequence[Params], front: Matrix, over: Matrix, seed: int) -> list[float]:
        kernel = _kernel(self._rows(points), self.rows)
        left = np.maximum(1 - np.sum(kernel @ self.inverse * kernel, axis=1), 1e-6)
        draws = np.random.default_rng(seed).standard_normal((_SAMPLES, 1, self.goals.shape[1]))
        middle = kernel @ (self.inverse @ self.goals)
        doubt = _DOUBT ** max(0, front.shape[1] - 2) * np.sqrt(left)[:, None]
        found = self.scale.mean + self.scale.spread * (middle + doubt * draws)
        values, excess = found[:, :, :-1], found[:, :, -1]
        before = -_behind(values, self.scale.logarithms(front))
        mended = np.minimum(before, -_behind(values, self.scale.logarithms(over))) if len(over) else before
        worth = np.where(excess <= 0, before, np.where(excess <= MENDED, _MENDS * mended, 0))
        gain = np.maximum(worth, 0)
        loss = np.minimum(before, 0) - np.maximum(excess, 0)
        # What only rounding tells apart is as good: it differs between machines and with the number of threads.
        return [round(promise, _DIGITS) for promise in np.mean(gain + _BEHIND * loss, axis=0).tolist()]

    def _rows(self, points: Sequence[Params]) -> Matrix:
        return self.features.weighted(self.features.rows(points), self.logs)

    def with_more(self, points: Sequence["_Known"]) -> "_Fitted":
        """With these points too, all else as it is: the inverse of a matrix with more rows, by blocks."""
        rows, goals = self._rows([known.params for known in points]), self.scale.goals(*_of(points))
        beside, own = _kernel(self.rows, rows), _kernel(rows, rows)
        half = self.inverse @ beside
        corner = _inverse(own - beside.T @ half, self.logs)
        side = half @ corner
        inverse = np.block([[self.inverse + side @ half.T, -side], [-side.T, corner]])
        return replace(self, rows=np.vstack([self.rows, rows]), goals=np.vstack([self.goals, goals]), inverse=inverse)


class _Known(NamedTuple):
    params: Params
    values: tuple[float, ...]
    excess: float


def _of(points: Sequence[_Known]) -> tuple[Matrix, Matrix]:
    """Values and excess."""
    return np.array([known.values for known in points]), np.array([known.excess for known in points])


@dataclass
class Forecast:
    """Of points that have the same parameters as those that are known."""

    _points: list[_Known] = field(default_factory=list[_Known], init=False)
    _weights: dict[tuple[str, ...], _Weights] = field(default_factory=dict[tuple[str, ...], _Weights], init=False)
    _fitted: _Fitted | None = field(default=None, init=False)
    _news: int = field(default=0, init=False)
    """Of the points, the last that it has not looked at."""
    _added: int = field(default=0, init=False)
    """Since it chose its points."""

    def learn(self, params: Params, values: Sequence[float], excess: float) -> None:
        """What became of a point: its objectives, and what it exceeds of its bounds."""
        self._points.append(_Known(params, tuple(values), excess))
        self._news += 1

    @property
    def waits(self) -> bool:
        """Whether it would say the same as before."""
        return self._fitted is not None and self._news < NEWS

    def promises(
        self,
        points: Sequence[Params],
        ordered: Mapping[str, bool],
        front: Sequence[Sequence[float]],
        seed: int,
        over: Sequence[Sequence[float]] = (),
    ) -> list[float] | None:
        """Of each point: what promises more is more. None where too little is known. `ordered` says of each parameter
        whether its values are numbers, of which close ones are alike. `over`: objectives of points before the front
        that exceed a bound by little; another one is worth something too if it is before those.
        """
        if len(self._points) < LEAST:
            return None
        fitted, best = self._fitted, np.array(front)
        if (
            fitted is None
            or self._added + self._news >= min(_MOST_ADDED, len(self._points) // 2)
            or [column.name for column in fitted.features.columns] != [*ordered]
        ):
            fitted, self._news, self._added = self._fit(ordered, best), 0, 0
        elif self._news >= NEWS:
            fitted = fitted.with_more(self._points[-self._news :])
            self._news, self._added = 0, self._added + self._news
        self._fitted = fitted
        return fitted.promises(points, best, np.array(over), seed)

    def _fit(self, ordered: Mapping[str, bool], front: Matrix) -> _Fitted:
        values, excess = _of(self._points)
        zeros = np.array(zero_marks(front.tolist())) if min(values.min(), front.min()) >= 0 else None
        scale = _Scale(zeros, front[0], front[0], front[0])
        values, best = scale.logarithms(values), scale.logarithms(front)
        order = np.argsort(np.maximum(_behind(values, best), 0) + np.minimum(excess, 1), kind="stable")
        used, worst = self._with_all_values(order, _with_last(order, _NEAREST)), best.max(axis=0) + _FAR
        goals = _goals(values, excess, worst)[used]
        scale = _Scale(zeros, worst, goals.mean(axis=0), goals.std(axis=0) + 1e-6)
        points = [self._points[i].params for i in used]
        if len(order) > 2 * _KEPT:
            self._points = [self._points[i] for i in sorted(_with_last(order, _KEPT))]
        return self._fitted_to(points, (goals - scale.mean) / scale.spread, scale, _features(points, ordered))

    def _with_all_values(self, order: Iterable[int], used: Sequence[int]) -> list[int]:
        """Of points by their numbers those that are used, and the first of each value of a parameter that none of them
        has: what one value alone makes bad would be forgotten, and tried again.
        """
        found, known = [*used], {value for i in used for value in self._points[i].params.items()}
        for i in order:
            if not known.issuperset(values := self._points[i].params.items()):
                known.update(values)
                found.append(i)
        return found

    def _fitted_to(self, points: Sequence[Params], goals: Matrix, scale: _Scale, features: _Features) -> _Fitted:
        rows, names = features.rows(points), tuple(column.name for column in features.columns)
        steps = _STEPS if names in self._weights else _FIRST_STEPS
        weights = self._weights.setdefault(names, _Weights(np.array([_FIRST] * len(names) + [_FIRST_NOISE])))
        for _ in range(steps):
            weights.climb(_slope(features, rows, goals, weights.logs))
        rows = features.weighted(rows, weights.logs)
        return _Fitted(features, weights.logs, scale, rows, goals, _inverse(_kernel(rows, rows), weights.logs))


def _behind(values: Matrix, front: Matrix) -> Matrix:
    """By how much each point would have to be better in all objectives to be on the front; negative where it is before
    it.
    """
    columns = [np.ascontiguousarray(values[..., number]) for number in range(front.shape[1])]
    found = np.full(values.shape[:-1], -np.inf)
    for goals in front.tolist():  # one after the other, so that what is computed stays in the processor's cache
        found = np.maximum(found, reduce(np.minimum, map(np.subtract, columns, goals)))
    return found


def _with_last(order: npt.NDArray[np.int64], count: int) -> list[int]:
    """Of points by their numbers the first `count` that are not of the last, and these."""
    last = max(0, len(order) - _LAST)
    return [*[int(i) for i in order if i < last][:count], *range(last, len(order))]


def _features(points: Sequence[Params], ordered: Mapping[str, bool]) -> _Features:
    columns: list[_Column] = []
    for name, in_order in ordered.items():
        known = dict.fromkeys(point[name] for point in points)
        columns.append(_Column(name, tuple(sorted(known) if in_order else known), in_order))
    owners = np.repeat(np.arange(len(columns)), [column.table.shape[1] for column in columns])
    return _Features(columns, owners)


def _inverse(kernel: Matrix, logs: Matrix) -> Matrix:
    return cast("Matrix", np.linalg.inv(kernel + np.exp(logs[-1]) * np.eye(len(kernel))))


def _slope(features: _Features, rows: Matrix, scaled: Matrix, logs: Matrix) -> Matrix:
    """Of the logarithm of how likely the goals are, all with the same weights, and the weights."""
    weighted = features.weighted(rows, logs)
    kernel = _kernel(weighted, weighted)
    inverse = _inverse(kernel, logs)
    solved = inverse @ scaled
    outer = solved @ solved.T - scaled.shape[1] * inverse
    pairs = outer * kernel
    squares = 2 * (pairs.sum(axis=1) @ rows**2 - np.sum(rows * (pairs @ rows), axis=0))
    found = np.empty_like(logs)
    found[:-1] = -0.5 * np.exp(logs[:-1]) * np.bincount(features.owners, squares, len(logs) - 1)
    found[:-1] -= _PULL * (logs[:-1] - _USUAL)
    found[-1] = 0.5 * np.exp(logs[-1]) * np.trace(outer)
    return found
