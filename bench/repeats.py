"""How often different knobs give one accelerator, whether its digest tells, and what a search's evaluations take.

python -m bench.repeats gpt2 --phase decode --context 64 --precision w4a8
python -m bench.repeats gpt2-medium --designs 2000 --budget 1000 --json
for w in gpt2-decode gpt2-reply mixer; do
    PYTHONPATH=tests/support python -m bench.repeats $w --designs 0 --budget 400    # names of bench.search_quality
done

Designs are drawn near those that a search starts from and near one another, as a search proposes them. `wrong`: the
digest equals another's and `dataflow.json` does not, or the other way round. `search_*` is a whole search of `--budget`
designs: `search_repeats` are proposals that it did not count, `search_twice` accelerators that it counted twice,
`new_ms` and `repeat_ms` what the evaluation of one that counted took, and of one that did not (CPU time, mean), place
and clock included. `designs_per_second` are those that counted, by the CPU time of all evaluations. Exit code 1 where
something is wrong, or counted twice.
"""

import argparse
import json
import sys
from collections.abc import Container
from random import Random
from time import process_time
from typing import Any

from bench.search_quality import WORKLOADS, graph_of
from bench.workload import NoSink, add_arguments, bundle_cache, load_graph
from compiler.errors import MillraceError
from compiler.graph.accelerator import accelerator_digest
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from dse.evaluate import Evaluation, evaluate
from dse.explore import SearchOptions, search
from dse.space import DesignSpace

Row = dict[str, int | float | str]


def content(tasks: TaskGraph) -> str:
    """`dataflow.json` without the name of the network and the reasons for depths."""
    data: dict[str, Any] = tasks.to_json() | {"name": ""}
    return json.dumps(data | {"streams": [stream | {"reason": ""} for stream in data["streams"]]}, sort_keys=True)


def _drawn(space: DesignSpace, count: int, rng: Random) -> list[Knobs]:
    """`count` knobs, no two of which the space calls the same."""
    found = {space.key(knobs): knobs for knobs in space.default_knobs()}
    while len(found) < count:
        knobs = space.vary(rng.choice(list(found.values())), rng.randint(1, 3), rng)
        found.setdefault(space.key(knobs), knobs)
    return list(found.values())[:count]


def _graph(args: argparse.Namespace) -> LinalgGraph:
    if args.model not in WORKLOADS:
        return load_graph(args)
    bundle_cache().mkdir(parents=True, exist_ok=True)
    return graph_of(args.model, bundle_cache().parent)


class _Timed:
    """Evaluates, and adds up the time of known accelerators and of new ones."""

    def __init__(self) -> None:
        self._seconds: dict[bool, list[float]] = {True: [], False: []}

    def __call__(self, graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
        start = process_time()
        found = evaluate(graph, knobs, platform, known)
        self._seconds[found.accelerator is not None and not found.priced].append(process_time() - start)
        return found

    @property
    def designs_per_second(self) -> float:
        """Those that counted, by the time of all."""
        return round(len(self._seconds[False]) / sum(map(sum, self._seconds.values())), 1)

    def mean_ms(self, *, repeat: bool) -> float:
        seconds = self._seconds[repeat]
        return round(1e3 * sum(seconds) / max(1, len(seconds)), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--designs", type=int, default=2000, help="knobs that are drawn, or 0 (default: %(default)s)")
    parser.add_argument("--budget", type=int, default=1000, help="designs of the search (default: %(default)s)")
    args = parser.parse_args()
    if args.designs < 0 or args.budget < 1:
        parser.error("--designs must be at least 0, --budget 1")
    graph, platform = _graph(args), load_platform(args.platform)
    of_digest, of_content = dict[str, str](), dict[str, str]()
    refused, wrong, seconds = 0, 0, 0.0
    for knobs in _drawn(DesignSpace(graph, platform), args.designs, Random(args.seed)):
        try:
            tasks = planned_tasks(graph, knobs, platform)
        except MillraceError:
            refused += 1
            continue
        start = process_time()
        digest = accelerator_digest(tasks)
        seconds += process_time() - start
        text = content(tasks)
        wrong += of_digest.setdefault(digest, text) != text or of_content.setdefault(text, digest) != digest
    timed = _Timed()
    result = search(graph, platform, SearchOptions(args.budget, args.seed, jobs=1), NoSink(), evaluator=timed)
    counted = [d.evaluation.accelerator for d in result.designs if d.evaluation.accelerator is not None]
    report: Row = {
        "workload": graph.name,
        "designs": args.designs,
        "refused": refused,
        "accelerators": len(of_digest),
        "wrong": wrong,
        "digest_ms": round(seconds / max(1, args.designs) * 1e3, 2),
        "search_designs": len(result.designs),
        "search_repeats": result.repeats,
        "search_twice": len(counted) - len(set(counted)),
        "new_ms": timed.mean_ms(repeat=False),
        "repeat_ms": timed.mean_ms(repeat=True),
        "designs_per_second": timed.designs_per_second,
    }
    print(json.dumps(report) if args.json else "\n".join(f"{name:16} {value}" for name, value in report.items()))
    sys.exit(bool(wrong or report["search_twice"]))


if __name__ == "__main__":
    main()
