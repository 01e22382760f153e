"""Ends a link that can not succeed, hours before it would end itself.

Vivado assesses the design after opt_design, a quarter of the way into a link of ten hours: at a score of 1 or 2 it
expects that timing will not be met. A placer that has more cells to place than there are says so and gives up later.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from compiler.errors import ReportError
from compiler.toolchain.link.qor_assessment import is_qor_assessment, parse_qor_assessment
from compiler.toolchain.logs.failure_rules import failure_of, over_utilisation
from compiler.toolchain.logs.messages import messages
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source, read_source
from compiler.toolchain.vitis.commands import TEMPORARY

# Where v++ has Vivado work, and where it copies reports to.
_PLACES = ("link/vivado/vpl/prj/prj.runs/*", "reports/link/*", "reports/link")
_GRACE_S = 60.0  # v++ may still say more, and end by itself


class LinkWatch:
    """The watcher of a link that runs in the folder `code`."""

    def __init__(self, code: Path, grace_s: float = _GRACE_S) -> None:
        self._folder, self._grace_s = code / TEMPORARY, grace_s
        self._judged: dict[Path, int] = {}
        self._over: Failure | None = None
        self._over_at = 0.0

    def line(self, text: str) -> None:
        """Remembers the first message about more cells than there are."""
        if self._over is not None or "UTLZ-1" not in text:
            return
        errors = [message for message in messages(Source("v++", text)) if message.bad]
        if over_utilisation(errors):
            self._over, self._over_at = failure_of(errors[0]), time.monotonic()

    def verdict(self) -> Failure | None:
        """Why the link should end now."""
        if self._over is not None and time.monotonic() - self._over_at >= self._grace_s:
            return self._over
        return next(self._hopeless(), None)

    def _hopeless(self) -> Iterator[Failure]:
        for file in self._assessments():
            yield from _failures(file)

    def _assessments(self) -> Iterator[Path]:
        """Those that are new or grew since they were looked at last."""
        for place in _PLACES:
            for file in self._folder.glob(f"{place}/*qor_assessment*.rpt"):
                size = _size(file)
                if self._judged.get(file) != size:
                    self._judged[file] = size
                    yield file


def _size(file: Path) -> int:
    """Of a file that Vivado may have put elsewhere since it was listed."""
    with contextlib.suppress(OSError):
        return file.stat().st_size
    return 0


def _failures(file: Path) -> tuple[Failure, ...]:
    """Empty for a file that Vivado still writes."""
    try:
        source = read_source(file)
        return parse_qor_assessment(source).failures if is_qor_assessment(source) else ()
    except ReportError:
        return ()
