"""How a converter keeps and times what it re-orders: one row of iterations for each round of the shared loops.

A row has `rows` steps of `columns` iterations. In each step of its window a side moves `each` tokens, in the first
columns. With `delay` 1 a row fills round r while it drains round r - 1; with 0 it fills, then drains, the same round.
"""

from dataclasses import dataclass
from typing import Literal

RealisationKind = Literal["single", "ping-pong", "refill", "circular"]


@dataclass(frozen=True, slots=True)
class Window:
    """Steps `start` .. `start + steps - 1` of a row, in each of which `each` tokens move."""

    start: int
    steps: int
    each: int

    @property
    def tokens(self) -> int:
        return self.steps * self.each

    def column(self, token: int, columns: int) -> int:
        """Iteration of a row in which token number `token` of a round moves, where a step has `columns` iterations."""
        return (self.start + token // self.each) * columns + token % self.each


@dataclass(frozen=True, slots=True)
class Realisation:
    """`length` is the extent that the buffer has along dimension `dim`; offsets of round r there are those of round 0
    plus r extents of its box, modulo `length`. All other extents are the box's.

    - `single`: one box; all of it is filled, then drained.
    - `ping-pong`: two boxes; one fills while the other drains.
    - `refill`: one box; the next round fills it behind the last uses of this one.
    - `circular`: between one box and two; as much more than one as the next round writes before it is free.
    """

    kind: RealisationKind
    dim: int
    length: int
    delay: int
    steps: int
    columns: int
    fill: Window
    drain: Window

    @property
    def period(self) -> int:
        """Iterations of one row."""
        return self.steps * self.columns
