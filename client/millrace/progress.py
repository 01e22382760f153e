"""A progress bar as plain text: drawn over and over on a terminal and in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_BAR = 24
_LINES = 10  # where nothing can be drawn over
_DRAW_S = 0.1


class Progress:
    """How many of `total` are done. Shows nothing where it is `quiet`."""

    def __init__(self, total: int, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._total = max(total, 1)
        self._quiet = quiet
        self._stream = stream or sys.stderr
        self._drawn_over = self._stream.isatty() or "ipykernel" in sys.modules
        self._begin = time.monotonic()
        self._shown: tuple[int, str] | None = None
        self._drawn_at = 0.0
        self._width = 0

    def show(self, done: int, text: str) -> None:
        """Say how far it is, in a number and a word."""
        if self._quiet:
            return
        done = min(done, self._total)
        if self._drawn_over:
            self._draw(done, text)
            return
        now = (done * _LINES // self._total, text)
        if now != self._shown:
            self._shown = now
            print(self._line(done, text), file=self._stream, flush=True)

    def close(self) -> None:
        """Leave the last line as it is."""
        if self._drawn_over and self._width:
            print(file=self._stream, flush=True)

    def _draw(self, done: int, text: str) -> None:
        now = time.monotonic()
        if done < self._total and self._shown == (0, text) and now - self._drawn_at < _DRAW_S:
            return
        self._shown, self._drawn_at = (0, text), now
        line = self._line(done, text)
        print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
        self._width = len(line)

    def _line(self, done: int, text: str) -> str:
        bar = "#" * round(_BAR * done / self._total)
        return f"[{bar:<{_BAR}}] {done}/{self._total} {time.monotonic() - self._begin:.0f} s {text}"
