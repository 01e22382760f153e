"""The timing simulator against the cycle-by-cycle reference, on as many random networks as there is time for.

python -m bench.random_timing
python -m bench.random_timing --first 500000 --count 100000 --again 1000

Each network has programs, cycles and initial tokens (tests/support/random_programs.py). Each is run by the reference,
by the core token by token, and with repetitions skipped; then with its programs repeated `--again` times, by the core
both ways. Every count must agree. Exits with 1, and says of which seed, where one does not.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from compiler.simulator.timing.core import Plan

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from cycle_reference import run_reference
from random_programs import again, program_network

LONGEST = 1_000_000  # cycles of a repeated network


def differs(seed: int, times: int, seen: Counter[str]) -> bool:
    """Whether two ways of running the network of `seed` disagree; counts what was `seen`."""
    network = program_network(seed)
    expected, plan, longer = run_reference(network), Plan(network), Plan(again(network, times))
    outcomes = [longer.run(limit=LONGEST, fast_forward=fast_forward) for fast_forward in (False, True)]
    seen["deadlocked"] += expected.deadlocked
    seen["with initial tokens"] += any(fifo.initial for fifo in network.fifos)
    seen["repeated and skipped"] += outcomes[1].skipped > 0
    seen["cycles"] += expected.cycles + outcomes[0].cycles
    single = [plan.run(fast_forward=fast_forward) for fast_forward in (False, True)]
    return any(outcome != expected for outcome in single) or outcomes[0] != outcomes[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=10_000, help="networks (default: %(default)s)")
    parser.add_argument("--again", type=int, default=100, help="how often programs are repeated (default: %(default)s)")
    args = parser.parse_args()
    seen, start = Counter[str](), time.monotonic()
    seeds = range(args.first, args.first + args.count)
    failing = [seed for seed in seeds if differs(seed, args.again, seen)]
    print(f"seeds {seeds.start} to {seeds.stop - 1}: {args.count} networks in {time.monotonic() - start:.0f} s")
    print(", ".join(f"{count:,} {what}" for what, count in seen.items()))
    if failing:
        raise SystemExit(f"{len(failing)} differ: {failing}")


if __name__ == "__main__":
    main()
