"""The clock of twenty designs from small to full, by the model of the board, as a table and a picture.

python -m bench.clock_picture --plot docs/pictures/clock.svg
python -m bench.clock_picture --workload gpt2-medium:decode:128 --drawn 400

Designs are drawn evenly from the space of the workload, by the seed; of those that fit the board, twenty are shown
whose fullest dies are about as far from each other. The board is u55c@85, so that some are above what routes well.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, cast, get_args

from bench.calibration import print_table
from bench.site.svg import Drawing
from bench.workload import bundle_cache
from compiler.analysis.estimate import estimate
from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.options import Phase, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from dse.space import DesignSpace

SHOWN = 20
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 420, 240, 52, 44, 44, 20
LOW, HIGH = 140, 260  # MHz of the axis


class Clocked(NamedTuple):
    """A design: share of its fullest die, LUTs, DSPs, whether its streams cross between dies, its clock."""

    fullest: float
    lut: float
    dsp: float
    crossed: bool
    mhz: float


def drawn(workload: str, count: int, seed: int, platform: Platform) -> Iterator[Clocked]:
    """Those of `count` designs that fit the board."""
    model, phase, length = workload.split(":")
    assert phase in get_args(Phase)
    graph = import_model(model, Workload(model, cast("Phase", phase), int(length)), bundle_cache()).graph
    space, rng = DesignSpace(graph, platform), Random(seed)
    for _ in range(count):
        knobs = space.knobs_of({p.name: rng.choice(p.choices) for p in space.parameters})
        try:
            found = estimate(planned_tasks(graph, knobs, platform), platform)
        except MillraceError:
            continue
        if found.feasible:
            value = {m.name: m.value for m in found.metrics}
            yield Clocked(found.fullest_die, value["lut"], value["dsp"], found.crossed, value["clock"])


def spread(designs: Sequence[Clocked], count: int) -> list[Clocked]:
    """The designs nearest to `count` shares of the fullest die that are equally far apart, each once."""
    left = sorted(designs)
    low, high = left[0].fullest, left[-1].fullest
    found: list[Clocked] = []
    for k in range(min(count, len(left))):
        aim = low + (high - low) * k / max(1, count - 1)
        found.append(min(left, key=lambda design: abs(design.fullest - aim)))
        left.remove(found[-1])
    return sorted(found)


def picture(designs: Sequence[Clocked], workload: str, platform: Platform) -> str:
    """Clock over the share of the fullest die: those on one die, those that cross, and what the model is made of."""
    drawing = Drawing(f"Clock of {len(designs)} designs of {workload}, from small to full")
    drawing.text(LEFT, 16, f"Estimated clock of {len(designs)} designs of {workload}, MHz", kind="title")
    for series, name in enumerate(("on one die", "streams cross between dies")):
        drawing.dot(LEFT + 6 + 110 * series, 31, 4, f"f{series}")
        drawing.text(LEFT + 15 + 110 * series, 35, name, kind="small")
    for mhz in range(LOW, HIGH + 1, 20):
        drawing.line([(LEFT, _y(mhz)), (LEFT + WIDTH, _y(mhz))], "grid")
        drawing.text(LEFT - 6, _y(mhz) + 4, f"{mhz}", "end", "small")
    for share in range(0, 101, 10):
        drawing.text(_x(share / 100), TOP + HEIGHT + 14, f"{share} %", "middle", "small")
    drawing.line([(LEFT, _y(platform.clock_mhz)), (LEFT + WIDTH, _y(platform.clock_mhz))], "axis dashed")
    drawing.text(LEFT + WIDTH, _y(platform.clock_mhz) - 4, "asked for", "end", "small")
    drawing.rect(_x(platform.dies.comfort), TOP, _x(1.0) - _x(platform.dies.comfort), HEIGHT, "ground")
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, "fullest resource of the fullest die", "middle", "small")
    for design in designs:
        drawing.dot(_x(design.fullest), _y(design.mhz), 3.5, f"f{int(design.crossed)}")
    return drawing.svg(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM)


def _x(share: float) -> float:
    return LEFT + WIDTH * share


def _y(mhz: float) -> float:
    return TOP + HEIGHT * (HIGH - mhz) / (HIGH - LOW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="gpt2:decode:64")
    parser.add_argument("--board", default="u55c@85")
    parser.add_argument("--drawn", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="SVG")
    arguments = parser.parse_args()
    platform = load_platform(arguments.board)
    found = list(drawn(arguments.workload, arguments.drawn, arguments.seed, platform))
    if not found:
        raise SystemExit("no design that was drawn fits the board; draw more")
    designs = spread(found, SHOWN)
    rows = [(f"{d.fullest:.2f}", f"{d.lut:,.0f}", f"{d.dsp:,.0f}", "yes" * d.crossed, f"{d.mhz:.0f}") for d in designs]
    print_table(("fullest die", "LUT", "DSP", "crossed", "MHz"), rows)
    plot: Path | None = arguments.plot
    if plot is not None:
        plot.write_text(picture(designs, arguments.workload, platform))


if __name__ == "__main__":
    main()
