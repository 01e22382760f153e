"""One call of a tool: what it was given, what it is told to do, and what it says."""

import fcntl
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from vitis_standin.install import SETTINGS_FILE

PREFIX = "MILLRACE_STANDIN_"
_RECORDED = ("MILLRACE_STEPS", "MILLRACE_KERNELS", "PLATFORM_REPO_PATHS", "XILINX_VITIS", "XILINX_HLS", "XILINX_VIVADO")


class ToolExit(Exception):  # noqa: N818  (it ends the tool as an error of Tcl does)
    """The tool ends with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Call:
    tool: str
    version: str
    root: Path
    argv: list[str]
    log: IO[str] | None = None

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))

    def setting(self, name: str, default: str = "") -> str:
        value = os.environ.get(PREFIX + name)
        if value is not None:
            return value
        try:
            return str(json.loads((self.root / SETTINGS_FILE).read_text()).get(name, default))
        except FileNotFoundError:
            return default

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        if self.log is not None:
            self.log.write(text + "\n")
            self.log.flush()

    def info(self, code: str, text: str) -> None:
        self.say(f"INFO: [{code}] {text}")

    def error(self, code: str, text: str) -> None:
        self.say(f"ERROR: [{code}] {text}")

    def die(self, code: str, text: str, exit_code: int = 1) -> NoReturn:
        self.error(code, text)
        raise ToolExit(exit_code)

    def work(self, stage: str, share: float = 1.0) -> None:
        """Takes a share of the time that the stage is told to take."""
        wanted = 0.0
        for part in filter(None, self.setting("SECONDS").split(",")):
            name, _, seconds = part.rpartition(":")
            wanted = float(seconds) if name in {"", stage} else wanted
        end = time.monotonic() + wanted * share
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))
            self.say(f"INFO: [{self.tool} 60-0] {stage} goes on")

    def record(self) -> None:
        """Note the call where the test wants to have it; before anything can go wrong."""
        if path := self.setting("CALLS"):
            environment = {name: os.environ[name] for name in _RECORDED if name in os.environ}
            entry = {
                "tool": self.tool,
                "version": self.version,
                "argv": self.argv,
                "cwd": os.getcwd(),  # noqa: PTH109
                "environment": environment,
                "pid": os.getpid(),
            }
            with Path(path).open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(json.dumps(entry) + "\n")

    def mark_running(self) -> Path | None:
        folder = self.setting("RUNNING")
        if not folder:
            return None
        mark = Path(folder) / str(os.getpid())
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text(" ".join([self.tool, *self.argv]))
        return mark


def flush_and_exit(code: int) -> NoReturn:
    """Without Python's own end: as a crash does."""
    sys.stdout.flush()
    os._exit(code)
