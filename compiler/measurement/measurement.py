"""What a measurement found: metrics with the fidelity that they deserve, and how they came about."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from compiler.analysis.limits import Flag
from compiler.metrics import TOOL, VERSION, Fidelity, Metric
from compiler.proof.verdict import OutputCheck
from compiler.toolchain.metric_table import metric_table

XRT = "xrt"
Table = dict[str, tuple[float | None, str]]


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Microseconds of `n` runs, each timed alone by the host's clock."""

    n: int
    median_us: float
    p05_us: float
    p95_us: float
    min_us: float


def run_times(nanoseconds: Sequence[int]) -> RunTimes:
    """Of at least one run."""
    low, median, high = np.percentile(np.asarray(nanoseconds, float) / 1e3, (5, 50, 95))
    return RunTimes(len(nanoseconds), float(median), float(low), float(high), min(nanoseconds) / 1e3)


@dataclass(frozen=True, slots=True)
class RunPower:
    """Watts of the whole card at rest and while the design runs back to back, `seconds_per_run` each.

    `samples` are readings while it ran, `distinct` of them new ones; `source` is where they came from.
    """

    idle_w: float
    run_w: float
    seconds_per_run: float
    samples: int = 0
    distinct: int = 0
    source: str = "power model"

    @property
    def energy_uj(self) -> float:
        """Of one run, without what the card takes at rest."""
        return (self.run_w - self.idle_w) * self.seconds_per_run * 1e6

    @property
    def with_idle_uj(self) -> float:
        """Of one run, the card at rest included."""
        return self.run_w * self.seconds_per_run * 1e6

    def table(self) -> Table:
        return {
            "power": (self.run_w, "W"),
            "idle_power": (self.idle_w, "W"),
            "energy": (self.energy_uj, "uJ"),
            "energy_with_idle": (self.with_idle_uj, "uJ"),
        }


@dataclass(frozen=True, slots=True)
class Measurement:
    """A design on a board: `board` is its address or "simulated".

    `times` and `power` are None where there is no such measurement; a simulated board's times are those of the emitted
    C++ on this machine and are no metric. `passed`: every result is the reference's; else `message` says what is off
    and there are no metrics. `flags` are metrics that can not be, `notes` what a reader should know.
    """

    design: str
    board: str
    shell: str
    passed: bool
    message: str
    outputs: tuple[OutputCheck, ...]
    times: RunTimes | None
    power: RunPower | None
    found: tuple[Metric, ...]
    flags: tuple[Flag, ...]
    notes: tuple[str, ...]
    tool_versions: dict[str, str]
    seconds: float
    edited: tuple[str, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """Latency is that of one run in us, energy that of one run in uJ (`_with_idle`: the card at rest included)."""
        return self.found

    def to_json(self) -> dict[str, Any]:
        """An error that is no number (a result was NaN) is null."""
        data = asdict(self)
        del data["found"]
        return {
            **data,
            "outputs": [{k: _json_number(v) for k, v in asdict(o).items()} for o in self.outputs],
            "metrics": [m.to_json() for m in self.found],
            "flags": [f.to_json() for f in self.flags],
        }


def _json_number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def board_metrics(
    times: RunTimes, power: RunPower | None, runs_per_s: float | None, version: str
) -> tuple[Metric, ...]:
    """What a board showed. `runs_per_s` back to back, None where it did not run so."""
    numbers: Table = {
        "latency": (times.median_us, "us"),
        "latency_p95": (times.p95_us, "us"),
        "throughput": (runs_per_s, "runs/s"),
        **(power.table() if power is not None else {}),
    }
    return metric_table(numbers, Fidelity.BOARD, XRT, version)


def simulated_metrics(latency_us: float, power: RunPower | None) -> tuple[Metric, ...]:
    """What stands in for a board: time from the simulator, power from the model."""
    times: Table = {"latency": (latency_us, "us"), "throughput": (1e6 / latency_us, "runs/s")}
    modelled: Table = power.table() if power is not None else {}
    return (
        *metric_table(times, Fidelity.SIMULATE, TOOL, VERSION),
        *metric_table(modelled, Fidelity.ESTIMATE, TOOL, VERSION),
    )
