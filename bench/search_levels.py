"""What a search finds without some of its knobs: shares of one union, at equal evaluations.

    python -m bench.search_levels gpt2-medium-prefill512 --without cuts --budget 1000 --seeds 3
    python -m bench.search_levels gpt2-decode --without tiling fusion resources

Levels are those of the space (design 3.3); `cuts` are the overrides that say with which operations kernels begin, which
are of the level `fusion` too. What a search is without has its usual value everywhere, in the designs it begins with
too. Workloads and shares are those of `bench.search_quality`; `best`: the least of each objective, the median of the
seeds. Searches are kept in `--cache` by a digest of compiler and search: what was stopped goes on.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from typing_extensions import override

from bench.search_quality import (
    OURS,
    Run,
    Union,
    add_search_arguments,
    as_points,
    checked_objectives,
    code_digest,
    graph_of,
    kept,
)
from bench.search_subspaces import searched
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform, load_platform
from dse.space import Choice, DesignSpace

ALL = "all"
"""No level."""
LEVELS = {
    "tiling": ("tile", "unroll", "order", "padding", "unrolling"),
    "fusion": ("fusion_plan", "fusion_budget", "converters", "kernel"),
    "cuts": ("kernel",),
    "resources": (
        *("fifo", "hbm_channels", "stream_width", "prefetch", "multiplier", "engines", "slices", "loads", "weights"),
        "rows",
    ),
}
"""Last parts of the names of parameters: an operation's have the same as the network's."""


def usual_of(space: DesignSpace, level: str) -> dict[str, Choice]:
    """The usual value of each knob of a level, of `ALL` none."""
    usual = space.params_of(Knobs())
    assert usual is not None, "of every space"
    return {name: value for name, value in usual.items() if name.rpartition(".")[2] in LEVELS.get(level, ())}


class Without(DesignSpace):
    """The space with the usual value of each knob of a level."""

    def __init__(self, graph: LinalgGraph, platform: Platform, level: str, objectives: Sequence[str]) -> None:
        super().__init__(graph, platform, objectives=objectives)
        held = usual_of(self, level)
        known = map(self.params_of, super().default_knobs(objectives))
        self._starts = tuple(dict.fromkeys(self.knobs_of(params | held) for params in known if params is not None))
        self.parameters = self.narrowed({name: (value,) for name, value in held.items()}).parameters

    @override
    def default_knobs(self, objectives: Sequence[str] = ()) -> tuple[Knobs, ...]:
        return self._starts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_search_arguments(parser, nargs="+")
    parser.add_argument("--without", nargs="+", choices=LEVELS, default=[*LEVELS])
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 0 (default: %(default)s)")
    args = parser.parse_args()
    if min(args.budget, args.seeds) < 1:
        parser.error("--budget and --seeds must be at least 1")
    objectives = checked_objectives(parser, args)
    platform = load_platform("u55c")
    for name in args.workloads:
        graph = graph_of(name, args.cache)

        def run(level: str, seed: int, name: str = name, graph: LinalgGraph = graph) -> Run:
            file = f"{name}-{'-'.join(objectives)}-without-{level}-{args.budget}-{seed}-{code_digest()}.json"
            of_space = graph, platform, Without(graph, platform, level, objectives), objectives
            found = kept(Path(args.cache, file), partial(searched, *of_space, args.budget, seed))
            return Run(OURS, args.budget, seed, as_points(found), 0, 0.0)

        runs = {level: [run(level, seed) for seed in range(args.seeds)] for level in (ALL, *args.without)}
        Console().print(compared(name, objectives, runs))


def compared(name: str, objectives: Sequence[str], runs: dict[str, list[Run]]) -> Table:
    union = Union([one for found in runs.values() for one in found])
    table = Table("without", "worst_%", "median_%", *(f"best {name}" for name in objectives), title=name)
    for level, found in runs.items():
        fronts = [one.front() for one in found]
        shares = [100 * union.share(front) for front in fronts]
        best = (
            median(min(column) for column in columns)
            for columns in zip(*(zip(*f, strict=True) for f in fronts), strict=True)
        )
        what = "nothing" if level == ALL else level
        table.add_row(what, f"{min(shares):.1f}", f"{median(shares):.1f}", *(f"{value:,.1f}" for value in best))
    return table


if __name__ == "__main__":
    main()
