"""The coefficients of `compiler.platforms.clock` fitted to routed designs.

Amounts are csynth's. A design that met its target may have been able to run faster: its row is a bound, which only
counts where the model is slower than it. Coefficients are not negative; one that the rows leave at 0 is not determined
by them. Widest fan-out and pipeline style, which matter too, are in none of the rows.
"""

import csv
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from compiler.platforms.clock import COEFFICIENTS, ClockCoefficients, ClockShape
from compiler.platforms.platform import Platform
from compiler.solver.least_squares import Array, robust

REACHED_MHZ = 1.0  # below its target by less than this a design has met it: reports round
DAMPED_NS = 0.5  # residuals beyond are damped: one design that routed badly does not move the others


@dataclass(frozen=True, slots=True)
class ClockRow:
    """A routed design: its clock, and the share of the fullest die's LUTs by csynth; `crossed`, `registered`: streams
    cross between dies without registers, or with them.
    """

    design: str
    source: str
    mhz: float
    fill: float
    crossed: bool
    registered: bool
    reached: bool

    @property
    def period(self) -> float:
        """In ns."""
        return 1e3 / self.mhz

    @property
    def shape(self) -> ClockShape:
        return ClockShape(self.fill, self.crossed, self.registered)


def determined(found: ClockCoefficients) -> tuple[str, ...]:
    """Names of the coefficients that the rows do not leave at 0."""
    return tuple(name for name, value in zip(COEFFICIENTS, found.values, strict=True) if value > 1e-3)


def fitted(rows: Sequence[ClockRow]) -> ClockCoefficients:
    """All coefficients."""
    return ClockCoefficients(*map(float, _fit(rows, np.array([row.shape.parts for row in rows]))))


def fitted_constant(rows: Sequence[ClockRow]) -> ClockCoefficients:
    """One clock for all, fitted alike: what a model has to be better than."""
    (base,) = _fit(rows, np.ones((len(rows), 1)))
    return ClockCoefficients(float(base))


def _fit(rows: Sequence[ClockRow], parts: Array) -> Array:
    periods, bounds = np.array([row.period for row in rows]), np.array([row.reached for row in rows])
    seen = parts[~bounds].any(axis=0)  # what only bounds have, no row determines

    def residuals(coefficients: Array) -> Array:
        late = parts[:, seen] @ coefficients - periods
        return np.where(bounds, np.maximum(0.0, late), late)

    found = np.zeros(parts.shape[1])
    found[seen] = robust(residuals, np.full(int(seen.sum()), 0.5), DAMPED_NS)
    return found


def left_out(rows: Sequence[ClockRow], fit: Callable[[Sequence[ClockRow]], ClockCoefficients]) -> dict[str, float]:
    """Error in MHz of each design that is no bound, by a model of all others; positive where the model is too fast."""
    return {
        row.design: fit([other for other in rows if other is not row]).mhz(row.shape) - row.mhz
        for row in rows
        if not row.reached
    }


def published_rows() -> list[ClockRow]:
    """Points that are published without reports."""
    data = tomllib.loads(files("compiler.calibration").joinpath("clock.toml").read_text())
    return [ClockRow(**point) for point in data["point"]]


def table_rows(table: Path, platform: Platform) -> list[ClockRow]:
    """Designs of a table like the fixtures' `derived/u55c_hls_vs_routed.csv`, which has a line a kernel. One that
    the table calls `slrN` lies on that die, any other on the first.
    """
    with table.open(newline="") as file:
        lines = sorted(csv.DictReader(file), key=lambda line: (line["src"], line["design"]))
    by_design = groupby(lines, key=lambda line: (line["src"], line["design"]))
    return [_row(source, design, list(kernels), platform) for (source, design), kernels in by_design]


def _row(source: str, design: str, kernels: Sequence[dict[str, Any]], platform: Platform) -> ClockRow:
    dies = {slr.name: slr for slr in platform.dies.slrs}
    placed = [(kernel, dies.get(kernel["kernel"].upper(), platform.dies.slrs[0])) for kernel in kernels]
    mhz, target = float(kernels[0]["board_MHz"]), 1e3 / float(kernels[0]["tgt_ns"])
    reached = mhz >= target - REACHED_MHZ
    fill = max(float(kernel["LUT_hls"]) / slr.lut for kernel, slr in placed)
    return ClockRow(design, source, mhz, fill, len(kernels) > 1, False, reached)
