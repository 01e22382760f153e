"""How many designs a second the estimator evaluates on one core.

python -m bench.estimator gpt2 --phase decode --context 64 --precision w4a8
python -m bench.estimator ~/.local/share/millrace/bundles/<digest> --designs 500 --json
"""

import argparse
import json
from random import Random
from statistics import median, quantiles
from time import perf_counter

from bench.workload import add_arguments, load_graph
from compiler.platforms.platform import load_platform
from dse.evaluate import Evaluation, evaluate
from dse.space import DesignSpace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--designs", type=int, default=200, help="random designs of one repeat (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="the median counts (default: %(default)s)")
    args = parser.parse_args()
    graph, platform = load_graph(args), load_platform(args.platform)
    space, rng = DesignSpace(graph, platform), Random(args.seed)
    designs = [space.knobs_of({p.name: rng.choice(p.choices) for p in space.parameters}) for _ in range(args.designs)]
    found: list[Evaluation] = [evaluate(graph, designs[0], platform)]  # warms caches, is not counted
    rates: list[float] = []
    for _ in range(args.repeats):
        start = perf_counter()
        found = [evaluate(graph, knobs, platform) for knobs in designs]
        rates.append(len(designs) / (perf_counter() - start))
    milliseconds = sorted(e.seconds * 1e3 for e in found)
    report = {
        "workload": graph.name,
        "operations": len(graph.ops),
        "designs": len(designs),
        "feasible": sum(e.feasible for e in found),
        "rejected": sum(e.objectives is None for e in found),
        "repeats": args.repeats,
        "designs_per_second": round(median(rates), 1),
        "first_repeat": round(rates[0], 1),  # of designs that nothing is kept of
        "slowest_repeat": round(min(rates), 1),
        "fastest_repeat": round(max(rates), 1),
        "ms_per_design_median": round(median(milliseconds), 2),
        "ms_per_design_p90": round(quantiles(milliseconds, n=10)[-1], 2),
    }
    if args.json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:22} {value}")


if __name__ == "__main__":
    main()
