"""How good the fronts of our search are beside those of Optuna's own samplers, by seed.

    python -m bench.search_quality gpt2-decode --budgets 300 --seeds 5
    python -m bench.search_quality gpt2-decode gpt2-medium-decode --samplers front random --cache ~/searches
    PYTHONPATH=tests/support python -m bench.search_quality mixer    # its network is one of the tests'
    python -m bench.search_quality gpt2-decode --objectives latency energy area
    python -m bench.search_quality gpt2-decode --samplers front 'front*4' nsga2    # ours as four islands too

All have the same solver, start designs and digest of accelerators; `front` is ours. The others: nsga2, nsga3, random,
qmc, tpe, and gp, which maximises the hypervolume that Gaussian processes promise and takes seconds a design. Each
search is kept in `--cache` by workload, sampler, seed, budget, objectives and a digest of compiler and search: what was
stopped goes on. Shares are of the hypervolume of the front of all searches of a workload, in logarithms of the
objectives, below 1.1 times the worst of that front in each. `worst_%`, `median_%`: of the seeds.
`reaches`: accelerators until the median of the seeds has the best median that another sampler has at the smallest
budget. `differ`: designs of the front that differ by more than 2 % from one another in two objectives at least
(median). `repeats`: proposals that counted nothing (mean). `outside_%`: time outside evaluation. All are estimates.
"""

import argparse
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, GPSampler, NSGAIIISampler
from rich.console import Console
from rich.table import Table

from bench.workload import NoSink, bundle_cache
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Workload
from compiler.platforms.platform import load_platform
from dse.archive import front_of
from dse.comparison.fronts import beyond
from dse.comparison.hypervolume import hypervolume
from dse.explore import EvaluatedDesign, SearchOptions
from dse.islands import search_islands
from dse.logarithms import logarithms, zero_marks
from dse.objectives import DEFAULT, check_objectives
from dse.strategies import SAMPLERS, of_study

ROOT = Path(__file__).resolve().parents[1]
WORKLOADS = {
    "gpt2-decode": Workload("gpt2", "decode", 64, "w4a8"),
    "gpt2-medium-decode": Workload("gpt2-medium", "decode", 64, "w4a8"),
    "gpt2-medium-prefill": Workload("gpt2-medium", "prefill", 128, "w4a8"),
    "gpt2-medium-prefill512": Workload("gpt2-medium", "prefill", 512, "w4a8"),
    "mixer": Workload("mixer", "prefill", 1, "w4a8"),
    "mlp": Workload("mlp", "prefill", 1, "f32"),
    "gpt2-reply": Workload("gpt2", "token", 256, "w4a8", layers=12),
}
OURS = "front"
ISLANDS = "*"
BEYOND, APART = 1.1, 0.02
Point = tuple[float, ...]


def _nsga3(_budget: int, seed: int) -> BaseSampler:
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        return NSGAIIISampler(seed=seed)


def _gp(_budget: int, seed: int) -> BaseSampler:
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        return GPSampler(seed=seed)


OTHERS = {"nsga3": of_study(_nsga3), "gp": of_study(_gp)}


def graph_of(name: str, cache: Path) -> LinalgGraph:
    """Of a workload. The mixer is a block of MLP-Mixer S/16 as ONNX, the MLP three layers on 2,048 rows; both are
    written beside the searches.
    """
    workload, source = WORKLOADS[name], WORKLOADS[name].model
    if name in ("mixer", "mlp"):
        from onnx_models import mixer, mlp, save  # noqa: PLC0415  # the other workloads need no path to it

        made = mixer(196, 512, 256, 2048) if name == "mixer" else mlp(2048, (1024, 4096, 4096, 1024))
        source = FileSource(name, save(made, cache / f"{name}.onnx"), "onnx")
    return import_model(source, workload, bundle_cache()).graph


@dataclass(frozen=True, slots=True)
class Run:
    """The objectives of each accelerator of a search, None where it does not fit, in order of evaluation."""

    sampler: str
    budget: int
    seed: int
    points: tuple[Point | None, ...]
    repeats: int
    outside: float
    """Share of the time."""

    def front(self, count: int | None = None) -> list[Point]:
        """Of the first `count` accelerators."""
        return _front(point for point in self.points[:count] if point is not None)


def _front(points: Iterable[Point]) -> list[Point]:
    return [entry.objectives for entry in front_of((str(number), point) for number, point in enumerate(points))]


