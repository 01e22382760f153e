"""How far estimates are off: random designs of five models, estimated and simulated. Error: estimate / simulated - 1.

    python -m bench.estimate_error
    python -m bench.estimate_error --designs 200 --seed 7 --plot docs/estimate_error.svg

GPT-2, GPT-2 medium and Qwen2.5 0.5B decode a token with a context of 64, Llama 1.1B and Gemma 3 1B prefill 16: both
phases, four families, and a simulation that takes well under a second. A third of the designs is drawn evenly from the
space; there one slow task mostly decides. The others are those of a search: variants of good designs, then neighbours
of the front, where many tasks are about as fast as each other and heads, tails and waits count. In half of those that
are drawn evenly, and in some of a search, products take turns at engines; they have a line of their own.

FIFOs between tasks hold any number of tokens, since certified depths (`compiler.sizing`) cost at most 0.5 % of that;
`--sized` certifies each design instead. FIFOs behind loads have their depth. Designs that can not be built are drawn
again.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean, median

from bench.error_plot import error_plot
from bench.workload import NoSink, bundle_cache
from compiler.analysis.estimate import estimate
from compiler.analysis.relays import writer
from compiler.analysis.turns import takes_turns
from compiler.errors import MillraceError, ToolError, VerificationError
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import certify
from dse.explore import SearchOptions, search
from dse.space import DesignSpace

WORKLOADS = (
    Workload("gpt2", "decode", 64, "w4a8"),
    Workload("gpt2-medium", "decode", 64, "w4a8"),
    Workload("qwen2.5-0.5b", "decode", 64, "w4a8"),
    Workload("llama-1.1b", "prefill", 16, "w4a8"),
    Workload("gemma3-1b", "prefill", 16, "w4a8"),
)
SECONDS = 20.0  # of one simulation at most; what takes longer is left out and counted
EVEN_SHARE = 1 / 3
JOBS = 2


@dataclass(frozen=True, slots=True)
class Drawn:
    """A design to compare; `space` says where it is from, "even" or "search"."""

    workload: Workload
    space: str
    knobs: Knobs


@dataclass(frozen=True, slots=True)
class Compared:
    """Cycles of one design; `feasible` where it holds the board's budgets, `shared` where products take turns."""

    model: str
    space: str
    shared: bool
    feasible: bool
    estimated: float
    simulated: int

    @property
    def error(self) -> float:
        return self.estimated / self.simulated - 1.0


def draw(workload: Workload, graph: LinalgGraph, platform: Platform, count: int, seed: int) -> Iterator[Drawn]:
    """`count` designs of `workload` that can be built; the same ones for a seed and an estimate."""
    space, rng = DesignSpace(graph, platform), Random(seed)
    missing = round(count * EVEN_SHARE)
    found = search(graph, platform, SearchOptions(count - missing, seed, jobs=1), NoSink())
    for design in found.designs:
        if design.evaluation.priced:
            yield Drawn(workload, "search", design.knobs)
    missing += sum(not design.evaluation.priced for design in found.designs)
    while missing:
        knobs = space.knobs_of({p.name: rng.choice(p.choices) for p in space.parameters})
        if _buildable(graph, knobs, platform):
            missing -= 1
            yield Drawn(workload, "even", knobs)


def _buildable(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> bool:
    try:
        planned_tasks(graph, knobs, platform)
    except MillraceError:
        return False
    return True


def unbounded(tasks: TaskGraph) -> TaskGraph:
    """`tasks` with FIFOs that never fill, except those behind loads."""
    streams = tuple(
        s if writer(tasks, s.name).kind == "load" else s._replace(depth=max(s.depth, s.tokens)) for s in tasks.streams
    )
    return replace(tasks, streams=streams)


class Comparison:
    """Estimates and simulates designs of `graphs`; one for each process."""

    def __init__(self, graphs: dict[Workload, LinalgGraph], platform: Platform, sized: bool) -> None:
        self.graphs, self.platform, self.sized = graphs, platform, sized

    def __call__(self, drawn: Drawn) -> Compared | None:
        """None where the simulation takes too long. Raises VerificationError where the design deadlocks: none may."""
        tasks = planned_tasks(self.graphs[drawn.workload], drawn.knobs, self.platform)
        found = estimate(tasks, self.platform)
        cycles = next(m.value for m in found.metrics if m.name == "cycles")
        try:
            run = simulate(self._with_depths(found.tasks), self.platform, buckets=0, seconds=SECONDS)
        except ToolError:
            return None
        if run.deadlock is not None:
            raise VerificationError(f"{drawn.workload.model}, {drawn.knobs}: {run.deadlock.text}")
        shared = takes_turns(tasks.tasks, tasks.streams)
        return Compared(drawn.workload.model, drawn.space, shared, found.feasible, cycles, run.cycles)

    def _with_depths(self, tasks: TaskGraph) -> TaskGraph:
        if not self.sized:
            return unbounded(tasks)
        return certify(tasks, self.platform).tasks


def summary(name: str, compared: Sequence[Compared]) -> dict[str, str | int | float]:
    """Statistics of the error of some designs, in percent."""
    errors = [c.error * 100 for c in compared]
    sizes = sorted(map(abs, errors))
    return {
        "designs of": name,
        "n": len(errors),
        "feasible": sum(c.feasible for c in compared),
        "median %": round(median(sizes), 2),
        "p95 %": round(sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))], 2),
        "worst %": round(max(errors, key=abs), 2),
        "bias %": round(mean(errors), 2),
    }


def table(compared: Sequence[Compared]) -> list[dict[str, str | int | float]]:
    """A row for each model, for each way of drawing, and for all."""
    groups = {
        **{w.model: [c for c in compared if c.model == w.model] for w in WORKLOADS},
        "drawn evenly": [c for c in compared if c.space == "even"],
        "of a search": [c for c in compared if c.space == "search"],
        "with engines": [c for c in compared if c.shared],
        "feasible": [c for c in compared if c.feasible],
        "all": list(compared),
    }
    return [summary(name, members) for name, members in groups.items() if members]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=200, help="of all models together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--platform", default="u55c")
    parser.add_argument("--sized", action="store_true", help="certify the FIFOs of each design; takes much longer")
    parser.add_argument("--jobs", type=int, default=JOBS, choices=(1, 2))
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the errors as SVG")
    parser.add_argument("--json", action="store_true", help="print every design as JSON instead of the table")
    args = parser.parse_args()
    platform = load_platform(args.platform)
    graphs = {w: import_model(w.model, w, bundle_cache()).graph for w in WORKLOADS}
    shares = [args.designs // len(WORKLOADS) + (k < args.designs % len(WORKLOADS)) for k in range(len(WORKLOADS))]
    drawn = [d for w, n in zip(WORKLOADS, shares, strict=True) for d in draw(w, graphs[w], platform, n, args.seed)]
    with get_context("fork").Pool(args.jobs) as pool:
        found = pool.map(Comparison(graphs, platform, args.sized), drawn, chunksize=4)
    compared = [c for c in found if c is not None]
    if args.plot is not None:
        args.plot.write_text(error_plot([(c.model, c.estimated, c.simulated) for c in compared]))
    if args.json:
        print(json.dumps([asdict(c) | {"error": c.error} for c in compared]))
        return
    rows = table(compared)
    print("  ".join(f"{name:>12}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value!s:>12}" for value in row.values()))
    if late := len(found) - len(compared):
        print(f"{late} designs were left out: their simulation takes longer than {SECONDS:.0f} s")


if __name__ == "__main__":
    main()
