"""A scatter plot of braille dots for the terminal: two objectives on logarithmic axes, the front as `●`."""

import math
from collections.abc import Sequence

from dse.logarithms import zero_marks

Point = tuple[float, float]

_ROOM = 3

# Bits of the eight dots of a braille character, [row][column], see Unicode 1F Braille Patterns.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def scatter(
    cloud: Sequence[Point], front: Sequence[Point], x_label: str, y_label: str, width: int = 64, height: int = 14
) -> str:
    """Draw `cloud` as dots and `front` on top of it, on logarithmic axes.

    What is more than three times as slow or as costly as all of the front is left out and counted: a search tries
    designs over several decades, and the front would shrink into a corner.
    No coordinate may be negative; a 0 stands at the beginning of its axis. `height` is at least 2. Returns `height` + 3
    lines of text, one line when there is no point.
    """
    if not cloud and not front:
        return "(no feasible design yet)"
    near = _near(cloud, front)
    if len(near) < len(cloud):
        y_label = f"{y_label}   ({len(cloud) - len(near)} worse designs lie beyond)"
    cloud = near
    x_axis = _Axis([x for x, _ in (*cloud, *front)])
    y_axis = _Axis([y for _, y in (*cloud, *front)])
    dots = [[0] * width for _ in range(height)]
    for x, y in cloud:
        column, row = x_axis.at(x, width * 2), y_axis.at(y, height * 4)
        dots[height - 1 - row // 4][column // 2] |= _DOTS[3 - row % 4][column % 2]
    canvas = [[chr(0x2800 + bits) if bits else " " for bits in line] for line in dots]
    for x, y in front:
        canvas[height - 1 - y_axis.at(y, height)][x_axis.at(x, width)] = "●"
    return "\n".join(_framed(canvas, x_axis, y_axis, x_label, y_label))


def _near(cloud: Sequence[Point], front: Sequence[Point]) -> Sequence[Point]:
    if not front:
        return cloud
    x_limit, y_limit = (_ROOM * max(point[i] for point in front) for i in (0, 1))
    return [(x, y) for x, y in cloud if x <= x_limit and y <= y_limit]


class _Axis:
    """A logarithmic axis from the smallest to the largest of its values."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values), max(values)
        self._least = self.low or zero_marks([(value,) for value in values])[0]
        self._span = math.log((self.high or self._least) / self._least) or 1.0

    def at(self, value: float, cells: int) -> int:
        """The cell of `cells` that holds `value`."""
        return min(cells - 1, int(math.log((value or self._least) / self._least) / self._span * cells))


def _framed(canvas: list[list[str]], x_axis: _Axis, y_axis: _Axis, x_label: str, y_label: str) -> list[str]:
    high, low = f"{y_axis.high:.4g}", f"{y_axis.low:.4g}"
    margin = max(len(high), len(low))
    marks = [high, *[""] * (len(canvas) - 2), low]
    lines = [f"{mark:>{margin}} ┤{''.join(line)}" for mark, line in zip(marks, canvas, strict=True)]
    right = f"{x_axis.high:.4g}"
    bottom = f"{x_axis.low:.4g}".ljust(len(canvas[0]) - len(right)) + right
    return [
        f"{'':{margin}}  {y_label}",
        *lines,
        f"{'':{margin}} └{'─' * len(canvas[0])}",
        f"{'':{margin}}  {bottom}  {x_label}",
    ]
