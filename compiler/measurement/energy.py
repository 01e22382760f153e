"""Power of a board at rest and with a design running back to back."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from compiler.errors import InvalidInputError
from compiler.measurement.board_process import BoardProcess
from compiler.measurement.errors import MeasurementError
from compiler.measurement.measurement import RunPower
from compiler.measurement.power import PowerSource
from compiler.measurement.progress import Progress
from compiler.measurement.request import MeasureRequest
from compiler.measurement.sampler import Sampler
from compiler.toolchain.board.power_profile import FEWEST_DISTINCT, PowerProfile, active_power

FEWEST_SAMPLES = 10  # while the design runs
PATIENCE = 3  # times the time that was asked for, where the sensor gives too little


@dataclass(frozen=True, slots=True)
class LoopResult:
    """None for what is not known, with the reason in `note`."""

    runs_per_s: float | None = None
    power: RunPower | None = None
    note: str = ""


class _Loop:
    """The design back to back, a sampling period at a time."""

    def __init__(self, board: BoardProcess, period_s: float, limit_s: float) -> None:
        self._board, self._period_s, self._limit_s = board, period_s, limit_s
        self.runs, self.seconds = 0, 0.0

    def __call__(self) -> None:
        runs, seconds = self._board.loop(self._period_s, self._limit_s)
        self.runs += runs
        self.seconds += seconds


def measure_power(
    board: BoardProcess, source: PowerSource, device: str, request: MeasureRequest, progress: Progress
) -> LoopResult:
    """Idle first, with the design loaded, then running. Raises BoardProcessError."""
    loop, period_s = _Loop(board, request.sample_s, request.run_limit_s), request.sample_s

    def watch(name: str, seconds: float, samples: int, work: Callable[[], None]) -> PowerProfile:
        with Sampler(source, device, period_s) as sampler:
            return _watch(sampler, name, max(seconds, (samples + 1) * period_s), samples, work, progress)

    try:
        idle = watch("idle power", request.idle_seconds, FEWEST_DISTINCT, lambda: time.sleep(period_s))
        run = watch("power", request.min_seconds, FEWEST_SAMPLES, loop)
        active = active_power(run, idle)
    except (MeasurementError, InvalidInputError) as error:
        if not loop.runs:
            loop()
        return LoopResult(loop.runs / loop.seconds, None, f"power is not known: {error}")
    each = loop.seconds / loop.runs
    power = RunPower(active.idle_w, active.run_w, each, len(run.samples), len(run.distinct), source.name)
    return LoopResult(1 / each, power)


def _watch(
    sampler: Sampler, name: str, seconds: float, samples: int, work: Callable[[], None], progress: Progress
) -> PowerProfile:
    """Work for `seconds`, longer where there are not enough readings. Raises MeasurementError without any."""
    progress.begin(name, seconds, "s")
    begun = time.monotonic()
    while True:
        work()
        profile, passed = sampler.profile(), time.monotonic() - begun
        progress.at(name, passed, seconds)
        enough = profile is not None and len(profile.samples) >= samples and profile.measured
        if passed >= (seconds if enough else PATIENCE * seconds):
            break
    if profile is None:
        raise MeasurementError("device", f"{name}: no reading in {passed:.1f} s")
    return profile
