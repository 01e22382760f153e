"""The power model refitted to measured boards: watts of runs whose resources and activity are known.

A table (CSV) with the columns lut, ff, dsp, bram36, uram (of the routed design), activity (share of the time in which
it computes, 0 to 1), clock_mhz, hbm_gb_s, watts (of the whole card). Few runs can not tell six coefficients apart: what
is fitted is the power at rest, one factor for all resources together, and, where the traffic differs between runs, the
energy of a byte from HBM.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import isfinite
from pathlib import Path
from statistics import median

import numpy as np

from compiler.errors import InvalidInputError
from compiler.platforms.platform import PowerModel
from compiler.solver.least_squares import non_negative

COLUMNS = ("lut", "ff", "dsp", "bram36", "uram", "activity", "clock_mhz", "hbm_gb_s", "watts")
FEWEST = 3


@dataclass(frozen=True, slots=True)
class PowerRun:
    """One measured run, in the columns' units."""

    lut: float
    ff: float
    dsp: float
    bram36: float
    uram: float
    activity: float
    clock_mhz: float
    hbm_gb_s: float
    watts: float


def read_runs(file: Path) -> tuple[PowerRun, ...]:
    """Raises InvalidInputError where a column or a number is missing."""
    try:
        with file.open(newline="") as text:
            return tuple(map(_run, csv.DictReader(text)))
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise InvalidInputError(f"{file} is no table of measured runs ({', '.join(COLUMNS)}): {error!r}") from error


def _run(row: Mapping[str, str]) -> PowerRun:
    run = PowerRun(*(float(row[column]) for column in COLUMNS))
    if not all(isfinite(value) and value >= 0 for value in astuple(run)) or run.watts == 0 or run.activity > 1:
        raise ValueError(f"a run draws power, is active 0 to 1 of the time, and has no negative amounts: {dict(row)}")
    return run


def dynamic_watts(run: PowerRun, power: PowerModel) -> float:
    """What the resources draw by the model, HBM aside."""
    milli = run.dsp * power.dsp_mw + run.bram36 * power.bram36_mw + run.uram * power.uram_mw
    watts = milli * 1e-3 + (run.lut * power.lut_uw + run.ff * power.ff_uw) * 1e-6
    active = power.waiting_share + (1 - power.waiting_share) * run.activity
    return watts * run.clock_mhz / power.clock_mhz * active


def predicted_watts(run: PowerRun, power: PowerModel) -> float:
    """Of the whole card."""
    return power.static_w + dynamic_watts(run, power) + run.hbm_gb_s * power.hbm_pj_per_byte * 1e-3


def fit_power(runs: Sequence[PowerRun], power: PowerModel) -> PowerModel:
    """`power` with what the runs can tell. Raises InvalidInputError for too few of them."""
    if len(runs) < FEWEST:
        raise InvalidInputError(f"{len(runs)} measured runs can not tell the power model; give at least {FEWEST}")
    columns = [np.ones(len(runs)), np.array([dynamic_watts(r, power) for r in runs])]
    traffic = np.array([r.hbm_gb_s for r in runs])
    varies = len(runs) > FEWEST and float(np.ptp(traffic)) > 0
    known = traffic * power.hbm_pj_per_byte * 1e-3
    target = np.array([r.watts for r in runs]) - (0 if varies else known)
    found = non_negative(np.stack([*columns, *([traffic] if varies else [])], axis=1), target)
    scale = float(found[1])
    return replace(
        power,
        static_w=round(float(found[0]), 3),
        dsp_mw=power.dsp_mw * scale,
        lut_uw=power.lut_uw * scale,
        ff_uw=power.ff_uw * scale,
        bram36_mw=power.bram36_mw * scale,
        uram_mw=power.uram_mw * scale,
        hbm_pj_per_byte=float(found[2]) * 1e3 if varies else power.hbm_pj_per_byte,
    )


def median_error(runs: Sequence[PowerRun], power: PowerModel) -> float:
    """Median of the absolute relative errors."""
    return median(abs(predicted_watts(run, power) / run.watts - 1) for run in runs)


def held_out_error(runs: Sequence[PowerRun], power: PowerModel) -> float | None:
    """The same, each run predicted by a fit to the others; None for too few runs."""
    if len(runs) <= FEWEST:
        return None
    models = [fit_power([r for r in runs if r is not run], power) for run in runs]
    return median(abs(predicted_watts(run, model) / run.watts - 1) for run, model in zip(runs, models, strict=True))
