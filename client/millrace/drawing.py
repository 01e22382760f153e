"""Pictures and tables for notebooks, drawn as SVG and HTML by ourselves: no script, nothing from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Point = tuple[float, float]

_WIDTH, _HEIGHT, _MARGIN = 640, 360, 56
_TICKS = 4


def scatter_svg(cloud: Sequence[Point], front: Sequence[tuple[float, float, str]], x: str, y: str) -> str:
    """Designs as dots and the front as a line of larger ones with titles, on logarithmic axes. Only positive values."""
    shown = [(a, b) for a, b in cloud if a > 0 and b > 0]
    best = sorted((a, b, title) for a, b, title in front if a > 0 and b > 0)
    everything = shown + [(a, b) for a, b, _ in best]
    if not everything:
        return _svg(_WIDTH, 40, '<text x="8" y="24">no design fits the platform yet</text>')
    across = _Axis([a for a, _ in everything], _MARGIN, _WIDTH - 16)
    up = _Axis([b for _, b in everything], _HEIGHT - _MARGIN, 16)
    dots = "".join(f'<circle cx="{across.at(a):.1f}" cy="{up.at(b):.1f}" r="2"/>' for a, b in shown)
    line = " ".join(f"{across.at(a):.1f},{up.at(b):.1f}" for a, b, _ in best)
    marks = "".join(
        f'<circle cx="{across.at(a):.1f}" cy="{up.at(b):.1f}" r="4"><title>{escape(title)}</title></circle>'
        for a, b, title in best
    )
    body = (
        f'<g fill="#94a3b8" fill-opacity="0.5">{dots}</g>'
        f'<polyline points="{line}" fill="none" stroke="#b45309" stroke-width="1.5"/><g fill="#b45309">{marks}</g>'
        + _axes(across, up, x, y)
    )
    return _svg(_WIDTH, _HEIGHT, body)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Numbers to the right, with four digits."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def cell_text(value: Any) -> str:
    """As a person reads it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return str(value)


class _Axis:
    """A logarithmic axis from the least to the greatest value, over the pixels from `begin` to `end`."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        if self.high - self.low < 0.02:  # one value: in the middle
            self.low, self.high = self.low - 0.1, self.high + 0.1
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self._begin + share * (self._end - self._begin)

    def ticks(self) -> list[float]:
        return [10 ** (self.low + i * (self.high - self.low) / _TICKS) for i in range(_TICKS + 1)]


def _axes(across: _Axis, up: _Axis, x: str, y: str) -> str:
    below = _HEIGHT - _MARGIN
    parts = [f'<path d="M{_MARGIN} 16V{below}H{_WIDTH - 16}" fill="none" stroke="#64748b"/>']
    parts += [
        f'<text x="{across.at(v):.1f}" y="{below + 16}" text-anchor="middle">{v:.3g}</text>' for v in across.ticks()
    ]
    parts += [f'<text x="{_MARGIN - 6}" y="{up.at(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>' for v in up.ticks()]
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>')
    parts.append(f'<text x="12" y="12">{escape(y)}</text>')
    return f'<g fill="#64748b">{"".join(parts)}</g>'


def _svg(width: float, height: float, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="system-ui, sans-serif" font-size="11">{body}</svg>'
    )


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    style = ' style="text-align:right"' if is_number else ""
    return f"<td{style}>{escape(cell_text(value))}</td>"


_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y = 168, 24, 56, 10
_LETTERS = 26  # of a name in a box
_COLOURS = {
    "compute": "#bfdbfe",
    "fork": "#e2e8f0",
    "chunk": "#e2e8f0",
    "concat": "#e2e8f0",
    "converter": "#fde68a",
    "load": "#bbf7d0",
    "store": "#fecaca",
}


def graph_svg(boxes: Sequence[tuple[str, str, str]], arrows: Sequence[tuple[str, str, str]]) -> str:
    """A dataflow graph from left to right. `boxes`: name, kind and title; `arrows`: source, target and title."""
    places = _places([name for name, _, _ in boxes], [(source, target) for source, target, _ in arrows])
    lines = "".join(
        f'<path d="{_curve(places[source], places[target])}"><title>{escape(title)}</title></path>'
        for source, target, title in arrows
        if source in places and target in places
    )
    shapes = "".join(_box(places[name], name, kind, title) for name, kind, title in boxes)
    width = max((x for x, _ in places.values()), default=0) + _BOX_WIDTH + 8
    height = max((y for _, y in places.values()), default=0) + _BOX_HEIGHT + 8
    return _svg(width, height, f'<g fill="none" stroke="#64748b">{lines}</g>{shapes}')


def _places(names: Sequence[str], arrows: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Each box one column to the right of the last that it reads, beside others in the order of what they read."""
    sources: dict[str, list[str]] = {name: [] for name in names}
    for source, target in arrows:
        if source in sources and target in sources:
            sources[target].append(source)
    layers = _layers(sources)
    rows: dict[str, float] = {}
    for layer in range(max(layers.values(), default=-1) + 1):
        members = [name for name in names if layers[name] == layer]
        wanted = {name: _mean([rows[source] for source in sources[name] if source in rows]) for name in members}
        rows |= {name: row for row, name in enumerate(sorted(members, key=wanted.__getitem__))}
    return {name: (8 + layers[name] * (_BOX_WIDTH + _GAP_X), 8 + rows[name] * (_BOX_HEIGHT + _GAP_Y)) for name in names}


def _layers(sources: dict[str, list[str]]) -> dict[str, int]:
    """The longest way to each box; where boxes are in a circle, the way is cut."""
    layers = dict.fromkeys(sources, 0)
    for _ in sources:
        changed = False
        for name, before in sources.items():
            layer = min(max((layers[source] + 1 for source in before), default=0), len(sources) - 1)
            changed |= layer != layers[name]
            layers[name] = layer
        if not changed:
            break
    return layers


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _curve(source: Point, target: Point) -> str:
    x, y = source[0] + _BOX_WIDTH, source[1] + _BOX_HEIGHT / 2
    to_x, to_y = target[0], target[1] + _BOX_HEIGHT / 2
    middle = (x + to_x) / 2
    return f"M{x:g} {y:g}C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"


def _box(place: Point, name: str, kind: str, title: str) -> str:
    x, y = place
    shown = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
    return (
        f'<g><title>{escape(title)}</title><rect x="{x:g}" y="{y:g}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" '
        f'rx="4" fill="{_COLOURS.get(kind, "#f1f5f9")}" stroke="#64748b"/>'
        f'<text x="{x + 8:g}" y="{y + 16:g}" fill="#0f172a">{escape(shown)}</text></g>'
    )
