"""Least squares with coefficients that are not negative: plain, and with large residuals damped. Only here is scipy."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy import optimize as _optimize  # pyright: ignore[reportMissingTypeStubs]

Array = np.ndarray[Any, np.dtype[np.float64]]

_scipy = cast("Any", _optimize)


def non_negative(matrix: Array, target: Array) -> Array:
    """c >= 0 that minimises the sum of squares of matrix @ c - target."""
    return cast("Array", _scipy.nnls(matrix, target)[0])


def robust(residuals: Callable[[Array], Array], start: Array, damped: float) -> Array:
    """c >= 0 that minimises the sum of 2 (sqrt(1 + (r / damped)^2) - 1) over the residuals r; `start` is positive."""
    solution = _scipy.least_squares(residuals, start, bounds=(0, np.inf), loss="soft_l1", f_scale=damped)
    return cast("Array", solution.x)
