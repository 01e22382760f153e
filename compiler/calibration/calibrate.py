"""`millrace calibrate`: reports in, coefficients out, with the error on designs that the fit did not see."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compiler.calibration.errors import ErrorRow, error_rows
from compiler.calibration.fit import fit
from compiler.calibration.power import PowerRun, fit_power, held_out_error, median_error, read_runs
from compiler.calibration.reports import ReadReport, Skipped, read_reports, samples_of
from compiler.calibration.routed import KernelPair, factors_of, pairs_of, pairs_of_table, routed_rows
from compiler.calibration.samples import Coefficients, Sample, coefficients_of
from compiler.calibration.tables import (
    CORE_TABLE,
    FIFO_TABLE,
    LATENCY_TABLE,
    ROUTED_TABLE,
    LatencyError,
    core_samples,
    fifo_samples,
    latency_error,
)
from compiler.errors import InvalidInputError
from compiler.platforms.platform import Platform, PowerModel, RoutedFactor
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.link.kernel_util import KernelUtil

NEEDS = (
    "reports of builds: csynth.xml or *_csynth.rpt of C synthesis, kernel_util_routed.rpt of the link, files or "
    "folders; or a table of measured runs with --power. Without them the platform's own coefficients stay, which are "
    "uncalibrated"
)


@dataclass(frozen=True)
class PowerFit:
    """The refitted power model; median errors of the old one, and of fits without the run that they predict."""

    model: PowerModel
    runs: int
    before: float
    held_out: float | None


@dataclass(frozen=True)
class Calibration:
    """What the reports say. `rows` are errors of the area model, of tables and of routed factors."""

    platform: str
    reports: tuple[ReadReport, ...]
    skipped: tuple[Skipped, ...]
    designs: int
    rows: tuple[ErrorRow, ...]
    before: Coefficients
    coefficients: Coefficients
    routed: dict[str, RoutedFactor]
    pairs: int
    latency: LatencyError | None = None
    power: PowerFit | None = None

    @property
    def summary(self) -> str:
        """What numbers rest on that use this calibration."""
        csynth = sum(isinstance(r.report, CsynthReport) for r in self.reports)
        parts = [f"area: {csynth} csynth reports of {self.designs} designs" if csynth else "area: uncalibrated"]
        if self.pairs:
            parts.append(f"routed: {self.pairs} kernels")
        parts.append("power: uncalibrated" if self.power is None else f"power: {self.power.runs} measured runs")
        return f"calibrated ({'; '.join(parts)})"

    def to_json(self) -> dict[str, Any]:
        """Everything but the reports' contents."""
        return {
            "platform": self.platform,
            "summary": self.summary,
            "reports": [{"path": str(r.path), "sha256": r.digest} for r in self.reports],
            "skipped": [{"path": str(s.path), "reason": s.reason} for s in self.skipped],
            "errors": [asdict(row) for row in self.rows],
            "coefficients": {
                name: {"before": self.before[name]._asdict(), "after": logic._asdict()}
                for name, logic in self.coefficients.items()
            },
            "routed": {name: asdict(factor) for name, factor in self.routed.items()},
            "latency": asdict(self.latency) if self.latency is not None else None,
            "power": asdict(self.power) if self.power is not None else None,
        }


def calibrate(
    platform: Platform, paths: Sequence[Path], fixtures: Path | None = None, power_table: Path | None = None
) -> Calibration:
    """Refit the platform's area, routed and power coefficients. `fixtures` is a folder with reports and, in `derived/`,
    tables that were computed from more of them. Raises InvalidInputError where nothing is given or found.
    """
    paths = [*paths, *([fixtures] if fixtures is not None else [])]
    if not paths and power_table is None:
        raise InvalidInputError(f"nothing to calibrate with; give {NEEDS}")
    reports, skipped = read_reports(paths)
    used = tuple(r for r in reports if isinstance(r.report, CsynthReport | KernelUtil))
    tables = fixtures / "derived" if fixtures is not None else None
    if not used and power_table is None:
        raise InvalidInputError(f"none of {len(reports) + len(skipped)} files is such a report; give {NEEDS}")
    samples, pairs = samples_of(used, platform.memories), _pairs(used, tables)
    fifos = fifo_samples(tables / FIFO_TABLE) if tables is not None and _has(tables, FIFO_TABLE) else ()
    before = coefficients_of(platform.area)
    return Calibration(
        platform.name,
        used,
        skipped,
        len({s.design for s in samples}),
        (*error_rows(samples, before), *error_rows(fifos, before), *_core_rows(tables, before), *routed_rows(pairs)),
        before,
        fit([*samples, *fifos], before),
        factors_of(pairs),
        len(pairs),
        latency_error(tables / LATENCY_TABLE) if tables is not None and _has(tables, LATENCY_TABLE) else None,
        _power(power_table, platform.power) if power_table is not None else None,
    )


def _has(tables: Path | None, name: str) -> bool:
    return tables is not None and (tables / name).is_file()


def _pairs(reports: Sequence[ReadReport], tables: Path | None) -> tuple[KernelPair, ...]:
    """Of the table where there is one: it holds the kernels of the reports beside it."""
    if tables is not None and _has(tables, ROUTED_TABLE):
        return pairs_of_table(tables / ROUTED_TABLE)
    return pairs_of(reports)


def _core_rows(tables: Path | None, before: Coefficients) -> tuple[ErrorRow, ...]:
    if tables is None or not _has(tables, CORE_TABLE):
        return ()
    cores: tuple[Sample, ...] = core_samples(tables / CORE_TABLE)
    return error_rows(cores, before)


def _power(table: Path, power: PowerModel) -> PowerFit:
    runs: tuple[PowerRun, ...] = read_runs(table)
    return PowerFit(fit_power(runs, power), len(runs), median_error(runs, power), held_out_error(runs, power))
