"""How far a measurement is: lines for a log, steps for a bar."""

from collections.abc import Callable
from dataclasses import dataclass

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `total` runs or seconds of what `name` says."""

    name: str
    done: float
    total: float


OnStep = Callable[[Step], None]


def nobody(_what: object) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Who hears of it."""

    on_line: OnLine = nobody
    on_step: OnStep = nobody

    def begin(self, name: str, total: float, unit: str) -> None:
        """A step that takes about `total` `unit`."""
        self.on_line(f"{name}: {total:g} {unit}")
        self.on_step(Step(name, 0, total))

    def at(self, name: str, done: float, total: float) -> None:
        """How far the step is."""
        self.on_step(Step(name, min(done, total), total))
