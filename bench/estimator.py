"""Designs a second of processor time that a search evaluates: drawn evenly from its space, others in each repeat.

python -m bench.estimator gpt2 --phase decode --context 64 --precision w4a8
python -m bench.estimator gpt2 --fix engines=own slices=1   # the space before engines were shared
python -m bench.estimator ~/.local/share/millrace/bundles/<digest> --designs 500 --json
"""

import argparse
import json
from random import Random
from statistics import median, quantiles
from time import process_time

from bench.workload import add_arguments, load_graph
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.evaluate import Evaluation, evaluate
from dse.pool import open_pool
from dse.space import DesignSpace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--designs", type=int, default=200, help="random designs of one repeat (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="the median counts (default: %(default)s)")
    parser.add_argument("--fix", nargs="*", default=[], metavar="KNOB=VALUE", help="draw only designs of this value")
    args = parser.parse_args()
    graph, platform = load_graph(args), load_platform(args.platform)
    space, rng = DesignSpace(graph, platform), Random(args.seed)
    fixed = dict(given.partition("=")[::2] for given in args.fix)
    if unknown := sorted(set(fixed) - {p.name for p in space.parameters}):
        parser.error(f"the space has no {', '.join(unknown)}; it has {', '.join(p.name for p in space.parameters)}")
    choices = {
        p.name: [c for c in p.choices if str(c) == fixed[p.name]] if p.name in fixed else p.choices
        for p in space.parameters
    }
    if empty := sorted(name for name, left in choices.items() if not left):
        parser.error(f"{', '.join(empty)}: no choice of the space is that")

    def drawn() -> list[Knobs]:
        return [space.knobs_of({name: rng.choice(left) for name, left in choices.items()}) for _ in range(args.designs)]

    found: list[Evaluation] = []
    rates: list[float] = []
    with open_pool(evaluate, graph, platform, jobs=1) as pool:
        pool.map(drawn()[:1])  # what is made once of a network
        for _ in range(args.repeats):
            designs = drawn()
            start = process_time()
            found = pool.map(designs)
            rates.append(len(designs) / (process_time() - start))
    milliseconds = sorted(e.seconds * 1e3 for e in found)
    report = {
        "workload": graph.name,
        "operations": len(graph.ops),
        "designs": args.designs,
        "feasible": sum(e.feasible for e in found),
        "rejected": sum(not e.priced for e in found),
        "repeats": args.repeats,
        "designs_per_second": round(median(rates), 1),
        "first_repeat": round(rates[0], 1),
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
