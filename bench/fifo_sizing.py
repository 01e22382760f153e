"""What certified FIFO depths of a block take: time to find them, cycles, memory beside other ways of sizing, reasons.

python -m bench.fifo_sizing
python -m bench.fifo_sizing gpt2-medium --length 128 --check --json

Ways: `whole` by rule (as the knob), `peak` as deep as each FIFO ever gets when unbounded, `program` the linear program
alone (the cheaper of both equalisations), `certified`. Cycles are simulated: with unbounded FIFOs those behind HBM keep
the depth of the design, `unlimited` has none bounded. `--check` simulates each FIFO that takes memory one step smaller,
the others as sized: all of them must deadlock or take longer. Aims: 2 s, no deadlock, within 1 % of unbounded.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from rich.console import Console
from rich.table import Table

from bench.workload import bundle_cache
from compiler.analysis.memory import fifo_cost
from compiler.analysis.memory_steps import next_smaller, price
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.options import Equalisation, FifoEffort, Knobs, Phase, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.sizing.certify import WORK, Sizing, certify
from compiler.sizing.lp import lp_depths
from compiler.sizing.trial import Trial, peaks, trials_of

PHASES: tuple[Phase, ...] = ("prefill", "decode")
UNROLLS = (Knobs().overall_unroll, 4096)
EQUALISATIONS: tuple[Equalisation, ...] = ("normal", "conservative")
EFFORTS: tuple[FifoEffort, ...] = ("quick", "full")
AIM_SECONDS = 2.0


@dataclass(frozen=True)
class Memory:
    """What the FIFOs of a design take: bits of depth x width, and the primitives of their memories."""

    mbit: float
    lut: int
    bram36: float
    uram: int
    lut_equivalents: float

    @staticmethod
    def of(streams: Sequence[Stream], platform: Platform) -> "Memory":
        memories = platform.memories
        costs = [fifo_cost(s.width, s.depth, memories) for s in streams]
        return Memory(
            sum(s.width * s.depth for s in streams) / 1e6,
            sum(c.lut for c in costs),
            sum(c.bram36 for c in costs),
            sum(c.uram for c in costs),
            round(sum(price(s.width, s.depth, memories) for s in streams)),
        )


@dataclass(frozen=True)
class Row:
    """One design. `checked` FIFOs were simulated one step smaller, `failed` of them did not do, as they must."""

    phase: str
    unroll: int
    fifos: int
    seconds: float
    processor_seconds: float
    runs: int
    proven: bool
    deadlock: bool
    cycles: int
    unbounded: int
    unlimited: int
    memory: dict[str, Memory]
    reasons: dict[str, int]
    checked: int | None
    failed: int | None

    @property
    def loss(self) -> float:
        return self.cycles / self.unbounded - 1.0


def measure(graph: LinalgGraph, phase: str, unroll: int, platform: Platform, effort: int, check: bool) -> Row:
    """Size one design, then its FIFOs in the other ways."""
    knobs = Knobs(overall_unroll=unroll)
    tasks = planned_tasks(graph, knobs, platform)
    start, processor = time.perf_counter(), time.process_time()
    sizing = certify(tasks, platform, effort)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    trials = list(trials_of(tasks, platform))
    depths = {s.name: s.depth for s in sizing.tasks.streams}
    outcomes = [trial.run({name: depths[name] for name in trial.streams}) for trial in trials]
    results = [smaller_fails(trial, depths) for trial in trials] if check else []
    failed = [each for found in results for each in found]
    return Row(
        phase=phase,
        unroll=unroll,
        fifos=len(tasks.streams),
        seconds=seconds,
        processor_seconds=processor,
        runs=sum(k.runs for k in sizing.kernels),
        proven=all(k.proven for k in sizing.kernels),
        deadlock=any(o.deadlocked for o in outcomes),
        cycles=sum(o.cycles for o in outcomes),
        unbounded=sum(k.unbounded for k in sizing.kernels),
        unlimited=sum(trial.run(dict.fromkeys(trial.streams)).cycles for trial in trials),
        memory=memories(graph, tasks, sizing, trials, knobs, platform),
        reasons=dict(Counter(kind_of(s.reason) for s in sizing.tasks.streams)),
        checked=len(failed) if check else None,
        failed=sum(failed) if check else None,
    )


def memories(
    graph: LinalgGraph, tasks: TaskGraph, sizing: Sizing, trials: Sequence[Trial], knobs: Knobs, platform: Platform
) -> dict[str, Memory]:
    """By way of sizing."""
    whole = planned_tasks(graph, replace(knobs, fifo="whole"), platform)
    peak = {name: max(2, most) for trial in trials for name, most in peaks(trial.base).items()}
    planned = [lp_depths(tasks, each, platform.memories) for each in EQUALISATIONS]
    plans = [Memory.of(with_depths(tasks, depths), platform) for depths in planned]
    return {
        "whole": Memory.of(whole.streams, platform),
        "peak": Memory.of(with_depths(tasks, peak), platform),
        "program": min(plans, key=lambda memory: memory.lut_equivalents),
        "certified": Memory.of(sizing.tasks.streams, platform),
    }


def with_depths(tasks: TaskGraph, depths: dict[str, int]) -> list[Stream]:
    return [s._replace(depth=depths[s.name]) for s in tasks.streams]


def smaller_fails(trial: Trial, depths: dict[str, int]) -> Iterable[bool]:
    """Of each FIFO of a kernel that takes memory: whether one step smaller deadlocks or takes longer."""
    own = {name: depths[name] for name in trial.streams}
    for name in trial.costly(own):
        smaller = next_smaller(trial.width(name), own[name], trial.memories)
        assert smaller is not None  # it takes memory
        yield not any(map(trial.holds, trial.try_all([{**own, name: smaller}])))


def kind_of(reason: str) -> str:
    """Kind of a stream's reason (`compiler.sizing.certify`)."""
    kinds = {"no memory": "free", "deadlock": "deadlock", "longer": "latency", "not tried": "not tried"}
    return next(kind for words, kind in kinds.items() if words in reason)


