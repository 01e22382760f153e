"""Tables that were computed from many reports (`derived/` of the fixtures): FIFOs, operator cores, csynth and cosim."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from compiler.calibration.cores import core_area
from compiler.calibration.from_csynth import fifo_features
from compiler.calibration.samples import Amount, Sample
from compiler.errors import InvalidInputError
from compiler.toolchain.hls.csynth_rows import Area, FifoRow

FIFO_TABLE, CORE_TABLE = "hls_fifo_table.csv", "hls_op_table.csv"
ROUTED_TABLE, LATENCY_TABLE = "u55c_hls_vs_routed.csv", "streamhls_csynth_vs_cosim.csv"
OLD_TOOL = "2019.2"  # maps FIFOs by other rules


def _rows(file: Path) -> Iterator[dict[str, str]]:
    try:
        with file.open(newline="") as text:
            yield from csv.DictReader(text)
    except OSError as error:
        raise InvalidInputError(f"the table {file} can not be read: {error.strerror or error}") from error


def fifo_samples(file: Path) -> tuple[Sample, ...]:
    """FF of each FIFO; its tool and clock are its source. Without those of tools before 2022.1."""
    samples: list[Sample] = []
    for row in _rows(file):
        if row["tool"] == OLD_TOOL:
            continue
        source = f"{row['tool']} {row['part'][:6]} {row['clock_ns']} ns"
        name = f"{row['width']} x {row['depth']}"
        fifo = FifoRow(name, "", int(row["depth"]), int(row["width"]), Area(ff=int(row["FF"])))
        features, ff = fifo_features([fifo]), Amount(float(row["FF"]))
        samples.append(Sample("FIFO of the table", source, source, name, "fifo", features, Amount(None), ff))
    return tuple(samples)


def core_samples(file: Path) -> tuple[Sample, ...]:
    """Operator cores that the model knows, as csynth counts them."""
    samples: list[Sample] = []
    for row in _rows(file):
        core = core_area(row["core"])
        if core is not None and not row["part"].startswith("xc7"):
            source = f"{row['tool']} {row['clock_ns']} ns"
            amounts = (Amount(float(row[c]), a) for c, a in (("LUT", core.lut), ("FF", core.ff), ("DSP", core.dsp)))
            samples.append(Sample("operator core", source, source, row["core"], "", {}, *amounts))
    return tuple(samples)


@dataclass(frozen=True, slots=True)
class LatencyError:
    """RTL simulation over csynth's latency, of `n` designs that passed: how many are within 2 %, median, extremes."""

    n: int
    within_2_percent: int
    median: float
    low: float
    p90: float
    high: float


def latency_error(file: Path) -> LatencyError:
    """From a table with the columns csynth_worst and cosim_lat."""
    pairs = ((row["cosim_lat"], row["csynth_worst"]) for row in _rows(file))
    ratios = [float(real) / float(told) for real, told in pairs if real.isdigit() and told.isdigit() and int(told)]
    close = sum(abs(r - 1) <= 0.02 for r in ratios)
    return LatencyError(
        len(ratios), close, median(ratios), min(ratios), quantiles(ratios, n=10, method="inclusive")[-1], max(ratios)
    )
