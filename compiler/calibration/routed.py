"""What placement and routing leave of csynth's figures: a factor for each resource, and its error on other designs."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from compiler.calibration.errors import ErrorRow, Spread, spread
from compiler.calibration.reports import ReadReport
from compiler.errors import InvalidInputError
from compiler.platforms.platform import RoutedFactor
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.link.kernel_util import KernelUtil

ROUTED = "csynth to routed"
RESOURCES = ("lut", "ff", "dsp", "bram36")
# Kernels with less of a resource say nothing about its factor.
FEWEST = {"lut": 500.0, "ff": 500.0, "dsp": 20.0, "bram36": 10.0}


@dataclass(frozen=True)
class KernelPair:
    """One kernel's amounts by csynth and routed, by resource. `source` groups kernels of one origin."""

    source: str
    design: str
    kernel: str
    csynth: dict[str, float]
    routed: dict[str, float]

    def ratio(self, resource: str) -> float | None:
        """Routed over csynth; None where there is too little of it."""
        before = self.csynth.get(resource, 0.0)
        return self.routed[resource] / before if before >= FEWEST[resource] else None


def pairs_of(reports: Iterable[ReadReport]) -> tuple[KernelPair, ...]:
    """Kernels with a csynth report of their top and a routed report, both of one build."""
    reports = tuple(reports)
    tops: dict[tuple[str, str], CsynthReport] = {}
    for read in reports:
        if isinstance(read.report, CsynthReport):
            tops.setdefault((read.build, read.report.top), read.report)
    pairs: dict[tuple[str, str], KernelPair] = {}
    for read in reports:
        for kernel in read.report.kernels if isinstance(read.report, KernelUtil) else ():
            top = tops.get((read.build, kernel.name))
            if top is not None and kernel.units:
                area, used = top.design.area, kernel.units[0].used
                csynth = {"lut": area.lut or 0, "ff": area.ff or 0, "dsp": area.dsp or 0}
                csynth |= {"bram36": (area.bram18 or 0) / 2}
                routed = {resource: getattr(used, resource) for resource in RESOURCES}
                pairs[read.build, kernel.name] = KernelPair(read.source, read.build, kernel.name, csynth, routed)
    return tuple(pairs.values())


def pairs_of_table(file: Path) -> tuple[KernelPair, ...]:
    """Rows of a table with the columns src, design, LUT_hls, LUT_routed, ... Raises InvalidInputError."""
    columns = {"lut": ("LUT_hls", "LUT_routed", 1.0), "ff": ("FF_hls", "FF_routed", 1.0)}
    columns |= {"dsp": ("DSP_hls", "DSP_routed", 1.0), "bram36": ("BRAM18_hls", "BRAM36_routed", 0.5)}
    try:
        with file.open(newline="") as text:
            return tuple(
                KernelPair(
                    row["src"],
                    row["design"],
                    row["kernel"],
                    {name: float(row[before]) * unit for name, (before, _, unit) in columns.items()},
                    {name: float(row[after]) for name, (_, after, _) in columns.items()},
                )
                for row in csv.DictReader(text)
            )
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise InvalidInputError(f"{file} is no table of csynth and routed kernels: {error!r}") from error


def factors_of(pairs: Iterable[KernelPair]) -> dict[str, RoutedFactor]:
    """Median ratio of each resource and the range that holds the middle four fifths."""
    pairs = tuple(pairs)
    found: dict[str, RoutedFactor] = {}
    for resource in RESOURCES:
        ratios = [r for r in (pair.ratio(resource) for pair in pairs) if r is not None]
        if len(ratios) > 1:
            tenths = quantiles(ratios, n=10, method="inclusive")
            found[resource] = RoutedFactor(*(round(x, 3) for x in (median(ratios), tenths[0], tenths[-1])))
    return found


def routed_rows(pairs: Sequence[KernelPair]) -> tuple[ErrorRow, ...]:
    """Errors of csynth's figures as they stand, and times the factor of kernels of all other designs, and sources."""
    rows: list[ErrorRow] = []
    for resource in RESOURCES:
        mine = [p for p in pairs if p.ratio(resource) is not None]
        if mine:
            before = spread([_error(p, resource, 1.0) for p in mine])
            fair = (_fair(mine, resource, group) for group in (_design, _source))
            rows.append(ErrorRow(ROUTED, resource, len(mine), len({_design(p) for p in mine}), before, *fair))
    return tuple(rows)


def _design(pair: KernelPair) -> str:
    return f"{pair.source} {pair.design}"


def _source(pair: KernelPair) -> str:
    return pair.source


def _fair(pairs: Sequence[KernelPair], resource: str, group: Callable[[KernelPair], str]) -> Spread | None:
    """Errors with the factor of all other groups; None where there is none."""
    groups = {group(p) for p in pairs}
    factors = {g: factors_of(p for p in pairs if group(p) != g).get(resource) for g in groups}
    known = [(p, factors[group(p)]) for p in pairs]
    errors = [_error(p, resource, factor.factor) for p, factor in known if factor is not None]
    return spread(errors) if len(errors) == len(pairs) else None


def _error(pair: KernelPair, resource: str, factor: float) -> float:
    routed = pair.routed[resource]
    return (pair.csynth[resource] * factor - routed) / max(routed, FEWEST[resource])