@cache
def code_digest() -> str:
    """Of everything that a search's result follows from."""
    whole = hashlib.sha256()
    for folder in ("compiler", "dse"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".cpp", ".h", ".toml", ".json"):
                whole.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def run(name: str, objectives: tuple[str, ...], sampler: str, budget: int, seed: int, cache: Path) -> Run:
    """The search, or what is kept of it."""

    def make() -> dict[str, Any]:
        graph = graph_of(name, cache)
        kind, _, islands = sampler.partition(ISLANDS)
        options = SearchOptions(budget, seed, kind, jobs=1, objectives=objectives, islands=int(islands or 1))
        start = perf_counter()
        designs, searches = search_islands(graph, load_platform("u55c"), options, NoSink())
        outside = 1 - sum(one.evaluation_seconds for one in searches) / (perf_counter() - start)
        repeats = sum(one.repeats for one in searches)
        return {"points": points_of(designs, objectives), "repeats": repeats, "outside": outside}

    path = cache / f"{name}-{'-'.join(objectives)}-{sampler}-{budget}-{seed}-{code_digest()}.json"
    data = kept(path, make)
    return Run(sampler, budget, seed, as_points(data["points"]), data["repeats"], data["outside"])


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What `make` gives, as JSON has it; made once and stored there."""
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_text(json.dumps(make()))
        part.rename(path)
    return json.loads(path.read_text())


def points_of(designs: Sequence[EvaluatedDesign], objectives: tuple[str, ...]) -> list[Point | None]:
    """None where a design does not fit."""
    return [d.evaluation.objectives(objectives) if d.evaluation.feasible else None for d in designs]


def as_points(stored: Sequence[Sequence[float] | None]) -> tuple[Point | None, ...]:
    """Points that JSON has as lists."""
    return tuple(None if point is None else tuple(point) for point in stored)


class Union:
    """What all searches of a workload found together, of which each has a share."""

    def __init__(self, runs: Sequence[Run]) -> None:
        found = _front(point for one in runs for point in one.front())
        self._zeros = zero_marks(found)
        front = logarithms(found, self._zeros)
        self._reference = [max(column) + log(BEYOND) for column in zip(*front, strict=True)]
        self._volume = hypervolume(front, self._reference)

    def share(self, front: Sequence[Point]) -> float:
        return hypervolume(logarithms(front, self._zeros), self._reference) / self._volume


def apart(front: Sequence[Point]) -> int:
    """How many designs of the front, in its order, differ from all before by more than `APART` in two objectives."""
    chosen: list[Point] = []
    for point in front:
        if all(sum(beyond(x, y, APART) for x, y in zip(point, other, strict=True)) >= 2 for other in chosen):
            chosen.append(point)
    return len(chosen)


def reaches(runs: Sequence[Run], union: Union, goal: float) -> str:
    """After how many accelerators the median of the runs has the goal."""
    most = min(len(one.points) for one in runs)
    counts = (n for n in range(10, most + 1, 10) if median(union.share(one.front(n)) for one in runs) >= goal)
    return str(next(counts, f"> {most}"))


def rows(runs: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    union, groups = Union(runs), dict[tuple[int, str], list[Run]]()
    for one in runs:
        groups.setdefault((one.budget, one.sampler), []).append(one)
    medians = {group: median(union.share(one.front()) for one in found) for group, found in groups.items()}
    least = min(budget for budget, _ in groups)
    goal = max((m for (budget, sampler), m in medians.items() if budget == least and sampler != OURS), default=0.0)
    for (budget, sampler), found in groups.items():
        yield (
            str(budget),
            sampler,
            f"{100 * min(union.share(one.front()) for one in found):.1f}",
            f"{100 * medians[budget, sampler]:.1f}",
            reaches(found, union, goal),
            f"{median(apart(one.front()) for one in found):g}",
            f"{fmean(one.repeats for one in found):.0f}",
            f"{100 * fmean(one.outside for one in found):.0f}",
        )


def add_search_arguments(parser: argparse.ArgumentParser, *, nargs: str) -> None:
    """Of which workloads, for which objectives, and where searches are kept."""
    parser.add_argument("workloads", nargs=nargs, metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--objectives", nargs="+", default=DEFAULT, help="two or three (default: latency energy)")
    parser.add_argument("--cache", type=Path, default=bundle_cache().parent / "search_quality")


def checked_objectives(parser: argparse.ArgumentParser, args: argparse.Namespace) -> tuple[str, ...]:
    """Of a search that can be, whose workloads are known and whose cache is there."""
    if unknown := set(args.workloads) - WORKLOADS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    objectives = tuple(args.objectives)
    check_objectives(objectives)
    args.cache.mkdir(parents=True, exist_ok=True)
    return objectives


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_search_arguments(parser, nargs="*")
    parser.add_argument("--samplers", nargs="+", default=[OURS, "nsga2", "nsga3", "random", "qmc"])
    parser.add_argument("--budgets", nargs="+", type=int, default=[300, 1000])
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0 (default: %(default)s)")
    args = parser.parse_args()
    SAMPLERS.update(OTHERS)
    if unknown := {sampler.partition(ISLANDS)[0] for sampler in args.samplers} - SAMPLERS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(SAMPLERS)}")
    if min(*args.budgets, args.seeds) < 1:
        parser.error("--budgets and --seeds must be at least 1")
    objectives = checked_objectives(parser, args)
    for name in args.workloads or WORKLOADS:
        wanted = [(s, b, seed) for b in args.budgets for s in args.samplers for seed in range(args.seeds)]
        table = Table(
            "budget", "sampler", "worst_%", "median_%", "reaches", "differ", "repeats", "outside_%", title=name
        )
        for row in rows([run(name, objectives, *one, args.cache) for one in wanted]):
            table.add_row(*row)
        Console().print(table)


if __name__ == "__main__":
    main()
