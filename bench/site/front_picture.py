"""The Pareto front of one search: its designs, those behind it, and the named ones with their simulated latency."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any

from bench.site.svg import Drawing

Scale = Callable[[float], float]
LEFT, TOP, WIDTH, HEIGHT = 70, 30, 560, 300
FAR = 2.0  # times as slow or costly as all of the front: not drawn
LINE, FAN = 18, 16  # a row of names below the front, and how far apart their lines end
MAX_TICKS = 6


def front_picture(entry: dict[str, Any]) -> str:
    """Latency against energy, both logarithmic. Fidelity `estimate`, but for the hollow marks, which are simulated."""
    front = entry["front"]
    far = [FAR * max(point[axis] for point in front) for axis in (0, 1)]
    near = [p for p in entry["others"] if p[0] <= far[0] and p[1] <= far[1]]
    drawing = Drawing(f"Pareto front of {entry['title']}")
    names = LINE * len(entry["designs"]) + 6
    simulated = [design["simulate"]["latency"] for design in entry["designs"]]
    x = scale([*(p[0] for p in near), *simulated], LEFT, LEFT + WIDTH)
    y = scale([p[1] for p in near], TOP + HEIGHT - names, TOP)
    drawing.rect(LEFT, TOP, WIDTH, HEIGHT, "axis")
    _ticks(drawing, near, x, y)
    for point in near:
        drawing.dot(x(point[0]), y(point[1]), 1.6, "axis")
    steps = [(x(a[0]), y(a[1])) for a in front]
    drawing.line(steps, "s0")
    for at in steps:
        drawing.dot(*at, 3.5, "f0")
    _names(drawing, entry["designs"], x, y)
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 36, "latency, us", "middle")
    drawing.text(LEFT, TOP - 10, "energy, uJ")
    return drawing.svg(LEFT + WIDTH + 30, TOP + HEIGHT + 48)


def _names(drawing: Drawing, designs: Sequence[dict[str, Any]], x: Scale, y: Scale) -> None:
    """Each name below the front, where no design can be, with a line to its simulated mark, and from there to its
    estimate. The fastest is lowest and the lines fan out: names and lines do not meet, however close the designs are.
    """
    end = 0.0
    for place, design in enumerate(sorted(designs, key=lambda design: design["estimate"]["latency"])):
        found, simulated = design["estimate"], design["simulate"]["latency"]
        at = (x(simulated), y(found["energy"]))
        row = TOP + HEIGHT - 8 - LINE * place
        end = max(at[0], end + FAN)
        drawing.line([at, (end, row - 4)], "axis")
        drawing.line([at, (x(found["latency"]), at[1])], "s1")
        drawing.dot(*at, 5, "s1 hollow")
        drawing.text(end + 4, row, design["name"])


def scale(values: Sequence[float], start: float, end: float) -> Scale:
    """Logarithmic, from the least of the values near `start` to the largest near `end`."""
    low, high = log10(min(values)), log10(max(values))
    room = 0.06 * (high - low) or 0.1

    def at(value: float) -> float:
        return start + (end - start) * (log10(value) - low + room) / (high - low + 2 * room)

    return at


def _ticks(drawing: Drawing, points: Sequence[Sequence[float]], x: Scale, y: Scale) -> None:
    for value in ticks([p[0] for p in points]):
        drawing.line([(x(value), TOP), (x(value), TOP + HEIGHT)], "grid")
        drawing.text(x(value), TOP + HEIGHT + 16, f"{value:,.6g}", "middle", "small")
    for value in ticks([p[1] for p in points]):
        drawing.line([(LEFT, y(value)), (LEFT + WIDTH, y(value))], "grid")
        drawing.text(LEFT - 6, y(value) + 4, f"{value:,.6g}", "end", "small")


def ticks(values: Sequence[float]) -> list[float]:
    """At most six multiples of 1, 2 or 5 times a power of ten between the least and the largest."""
    low, high = min(values), max(values)
    decade = 10.0 ** floor(log10(high - low or high))
    steps = (decade * m for m in (0.1, 0.2, 0.5, 1, 2, 5))
    step = next(s for s in steps if floor(high / s) - ceil(low / s) < MAX_TICKS)
    return [step * n for n in range(ceil(low / step), floor(high / step) + 1)]
