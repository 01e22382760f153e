"""The process that plays the programmed FPGA: started with the device's memory, given runs, ended with the design."""

import contextlib
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from compiler.process import Finished
from compiler.simulator.csim.execute import failure

_TAIL_BYTES = 1 << 20
_LINE = b"done\n"


class Program:
    """A running executable of `build_board` on the shared memory `descriptor` of `size` bytes."""

    def __init__(self, executable: Path, descriptor: int, size: int) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 # lives as long as the process
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [executable.resolve(), str(descriptor), str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env={"MILLRACE_DIE_WITH_PARENT": "1"},
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        self._answers = b""
        self._runs = 0

    def start(self, kernel: str, arguments: Sequence[str]) -> int:
        """Begin a run behind those begun before; its number."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended; `ended` says why
            self._process.stdin.write(f"{' '.join([kernel, *arguments])}\n".encode())
        self._runs += 1
        return self._runs

    def ended(self, run: int, timeout_s: float | None) -> bool:
        """Whether the run of that number ended within the time. Raises DeadlockError and the other ends of a csim."""
        assert self._process.stdout is not None
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while len(self._answers) < run * len(_LINE):
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                return False
            answer = os.read(self._process.stdout.fileno(), 1 << 16)
            if not answer:
                raise failure(self._finish())
            self._answers += answer
        return True

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            assert pipe is not None
            pipe.close()

    def _finish(self) -> Finished:
        status = self._process.wait()
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _TAIL_BYTES))
        text = self._log.read().decode(errors="replace")
        return Finished(status, "", text, time.monotonic() - self._started, None)
