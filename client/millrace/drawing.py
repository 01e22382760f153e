"""Pictures and tables for notebooks and reports, drawn as SVG and HTML by ourselves: no script, nothing from elsewhere.

Colours are attributes, which a notebook shows as they are; a page with a style sheet has its own by the classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from millrace.layout import rows_of
from millrace.numbers import number

Point = tuple[float, float]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 920, 460, 70, 46, 16, 16
_MOST_DOTS = 4000
_ROOM = 3.0  # what is more than so many times as slow or costly as all of the front is left out
_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 150, 26, 14, 34, 12
_LETTERS = 22  # of a name in a box
_INK, _SOFT, _LINE, _MARK, _DOT = "#0f172a", "#64748b", "#64748b40", "#b45309", "#94a3b8"
_KINDS = {
    "compute": "#bfdbfe",
    "fork": "#e2e8f0",
    "chunk": "#e2e8f0",
    "concat": "#e2e8f0",
    "window": "#fde68a",
    "converter": "#fde68a",
    "rom": "#fef08a",
    "load": "#bbf7d0",
    "store": "#fecaca",
}


@dataclass(frozen=True)
class Mark:
    """A design of a front: where it is, what is shown when it is pointed at, and what stands beside it."""

    x: float
    y: float
    text: str
    label: str = ""


@dataclass(frozen=True)
class Box:
    """A task of a graph; `text` is shown when it is pointed at."""

    name: str
    kind: str
    kernel: int
    text: str


@dataclass(frozen=True)
class Arrow:
    """A stream of `width` bits between two tasks; `text` is shown when it is pointed at."""

    source: str
    target: str
    width: int
    text: str


def scatter_svg(cloud: Sequence[Point], front: Sequence[Mark], x_label: str, y_label: str) -> str:
    """Designs as dots and the front as a line of larger ones, which Tab goes to, on logarithmic axes; what is negative
    is left out. Where the front has more objectives, the line joins those that no other beats in these two.
    """
    best = sorted((mark for mark in front if mark.x >= 0 and mark.y >= 0), key=lambda mark: (mark.x, mark.y))
    others = [(x, y) for x, y in cloud if x >= 0 and y >= 0]
    right, above = (_ROOM * max(values, default=math.inf) for values in ([m.x for m in best], [m.y for m in best]))
    near = [(x, y) for x, y in others if x <= right and y <= above]
    shown = near[:: max(1, -(-len(near) // _MOST_DOTS))]
    places = shown + [(mark.x, mark.y) for mark in best]
    if not places:
        return _svg("scatter", _WIDTH, 40, "no designs", '<text x="8" y="24">no design fits the platform yet</text>')
    x, y = _Axis([a for a, _ in places], _LEFT, _WIDTH - _RIGHT), _Axis([b for _, b in places], _HEIGHT - _BOTTOM, _TOP)
    note = f", {len(others) - len(near)} worse designs lie beyond" if len(near) < len(others) else ""
    dots = "".join(f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="1.7"/>' for a, b in shown)
    line = " ".join(f"{x.at(mark.x):.1f},{y.at(mark.y):.1f}" for mark in _border(best))
    body = (
        _axes(x, y, x_label, y_label + note),
        f'<g class="cloud" fill="{_DOT}" fill-opacity="0.5">{dots}</g>',
        f'<polyline class="line" points="{line}" fill="none" stroke="{_MARK}" stroke-opacity="0.6"/>',
        *(_mark(x.at(mark.x), y.at(mark.y), mark) for mark in best),
    )
    label = f"{len(best)} designs of the front among {len(others) + len(best)}{note}"
    return _svg("scatter", _WIDTH, _HEIGHT, label, "\n".join(body))


def graph_svg(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> str:
    """A dataflow graph from top to bottom, one kernel below the other; wider streams are thicker."""
    kernels = {box.name: box.kernel for box in boxes}
    between = [arrow for arrow in arrows if arrow.source in kernels and arrow.target in kernels]
    rows = rows_of(kernels, [(arrow.source, arrow.target) for arrow in between])
    width = 2 * _MARGIN + max(map(len, rows), default=1) * (_BOX_WIDTH + _GAP_X)
    height = 2 * _MARGIN + len(rows) * (_BOX_HEIGHT + _GAP_Y)
    places = _places(rows, width)
    lines = "\n".join(_arrow(places, arrow) for arrow in between)
    shapes = "\n".join(_box(places[box.name], box) for box in boxes)
    label = f"{len(boxes)} tasks, {len(between)} streams, {len(set(kernels.values()))} kernels"
    body = f'<g class="streams" fill="none" stroke="{_SOFT}">\n{lines}\n</g>\n{shapes}'
    return _svg("graph", width, height, label, body)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Numbers to the right, with four digits."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def cell_text(value: Any) -> str:
    """As a person reads it."""
    if value is None:
        return ""
    return number(value) if isinstance(value, float) else str(value)


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    style = ' style="text-align:right"' if is_number else ""
    return f"<td{style}>{escape(cell_text(value))}</td>"


def _border(front: Iterable[Mark]) -> list[Mark]:
    """Those that no other beats in the two objectives that are drawn: of two, all."""
    found: list[Mark] = []
    for mark in sorted(front, key=lambda mark: (mark.x, mark.y)):
        if not found or mark.y < found[-1].y:
            found.append(mark)
    return found


class _Axis:
    """A logarithmic axis from the smallest to the largest of its values, in pixels; a 0 stands at its beginning."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        some = [value for value in values if value > 0] or [1.0]
        self._least = min(some) / (1.0 if min(values) > 0 else math.e)
        self._low, high = self._least / 1.05, max(some) * 1.05
        self._span, self._start, self._end = math.log(high / self._low), start, end
        self.ticks = _ticks(self._low, high)

    def at(self, value: float) -> float:
        return self._start + (self._end - self._start) * math.log((value or self._least) / self._low) / self._span


