"""Whether the estimate orders the designs of a front as the simulation does.

    python -m bench.front_ranks gpt2-decode gpt2-medium-decode
    python -m bench.front_ranks mixer --designs 30 --budget 1000 --objectives latency energy area

Of the front of a search of ours, in the order in which designs are promoted, the first `--designs` are simulated, with
FIFOs as in `bench.estimate_error`; where it is shorter, those that only designs of it beat follow. `spearman`: rank
correlation of cycles, 1 where the order is the same. `inverted_%`: of the pairs whose estimates differ by more than
`--beyond`, how many simulate in the other order; of all where it is 0. Simulations are kept in `--cache` by a digest of
compiler and search: what was stopped goes on.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import correlation

from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from bench.estimate_error import Comparison, Drawn
from bench.search_quality import WORKLOADS, add_search_arguments, checked_objectives, code_digest, graph_of
from bench.workload import NoSink
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.archive import front_of
from dse.explore import SearchOptions, search
from dse.promote import ranking

Pair = tuple[float, float]
"""Cycles of a design: estimated, simulated."""


def chosen(designs: Sequence[tuple[str, tuple[float, ...]]], count: int) -> list[str]:
    """Keys of so many designs: of the front in the order of `ranking`, then of the front without that."""
    left, found = dict(designs), list[str]()
    while left and len(found) < count:
        front = [entry.key for entry in ranking(front_of(left.items()))]
        found += front
        left = {key: point for key, point in left.items() if key not in front}
    return found[:count]


def inverted(pairs: Sequence[Pair], beyond: float) -> tuple[int, int]:
    """How many pairs of designs simulate in the other order, and of how many, those with estimates further apart."""
    apart = [(a, b) for a, b in combinations(pairs, 2) if max(a[0], b[0]) > (1 + beyond) * min(a[0], b[0])]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in apart), len(apart)


def pairs_of(
    name: str, objectives: tuple[str, ...], designs: int, budget: int, seed: int, cache: Path
) -> tuple[list[Pair], int]:
    """Of the designs whose simulation ends in time, and how many do not."""
    graph, platform = graph_of(name, cache), load_platform("u55c")
    path = cache / f"ranks-{name}-{'-'.join(objectives)}-{designs}-{budget}-{seed}-{code_digest()}.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    found = search(graph, platform, SearchOptions(budget, seed, jobs=1, objectives=objectives), NoSink()).designs
    points = [(d.key, d.evaluation.objectives(objectives)) for d in found if d.evaluation.feasible]
    knobs: dict[str, Knobs] = {d.key: d.knobs for d in found}
    compare = Comparison({WORKLOADS[name]: graph}, platform, sized=False)
    with path.open("a") as kept:
        for key in chosen(points, designs)[len(known) :]:
            one = compare(Drawn(WORKLOADS[name], "search", knobs[key]))
            known.append(None if one is None else [one.estimated, one.simulated])
            kept.write(f"{json.dumps(known[-1])}\n")
            kept.flush()
    return [(pair[0], pair[1]) for pair in known if pair is not None], known.count(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_search_arguments(parser, nargs="+")
    parser.add_argument("--designs", type=int, default=30)
    parser.add_argument("--budget", type=int, default=1000, help="designs of the search (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beyond", type=float, default=0.02, help="a share (default: %(default)s)")
    args = parser.parse_args()
    if args.designs < 2 or args.budget < 1:
        parser.error("--designs must be at least 2, --budget at least 1")
    objectives = checked_objectives(parser, args)
    table = Table("workload", "designs", "too_long", "spearman", "inverted_%", "pairs", "all_inverted_%")
    for name in args.workloads:
        pairs, late = pairs_of(name, objectives, args.designs, args.budget, args.seed, args.cache)
        spearman = correlation(*([float(rank) for rank in rankdata(column)] for column in zip(*pairs, strict=True)))
        (wrong, apart), (all_wrong, every) = inverted(pairs, args.beyond), inverted(pairs, 0.0)
        shares = f"{100 * wrong / max(1, apart):.1f}", str(apart), f"{100 * all_wrong / max(1, every):.1f}"
        table.add_row(name, str(len(pairs)), str(late), f"{spearman:.3f}", *shares)
    Console().print(table)


if __name__ == "__main__":
    main()
