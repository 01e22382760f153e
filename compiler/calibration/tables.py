"""Tables that were computed from many reports (`derived/` of the fixtures): FIFOs, operator cores, csynth and cosim."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

from compiler.calibration.cores import core_area
from compiler.calibration.from_csynth import fifo_features
from compiler.calibration.samples import Amount, Sample
from compiler.errors import InvalidInputError
from compiler.toolchain.hls.csynth_rows import Area, FifoRow

FIFO_TABLE, CORE_TABLE = "hls_fifo_table.csv", "hls_op_table.csv"
ROUTED_TABLE, LATENCY_TABLE = "u55c_hls_vs_routed.csv", "streamhls_csynth_vs_cosim.csv"
OLD_TOOL = "2019.2"  # maps FIFOs by other rules

Read = TypeVar("Read")


def _of_table(read: Callable[[Path], Read]) -> Callable[[Path], Read]:
    """`read`, raising InvalidInputError where the file lacks a column or a number."""

    @wraps(read)
    def wrapped(file: Path) -> Read:
        try:
            return read(file)
        except (OSError, csv.Error, KeyError, ValueError, TypeError, AttributeError) as error:
            raise InvalidInputError(f"the table {file} is damaged, or another one: {error!r}; copy it again") from error

    return wrapped


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(newline="") as text:
        yield from csv.DictReader(text)


@_of_table
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


@_of_table
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


@_of_table
def latency_error(file: Path) -> LatencyError:
    """From a table with the columns csynth_worst and cosim_lat."""
    pairs = ((row["cosim_lat"], row["csynth_worst"]) for row in _rows(file))
    ratios = [float(real) / float(told) for real, told in pairs if real.isdigit() and told.isdigit() and int(told)]
    close = sum(abs(r - 1) <= 0.02 for r in ratios)
    return LatencyError(
        len(ratios), close, median(ratios), min(ratios), quantiles(ratios, n=10, method="inclusive")[-1], max(ratios)
    )
