"""The Pareto front of one search: its designs, those behind it, and the named ones with their simulated latency."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any

from bench.site.kept import number
from bench.site.svg import Drawing

LEFT, TOP, WIDTH, HEIGHT = 70, 30, 560, 280
FAR = 4.0  # times as slow or costly as all of the front: not drawn


def front_picture(entry: dict[str, Any]) -> str:
    """Latency against energy, both logarithmic. Fidelity `estimate`, but for the hollow marks, which are simulated."""
    front = entry["front"]
    far = [FAR * max(point[axis] for point in front) for axis in (0, 1)]
    near = [p for p in entry["others"] if p[0] <= far[0] and p[1] <= far[1]]
    drawing = Drawing(f"Pareto front of {entry['title']}")
    x = _scale([p[0] for p in near], LEFT, LEFT + WIDTH)
    y = _scale([p[1] for p in near], TOP + HEIGHT, TOP)
    drawing.rect(LEFT, TOP, WIDTH, HEIGHT, "axis")
    _ticks(drawing, near, x, y)
    for point in near:
        drawing.dot(x(point[0]), y(point[1]), 2, "ground")
    steps = [(x(a[0]), y(a[1])) for a in front]
    drawing.line(steps, "s0")
    for at in steps:
        drawing.dot(*at, 3.5, "f0")
    for design in entry["designs"]:
        found, simulated = design["estimate"], design["simulate"]["latency"]
        drawing.dot(x(simulated), y(found["energy"]), 5, "s1 hollow")
        text = f"{design['name']}: {number(found['latency'])} us, simulated {number(simulated)}"
        right = x(simulated) < LEFT + WIDTH * 0.6
        drawing.text(x(simulated) + (9 if right else -9), y(found["energy"]) - 7, text, "start" if right else "end")
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 36, "latency, us", "middle")
    drawing.text(LEFT, TOP - 10, "energy, uJ")
    return drawing.svg(LEFT + WIDTH + 30, TOP + HEIGHT + 48)


def _scale(values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    low, high = log10(min(values)), log10(max(values))
    room = 0.06 * (high - low) or 0.1

    def at(value: float) -> float:
        return start + (end - start) * (log10(value) - low + room) / (high - low + 2 * room)

    return at


def _ticks(
    drawing: Drawing, points: Sequence[Sequence[float]], x: Callable[[float], float], y: Callable[[float], float]
) -> None:
    for value in _round([p[0] for p in points]):
        drawing.line([(x(value), TOP), (x(value), TOP + HEIGHT)], "grid")
        drawing.text(x(value), TOP + HEIGHT + 16, f"{value:,.6g}", "middle", "small")
    for value in _round([p[1] for p in points]):
        drawing.line([(LEFT, y(value)), (LEFT + WIDTH, y(value))], "grid")
        drawing.text(LEFT - 6, y(value) + 4, f"{value:,.6g}", "end", "small")


def _round(values: Sequence[float]) -> list[float]:
    """1, 2 and 5 times powers of ten between the least and the largest."""
    exponents = range(floor(log10(min(values))), ceil(log10(max(values))) + 1)
    found = [m * 10.0**e for e in exponents for m in (1, 2, 5)]
    return [v for v in found if min(values) <= v <= max(values)]
