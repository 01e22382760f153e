"""How many designs a second a whole search explores, on one core and on two, and what of it the sampler takes.

    python -m bench.search gpt2 --phase decode --context 64 --precision w4a8
    python -m bench.search gpt2 --samplers nsga2 random qmc --jobs 1 2 --budget 400 --json

`start_s` is what a search takes beyond sampling and evaluating (the study, the stop of the workers). `hypervolume` is
the share of the box between the origin and the worst feasible latency and energy of all searches that the front
dominates.
"""

import argparse
import json
from collections.abc import Sequence
from statistics import median
from time import perf_counter

from bench.workload import NoSink, add_arguments, load_graph
from compiler.graph.linalg_graph import LinalgGraph
from compiler.platforms.platform import Platform, load_platform
from dse.comparison.hypervolume import hypervolume
from dse.explore import SAMPLERS, SearchOptions, SearchResult, search

Row = dict[str, int | float | str]


def _measure(graph: LinalgGraph, platform: Platform, options: SearchOptions, repeats: int) -> tuple[Row, SearchResult]:
    """The medians of `repeats` equal searches, and the last one's result."""
    walls: list[float] = []
    results: list[SearchResult] = []
    for _ in range(repeats):
        start = perf_counter()
        results.append(search(graph, platform, options, NoSink()))
        walls.append(perf_counter() - start)
    designs = len(results[-1].designs)
    wall = median(walls)
    sampler = median(r.sampler_seconds for r in results)
    evaluation = median(r.evaluation_seconds for r in results)
    row: Row = {
        "sampler": options.sampler,
        "jobs": options.jobs or 1,
        "designs": designs,
        "feasible": sum(d.evaluation.feasible for d in results[-1].designs),
        "front": len(results[-1].front),
        "repeats": results[-1].repeats,
        "seconds": round(wall, 2),
        "designs_per_second": round(designs / wall, 1),
        "sampler_ms": round(sampler / designs * 1e3, 2),
        "evaluation_ms": round(evaluation / designs * 1e3, 2),
        "start_s": round(wall - sampler - evaluation, 2),
    }
    return row, results[-1]


def _add_hypervolumes(rows: Sequence[Row], results: Sequence[SearchResult]) -> None:
    known = [
        d.evaluation.objectives for r in results for d in r.designs if d.evaluation.feasible and d.evaluation.objectives
    ]
    if not known:
        return
    reference = (max(o[0] for o in known), max(o[1] for o in known))
    for row, result in zip(rows, results, strict=True):
        front = [design.evaluation.objectives or () for design in result.front]
        row["hypervolume"] = round(hypervolume(front, reference) / (reference[0] * reference[1]), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--budget", type=int, default=200, help="designs of one search (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="designs asked at once (default: %(default)s)")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="processes (default: 1 2)")
    parser.add_argument("--samplers", nargs="+", choices=tuple(SAMPLERS), default=["nsga2"], metavar="SAMPLER")
    parser.add_argument("--repeats", type=int, default=3, help="the median counts (default: %(default)s)")
    args = parser.parse_args()
    graph, platform = load_graph(args), load_platform(args.platform)
    options = [
        SearchOptions(args.budget, args.seed, sampler, args.batch, jobs)
        for sampler in args.samplers
        for jobs in args.jobs
    ]
    measured = [_measure(graph, platform, option, args.repeats) for option in options]
    rows = [row for row, _ in measured]
    _add_hypervolumes(rows, [result for _, result in measured])
    if args.json:
        print(json.dumps(rows))
        return
    widths = {name: max(len(name), *(len(str(row[name])) for row in rows)) for name in rows[0]}
    print("  ".join(f"{name:>{width}}" for name, width in widths.items()))
    for row in rows:
        print("  ".join(f"{row[name]!s:>{width}}" for name, width in widths.items()))


if __name__ == "__main__":
    main()
