"""The plot of a report: all feasible designs of an exploration and its front as SVG, on logarithmic axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from cli.output import number

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 920, 460, 70, 46, 14, 16
_MOST_DOTS = 4000
_ROOM = 3.0  # what is more than so many times as slow or costly as all of the front is left out


@dataclass(frozen=True, slots=True)
class Dot:
    """A design: latency in us, energy in uJ; of the front also what is shown when it is pointed at."""

    latency_us: float
    energy_uj: float
    text: str = ""
    label: str = ""


class _Axis:
    """A logarithmic axis from the smallest to the largest of its values, in pixels."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low, high = min(values) / 1.05, max(values) * 1.05
        self._span, self._start, self._end = math.log(high / self._low), start, end
        self.marks = _marks(self._low, high)

    def at(self, value: float) -> float:
        return self._start + (self._end - self._start) * math.log(value / self._low) / self._span


def _marks(low: float, high: float) -> list[float]:
    """Round values between the ends: 1, 2 and 5 of each decade, more where these are few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), tuple(n / 10 for n in range(10, 100, 5))):
        found = [step * 10.0**decade for decade in decades for step in steps]
        inside = [mark for mark in found if low <= mark <= high]
        if len(inside) >= 3:
            return inside
    return [low, high]


def plot(cloud: Sequence[Dot], front: Sequence[Dot], x_label: str, y_label: str) -> str:
    """The SVG. All coordinates are positive, `front` is not empty."""
    limits = [_ROOM * max(getattr(dot, name) for dot in front) for name in ("latency_us", "energy_uj")]
    near = [dot for dot in cloud if dot.latency_us <= limits[0] and dot.energy_uj <= limits[1]]
    shown = near[:: max(1, -(-len(near) // _MOST_DOTS))]
    x = _Axis([dot.latency_us for dot in (*shown, *front)], _LEFT, _WIDTH - _RIGHT)
    y = _Axis([dot.energy_uj for dot in (*shown, *front)], _HEIGHT - _BOTTOM, _TOP)
    beyond = len(cloud) - len(near)
    note = f", {beyond} worse designs lie beyond" if beyond else ""
    head = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{len(front)} designs of the front among {len(cloud) + len(front)}{note}">'
    )
    return "\n".join(
        (
            head,
            *_axes(x, y, x_label, y_label + note),
            *(
                f'<circle class="dot" cx="{x.at(d.latency_us):.1f}" cy="{y.at(d.energy_uj):.1f}" r="1.7"/>'
                for d in shown
            ),
            _line(x, y, front),
            *(_point(x, y, dot) for dot in front),
            "</svg>",
        )
    )


def _axes(x: _Axis, y: _Axis, x_label: str, y_label: str) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [
        f'<line class="grid" x1="{x.at(m):.1f}" x2="{x.at(m):.1f}" y1="{_TOP}" y2="{bottom}"/>'
        f'<text class="tick" x="{x.at(m):.1f}" y="{bottom + 16}" text-anchor="middle">{number(m)}</text>'
        for m in x.marks
    ]
    parts += [
        f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y.at(m):.1f}" y2="{y.at(m):.1f}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y.at(m) + 4:.1f}" text-anchor="end">{number(m)}</text>'
        for m in y.marks
    ]
    middle = (_LEFT + right) / 2
    parts.append(f'<text class="axis" x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(f'<text class="axis" x="{_LEFT}" y="{_TOP - 3}">{escape(y_label)}</text>')
    return parts


def _line(x: _Axis, y: _Axis, front: Sequence[Dot]) -> str:
    ordered = sorted(front, key=lambda dot: dot.latency_us)
    places = " ".join(f"{x.at(d.latency_us):.1f},{y.at(d.energy_uj):.1f}" for d in ordered)
    return f'<polyline class="line" points="{places}"/>'


def _point(x: _Axis, y: _Axis, dot: Dot) -> str:
    across, down = x.at(dot.latency_us), y.at(dot.energy_uj)
    name = f'<text class="name" x="{across + 8:.1f}" y="{down - 8:.1f}">{escape(dot.label)}</text>' if dot.label else ""
    circle = f'<circle cx="{across:.1f}" cy="{down:.1f}" r="5.5"/>'
    return f'<g class="point" tabindex="0"><title>{escape(dot.text)}</title>{circle}{name}</g>'