def _ticks(low: float, high: float) -> list[float]:
    """Round values between the ends: 1, 2 and 5 of each decade, more where these are few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), tuple(n / 10 for n in range(10, 100, 5))):
        found = [step * 10.0**decade for decade in decades for step in steps]
        inside = [tick for tick in found if low <= tick <= high]
        if len(inside) >= 3:
            return inside
    return [low, high]


def _axes(x: _Axis, y: _Axis, x_label: str, y_label: str) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    lines = [f"M{x.at(tick):.1f} {_TOP}V{bottom}" for tick in x.ticks]
    lines += [f"M{_LEFT} {y.at(tick):.1f}H{right}" for tick in y.ticks]
    texts = [_text(x.at(tick), bottom + 16, "middle", number(tick)) for tick in x.ticks]
    texts += [_text(_LEFT - 6, y.at(tick) + 4, "end", number(tick)) for tick in y.ticks]
    texts.append(_text((_LEFT + right) / 2, _HEIGHT - 8, "middle", x_label))
    texts.append(_text(_LEFT, _TOP - 5, "start", y_label))
    grid = f'<path class="grid" d="{"".join(lines)}" fill="none" stroke="{_LINE}"/>'
    return f'{grid}\n<g class="axes" fill="{_SOFT}">{"".join(texts)}</g>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _mark(x: float, y: float, mark: Mark) -> str:
    name = f'<text x="{x + 8:.1f}" y="{y - 8:.1f}" font-weight="600">{escape(mark.label)}</text>' if mark.label else ""
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_MARK}"/>'
    return f'<g class="point" tabindex="0" fill="{_INK}"><title>{escape(mark.text)}</title>{circle}{name}</g>'


def _places(rows: Sequence[Sequence[str]], width: float) -> dict[str, Point]:
    """The upper left corner of each box."""
    found: dict[str, Point] = {}
    for down, row in enumerate(rows):
        left = (width - len(row) * (_BOX_WIDTH + _GAP_X) + _GAP_X) / 2
        for along, name in enumerate(row):
            found[name] = left + along * (_BOX_WIDTH + _GAP_X), _MARGIN + down * (_BOX_HEIGHT + _GAP_Y)
    return found


def _arrow(places: Mapping[str, Point], arrow: Arrow) -> str:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    x1, x2, y1 = x1 + _BOX_WIDTH / 2, x2 + _BOX_WIDTH / 2, y1 + _BOX_HEIGHT
    bend = max(_GAP_Y, abs(y2 - y1) / 2)
    path = f"M{x1:.0f},{y1:.0f} C{x1:.0f},{y1 + bend:.0f} {x2:.0f},{y2 - bend:.0f} {x2:.0f},{y2:.0f}"
    thick = max(0.6, math.log2(max(arrow.width, 2)) / 3)
    return f'<path d="{path}" stroke-width="{thick:.1f}"><title>{escape(arrow.text)}</title></path>'


def _box(place: Point, box: Box) -> str:
    x, y = place
    short = box.name if len(box.name) <= _LETTERS else box.name[: _LETTERS - 1] + "…"
    return (
        f'<g class="task {escape(box.kind)}"><title>{escape(box.text)}</title>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="4" '
        f'fill="{_KINDS.get(box.kind, "#f1f5f9")}" stroke="{_SOFT}"/>'
        f'<text x="{x + _BOX_WIDTH / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle" fill="{_INK}">{escape(short)}</text>'
        "</g>"
    )


def _svg(kind: str, width: float, height: float, label: str, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="system-ui, sans-serif" font-size="11" role="img" '
        f'aria-label="{escape(label)}">\n{body}\n</svg>'
    )
