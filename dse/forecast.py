"""How much points promise, by what is known of others.

Most moves from a good design are many times worse, and those that were made say which: the best of some dozens by
forecast is worth many that are drawn. The forecast is a Gaussian process. Its kernel falls with the parameters in which
two points differ, each by a weight of its own, which follows from what is known (automatic relevance, MacKay 1994): on
GPT-2's block most parameters change little. What a point promises is its expected improvement (Jones et al., 1998), by
how far it lies before the front (the additive epsilon of Zitzler et al., 2003), on logarithmic axes.

It looks at the last points and at those nearest to the front, so that its time does not grow with what is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from dse.logarithms import zero_marks

Params = Mapping[str, Any]
Matrix = npt.NDArray[np.float64]

LEAST = 24
"""Fewer points say nothing."""
_NEWS = 8
"""New points that it waits for before it looks at them."""
_NEAREST, _LAST = 112, 80
"""Points that it looks at: those nearest to the front, and the last."""
_KEPT = 1024
"""Others are forgotten where there are more than twice as many."""
_FAR = 1.5
"""What is so far behind the worst of the front, in logarithms, is as bad as all that is worse."""
_FITS, _MOST_EXCESS = -0.1, 0.5
"""An excess of none counts as a little less, so that it differs from a small one; and none as more than half."""
_SAMPLES = 12
"""Of the objectives of each point."""
_BEHIND = 0.01
"""What it counts to lie behind the front by less, where nothing lies before it."""
_DIGITS = 8
# The weights are those that make what is known likely: steps of Adam (Kingma and Ba, 2015), at first and with what is
# new, their length, what keeps them from following a slope of nothing but rounding, and what the logarithms of weights
# begin with, are pulled to by each point, and may be. The last one is that of noise.
_FIRST_STEPS, _STEPS, _RATE, _FLAT = 30, 2, 0.1, 1e-3
_FIRST, _USUAL, _PULL, _RANGE = np.log(0.15), np.log(0.05), 4e-4, (-9.0, 1.5)
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


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a parameter as features: their squared distance is that of two values, which is 1; of numbers half
    of it, and in steps between those that are known up to 1 more.
    """

    name: str
    known: tuple[Any, ...]
    ordered: bool

    def features(self, values: Sequence[Any]) -> Matrix:
        if self.ordered:
            known, found = np.array(self.known, dtype=np.float64), np.array(values, dtype=np.float64)
        else:
            codes = {value: float(code) for code, value in enumerate(self.known)}
            known = np.arange(len(codes), dtype=np.float64)
            found = np.array([codes.get(value, -1.0) for value in values])
        same = found[:, None] == known
        each = np.hstack([same, ~same.any(axis=1, keepdims=True)]) * np.sqrt(0.25 if self.ordered else 0.5)
        if not self.ordered or len(known) < 2:
            return each
        return np.hstack([each, (found[:, None] > known[:-1]) / np.sqrt(len(known) - 1)])


