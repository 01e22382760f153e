"""What a job may change of its process and the next one must not find: put back, or a reason to end the process."""

import os
import resource
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

MOST_GROWTH = 768 << 20
_LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
_PAGE = resource.getpagesize()
_SIGNALS = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of the calling process, at one time."""

    folder: str
    environment: Mapping[str, str]
    mask: int
    handlers: tuple[Any, ...]
    streams: tuple[Any, ...]
    limits: tuple[tuple[int, int], ...]
    niceness: int
    threads: frozenset[threading.Thread]
    resident: int

    @classmethod
    def now(cls) -> Self:
        mask = os.umask(0o077)
        os.umask(mask)
        return cls(
            folder=str(Path.cwd()),
            environment=dict(os.environ),
            mask=mask,
            handlers=tuple(map(signal.getsignal, _SIGNALS)),
            streams=(sys.stdin, sys.stdout, sys.stderr),
            limits=tuple(map(resource.getrlimit, _LIMITS)),
            niceness=os.nice(0),
            threads=frozenset(threading.enumerate()),
            resident=_resident(),
        )

    def restore(self) -> str | None:
        """Put back what can be; why this process should take no more jobs where something can not."""
        os.chdir(self.folder)
        os.umask(self.mask)
        sys.stdin, sys.stdout, sys.stderr = self.streams
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        self._restore_handlers()
        return self._worn()

    def _restore_handlers(self) -> None:
        for number, handler in zip(_SIGNALS, self.handlers, strict=True):
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)

    def _worn(self) -> str | None:
        left = [thread.name for thread in threading.enumerate() if thread not in self.threads]
        if left:
            return f"the job left threads behind: {', '.join(left)}"
        if tuple(map(resource.getrlimit, _LIMITS)) != self.limits or os.nice(0) != self.niceness:
            return "the job changed the limits of its process"
        grown = _resident() - self.resident
        return f"it has grown by {grown >> 20} MiB" if grown > MOST_GROWTH else None


def _resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # a third of pathlib's time, after every job
        return int(file.read().split()[1]) * _PAGE
