"""Whether replies can deadlock: at every position, tokens in a row, prompts in chunks, and the end.

    .venv/bin/python -m bench.reply_certificate                              # four families, small
    .venv/bin/python -m bench.reply_certificate gpt2-medium --layers 2 --positions 64 --knobs fast

A design is planned, certified and placed; then the simulator runs, behind each of which comes the end:

- `tokens`: each position and the one behind it, with a token chosen at the first or not, and all positions in a row;
- `chunks`: from each position on each number of rows that a chunk takes, and the token behind it; of all rows, also
  the next chunk.

Each of these runs with pipelines as they are estimated, with tasks that hold one iteration, so that no order of
execution deadlocks (`compiler/sizing/trial.py`), and may leave nothing in a FIFO. The end is the same word, whether it
comes behind the last of a count or behind the token that ends a reply, and here it comes behind each position.

`critical` FIFOs need more than two tokens for that: of each the least depth is found with which the runs that hold most
come to their end, the others as they are, and with one less they must not. `stalling`: whether the runs that hold most
end with pipelines that stall, too, which HLS may make of others. Anything else than it should be ends with status 1.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.board_limit.planned import KNOBS as FAST
from bench.board_limit.planned import plan
from bench.small_models import SMALL_MODELS, small_model
from bench.workload import NamedKnobs
from compiler.graph.program import Values
from compiler.graph.task_graph import CHOOSE
from compiler.options import Knobs
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.design import TimedDesign
from compiler.simulator.timing.network import Network, Outcome
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.translate import networks_of_design
from compiler.sizing.trial import one_at_a_time

POSITIONS = 31
LEAST = 2  # tokens of a FIFO that is emitted
Launches = tuple[Values, ...]
SMALL = Knobs(default_tile_size=8, max_padding=20)
ENGINE = replace(SMALL, overall_unroll=256, engines="shared", loads="joint")
KNOBS = {"small": SMALL, "engine": ENGINE, "rows": replace(ENGINE, rows=2), "fast": FAST}


@dataclass(frozen=True)
class Certificate:
    """Of a design: `runs`, what was `wrong` in some, `least` depths of critical FIFOs, whether it ends if it stalls."""

    runs: int
    wrong: tuple[str, ...]
    least: dict[str, int]
    stalls: bool

    @property
    def holds(self) -> bool:
        return not self.wrong and bool(self.least)


def replies(design: TimedDesign) -> Iterator[Launches]:
    """All that is run: tokens, then chunks."""
    last, rows = _last(design), _rows(design)
    for position, chosen in ((p, c) for p in range(last + 1) for c in ((0, 1) if CHOOSE in design.arguments else (1,))):
        behind = [_told(design, position + 1)] if position < last else []
        yield _told(design, position, chosen), *behind
    yield _in_a_row(design)
    for count in range(2, rows + 1):
        for position in range(last - count + 2):
            chunk, left = _told(design, position, rows=count), last + 1 - position - count
            yield (chunk, _told(design, position + count)) if left else (chunk,)
            if left and count == rows:
                yield _told(design, position, 0, count), _told(design, position + count, rows=min(left, rows))


def fullest(design: TimedDesign) -> tuple[Launches, ...]:
    """Runs that hold most: all tokens in a row, and chunks of all rows one after the other, to the last position."""
    last, rows = _last(design), _rows(design)
    begins = range((last + 1) % rows, last + 1, rows)
    return _in_a_row(design), tuple(_told(design, begin, int(begin + rows > last), rows) for begin in begins)


def certificate(design: TimedDesign, platform: Platform) -> Certificate:
    runs, wrong = 0, list[str]()
    for launches in replies(design):
        network = ending_network(design, platform, launches)
        for each, machine in ((network, "as estimated"), (one_at_a_time(network), "one iteration each")):
            runs += 1
            if found := failure(Plan(each).run(), each):
                wrong.append(f"{[dict(values) for values in launches]}, {machine}: {found}")
    return Certificate(runs, tuple(wrong), {} if wrong else critical(design, platform), _stalls(design, platform))


def ending_network(design: TimedDesign, platform: Platform, launches: Sequence[Values]) -> Network:
    """The network of the one kernel, for these launches and the end."""
    (network,) = networks_of_design(design.at(launches).ending(), platform)
    return network


def failure(outcome: Outcome, network: Network) -> str:
    """What is wrong with a run, "" for nothing."""
    if outcome.deadlocked:
        return "deadlock"
    initial = {fifo.name: fifo.initial for fifo in network.fifos}
    left = [fifo.name for fifo in outcome.fifos if initial[fifo.name] + fifo.pushed != fifo.popped]
    return f"tokens are left in {', '.join(left)}" if left else ""


def critical(design: TimedDesign, platform: Platform) -> dict[str, int]:
    """The least depth of each FIFO that needs more than two tokens, with which the fullest runs end."""
    plans = [Plan(one_at_a_time(ending_network(design, platform, launches))) for launches in fullest(design)]

    def ends(stream: str, depth: int) -> bool:
        return not any(plan.run({stream: depth}).deadlocked for plan in plans)

    found = {
        stream.name: _least(lambda depth, s=stream: ends(s.name, depth), stream.depth) for stream in design.streams
    }
    return {name: depth for name, depth in found.items() if depth > LEAST}


def _least(ends: Callable[[int], bool], most: int) -> int:
    """From `LEAST` to `most`, with which it ends; with one less it does not."""
    low, high = LEAST - 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle) else (middle, high)
    return high


def _stalls(design: TimedDesign, platform: Platform) -> bool:
    stalling = design.stalling()
    return not any(Plan(ending_network(stalling, platform, each)).run().deadlocked for each in fullest(design))


def _last(design: TimedDesign) -> int:
    """Position; of those that are all alike, some."""
    assert design.control is not None
    position = design.arguments.get(design.control.position)
    return 2 * _rows(design) if position is None else position.most


def _rows(design: TimedDesign) -> int:
    """Of a chunk at most."""
    assert design.control is not None
    return design.control.rows


def _told(design: TimedDesign, position: int, chosen: int = 1, rows: int = 1) -> Values:
    assert design.control is not None
    told = {design.control.position: position, CHOOSE: chosen}
    return {name: told[name] for name in design.arguments} | ({ROWS: rows} if rows > 1 else {})


def _in_a_row(design: TimedDesign) -> Launches:
    return tuple(_told(design, position) for position in range(_last(design) + 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(SMALL_MODELS), help="small, built-in names or folders")
    parser.add_argument("--layers", type=int, default=2, help="only the first (default: %(default)s)")
    parser.add_argument("--positions", type=int, default=POSITIONS, help="of the context (default: %(default)s)")
    parser.add_argument("--precision", default="w4a8", help="default: %(default)s")
    parser.add_argument(
        "--knobs",
        nargs="+",
        type=partial(NamedKnobs.given, known=KNOBS),
        default=[NamedKnobs(name, KNOBS[name]) for name in ("small", "engine", "rows")],
        help=f"{', '.join(KNOBS)}, or a JSON of knobs",
    )
    args = parser.parse_args()
    platform, holds = load_platform("u55c"), True
    names = (
        "model",
        "knobs",
        "FIFOs",
        "runs",
        "wrong",
        "critical",
        "tokens they need",
        "they have",
        "one less",
        "stalling",
    )
    table = Table(*names, title=f"replies of {args.positions} positions, {args.layers} layers, {args.precision}")
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            path = str(small_model(model, Path(folder))) if model in SMALL_MODELS else model
            for name, knobs in args.knobs:
                made = plan(path, knobs, args.positions, platform, Path(folder), args.precision, args.layers)
                design = made.stored.design
                found = certificate(design, platform)
                holds = holds and found.holds
                depths = {s.name: s.depth for s in design.streams}
                table.add_row(
                    model, name, f"{len(depths)}", f"{found.runs}", f"{len(found.wrong)}", f"{len(found.least)}",
                    f"{sum(found.least.values()):,}", f"{sum(depths[n] for n in found.least):,}",
                    "all deadlock" if found.least else "-", "ends" if found.stalls else "deadlock",
                )  # fmt: skip
                for wrong in found.wrong:
                    print(f"{model}, {name}: {wrong}", flush=True)
    Console(width=140).print(table)
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