@dataclass(frozen=True, slots=True)
class _Features:
    """Points as rows of which the squared distance, each feature times its parameter's weight, is the kernel's."""

    columns: Sequence[_Column]
    owners: npt.NDArray[np.int64]
    """Of each feature the number of its column."""
    met: Sequence[dict[Any, Matrix]]
    """Features of values, by column."""

    def rows(self, points: Sequence[Params]) -> Matrix:
        return np.array([np.concatenate(self._of(point)) for point in points])

    def _of(self, point: Params) -> list[Matrix]:
        found: list[Matrix] = []
        for column, met in zip(self.columns, self.met, strict=True):
            value = point[column.name]
            if value not in met:
                met[value] = column.features([value])[0]
            found.append(met[value])
        return found

    def kernel(self, a: Matrix, b: Matrix, logs: Matrix) -> Matrix:
        roots = np.exp(0.5 * logs[self.owners])
        a, b = a * roots, b * roots
        squares = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * a @ b.T
        return np.exp(-np.maximum(squares, 0))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The process, given its points. Of goals, which are objectives and excess, it knows mean and spread."""

    features: _Features
    logs: Matrix
    rows: Matrix
    inverse: Matrix
    solved: Matrix
    mean: Matrix
    spread: Matrix
    front: Matrix

    def promises(self, points: Sequence[Params], seed: int) -> list[float]:
        kernel = self.features.kernel(self.features.rows(points), self.rows, self.logs)
        left = np.maximum(1 - np.sum(kernel @ self.inverse * kernel, axis=1), 1e-6)
        draws = np.random.default_rng(seed).standard_normal((_SAMPLES, 1, len(self.mean)))
        found = self.mean + self.spread * (kernel @ self.solved + np.sqrt(left)[:, None] * draws)
        before = -_behind(found[:, :, :-1], self.front)
        gain = np.where(found[:, :, -1] <= 0, np.maximum(before, 0), 0)
        loss = np.minimum(before, 0) - np.maximum(found[:, :, -1], 0)
        # What only rounding tells apart is as good: it differs between machines and with the number of threads.
        return [round(float(promise), _DIGITS) for promise in np.mean(gain + _BEHIND * loss, axis=0)]


class _Known(NamedTuple):
    params: Params
    values: tuple[float, ...]
    excess: float


@dataclass
class Forecast:
    """Of points that have the same parameters as those that are known."""

    _points: list[_Known] = field(default_factory=list[_Known], init=False)
    _weights: dict[tuple[str, ...], _Weights] = field(default_factory=dict[tuple[str, ...], _Weights], init=False)
    _fitted: _Fitted | None = field(default=None, init=False)
    _news: int = field(default=0, init=False)

    def learn(self, params: Params, values: Sequence[float], excess: float) -> None:
        """What became of a point: its objectives, and what it exceeds of its bounds."""
        self._points.append(_Known(params, tuple(values), excess))
        self._news += 1

    def promises(
        self, points: Sequence[Params], ordered: Mapping[str, bool], front: Sequence[Sequence[float]], seed: int
    ) -> list[float] | None:
        """Of each point: what promises more is more. None where too little is known. `ordered` says of each parameter
        whether its values are numbers, of which close ones are alike.
        """
        if len(self._points) < LEAST:
            return None
        if (
            self._fitted is None
            or self._news >= _NEWS
            or [column.name for column in self._fitted.features.columns] != [*ordered]
        ):
            self._fitted, self._news = self._fit(ordered, front), 0
        return self._fitted.promises(points, seed)

    def _fit(self, ordered: Mapping[str, bool], front: Sequence[Sequence[float]]) -> _Fitted:
        values, best = np.array([known.values for known in self._points]), np.array(front)
        excess = np.array([known.excess for known in self._points])
        if min(values.min(), best.min()) >= 0:
            zeros = np.array(zero_marks(front))
            values, best = np.log(np.where(values > 0, values, zeros)), np.log(np.where(best > 0, best, zeros))
        order = np.argsort(np.maximum(_behind(values, best), 0) + np.minimum(excess, 1), kind="stable")
        used = _with_last(order, _NEAREST)
        excess = np.where(excess > 0, np.minimum(excess, _MOST_EXCESS), _FITS)
        goals = np.column_stack([np.minimum(values, best.max(axis=0) + _FAR), excess])[used]
        points = [self._points[i].params for i in used]
        if len(order) > 2 * _KEPT:
            self._points = [self._points[i] for i in sorted(_with_last(order, _KEPT))]
        return self._fitted_to(points, goals, _features(points, ordered), best)

    def _fitted_to(self, points: Sequence[Params], goals: Matrix, features: _Features, front: Matrix) -> _Fitted:
        mean, spread, rows = goals.mean(axis=0), goals.std(axis=0) + 1e-6, features.rows(points)
        scaled, names = (goals - mean) / spread, tuple(column.name for column in features.columns)
        steps = _STEPS if names in self._weights else _FIRST_STEPS
        weights = self._weights.setdefault(names, _Weights(np.array([_FIRST] * len(names) + [_FIRST_NOISE])))
        for _ in range(steps):
            weights.climb(_slope(features, rows, scaled, weights.logs))
        inverse = _inverse(features.kernel(rows, rows, weights.logs), weights.logs)
        return _Fitted(features, weights.logs, rows, inverse, inverse @ scaled, mean, spread, front)


def _behind(values: Matrix, front: Matrix) -> Matrix:
    """By how much each point would have to be better in all objectives to be on the front; negative where it is before
    it.
    """
    return np.max(np.min(values[..., None, :] - front, axis=-1), axis=-1)


def _with_last(order: npt.NDArray[np.int64], count: int) -> list[int]:
    """Of points by their numbers the first `count` that are not of the last, and these."""
    last = max(0, len(order) - _LAST)
    return [*[int(i) for i in order if i < last][:count], *range(last, len(order))]


def _features(points: Sequence[Params], ordered: Mapping[str, bool]) -> _Features:
    columns: list[_Column] = []
    for name, in_order in ordered.items():
        known = dict.fromkeys(point[name] for point in points)
        columns.append(_Column(name, tuple(sorted(known) if in_order else known), in_order))
    tables = [column.features(column.known) for column in columns]
    owners = np.repeat(np.arange(len(columns)), [table.shape[1] for table in tables])
    return _Features(
        columns, owners, [dict(zip(c.known, table, strict=True)) for c, table in zip(columns, tables, strict=True)]
    )


def _inverse(kernel: Matrix, logs: Matrix) -> Matrix:
    return cast("Matrix", np.linalg.inv(kernel + np.exp(logs[-1]) * np.eye(len(kernel))))


def _slope(features: _Features, rows: Matrix, scaled: Matrix, logs: Matrix) -> Matrix:
    """Of the logarithm of how likely the goals are, all with the same weights, and the weights."""
    kernel = features.kernel(rows, rows, logs)
    inverse = _inverse(kernel, logs)
    solved = inverse @ scaled
    outer = solved @ solved.T - scaled.shape[1] * inverse
    pairs = outer * kernel
    squares = 2 * (pairs.sum(axis=1) @ rows**2 - np.sum(rows * (pairs @ rows), axis=0))
    found = np.empty_like(logs)
    found[:-1] = -0.5 * np.exp(logs[:-1]) * np.bincount(features.owners, squares, len(logs) - 1)
    found[:-1] -= _PULL * len(rows) * (logs[:-1] - _USUAL)
    found[-1] = 0.5 * np.exp(logs[-1]) * np.trace(outer)
    return found
