"""Reads the power of a board at a steady pace while something else goes on."""

import threading
import time
from itertools import pairwise

from compiler.measurement.errors import MeasurementError
from compiler.measurement.power import PowerSource
from compiler.toolchain.board.power_profile import PowerProfile, PowerSample

_MOST_FAILURES = 3  # one after the other


class Sampler:
    """Context manager: a thread reads `source` every `period_s` until the end of the block.

    The first reading is not kept: the sensor may still show what was before.
    """

    def __init__(self, source: PowerSource, device: str, period_s: float) -> None:
        self._source = source
        self._device = device
        self._period_s = period_s
        self._samples: list[PowerSample] = []
        self._failure: MeasurementError | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="power", daemon=True)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def profile(self) -> PowerProfile | None:
        """What was read so far, None before the first. Raises MeasurementError where readings fail."""
        if self._failure is not None:
            raise self._failure
        samples = tuple(self._samples)
        return PowerProfile(self._device, samples, distinct(samples)) if samples else None

    def _read(self) -> None:
        failures, due = 0, time.monotonic() + self._period_s
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            due = time.monotonic() + self._period_s  # a late or slow reading puts off the next, none is made up for
            try:
                watts = self._source.watts()
                self._samples.append(PowerSample(time.monotonic(), watts))
                failures = 0
            except MeasurementError as error:
                failures += 1
                if failures == _MOST_FAILURES:
                    self._failure = error
                    return


def distinct(samples: tuple[PowerSample, ...]) -> tuple[PowerSample, ...]:
    """The first of each run of equal readings: the others are the sensor's last one, told again."""
    return (*samples[:1], *(b for a, b in pairwise(samples) if b.watts != a.watts))
