"""The dataflow graph of a report: tasks in layers from top to bottom, one kernel below the other, and their streams."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 150, 26, 14, 34, 12
_LETTERS = 22
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    kind: str
    kernel: int


@dataclass(frozen=True, slots=True)
class _Stream:
    source: str
    target: str
    text: str
    width: int


def graph(dataflow: Mapping[str, Any]) -> str:
    """The SVG of what a dataflow.json holds."""
    tasks = {t["name"]: _Task(t["name"], t["kind"], t["kernel"]) for t in dataflow["tasks"]}
    streams = [
        _Stream(s["source"], s["target"], f"{s['name']}: {s['width']} bits, depth {s['depth']}", s["width"])
        for s in dataflow["streams"]
        if s["source"] in tasks and s["target"] in tasks
    ]
    rows = _ordered(_rows(tasks, streams), streams)
    widest = max((len(row) for row in rows), default=1)
    width = 2 * _MARGIN + widest * (_BOX_WIDTH + _GAP_X)
    height = 2 * _MARGIN + len(rows) * (_BOX_HEIGHT + _GAP_Y)
    places = _places(rows, width)
    head = (
        f'<svg class="graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{len(tasks)} tasks, {len(streams)} streams, {dataflow["kernels"]} kernels">'
    )
    return "\n".join(
        (
            head,
            *(_edge(places, stream) for stream in streams),
            *(_box(places[name], task) for name, task in tasks.items()),
            "</svg>",
        )
    )


def _rows(tasks: Mapping[str, _Task], streams: Sequence[_Stream]) -> list[list[str]]:
    """Each task one row below the last that it reads from; the rows of a kernel below those of the kernel before."""
    depth = dict.fromkeys(tasks, 0)
    for _ in tasks:  # as often as the longest path can be; a cycle ends there too
        moved = False
        for stream in streams:
            below = depth[stream.source] + 1
            if tasks[stream.source].kernel == tasks[stream.target].kernel and depth[stream.target] < below < len(tasks):
                depth[stream.target], moved = below, True
        if not moved:
            break
    layers = {(task.kernel, depth[name]) for name, task in tasks.items()}
    row = {layer: i for i, layer in enumerate(sorted(layers))}
    rows: list[list[str]] = [[] for _ in row]
    for name, task in tasks.items():
        rows[row[task.kernel, depth[name]]].append(name)
    return rows


def _ordered(rows: list[list[str]], streams: Sequence[_Stream]) -> list[list[str]]:
    """Tasks of a row near the middle of what they are connected to, so that few streams cross (barycentres)."""
    near: dict[str, list[str]] = {}
    for stream in streams:
        near.setdefault(stream.source, []).append(stream.target)
        near.setdefault(stream.target, []).append(stream.source)
    place = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            middles = {n: sum(place[m] for m in near.get(n, [n])) / len(near.get(n, [n])) for n in row}
            row.sort(key=lambda name: middles[name])
            place |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return rows


def _places(rows: Sequence[Sequence[str]], width: int) -> dict[str, tuple[float, float]]:
    """The upper left corner of each box."""
    found: dict[str, tuple[float, float]] = {}
    for down, row in enumerate(rows):
        left = (width - len(row) * (_BOX_WIDTH + _GAP_X) + _GAP_X) / 2
        for along, name in enumerate(row):
            found[name] = left + along * (_BOX_WIDTH + _GAP_X), _MARGIN + down * (_BOX_HEIGHT + _GAP_Y)
    return found


def _edge(places: Mapping[str, tuple[float, float]], stream: _Stream) -> str:
    (x1, y1), (x2, y2) = places[stream.source], places[stream.target]
    x1, x2, y1 = x1 + _BOX_WIDTH / 2, x2 + _BOX_WIDTH / 2, y1 + _BOX_HEIGHT
    bend = max(_GAP_Y, abs(y2 - y1) / 2)
    path = f"M{x1:.0f},{y1:.0f} C{x1:.0f},{y1 + bend:.0f} {x2:.0f},{y2 - bend:.0f} {x2:.0f},{y2:.0f}"
    thick = max(0.6, math.log2(max(stream.width, 2)) / 3)
    text = escape(f"{stream.source} to {stream.target}\n{stream.text}")
    return f'<path class="stream" d="{path}" stroke-width="{thick:.1f}"><title>{text}</title></path>'


def _box(place: tuple[float, float], task: _Task) -> str:
    x, y = place
    short = task.name if len(task.name) <= _LETTERS else task.name[: _LETTERS - 1] + "…"
    facts = escape(f"{task.name}\n{task.kind}, kernel {task.kernel}")
    return (
        f'<g class="task {escape(task.kind)}"><title>{facts}</title>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="4"/>'
        f'<text x="{x + _BOX_WIDTH / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">{escape(short)}</text></g>'
    )
