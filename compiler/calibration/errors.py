"""How far the model is from the reports: relative errors per class of kernel and resource."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import median, quantiles

from compiler.calibration.fit import fit
from compiler.calibration.samples import PARTS, RESOURCES, Coefficients, Sample
from compiler.platforms.area import Logic

LOGIC = frozenset({"lut", "ff"})  # what coefficients are for
# Below these amounts an error is taken relative to them: half a BRAM36 too much of none is no error without bound.
FLOORS = {"lut": 50.0, "ff": 50.0, "dsp": 1.0, "bram36": 1.0}


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 90th percentile of absolute relative errors, and the median of signed ones."""

    median: float
    p90: float
    bias: float


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of `n` samples of `designs` designs: as the platform stands, and with coefficients that were fitted to all
    other designs, and to all designs of other sources. None where those say nothing of it.
    """

    kind: str
    resource: str
    n: int
    designs: int
    before: Spread
    other_designs: Spread | None
    other_sources: Spread | None


def spread(errors: Sequence[float]) -> Spread:
    sizes = sorted(map(abs, errors))
    p90 = quantiles(sizes, n=10, method="inclusive")[-1] if len(sizes) > 1 else sizes[0]
    return Spread(median(sizes), p90, median(errors))


def error_rows(samples: Sequence[Sample], start: Coefficients) -> tuple[ErrorRow, ...]:
    """Errors before the fit, and of fits that did not see the sample's design or source, by kind and resource."""
    designs = _fitted_without(samples, _design, start)
    sources = _fitted_without(samples, _source, start)
    rows: list[ErrorRow] = []
    for kind in dict.fromkeys(s.kind for s in samples):
        for resource in RESOURCES:
            mine = [s for s in samples if s.kind == kind and getattr(s, resource).actual is not None]
            if not mine:
                continue
            before = spread([_error(s, resource, start) for s in mine])
            by_design = _fair(mine, resource, [designs[_design(s)] for s in mine], start)
            by_source = _fair(mine, resource, [sources[_source(s)] for s in mine], start)
            rows.append(
                ErrorRow(kind, resource, len(mine), len({_design(s) for s in mine}), before, by_design, by_source)
            )
    return tuple(rows)


def _design(sample: Sample) -> str:
    return sample.design


def _source(sample: Sample) -> str:
    return sample.source


def _fitted_without(
    samples: Sequence[Sample], group: Callable[[Sample], str], start: Coefficients
) -> dict[str, Coefficients]:
    """For each group the coefficients fitted to all others; NaN where those say nothing."""
    unknown = dict.fromkeys(start, Logic(nan, nan))
    return {g: fit([s for s in samples if group(s) != g], unknown) for g in sorted({group(s) for s in samples})}


def _fair(
    samples: Sequence[Sample], resource: str, fitted: Sequence[Coefficients], start: Coefficients
) -> Spread | None:
    """Errors with what was fitted without each sample; None where for one of them nothing could be.

    A unit that no other design has counts nothing. Whole designs take parts of the model that could not be fitted at
    all (LUTs of FIFOs' control, which reports only give in sum) from the platform.
    """
    errors: list[float] = []
    for sample, found in zip(samples, fitted, strict=True):
        known = {name: getattr(logic, resource, nan) for name, logic in found.items()}
        if sample.part and resource in LOGIC and all(isnan(known[name]) for name in PARTS[sample.part]):
            return None
        errors.append(_error(sample, resource, _filled(known, resource, start)))
    return spread(errors)


def _filled(known: dict[str, float], resource: str, start: Coefficients) -> Coefficients:
    filled: Coefficients = {}
    for names in PARTS.values():
        fitted = not all(isnan(known[name]) for name in names)
        for name in names:
            value = known[name] if not isnan(known[name]) else 0.0 if fitted else getattr(start[name], resource, 0.0)
            filled[name] = Logic(value, value)
    return filled


def _error(sample: Sample, resource: str, coefficients: Coefficients) -> float:
    actual = getattr(sample, resource).actual
    return (sample.predicted(resource, coefficients) - actual) / max(actual, FLOORS[resource])
