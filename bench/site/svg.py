"""SVG by hand, for light and dark backgrounds: no plotting library is needed, and equal values give equal bytes."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from xml.sax.saxutils import escape

_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333; }
.title { font-weight: 600; } .small { font-size: 10px; }
.code { font-family: ui-monospace, monospace; font-size: 11px; }
.axis { stroke: #777; fill: none; } .grid { stroke: #8884; fill: none; } .ground { fill: #8882; }
.f0 { fill: #2a78d6; } .f1 { fill: #d9622b; } .f2 { fill: #1a9a6c; } .f3 { fill: #9a5fc4; }
.s0 { stroke: #2a78d6; fill: none; } .s1 { stroke: #d9622b; fill: none; }
.s2 { stroke: #1a9a6c; fill: none; } .s3 { stroke: #9a5fc4; fill: none; }
.p0 { fill: #2a78d633; stroke: #2a78d6; } .p1 { fill: #d9622b33; stroke: #d9622b; }
.p2 { fill: #1a9a6c33; stroke: #1a9a6c; } .p3 { fill: #9a5fc433; stroke: #9a5fc4; }
.hollow { fill-opacity: 0; } .s0, .s1, .s2, .s3 { stroke-width: 1.6; } .dashed { stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd; } .axis { stroke: #999; }
  .f0 { fill: #5a9df0; } .f1 { fill: #ef8a58; } .f2 { fill: #40c492; } .f3 { fill: #bd8be0; }
  .s0 { stroke: #5a9df0; } .s1 { stroke: #ef8a58; } .s2 { stroke: #40c492; } .s3 { stroke: #bd8be0; }
}
"""
Point = tuple[float, float]


class Drawing:
    """Parts of a picture in the order in which they cover one another; `label` says it to those who do not see it."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._parts: list[str] = []

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{_class(kind)}>{escape(text)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, radius: float = 0) -> None:
        round_ = f' rx="{_n(radius)}"' if radius else ""
        box = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self._parts.append(f"<rect{_class(kind)} {box}{round_}/>")

    def line(self, points: Iterable[Point], kind: str) -> None:
        joined = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(f'<polyline{_class(kind)} points="{joined}"/>')

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        self._parts.append(f'<circle{_class(kind)} cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')

    def arrow(self, start: Point, end: Point, kind: str = "axis") -> None:
        """A line with a head at its end."""
        (x, y), (u, v) = start, end
        length = max(1e-9, ((u - x) ** 2 + (v - y) ** 2) ** 0.5)
        a, b = (u - x) / length * 6, (v - y) / length * 6
        self.line([start, end], kind)
        self.line([(u - a - b / 2, v - b + a / 2), end, (u - a + b / 2, v - b - a / 2)], kind)

    @contextmanager
    def group(self, kind: str) -> Generator[None]:
        """What is drawn inside belongs together."""
        self._parts.append(f"<g{_class(kind)}>")
        yield
        self._parts.append("</g>")

    def svg(self, width: float, height: float, style: str = "") -> str:
        """The picture; `style` is CSS of its own."""
        size = f'viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self._label)}">'
        return "\n".join([head, f"<style>{_STYLE}{style}</style>", *self._parts, "</svg>"]) + "\n"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