def show(rows: Sequence[Row], title: str) -> None:
    table = Table(title=title)
    for name in (
        "",
        "FIFOs",
        "free/deadlock/latency/not tried",
        "seconds",
        "CPU",
        "runs",
        "cycles",
        "loss",
        "unlimited",
    ):
        table.add_column(name, justify="left" if not name else "right")
    table.add_column("one step smaller fails", justify="right")
    for row in rows:
        kinds = "/".join(str(row.reasons.get(kind, 0)) for kind in ("free", "deadlock", "latency", "not tried"))
        seconds = f"{row.seconds:.1f}{'' if row.seconds < AIM_SECONDS else ' *'}"
        checked = "-" if row.checked is None else f"{row.failed} of {row.checked}"
        cycles = "deadlock" if row.deadlock else f"{row.cycles:,}"
        timing = (seconds, f"{row.processor_seconds:.1f}", str(row.runs))
        figures = (*timing, cycles, f"{row.loss:.2%}", f"{row.unlimited:,}", checked)
        table.add_row(f"{row.phase} {row.unroll}", str(row.fifos), kinds, *figures)
    Console(width=140).print(table, f"* above the aim of {AIM_SECONDS:g} s")
    memory = Table(title="memory of all FIFOs: bits, LUT / BRAM36 / URAM, all as LUTs of equal share of the part")
    for name in ("", *rows[0].memory):
        memory.add_column(name, justify="left" if not name else "right")
    for row in rows:
        cells = (
            f"{m.mbit:,.1f} Mbit\n{m.lut:,} / {m.bram36:,.1f} / {m.uram:,}\n{m.lut_equivalents:,}"
            for m in row.memory.values()
        )
        memory.add_row(f"{row.phase} {row.unroll}", *cells)
    Console(width=140).print(memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="gpt2-medium")
    parser.add_argument("--length", type=int, default=128, help="of a prefill, and of the context of a decode")
    parser.add_argument("--precision", choices=("f32", "w8a8", "w4a8"), default="w4a8")
    parser.add_argument("--phase", choices=PHASES, action="append", dest="phases", help="default: both")
    parser.add_argument("--unroll", type=int, action="append", dest="unrolls", help=f"default: {UNROLLS}")
    parser.add_argument("--effort", choices=EFFORTS, default="full", help="as of `compile` (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="simulate every FIFO one step smaller")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    args = parser.parse_args()
    platform, load_before = load_platform("u55c"), os.getloadavg()[0]
    rows: list[Row] = []
    for phase in args.phases or PHASES:
        workload = Workload(args.model, phase, args.length, args.precision)
        graph = import_model(args.model, workload, bundle_cache()).graph
        unrolls = args.unrolls or UNROLLS
        rows += [measure(graph, phase, unroll, platform, WORK[args.effort], args.check) for unroll in unrolls]
    if args.json:
        print(json.dumps({"load": load_before, "rows": [asdict(row) for row in rows]}))
        return
    show(rows, f"{args.model} {args.precision}, length {args.length}, by phase and unroll; load {load_before:.1f}")


if __name__ == "__main__":
    main()
