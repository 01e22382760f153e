"""Coefficients by robust regression: large errors damped, no coefficient below zero.

For each part of the model and for LUT and FF apart, minimise over c >= 0

    sum over samples of rho((fixed + x.c - y) / s)  +  RIDGE * sum over features of (c * mean(x) / mean(s))^2

with s = sqrt(max(y, FLOOR) * their median): between relative errors, by which narrow tasks would outvote the wide ones
that fill a part, and absolute ones, by which they would not count. rho grows only linearly beyond `DAMPED`. The ridge
keeps features apart that the samples can not tell apart. Coefficients whose feature is zero in all samples stay as they
were, and all of a part where there are too few samples. Nothing of the old coefficients enters the others: what is
fitted without a design knows nothing of it.
"""

from collections.abc import Sequence

import numpy as np

from compiler.calibration.samples import PARTS, Coefficients, Sample
from compiler.platforms.area import Logic
from compiler.solver.least_squares import Array, robust

FLOOR = 50.0  # LUTs or FFs: below, absolute errors count
RIDGE = 1e-3
DAMPED = 0.2  # scaled error from which it grows linearly
SPARE = 2  # samples that there must be beyond the coefficients that they are to tell


def fit(samples: Sequence[Sample], start: Coefficients) -> Coefficients:
    """`start` with the coefficients of every part that the samples say enough about."""
    found = dict(start)
    for part, names in PARTS.items():
        mine = [s for s in samples if s.part == part]
        luts, ffs = (_fit_one(names, mine, resource, start) for resource in ("lut", "ff"))
        found |= {name: Logic(lut, ff) for name, lut, ff in zip(names, luts, ffs, strict=True)}
    return found


def _fit_one(names: Sequence[str], samples: Sequence[Sample], resource: str, start: Coefficients) -> list[float]:
    known = [s for s in samples if getattr(s, resource).actual is not None]
    old = np.array([getattr(start[name], resource) for name in names])
    features = np.array([[s.features.get(name, 0.0) for name in names] for s in known], dtype=float)
    used = features.any(axis=0) if known else np.zeros(len(names), dtype=bool)
    if not used.any() or len(known) < used.sum() + SPARE:
        return [float(value) for value in old]
    target = np.array([getattr(s, resource).actual - getattr(s, resource).fixed for s in known], dtype=float)
    actual = np.array([getattr(s, resource).actual for s in known], dtype=float)
    old[used] = _solve(features[:, used], target, np.maximum(actual, FLOOR))
    return [round(float(value), 4) for value in old]


def _solve(features: Array, target: Array, actual: Array) -> Array:
    scale = np.sqrt(actual * np.median(actual))
    weight = np.sqrt(RIDGE) * features.mean(axis=0) / scale.mean()

    def residuals(c: Array) -> Array:
        return np.concatenate(((features @ c - target) / scale, weight * c))

    start = np.maximum(np.linalg.lstsq(features / scale[:, None], target / scale, rcond=None)[0], 1e-6)
    return robust(residuals, start, DAMPED)
