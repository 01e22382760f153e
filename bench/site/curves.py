"""Panels of curves over the choices of a knob, relative to a base; logarithmic, so that twice and half look alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

from bench.site.svg import Drawing

WIDTH, HEIGHT, LEFT, GAP, TOP, BOTTOM = 190, 150, 34, 40, 46, 62
LEAST, ROOM = 0.35, 0.1  # of the axis beyond 1, in powers of two: noise looks flat; what is left free above and below
_FINE = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


@dataclass(frozen=True)
class Curve:
    """Values relative to the base, None where there is none; `feasible` designs are drawn full."""

    choices: tuple[str, ...]
    values: tuple[float | None, ...]
    feasible: tuple[bool, ...]


def curves(label: str, panels: Sequence[tuple[str, Sequence[Curve]]], names: Sequence[str]) -> str:
    """An SVG with one panel for each metric, side by side, and the names of the curves above."""
    drawing = Drawing(label)
    known = [log2(v) for _, panel in panels for curve in panel for v in curve.values if v]
    low, high = min([-LEAST, *known]), max([LEAST, *known])
    axis = _Axis(low - ROOM * (high - low), high + ROOM * (high - low))
    for number, name in enumerate(names):
        drawing.dot(LEFT + 6 + 220 * number, 12, 4, f"f{number}")
        drawing.text(LEFT + 16 + 220 * number, 16, name)
    drawing.text(LEFT + 16 + 220 * len(names), 16, "hollow: over a budget of the board")
    for number, (title, panel) in enumerate(panels):
        _panel(drawing, LEFT + number * (WIDTH + GAP), title, panel, axis)
    return drawing.svg(LEFT + len(panels) * (WIDTH + GAP), TOP + HEIGHT + BOTTOM)


@dataclass(frozen=True)
class _Axis:
    """From `low` to `high` powers of two."""

    low: float
    high: float

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (self.high - log2(value)) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.high - self.low < 2:
            return [v for v in _FINE if self.low <= log2(v) <= self.high]
        apart = 1 + int((self.high - self.low) / 6)
        return [2.0**n for n in range(ceil(self.low), floor(self.high) + 1) if n % apart == 0]


def _panel(drawing: Drawing, left: float, title: str, panel: Sequence[Curve], axis: _Axis) -> None:
    drawing.text(left, TOP - 10, title, kind="title")
    drawing.rect(left, TOP, WIDTH, HEIGHT, "axis")
    for value in axis.ticks():
        drawing.line([(left, axis.y(value)), (left + WIDTH, axis.y(value))], "grid")
        drawing.text(left - 4, axis.y(value) + 4, f"x{value:.3g}", "end", "small")
    for series, curve in enumerate(panel):
        _curve(drawing, left, curve, series, axis)
    _choices(drawing, left, panel)


def _x(left: float, number: int, count: int) -> float:
    return left + WIDTH * (number + 0.5) / count


def _curve(drawing: Drawing, left: float, curve: Curve, series: int, axis: _Axis) -> None:
    points = [
        (_x(left, n, len(curve.values)), axis.y(value), ok)
        for n, (value, ok) in enumerate(zip(curve.values, curve.feasible, strict=True))
        if value
    ]
    drawing.line([point[:2] for point in points], f"s{series}")
    for x, at, ok in points:
        drawing.dot(x, at, 3, f"f{series}" if ok else f"s{series} hollow")


def _choices(drawing: Drawing, left: float, panel: Sequence[Curve]) -> None:
    """Under the axis, in several rows where they are many; their numbers where the curves' choices differ."""
    choices = tuple(map(_short, max((curve.choices for curve in panel), key=len)))
    if any(curve.choices[:2] != panel[0].choices[:2] for curve in panel):
        choices = (choices[0], *map(str, range(1, len(choices))))
    rows = 1 + int(max(map(len, choices)) * len(choices) * 6 / WIDTH)
    for number, choice in enumerate(choices):
        at = TOP + HEIGHT + 14 + 12 * (number % rows)
        drawing.text(_x(left, number, len(choices)), at, choice, "middle", "small")


def _short(choice: str) -> str:
    """Sizes beyond a thousand in K and M."""
    if not choice.isdigit() or int(choice) < 1 << 14:
        return choice
    return f"{int(choice) >> 20}M" if int(choice) >= 1 << 20 else f"{int(choice) >> 10}K"
