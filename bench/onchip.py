"""On-chip bytes of one layer's intermediates, before and after stream fusion (paper: 14.8 to 16.8 %).

python -m bench.onchip
python -m bench.onchip llama-1.1b --precision f32 --tile 4
python -m bench.onchip gpt2-medium --certified

Before: every tensor that one operation of the network hands to another, held whole; the int32 sums of a quantised
product before its scales are applied are left out, since they are an artefact of how it is split in groups. After: what
one fused design keeps: converters by the paper's rule and as built, each with the FIFOs that go with them. `live` is
the exact requirement of the converters: the most elements alive at once when tokens are read as late and dropped as
early as possible. Weights are excluded on both sides. The figures are computed from the design, not synthesised. FIFOs
are those of the search's rule, or with `--certified` those that compiled designs get (half a minute a design).
"""

import argparse
import json
from dataclasses import asdict, dataclass, replace

from rich.console import Console
from rich.table import Table

from bench.matrix import MODELS
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import ConverterTask, LoadTask, TaskGraph
from compiler.options import Knobs, Precision, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.sizing.certify import certify

PRECISIONS: tuple[Precision, ...] = ("f32", "w4a8")
WHOLE_BOARD = 1 << 34  # a fusion budget that nothing exceeds: one kernel


@dataclass(frozen=True)
class Kept:
    """Bytes of activations that a design keeps on chip."""

    converters: int
    live: int
    fifos: int

    @property
    def total(self) -> int:
        return self.converters + self.fifos


@dataclass(frozen=True)
class Row:
    """One layer at one precision."""

    model: str
    precision: str
    before: int
    paper: Kept
    ours: Kept


def measure(model: str, precision: Precision, length: int, tile: int, certified: bool) -> Row:
    """Build the fused design twice, with the paper's converters and with ours."""
    graph = import_model(model, Workload(model, "prefill", length, precision), bundle_cache()).graph
    knobs = Knobs(default_tile_size=tile, fusion_budget=WHOLE_BOARD)
    paper = _kept(graph, replace(knobs, converters="paper"), certified)
    return Row(model, precision, _before(graph), paper, _kept(graph, knobs, certified))


def _kept(graph: LinalgGraph, knobs: Knobs, certified: bool) -> Kept:
    platform = load_platform("u55c")
    tasks = planned_tasks(graph, knobs, platform)
    if certified:
        tasks = certify(tasks, platform).tasks
    weights = {t.name for t in tasks.tasks if isinstance(t, LoadTask) and graph.value[t.dma.value].role == "param"}
    converters = [
        t.converter for t in tasks.tasks if isinstance(t, ConverterTask) and not _reads(t.name, tasks) & weights
    ]
    return Kept(
        sum(c.bits for c in converters) // 8,
        sum(c.exact_bits for c in converters) // 8,
        sum(s.width * s.depth for s in tasks.streams if s.source not in weights) // 8,
    )


def _reads(task: str, tasks: TaskGraph) -> set[str]:
    return {tasks.stream[a.stream].source for a in tasks.task[task].reads}


def _before(graph: LinalgGraph) -> int:
    partial = {
        o.outputs[0].value for o in graph.ops if o.is_contraction and graph.value[o.outputs[0].value].dtype == "i32"
    }
    kept = (v for v in graph.values if v.role == "intermediate" and v.name not in partial)
    return sum(v.elements * DTYPE_BITS[v.dtype] for v in kept) // 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--precision", choices=("f32", "w8a8", "w4a8"), action="append", dest="precisions")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--tile", type=int, default=Knobs().default_tile_size, help="default: %(default)s")
    parser.add_argument("--certified", action="store_true", help="FIFOs as compiled designs have them")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [
        measure(model, precision, arguments.length, arguments.tile, arguments.certified)
        for model in arguments.models or MODELS
        for precision in arguments.precisions or PRECISIONS
    ]
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    table = Table(title=f"intermediates of one layer, sequence {arguments.length}, tile {arguments.tile}, one kernel")
    for name in ("model", "precision", "before", "paper's rule", "+ FIFOs", "exact: live", "built", "+ FIFOs"):
        table.add_column(name, justify="right" if name not in {"model", "precision"} else "left")
    for row in rows:
        parts = (row.paper.converters, row.paper.total, row.ours.live, row.ours.converters, row.ours.total)
        shares = (f"{part / row.before:.1%}" for part in parts)
        table.add_row(row.model, row.precision, f"{row.before / 2**20:.1f} MiB", *shares)
    Console().print(table)


if __name__ == "__main__":
    main()
