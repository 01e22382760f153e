"""Which share of the best front of a space a search of ours finds, in sub-spaces that are small enough to price whole.

    python -m bench.search_subspaces gpt2-decode --draw 7
    python -m bench.search_subspaces gpt2-decode mixer --spaces 3 --designs 4000 --budget 200 --seeds 5

A sub-space holds all knobs at those of a start design but for some, drawn by `--draw` until there are `--designs`
combinations. Each is priced and placed once, and each search is kept, in `--cache`, by a digest of compiler and search:
what was stopped goes on. Shares are of the hypervolume of the whole front, as in `bench.search_quality`. `knobs`: how
many combinations there are, `designs`: how many accelerators they give; `front`: how many of these no other beats.
"""

import argparse
import json
from math import prod
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from bench.search_quality import OURS, WORKLOADS, Point, Run, Union, code_digest, graph_of
from bench.workload import NoSink, bundle_cache
from compiler.graph.linalg_graph import LinalgGraph
from compiler.platforms.platform import Platform, load_platform
from dse.evaluate import evaluate, judged
from dse.explore import SearchOptions, search
from dse.objectives import DEFAULT, check_objectives
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
    found = [d.evaluation for d in search(graph, platform, options, NoSink(), space=space).designs]
    return [one.objectives(objectives) if one.feasible else None for one in found]


def kept(path: Path) -> list[Point | None] | None:
    """What was stored there."""
    if not path.exists():
        return None
    return [None if point is None else tuple(point) for point in json.loads(path.read_text())]


def store(path: Path, points: list[Point | None]) -> list[Point | None]:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(points))
    part.rename(path)
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="+", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--draw", type=int, default=0, help="seed of the sub-spaces (default: %(default)s)")
    parser.add_argument("--spaces", type=int, default=1, help="how many for each workload (default: %(default)s)")
    parser.add_argument("--designs", type=int, default=4000, help="least combinations (default: %(default)s)")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0 (default: %(default)s)")
    parser.add_argument("--objectives", nargs="+", default=DEFAULT, help="two or three (default: latency energy)")
    parser.add_argument("--cache", type=Path, default=bundle_cache().parent / "search_quality")
    args = parser.parse_args()
    if unknown := set(args.workloads) - WORKLOADS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    if min(args.spaces, args.designs, args.budget, args.seeds) < 1:
        parser.error("--spaces, --designs, --budget and --seeds must be at least 1")
    objectives, platform = tuple(args.objectives), load_platform("u55c")
    check_objectives(objectives)
    args.cache.mkdir(parents=True, exist_ok=True)
    table = Table("workload", "space", "free", "knobs", "designs", "front", "worst_%", "shares_%")
    for name in args.workloads:
        graph = graph_of(name, args.cache)
        for number in range(args.spaces):
            space = drawn(DesignSpace(graph, platform), args.designs, Random(f"{args.draw} {number}"))
            stem = f"{name}-{'-'.join(objectives)}-{args.draw}-{number}-{args.designs}"

            def file(what: str, stem: str = stem) -> Path:
                return args.cache / f"{stem}-{what}-{code_digest()}.json"

            path = file("all")
            whole = kept(path) or store(path, exhausted(graph, platform, space, objectives))
            union, shares = Union([Run(OURS, 0, 0, tuple(whole), 0, 0.0)]), list[float]()
            for seed in range(args.seeds):
                path = file(f"{args.budget}-{seed}")
                found = kept(path) or store(path, searched(graph, platform, space, objectives, args.budget, seed))
                shares.append(100 * union.share(Run(OURS, args.budget, seed, tuple(found), 0, 0.0).front()))
            free = [p.name for p in space.parameters if len(p.choices) > 1]
            front = Run(OURS, 0, 0, tuple(whole), 0, 0.0).front()
            counts = (len(free), space.size, len(whole), len(front))
            table.add_row(
                name, str(number), *map(str, counts), f"{min(shares):.1f}", " ".join(f"{s:.1f}" for s in shares)
            )
    Console().print(table)


if __name__ == "__main__":
    main()
