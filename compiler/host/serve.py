"""A board for another process: answers one command a line, as JSON, until its input ends.

Whoever measures starts this with a Python that has pyxrt, may kill it when a call into the board never returns, and
learns from the byte that both share which kernel that was. Commands are the methods of `Served`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .accelerator import Accelerator, program
from .design import load_design
from .network import PROMPT, prompt_rows
from .xrt import RunError, Xrt, load_pyxrt

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Served:
    """The board called `name`; `running` is the byte that is shared (see `Accelerator`)."""

    def __init__(self, xrt: Xrt, name: str, running: mmap.mmap) -> None:
        self._xrt = xrt
        self._running = running
        self._device: Any = xrt.device(name)
        self._accelerator: Accelerator | None = None

    def electrical(self) -> str:
        """What the sensors say, as XRT writes it; "" where it does not."""
        info: Any = getattr(self._xrt, "xrt_info_device", None)
        return str(self._device.get_info(info.electrical)) if hasattr(info, "electrical") else ""

    def load(self, design: str, xclbin: str) -> None:
        """Program the board, allocate all buffers and fill them with what the design directory has."""
        loaded = program(self._xrt, self._device, Path(xclbin))
        self._accelerator = Accelerator(self._xrt, self._device, load_design(Path(design)), loaded)
        self._accelerator.running = self._running
        self._accelerator.load_files()
        self._accelerator.prepare()

    def time(self, runs: int, seconds: float, timeout_ms: int) -> list[int]:
        """Nanoseconds of the host's clock that each run took, from the first start to the end of the last kernel.

        No run begins when so many seconds are over, the first one aside.
        """
        accelerator = self._loaded
        times: list[int] = []
        end = time.perf_counter() + seconds
        while not times or (len(times) < runs and time.perf_counter() < end):
            begin = time.perf_counter_ns()
            accelerator.start(timeout_ms)
            times.append(time.perf_counter_ns() - begin)
        return times

    def prompt(self, tokens: list[int], length: int) -> None:
        """Have launches from the first of `length` positions on take these tokens before they choose any."""
        self._loaded.write({PROMPT: prompt_rows(length, tokens)})

    def launch(self, told: dict[str, int], timeout_ms: int) -> int:
        """Nanoseconds of one run that is told this; all that follow are, too."""
        accelerator = self._loaded
        accelerator.give(told)
        begin = time.perf_counter_ns()
        accelerator.start(timeout_ms)
        return time.perf_counter_ns() - begin

    def loop(self, seconds: float, timeout_ms: int) -> dict[str, float]:
        """Run back to back for that long: how many runs, and how long they took."""
        accelerator, runs = self._loaded, 0
        begin = time.perf_counter()
        end = begin + seconds
        while runs == 0 or time.perf_counter() < end:
            accelerator.start(timeout_ms)
            runs += 1
        return {"runs": runs, "seconds": time.perf_counter() - begin}

    def save(self, file: str) -> None:
        """Write the results of the last run to an .npz file, by their names; of rows that of the last position."""
        accelerator = self._loaded
        found = {r: accelerator.read(r) for r in accelerator.design.results}
        results: dict[str, Any] = {r.name: held if r.rows is None else held[-1] for r, held in found.items()}
        np.savez(file, **results)

    @property
    def _loaded(self) -> Accelerator:
        assert self._accelerator is not None, "nothing is loaded"
        return self._accelerator


def main() -> None:
    """Serve the board that the command line names."""
    parser = argparse.ArgumentParser(description="Run a design on a board for another process.")
    parser.add_argument("device")
    parser.add_argument("--module", default="pyxrt")
    parser.add_argument("--running", type=int, required=True, help="descriptor of a file of one byte")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # XRT prints where it likes; answers are to be alone
    served: Served | None = None
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        try:
            served = served or Served(
                load_pyxrt(options.module), options.device, mmap.mmap(options.running, mmap.PAGESIZE)
            )
            answer = {"answer": getattr(served, command.pop("do"))(**command)}
        except RunError as error:
            answer = {"error": str(error), "type": type(error).__name__, "hangs": error.hangs}
        except Exception as error:  # noqa: BLE001 # whatever XRT raises is for the other process to tell
            answer = {"error": str(error) or repr(error), "type": type(error).__name__, "hangs": False}
        print(json.dumps(answer), file=answers, flush=True)
