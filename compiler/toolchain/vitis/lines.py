"""Follows the output of a running tool without waiting for it."""

import os
import selectors
import time
from collections.abc import Callable, Sequence
from typing import IO

_LONGEST_LINE = 16 << 10  # bytes; Vivado prints lists of nets on one line
_CHUNK = 64 << 10
_CLOSED_S = 0.05


class LineReader:
    """The output of a process, cut into lines that go to `log` and to each of `readers`."""

    def __init__(self, stream: IO[bytes], log: IO[bytes], readers: Sequence[Callable[[str], None]]) -> None:
        self._stream, self._log, self._readers = stream, log, readers
        self._begun = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(stream, selectors.EVENT_READ)
        os.set_blocking(stream.fileno(), False)

    def read(self, wait_s: float) -> bool:
        """What there is within `wait_s`; False where there was nothing."""
        if not self._selector.select(wait_s):
            return False
        try:
            data = os.read(self._stream.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            time.sleep(min(wait_s, _CLOSED_S))  # the output is closed, the process still runs
            return False
        self._take(data)
        return True

    def rest(self) -> None:
        """What is left when all processes are dead, a line without an end too."""
        while self.read(0):
            pass
        if self._begun:
            self._take(b"\n")
        self._selector.close()

    def _take(self, data: bytes) -> None:
        *whole, self._begun = (self._begun + data).replace(b"\r\n", b"\n").split(b"\n")
        if len(self._begun) > _LONGEST_LINE:
            whole, self._begun = [*whole, self._begun], b""
        for line in whole:
            self._log.write(line + b"\n")
        self._log.flush()
        for line in whole:
            text = line[:_LONGEST_LINE].decode(errors="replace")
            for reader in self._readers:
                reader(text)
