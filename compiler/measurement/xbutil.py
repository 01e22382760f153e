"""XRT's tool for boards: `xbutil`, which XRT 2024.2 renamed to `xrt-smi`. Its reports are JSON files."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.errors import ReportError
from compiler.measurement.errors import MeasurementError
from compiler.toolchain.source import Source, read_source

NAMES = ("xbutil", "xrt-smi")
EXAMINE_S, RESET_S = 60.0, 120.0  # a board that is not ready answers each question only when its time is up
_KILL_S = 5.0
_DONE = "Successfully reset Device"  # the tool ends with code 0 even where the reset failed


@dataclass(frozen=True, slots=True)
class Xbutil:
    """The tool at `path`."""

    path: Path

    def examine(self, *options: str) -> Source:
        """A report as JSON; `options` name a board and reports. Raises MeasurementError where there is none."""
        with tempfile.TemporaryDirectory(prefix="millrace-xbutil-") as folder:
            file = Path(folder, "examine.json")
            said = self._run(["examine", *options, "--format", "JSON", "--output", str(file)], EXAMINE_S)
            try:
                return read_source(file)
            except ReportError as error:
                text = f"{self.path.name} examine wrote no report; it said: {_end(said)}"
                raise MeasurementError("device", text) from error

    def reset_command(self, bdf: str) -> list[str]:
        """Hot reset of a board, as XRT documents it; it asks nobody."""
        return [self.path.name, "reset", "--device", bdf, "--force"]

    def reset(self, bdf: str) -> str:
        """Reset a board: "" where that worked, else what the tool said."""
        try:
            said = self._run(self.reset_command(bdf)[1:], RESET_S)
        except MeasurementError as error:
            return str(error)
        return "" if _DONE in said else _end(said)

    def _run(self, arguments: list[str], seconds: float) -> str:
        try:
            return _said([self.path, *arguments], seconds)
        except subprocess.TimeoutExpired as error:
            text = f"{self.path.name} {arguments[0]} did not end within {seconds:g} s; look at the board with dmesg"
            raise MeasurementError("device", text) from error
        except OSError as error:
            raise MeasurementError("device", f"{self.path} can not be started: {error.strerror}") from error


def find_xbutil() -> Xbutil | None:
    """The tool in PATH, None where there is none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    return Xbutil(Path(path)) if path is not None else None


def _said(command: Sequence[str | Path], seconds: float) -> str:
    """All that it says. XRT's tool is a script that waits for a program: both end in time, or both are killed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=seconds)[0].decode(errors="replace")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may be stuck in the driver
            process.wait(_KILL_S)
        assert process.stdout is not None
        process.stdout.close()


def _end(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(lines[-3:]) or "nothing"
