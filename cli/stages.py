"""Progress of a command that runs through named stages: the current one spins, finished ones keep their seconds."""

from time import monotonic
from types import TracebackType

from rich.status import Status

from cli.output import errors
from compiler.frontend.plain_text import LOGGED


class Stages:
    """Context manager; `start(text)` ends the stage before and begins the next. What the importer logged is a line as
    it is, and no stage. Writes to stderr only.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._status = Status("", console=errors)
        self._text = ""
        self._since = 0.0

    def __enter__(self) -> "Stages":
        if not self._quiet:
            self._status.start()
        return self

    def start(self, text: str) -> None:
        """Begin the stage `text`."""
        if text.startswith(LOGGED):
            self._log(text)
            return
        self._finish("[green]✓[/]")
        self._text, self._since = text, monotonic()
        self._status.update(text)

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._finish("[green]✓[/]" if kind is None else "[red]✗[/]")
        self._status.stop()

    def _log(self, line: str) -> None:
        if not self._quiet:
            errors.print(line, markup=False)

    def _finish(self, mark: str) -> None:
        if self._text and not self._quiet:
            errors.print(f"{mark} {self._text} [dim]{monotonic() - self._since:.1f} s[/]")
        self._text = ""
