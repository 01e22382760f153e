"""Tokens a second that the timing simulator moves on one core, and seconds for a block with fast-forward.

python -m bench.simulator
python -m bench.simulator gpt2-medium --seq 256 --repeat 5 --json

A token is counted when it is read. Without fast-forward each one is moved, with it repetitions are skipped; both must
agree in every number of the result. Seconds are of processor time, so that other programs of the machine matter less;
the core is one thread. The figure is the median of `--repeat` runs. Sized FIFOs are certified, but not tightened: that
takes longer than the rest. Aims: 50 M tokens/s without fast-forward, 0.2 s with it for a block of GPT-2 medium, prefill
256.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise

from bench.workload import bundle_cache
from compiler.errors import VerificationError
from compiler.frontend.bundle import import_model
from compiler.graph.program import Access
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Fifo, Network, Outcome, Process
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import certify

AIM_TOKENS, AIM_SECONDS = 50e6, 0.2
UNROLLS = (Knobs().overall_unroll, 4096)
CHAIN, CHAIN_TOKENS = 16, 1_000_000

Depths = Mapping[str, int | None]


@dataclass(frozen=True)
class Row:
    """One network: `seconds` of processor time of a run (median), its `cycles` and `tokens`; `cut`: it was stopped."""

    network: str
    fast_forward: bool
    seconds: float
    cycles: int
    tokens: int
    cut: bool

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


@dataclass(frozen=True)
class Case:
    """Kernels with the depths that they run with."""

    name: str
    kernels: tuple[tuple[Plan, Depths], ...]

    def run(self, fast_forward: bool, limit: int | None) -> list[Outcome]:
        return [plan.run(depths, fast_forward=fast_forward, limit=limit) for plan, depths in self.kernels]


def chain() -> Case:
    """Processes in a row that pass on a token a cycle."""
    names = [f"p{n}" for n in range(CHAIN)]
    fifos = tuple(Fifo(f"s{n}", a, b, 2) for n, (a, b) in enumerate(pairwise(names)))
    processes = tuple(
        Process.of_nest(
            name,
            (CHAIN_TOKENS,),
            1,
            4,
            tuple(Access(f.name) for f in fifos if f.target == name),
            tuple(Access(f.name) for f in fifos if f.source == name),
        )
        for name in names
    )
    return Case(f"chain of {CHAIN}", ((Plan(Network(processes, fifos)), {}),))


def blocks(tasks: TaskGraph, platform: Platform, name: str) -> list[Case]:
    """The design with FIFOs of any depth, and with those that are certified before any is tried smaller."""
    # Between tasks; the adapters of the HBM ports are what they are.
    unbounded = tuple(
        (Plan(n), {f.name: None for f in n.fifos if f.name in tasks.stream}) for n in networks_of(tasks, platform)
    )
    sized = networks_of(certify(tasks, platform, effort=0).tasks, platform)
    return [Case(f"{name}, unlimited", unbounded), Case(f"{name}, sized", tuple((Plan(n), {}) for n in sized))]


def measure(case: Case, fast_forward: bool, limit: int | None, repeat: int) -> tuple[Row, list[Outcome]]:
    """The median of `repeat` runs, and the outcomes of one."""
    outcomes, seconds = _timed(lambda: case.run(fast_forward, limit), repeat)
    cycles, tokens = sum(o.cycles for o in outcomes), sum(o.tokens for o in outcomes)
    return Row(case.name, fast_forward, seconds, cycles, tokens, any(o.stopped for o in outcomes)), outcomes


def _timed(run: Callable[[], list[Outcome]], repeat: int) -> tuple[list[Outcome], float]:
    seconds: list[float] = []
    found: list[Outcome] = []
    for _ in range(repeat):
        start = time.process_time()
        found = run()
        seconds.append(time.process_time() - start)
    return found, statistics.median(seconds)


def rows_of(case: Case, limit: int, repeat: int) -> list[Row]:
    """Without fast-forward up to `limit` cycles (0: all), then with it to the end. Raises VerificationError where
    the two differ.
    """
    slow, expected = measure(case, False, limit or None, repeat)
    _, skipped = measure(case, True, limit or None, 1)
    if skipped != expected:
        raise VerificationError(f"{case.name}: fast-forward changes the result; the core has a defect")
    whole, _ = measure(case, True, None, repeat)
    return [slow, whole]


def verdict(row: Row) -> str:
    """The figure beside the aim, where there is one."""
    if not row.fast_forward:
        missed = "" if row.rate >= AIM_TOKENS else ", missed"
        return f"{row.rate / 1e6:.1f} M tokens/s (aim {AIM_TOKENS / 1e6:.0f}{missed})"
    if row.network.startswith("chain"):
        return "-"
    missed = "" if row.seconds < AIM_SECONDS else ", missed"
    return f"{row.seconds:.3f} s (aim {AIM_SECONDS}{missed})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="gpt2-medium")
    parser.add_argument("--seq", type=int, default=256)
    parser.add_argument("--precision", choices=("f32", "w8a8", "w4a8"), default="w4a8")
    parser.add_argument("--limit", type=int, default=0, help="most cycles of a run without fast-forward (0: all)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    args = parser.parse_args()
    workload = Workload(args.model, "prefill", args.seq, args.precision)
    graph, platform = import_model(args.model, workload, bundle_cache()).graph, load_platform("u55c")
    load_before = os.getloadavg()[0]
    cases = [chain()]
    for unroll in UNROLLS:
        tasks = planned_tasks(graph, Knobs(overall_unroll=unroll), platform)
        cases += blocks(tasks, platform, f"unroll {unroll}")
    rows = [row for case in cases for row in rows_of(case, args.limit, args.repeat)]
    if args.json:
        print(json.dumps({"load": load_before, "rows": [{**asdict(r), "tokens_s": r.rate} for r in rows]}))
        return
    print(f"{args.model} prefill {args.seq} {args.precision}, median of {args.repeat} runs, load {load_before:.1f}")
    print(f"{'network':26} {'fast-forward':12} {'cycles':>12} {'tokens':>14} {'seconds':>8}")
    for row in rows:
        cut = " (cut off)" if row.cut else ""
        mode = "yes" if row.fast_forward else "no"
        print(f"{row.network:26} {mode:12} {row.cycles:12,} {row.tokens:14,} {row.seconds:8.3f}  {verdict(row)}{cut}")


if __name__ == "__main__":
    main()
