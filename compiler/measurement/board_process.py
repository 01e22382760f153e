"""The process that uses a board for us (compiler/host/serve.py), and its end whatever it hangs in."""

import contextlib
import json
import mmap
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import compiler
from compiler.errors import MillraceError

GRACE_S = 5.0  # for what a command does besides waiting for kernels
OPEN_S = 120.0  # opening a board that is not well takes XRT a while; so does programming one
_ROOT = Path(compiler.__path__[0]).parent
# Behind what that Python has itself: it may be another version, with modules of its own.
_PROGRAM = "import sys; sys.path.append({root!r}); from compiler.host.serve import main; main()"
_TAIL_BYTES = 4096


class BoardProcessError(MillraceError):
    """A command failed. `hangs`: it did not end in time; `raised` names what was raised there, "" where nothing was.

    `kernel` is the position of the kernel that was started last, None before the first.
    """

    def __init__(self, text: str, *, hangs: bool = False, raised: str = "", kernel: int | None = None) -> None:
        super().__init__(text)
        self.hangs = hangs
        self.raised = raised
        self.kernel = kernel


@dataclass(frozen=True, slots=True)
class BoardAt:
    """Which board, by which module, in which Python. `inherit` are descriptors that live as long as the process."""

    name: str
    module: Literal["pyxrt", "compiler.simulator.board.pyxrt"]
    python: Path
    inherit: tuple[int, ...] = ()


class BoardProcess:
    """Commands to a board. Close it; a command that failed for time has killed the process already."""

    def __init__(self, at: BoardAt) -> None:
        self._shared = os.memfd_create("running-kernel")
        os.ftruncate(self._shared, mmap.PAGESIZE)
        self._running = mmap.mmap(self._shared, mmap.PAGESIZE)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 # lives as long as the process
        program = _PROGRAM.format(root=str(_ROOT))
        options = [at.name, "--module", at.module, "--running", str(self._shared)]
        self._process = subprocess.Popen(
            [at.python, "-c", program, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            pass_fds=(self._shared, *at.inherit),
            start_new_session=True,
        )
        self._answers = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, design: Path, xclbin: Path) -> None:
        """Program the board and fill its buffers."""
        self._ask("load", OPEN_S, design=str(design.resolve()), xclbin=str(xclbin.resolve()))

    def time(self, runs: int, seconds: float, limit_s: float) -> list[int]:
        """Nanoseconds of each run: of `runs`, or of as many as begin in `seconds`; of one at least.

        None may take longer than `limit_s`.
        """
        arguments = {"runs": runs, "seconds": seconds, "timeout_ms": _ms(limit_s)}
        return cast("list[int]", self._ask("time", seconds + limit_s, **arguments))

    def prompt(self, tokens: Sequence[int], length: int) -> None:
        """What launches of a design that chooses tokens are given before, of `length` positions."""
        self._ask("prompt", OPEN_S, tokens=list(tokens), length=length)

    def launch(self, told: Mapping[str, int], limit_s: float) -> int:
        """Nanoseconds of one run that is told this, as are those behind it."""
        return int(self._ask("launch", limit_s, told=dict(told), timeout_ms=_ms(limit_s)))

    def loop(self, seconds: float, limit_s: float) -> tuple[int, float]:
        """Runs back to back for that long, and the seconds that they took."""
        found: dict[str, float] = self._ask("loop", seconds + limit_s, seconds=seconds, timeout_ms=_ms(limit_s))
        return int(found["runs"]), float(found["seconds"])

    def save(self, file: Path) -> None:
        """Write the results of the last run to an .npz file."""
        self._ask("save", OPEN_S, file=str(file))

    def electrical(self) -> str:
        """The sensors as XRT's JSON, "" where it has none."""
        return str(self._ask("electrical", OPEN_S))

    def close(self) -> None:
        """End the process, and all that it started."""
        self._kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may be stuck in the driver: then it is left there
            self._process.wait(GRACE_S)
        for pipe in (self._process.stdin, self._process.stdout, self._log, self._running):
            assert pipe is not None
            pipe.close()
        with contextlib.suppress(OSError):
            os.close(self._shared)

    def __enter__(self) -> "BoardProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, command: str, limit_s: float, /, **arguments: Any) -> Any:
        self._running[0] = 0
        self._tell({"do": command, **arguments})
        reply = cast("Mapping[str, Any]", json.loads(self._line(command, limit_s + GRACE_S)))
        if "error" in reply:
            raise BoardProcessError(reply["error"], hangs=reply["hangs"], raised=reply["type"], kernel=self._kernel())
        return reply["answer"]

    def _tell(self, command: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended; reading its answer says why
            self._process.stdin.write(f"{json.dumps(command)}\n".encode())

    def _line(self, command: str, seconds: float) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._answers:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                self._kill()
                text = f"{command} did not end within {seconds:g} s"
                raise BoardProcessError(text, hangs=True, kernel=self._kernel())
            answer = os.read(self._process.stdout.fileno(), 1 << 16)
            if not answer:
                raise self._died()
            self._answers += answer
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _kill(self) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _kernel(self) -> int | None:
        return self._running[0] - 1 if self._running[0] else None

    def _died(self) -> BoardProcessError:
        try:
            status = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:  # its files are closed, but the driver holds it: the board hangs
            text = "the process that uses the board does not end: the driver holds it"
            return BoardProcessError(text, hangs=True, kernel=self._kernel())
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _TAIL_BYTES))
        text = self._log.read().decode(errors="replace").strip()
        cause = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with code {status}"
        said = f"the process that uses the board ended {cause}; it said:\n{text or 'nothing'}"
        return BoardProcessError(said, kernel=self._kernel())


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1e3))
