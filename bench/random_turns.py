"""Random designs that go round, against the slow reference, against themselves with more FIFO, and their estimates.

python -m bench.random_turns
python -m bench.random_turns --first 10000 --count 10000

Each design (tests/support/random_turns.py) has layers with a feedback, tasks that take turns, and in half of them trip
counts that follow an argument. It is certified; then, for every value of the argument, it is simulated with the depths
that it got and with FIFOs of any depth: none may deadlock, none be more than 0.5 % slower. Two launches in a row are
run by the core and by the cycle-by-cycle reference: every count must agree. The estimate is compared with what FIFOs of
any depth take, for the largest value and for a random one.

Prints what it saw, and how far estimates are off; exits with 1 where something does not hold, and says of which seed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from statistics import median

from compiler.analysis.schedule import schedule
from compiler.graph.program import Values, all_launches
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.simulate import simulate
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import certify
from compiler.sizing.trial import SLACK

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from cycle_reference import run_reference
from random_turns import turning_graph, unbounded

LONGEST = 3000  # cycles that the reference is given
EFFORT = 1_000_000  # of the simulator for each design, see compiler.sizing.certify


@dataclass
class Seen:
    """What one design showed; `wrong` is empty where all held."""

    seed: int
    errors: list[float] = field(default_factory=list[float])
    values: int = 0
    referenced: int = 0
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list[str])


def look(seed: int) -> Seen:
    """Certify, simulate and estimate the design of `seed`."""
    seen, platform, graph = Seen(seed), _platform(), turning_graph(seed)
    sized, deep = certify(graph, platform, EFFORT).tasks, unbounded(graph)
    for values in all_launches(graph.arguments):
        found, most = (simulate(g, platform, launches=(values,), buckets=0) for g in (sized, deep))
        seen.values += 1
        if found.deadlock is not None:
            seen.wrong.append(f"deadlocks at {dict(values)}: {found.deadlock.text}")
        elif most.cycles:
            seen.slowest = max(seen.slowest, found.cycles / most.cycles - 1)
    if seen.slowest > SLACK:
        seen.wrong.append(f"certified FIFOs cost {100 * seen.slowest:.2f} %")
    draw = Random(seed)
    some = {a.name: draw.randint(0, a.most) for a in graph.arguments}
    _refer(sized, (some, {}), seen, platform)
    for values in {tuple(some.items()), ()}:
        _compare(deep, dict(values), seen, platform)
    return seen


def _refer(graph: TaskGraph, launches: Sequence[Values], seen: Seen, platform: Platform) -> None:
    (network,) = networks_of(graph, platform, launches=launches)
    outcome = Plan(network).run()
    if outcome.cycles <= LONGEST:
        seen.referenced += 1
        if outcome != run_reference(network):
            seen.wrong.append(f"the reference runs {list(map(dict, launches))} in another way")


def _compare(graph: TaskGraph, values: Values, seen: Seen, platform: Platform) -> None:
    cycles = simulate(graph, platform, launches=(values,), buckets=0).cycles
    if cycles:
        seen.errors.append(sum(schedule(graph.at(values), platform)[1]) / cycles - 1)


@cache
def _platform() -> Platform:
    return load_platform("u55c")


def main() -> None:
    """Look at all, print, and exit with 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=1000, help="designs (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    args = parser.parse_args()
    begun, seeds = time.monotonic(), range(args.first, args.first + args.count)
    with ProcessPoolExecutor(args.jobs) as pool:
        seen = list(pool.map(look, seeds, chunksize=8))
    errors = sorted(abs(error) for one in seen for error in one.errors)
    off = " ".join(f"{100 * x:.2f}" for x in (median(errors), errors[int(0.95 * len(errors))], errors[-1]))
    values, referenced = sum(one.values for one in seen), sum(one.referenced for one in seen)
    slowest = max(100 * one.slowest for one in seen)
    print(f"seeds {seeds.start} to {seeds.stop - 1}: {len(seen)} designs in {time.monotonic() - begun:.0f} s")
    print(f"{values:,} values of arguments simulated; certified FIFOs cost {slowest:.2f} % at most")
    print(f"{referenced:,} pairs of launches equal to the reference")
    print(f"estimates are off by (median, 95 %, worst): {off} %")
    worst = max(seen, key=lambda one: max(map(abs, one.errors), default=0.0))
    print(f"the worst of seed {worst.seed}")
    if wrong := [f"seed {one.seed}: {what}" for one in seen for what in one.wrong]:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
