"""`power_profile_*.csv` of XRT (`power_profile=true`): currents and voltages of a board over time.

The board refreshes its sensors about once a second, XRT polls them every 20 ms: most rows repeat the one before, and
only the distinct ones count. A run must last long enough for several, and idle power is to be subtracted.
"""

from dataclasses import dataclass
from itertools import pairwise

from compiler.errors import InvalidInputError
from compiler.metrics import Fidelity, Metric
from compiler.toolchain.board.sensors import INPUTS
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.numbers import known
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

FEWEST_DISTINCT = 5  # readings of the sensors that a mean may be taken over
_DEVICE = "Target device: "


@dataclass(frozen=True, slots=True)
class PowerSample:
    """`seconds` since XRT started; `watts` is the sum of the rails that feed the board."""

    seconds: float
    watts: float


@dataclass(frozen=True, slots=True)
class PowerProfile:
    """`samples` are all rows; `distinct` are the first rows of each reading of the rails' sensors."""

    device: str
    samples: tuple[PowerSample, ...]
    distinct: tuple[PowerSample, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def seconds(self) -> float:
        """From the first to the last sample."""
        return self.samples[-1].seconds - self.samples[0].seconds

    @property
    def mean_w(self) -> float:
        """Mean over time, linear between samples (XRT may take seconds between two); of one sample its own power."""
        if self.seconds == 0:
            return self.samples[0].watts
        return sum((a.watts + b.watts) / 2 * (b.seconds - a.seconds) for a, b in pairwise(self.samples)) / self.seconds

    @property
    def measured(self) -> bool:
        """Whether the sensors were read often enough for the mean to say something."""
        return len(self.distinct) >= FEWEST_DISTINCT

    def metrics(self) -> tuple[Metric, ...]:
        """Mean power of the whole board, idle included; nothing from too few readings."""
        power = self.mean_w if self.measured else None
        return metric_table({"power": (power, "W")}, Fidelity.BOARD, "xrt", "")


@dataclass(frozen=True, slots=True)
class ActivePower:
    """What a run takes above the idle board: mean watts, over how many seconds."""

    run_w: float
    idle_w: float
    seconds: float

    @property
    def mean_w(self) -> float:
        return self.run_w - self.idle_w


def active_power(run: PowerProfile, idle: PowerProfile) -> ActivePower:
    """Power of `run` with that of `idle` subtracted. Raises InvalidInputError where they do not carry a measurement."""
    for name, profile in (("run", run), ("idle", idle)):
        if not profile.measured:
            raise InvalidInputError(
                f"the power profile of the {name} has {len(profile.distinct)} distinct readings in "
                f"{profile.seconds:.1f} s, a mean needs {FEWEST_DISTINCT}: the board refreshes its sensors about once "
                "a second; repeat the kernel for 10 to 30 s"
            )
    if run.device != idle.device:
        raise InvalidInputError(f"the run is of {run.device}, the idle board is {idle.device}; profile the same board")
    if run.mean_w <= idle.mean_w:
        raise InvalidInputError(
            f"the run takes {run.mean_w:.2f} W, the idle board {idle.mean_w:.2f} W: no power is left for the kernel; "
            "profile the idle board with the same xclbin loaded and at the same temperature"
        )
    return ActivePower(run.mean_w, idle.mean_w, run.seconds)


def is_power_profile(source: Source) -> bool:
    return source.text.startswith(_DEVICE) and "\ntimestamp," in source.text[:400]


def parse_power_profile(source: Source) -> PowerProfile:
    """Raises ReportError for another file, for one that is cut within a row and for one without samples."""
    if not is_power_profile(source):
        raise source.foreign("a power profile of XRT", "power_profile_*.csv of a run with power_profile=true")
    device, header, *lines = source.lines
    if lines[-1:] != [""] or len(lines) < 2:
        raise source.truncated("it has no samples" if len(lines) < 2 else "its last line has no end")
    columns = header.rstrip(",").split(",")
    rows = [_row(source, columns, at + 3, line) for at, line in enumerate(lines[:-1])]
    samples = tuple(PowerSample(row["timestamp"] / 1e3, _watts(source, row)) for row in rows)
    if any(a.seconds > b.seconds for a, b in pairwise(samples)):
        raise source.truncated("its timestamps do not increase")
    readings = [[value for name, value in row.items() if name.endswith(("_curr", "_vol"))] for row in rows]
    distinct = [s for i, s in enumerate(samples) if i == 0 or readings[i] != readings[i - 1]]
    return PowerProfile(device.removeprefix(_DEVICE), samples, tuple(distinct))


def _row(source: Source, columns: list[str], at: int, line: str) -> dict[str, float]:
    cells = line.removesuffix(",").split(",")
    if len(cells) != len(columns):
        raise source.truncated(f"line {at} has {len(cells)} values, its header {len(columns)}")
    return {name: known(source, cell, f"{name} in line {at}") for name, cell in zip(columns, cells, strict=True)}


def _watts(source: Source, row: dict[str, float]) -> float:
    """From mA and mV."""
    rails = [name for name in INPUTS if f"{name}_curr" in row and f"{name}_vol" in row]
    if not rails:
        raise source.truncated("it has no current and voltage of a rail that feeds the board")
    return sum(row[f"{name}_curr"] * row[f"{name}_vol"] for name in sorted(rails)) / 1e6
