"""The plot of `bench.estimate_error` as SVG, by hand: no plotting library is needed. For light and dark backgrounds."""

from collections.abc import Sequence
from math import ceil, floor, log10

Point = tuple[str, float, float]  # model, estimated cycles, simulated cycles

SIDE, GAP, MARGIN = 360, 90, 64  # of a panel, between the two, around them; pixels
BANDS = (0.20, 0.05)
BIN, WIDEST = 0.5, 5.0  # of the histogram, percent; what is beyond is in the outermost bins
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333; }
.title { font-weight: 600; }
.axis { stroke: #777; fill: none; }
.band { fill: #8882; }
.m0 { fill: #2a78d6; } .m1 { fill: #d9622b; } .m2 { fill: #1a9a6c; }
.dot { fill-opacity: 0.65; }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd; } .axis { stroke: #999; }
  .m0 { fill: #5a9df0; } .m1 { fill: #ef8a58; } .m2 { fill: #40c492; }
}
"""


def error_plot(points: Sequence[Point]) -> str:
    """Estimated against simulated cycles with bands of 5 % and 20 %, and how often each error occurs."""
    models = list(dict.fromkeys(model for model, _, _ in points))
    width, height = 2 * SIDE + GAP + 2 * MARGIN, SIDE + 2 * MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="Errors of the estimate">',
        f"<style>{_STYLE}</style>",
        *_scatter(points, models),
        f'<g transform="translate({SIDE + GAP} 0)">',
        *_histogram(points, models),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{text}</text>'


def _frame(title: str, below: str) -> list[str]:
    return [
        f'<rect class="axis" x="{MARGIN}" y="{MARGIN}" width="{SIDE}" height="{SIDE}"/>',
        _text(MARGIN, MARGIN - 14, title, "start", "title"),
        _text(MARGIN + SIDE / 2, MARGIN + SIDE + 40, below),
    ]


def _scatter(points: Sequence[Point], models: Sequence[str]) -> list[str]:
    cycles = [c for _, *both in points for c in both]
    low, high = floor(log10(min(cycles))), ceil(log10(max(cycles)))
    scale = SIDE / (high - low)

    def x(value: float) -> float:
        return MARGIN + min(max((log10(value) - low) * scale, 0.0), SIDE)

    def y(value: float) -> float:
        return 2 * MARGIN + SIDE - x(value)

    ends = (10.0**low, 10.0**high)
    parts = _frame("Cycles of a design", "simulated")
    parts.append(
        f'<text transform="translate(18 {MARGIN + SIDE / 2}) rotate(-90)" text-anchor="middle">estimated</text>'
    )
    for share in BANDS:
        corners = [(x(v), y(v * (1 + share))) for v in ends] + [(x(v), y(v * (1 - share))) for v in reversed(ends)]
        parts.append(f'<polygon class="band" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"/>')
    for exponent in range(low, high + 1):
        at = 10.0**exponent
        label = f'10<tspan dy="-5" font-size="9">{exponent}</tspan>'
        parts.append(_text(x(at), MARGIN + SIDE + 18, label))
        parts.append(_text(MARGIN - 8, y(at) + 4, label, "end"))
    for model, estimated, simulated in points:
        kind = f"dot m{models.index(model) % 3}"
        parts.append(f'<circle class="{kind}" cx="{x(simulated):.1f}" cy="{y(estimated):.1f}" r="2.5"/>')
    return parts + _legend(models)


def _legend(models: Sequence[str]) -> list[str]:
    parts: list[str] = []
    for row, model in enumerate(models):
        top = MARGIN + 14 + 18 * row
        parts.append(f'<circle class="m{row % 3}" cx="{MARGIN + 14}" cy="{top}" r="4"/>')
        parts.append(_text(MARGIN + 24, top + 4, model, "start"))
    parts.append(_text(MARGIN + SIDE - 8, MARGIN + SIDE - 10, "bands: 5 % and 20 %", "end"))
    return parts


def _histogram(points: Sequence[Point], models: Sequence[str]) -> list[str]:
    bins = round(2 * WIDEST / BIN)
    counts = [[0] * len(models) for _ in range(bins)]
    for model, estimated, simulated in points:
        error = (estimated / simulated - 1) * 100
        counts[min(max(floor((error + WIDEST) / BIN), 0), bins - 1)][models.index(model)] += 1
    tallest = max(map(sum, counts))
    wide, high = SIDE / bins, SIDE * 0.95 / tallest
    parts = _frame(f"Error of {len(points)} designs", "error of the estimate, % (outermost: that or more)")
    for number, row in enumerate(counts):
        foot = MARGIN + SIDE
        for model, count in enumerate(row):
            tall = count * high
            foot -= tall
            box = f'x="{MARGIN + number * wide + 1:.1f}" y="{foot:.1f}" width="{wide - 2:.1f}" height="{tall:.1f}"'
            parts.append(f'<rect class="m{model % 3}" {box}/>' if count else "")
    for percent in range(-round(WIDEST), round(WIDEST) + 1):
        parts.append(_text(MARGIN + (percent + WIDEST) / BIN * wide, MARGIN + SIDE + 18, f"{percent}"))
    for count in range(0, tallest + 1, max(1, round(tallest / 50) * 10)):
        parts.append(_text(MARGIN - 8, MARGIN + SIDE - count * high + 4, f"{count}", "end"))
    return [part for part in parts if part]
