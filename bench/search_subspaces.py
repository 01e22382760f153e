"""Which share of the best front of a space a search of ours finds, in sub-spaces that are small enough to price whole.

    python -m bench.search_subspaces gpt2-decode --draw 7
    python -m bench.search_subspaces gpt2-decode mixer --spaces 3 --designs 4000 --budget 200 --seeds 5

A sub-space holds all knobs at those of a start design but for some, drawn by `--draw` until there are `--designs`
combinations. Each is priced and placed once, and each search is kept, in `--cache`, by a digest of compiler and search:
what was stopped goes on. Shares are of the hypervolume of the whole front, as in `bench.search_quality`. `knobs`: how
many combinations there are, `designs`: how many accelerators they give; `front`: how many of these no other beats.
"""

import argparse
from functools import partial
from math import prod
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from bench.search_quality import (
    OURS,
    Point,
    Run,
    Union,
    add_search_arguments,
    as_points,
    checked_objectives,
    code_digest,
    graph_of,
    kept,
    points_of,
)
from bench.workload import NoSink
from compiler.graph.linalg_graph import LinalgGraph
from compiler.platforms.platform import Platform, load_platform
from dse.evaluate import evaluate, judged
from dse.explore import SearchOptions, search
from dse.space import DesignSpace


def drawn(space: DesignSpace, designs: int, rng: Random) -> DesignSpace:
    """A sub-space of at least so many combinations, with a start design inside."""
    start = space.params_of(rng.choice(space.default_knobs()))
    assert start is not None  # of this space
    free, choices = set[str](), {p.name: p.choices for p in space.parameters}
    while prod(len(choices[name]) for name in free) < designs:
        free.add(rng.choice([name for name in choices if name not in free]))
    return space.narrowed({name: (value,) for name, value in start.items() if name not in free})


def exhausted(
    graph: LinalgGraph, platform: Platform, space: DesignSpace, objectives: tuple[str, ...]
) -> list[Point | None]:
    """The objectives of each accelerator of the space, None where it does not fit."""
    known, points = set[str](), list[Point | None]()
    for knobs in space.every():
        found = evaluate(graph, knobs, platform, known)
        if not found.priced:
            continue
        assert found.accelerator is not None
        known.add(found.accelerator)
        if found.feasible and not found.placed:
            found = judged(found, graph, platform)
        points.append(found.objectives(objectives) if found.feasible else None)
    return points


def searched(
    graph: LinalgGraph, platform: Platform, space: DesignSpace, objectives: tuple[str, ...], budget: int, seed: int
) -> list[Point | None]:
    """The same of what a search finds."""
    options = SearchOptions(budget, seed, jobs=1, objectives=objectives)
    return points_of(search(graph, platform, options, NoSink(), space=space).designs, objectives)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_search_arguments(parser, nargs="+")
    parser.add_argument("--draw", type=int, default=0, help="seed of the sub-spaces (default: %(default)s)")
    parser.add_argument("--spaces", type=int, default=1, help="how many for each workload (default: %(default)s)")
    parser.add_argument("--designs", type=int, default=4000, help="least combinations (default: %(default)s)")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0 (default: %(default)s)")
    args = parser.parse_args()
    if min(args.spaces, args.designs, args.budget, args.seeds) < 1:
        parser.error("--spaces, --designs, --budget and --seeds must be at least 1")
    objectives, platform = checked_objectives(parser, args), load_platform("u55c")
    table = Table("workload", "space", "free", "knobs", "designs", "front", "worst_%", "shares_%")
    for name in args.workloads:
        graph = graph_of(name, args.cache)
        for number in range(args.spaces):
            space = drawn(DesignSpace(graph, platform), args.designs, Random(f"{args.draw} {number}"))
            stem = f"{name}-{'-'.join(objectives)}-{args.draw}-{number}-{args.designs}"

            def file(what: str, stem: str = stem) -> Path:
                return args.cache / f"{stem}-{what}-{code_digest()}.json"

            of_space = graph, platform, space, objectives
            whole = Run(OURS, 0, 0, as_points(kept(file("all"), partial(exhausted, *of_space))), 0, 0.0)
            union, shares = Union([whole]), list[float]()
            for seed in range(args.seeds):
                found = kept(file(f"{args.budget}-{seed}"), partial(searched, *of_space, args.budget, seed))
                shares.append(100 * union.share(Run(OURS, args.budget, seed, as_points(found), 0, 0.0).front()))
            free = [p.name for p in space.parameters if len(p.choices) > 1]
            counts = (len(free), space.size, len(whole.points), len(whole.front()))
            table.add_row(
                name, str(number), *map(str, counts), f"{min(shares):.1f}", " ".join(f"{s:.1f}" for s in shares)
            )
    Console().print(table)


if __name__ == "__main__":
    main()
