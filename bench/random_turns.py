"""Random designs that go round, against the slow reference, against themselves with more FIFO, and their estimates.

python -m bench.random_turns
python -m bench.random_turns --first 10000 --count 10000
python -m bench.random_turns --depths normal

Each design (tests/support/random_turns.py) has layers with a feedback, tasks that take turns, and in half of them trip
counts that follow an argument. It is certified; then, for every value of the argument, it is simulated with the depths
that it got and with FIFOs of any depth: none may deadlock, none be more than 0.5 % slower. Two launches in a row are
run by the core and by the cycle-by-cycle reference: every count must agree. The estimate is compared with what FIFOs of
any depth take, for the largest value and for a random one.

With `--depths` a rule sizes the FIFOs, or the linear program by either equalisation. Then some values of the argument
are simulated, those at borders of tiles and a random one; none may deadlock, and how much slower they are is told.

Prints what it saw, and how far estimates are off; exits with 1 where something does not hold, and says of which seed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from statistics import median
from typing import get_args

from compiler.analysis.fifo import size_fifos
from compiler.analysis.schedule import schedule
from compiler.graph.program import Values, all_launches, telling_values
from compiler.graph.task_graph import TaskGraph
from compiler.options import Equalisation, FifoStrategy
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.simulate import simulate
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import certify
from compiler.sizing.lp import lp_depths
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
    sizing: float = 0.0  # seconds
    bits: float = 0.0  # of FIFOs, as a share of what those of any depth hold
    wrong: list[str] = field(default_factory=list[str])


Sizing = Callable[[TaskGraph], TaskGraph]


def _by_rule(strategy: FifoStrategy, tasks: TaskGraph) -> TaskGraph:
    return replace(tasks, streams=size_fifos(tasks.tasks, tasks.streams, strategy))


def _by_program(equalisation: Equalisation, tasks: TaskGraph) -> TaskGraph:
    depths = lp_depths(tasks, equalisation, _platform().memories)
    return replace(tasks, streams=tuple(s._replace(depth=depths[s.name]) for s in tasks.streams))


SIZINGS: dict[str, Sizing] = {
    "certified": lambda tasks: certify(tasks, _platform(), EFFORT).tasks,
    **{strategy: partial(_by_rule, strategy) for strategy in get_args(FifoStrategy)},
    **{f"lp-{equalisation}": partial(_by_program, equalisation) for equalisation in get_args(Equalisation)},
}


def look(depths: str, seed: int) -> Seen:
    """Size, simulate and estimate the design of `seed`."""
    seen, platform, graph = Seen(seed), _platform(), turning_graph(seed)
    begun = time.perf_counter()
    sized, deep = SIZINGS[depths](graph), unbounded(graph)
    seen.sizing = time.perf_counter() - begun
    draw = Random(seed)
    some = {a.name: draw.randint(0, a.most) for a in graph.arguments}
    certified = depths == "certified"
    launches = all_launches(graph.arguments) if certified else ({}, some, *telling_values(graph.arguments))
    for values in launches:
        found, most = (simulate(g, platform, launches=(values,), buckets=0) for g in (sized, deep))
        seen.values += 1
        if not values:
            held = sum(max(2, f.peak) * deep.stream[f.name].width for f in most.fifos if f.name in deep.stream)
            seen.bits = sum(s.depth * s.width for s in sized.streams) / held
        if found.deadlock is not None:
            seen.wrong.append(f"deadlocks at {dict(values)}: {found.deadlock.text}")
        elif most.cycles:
            seen.slowest = max(seen.slowest, found.cycles / most.cycles - 1)
    if certified:
        if seen.slowest > SLACK:
            seen.wrong.append(f"certified FIFOs cost {100 * seen.slowest:.2f} %")
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


def _percent(slower: Sequence[Seen]) -> str:
    return f"{100 * slower[int(0.99 * len(slower))].slowest:.2f}"


def main() -> None:
    """Look at all, print, and exit with 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=1000, help="designs (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--depths", choices=SIZINGS, default="certified", help="of FIFOs (default: %(default)s)")
    args = parser.parse_args()
    begun, seeds = time.monotonic(), range(args.first, args.first + args.count)
    with ProcessPoolExecutor(args.jobs) as pool:
        seen = list(pool.map(partial(look, args.depths), seeds, chunksize=8))
    errors = sorted(abs(error) for one in seen for error in one.errors)
    off = " ".join(f"{100 * x:.2f}" for x in (median(errors), errors[int(0.95 * len(errors))], errors[-1]))
    values, referenced = sum(one.values for one in seen), sum(one.referenced for one in seen)
    slower = sorted(seen, key=lambda one: one.slowest)
    over = sum(one.slowest > SLACK for one in seen)
    spent, bits = median(one.sizing for one in seen), median(one.bits for one in seen)
    print(f"seeds {seeds.start} to {seeds.stop - 1}: {len(seen)} designs in {time.monotonic() - begun:.0f} s")
    print(
        f"{values:,} values of arguments simulated; {args.depths} FIFOs cost {100 * slower[-1].slowest:.2f} % at most"
    )
    print(
        f"(seed {slower[-1].seed}), more than {100 * SLACK:g} % in {over} designs, {_percent(slower)} % in 1 % of them"
    )
    print(f"sized in {1000 * spent:.1f} ms (median), with {bits:.2f} of the bits that FIFOs of any depth hold")
    print(f"{referenced:,} pairs of launches equal to the reference")
    print(f"estimates are off by (median, 95 %, worst): {off} %")
    worst = max(seen, key=lambda one: max(map(abs, one.errors), default=0.0))
    print(f"the worst of seed {worst.seed}")
    if wrong := [f"seed {one.seed}: {what}" for one in seen for what in one.wrong]:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
