"""Whether the accelerators of cdb5aca are still those that are planned and compiled, point by point.

python -m bench.accelerators
python -m bench.accelerators --planned 20 --compiled 1

A point that differs is tried again with the rules of cdb5aca that were mended since, and counts for the first of them
that explains it. Exit code 1: some point differs for another reason. Digests and points are those of
tests/data/accelerators.json.gz.
"""

import argparse
import gzip
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from bench import earlier_lanes
from bench.workload import bundle_cache
from compiler.analysis import (
    affine_schedule,
    build,
    depths,
    fifo,
    growth,
    loop_order,
    operators,
    tasks,
    tiling,
    widen_rows,
)
from compiler.analysis.affine_schedule import Edge
from compiler.analysis.banks import converter_memory
from compiler.analysis.growth import Growth
from compiler.errors import MillraceError
from compiler.frontend.bundle import Bundle, import_model
from compiler.graph.design import Packing
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.task_graph import Stream
from compiler.options import FifoStrategy, Knobs, Workload
from compiler.passes import bind_multipliers
from compiler.passes.design_passes import planned_tasks
from compiler.passes.materialize_dmas import MaterializeDmas
from compiler.pipeline import compile_design
from compiler.platforms.platform import Platform, load_platform

KNOWN = Path(__file__).resolve().parents[1] / "tests" / "data" / "accelerators.json.gz"
PLATFORM = load_platform("u55c")

Edges = Mapping[str, list[Edge]]  # by node


def digest(data: Any) -> str:
    """Of JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def planned_digest(bundle: Bundle, knobs: Knobs) -> str:
    """Of the accelerator before its FIFOs are certified, or the error that refuses it."""
    try:
        return digest(planned_tasks(bundle.graph, knobs, PLATFORM).to_json())
    except MillraceError as error:
        return f"{type(error).__name__}: {error}"


def compiled_digest(bundle: Bundle, knobs: Knobs) -> str:
    """Of `dataflow.json`."""
    with tempfile.TemporaryDirectory() as folder:
        design = Path(folder) / "design"
        compile_design(bundle, knobs, PLATFORM, design)
        return digest(json.loads((design / "dataflow.json").read_text()))


def _adder_cycles(op: LinalgOp, iterations: int, between_updates: int) -> int:
    assert op.body is not None
    is_float = op.reduction is not None and op.body.dtype_of(op.body.result) == "f32"
    return iterations * (-(-PLATFORM.operators["fadd"].latency // max(1, between_updates)) if is_float else 1)


def _earlier_cycles(grown: Growth, step: int) -> int:
    """The heap took every float reduction for a sum, and only loops inside a tile for what is between two updates."""
    op, walk, factor = grown.part.op, grown.part.walk, grown.factors[step]
    inside = (t // f for t, f, kind in zip(walk.tile, factor, op.iterators, strict=True) if kind == "parallel")
    return _adder_cycles(op, op.iterations // prod(factor), prod(inside))


def _earlier_chain(op: LinalgOp, nest: Nest, platform: Platform) -> int:  # noqa: ARG001 # as what it stands for
    """A chain took the largest of a row for free, and every other float reduction for a sum."""
    if op.reduction is not None and op.reduction.combiner == "max":
        return nest.iterations
    return _adder_cycles(op, nest.iterations, nest.reuse_distance(op.iterators))


def _never(*_: Any) -> bool:
    return False


def _alone(*_: Any) -> int:
    return 1


def _always(*_: Any) -> bool:
    return True


def _none(*_: Any) -> dict[int, int]:
    """Products were added up by adders of their own."""
    return {}


def _as_wide_as_asked(*_: Any) -> tuple[dict[str, str], dict[str, Packing]]:
    """A kernel had as many ports as its loads were asked to have, though the board allowed fewer."""
    return {}, {}


TWO = 2  # tokens of the shallowest FIFO, which now has three


def _as_planned(stream: Stream, depth: int, platform: Platform) -> int:  # noqa: ARG001 # as what it stands for
    """FIFOs were no deeper than was planned, whatever their memory holds."""
    return depth


def _of_itself(nodes: Sequence[str], entering: Edges, leaving: Edges) -> dict[str, float]:
    """A task started late for what it alone saves."""
    return {n: sum(e.cost for e in leaving[n]) - sum(e.cost for e in entering[n]) for n in nodes}


_planned_depths = fifo._kernel_depths  # as it is now


def _least_elsewhere(part: fifo.KernelPart, strategy: FifoStrategy) -> list[int]:
    """`whole` gave two tokens to a stream behind which no two paths meet, whatever the pace."""
    if strategy != "whole":
        return _planned_depths(part, strategy)
    whole = fifo._held_whole(part)
    return [max(TWO, s.tokens + s.initial) if s.name in whole else TWO for s in part.streams]


MEMORIES = (
    *((module, "MIN_DEPTH", TWO) for module in (affine_schedule, fifo, build)),
    (depths, "_filled", _as_planned),
    (tasks, "converter_buffer", converter_memory),
    (fifo, "_gains", _of_itself),
)
DEPTHS = (*MEMORIES, (fifo, "_kernel_depths", _least_elsewhere))
PORTS = (
    *DEPTHS,
    (MaterializeDmas, "_dealt", staticmethod(_as_wide_as_asked)),
)
PRODUCTS = (
    *PORTS,
    (operators, "summed_as_pairs", _alone),
    (operators, "sums_float_products", _never),
    (bind_multipliers, "sums_float_products", _never),
    (operators, "_accumulates", _always),
    (operators, "products_added_to", _none),
)
LANES = (
    *PRODUCTS,
    (growth, "_grow", earlier_lanes.grow),
    (tiling, "inner_orders", earlier_lanes.inner_orders),
    (tiling, "as_made", earlier_lanes.as_planned),
    (loop_order, "_made_meanwhile", earlier_lanes.made_meanwhile),
    (LinalgGraph, "widest_input", earlier_lanes.widest_input),
)
HEAP = ((Growth, "cycles", _earlier_cycles),)
CHAIN = ((widen_rows, "run_cycles", _earlier_chain),)
MENDED: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "memories and least depths": MEMORIES,
    "also depths of whole streams": DEPTHS,
    "also ports of a kernel": PORTS,
    "also what products are made of": PRODUCTS,
    "also lanes and loops of a tile": LANES,
    "also cycles in the heap": LANES + HEAP,
    "also cycles of a chain": LANES + CHAIN,
    "all": LANES + HEAP + CHAIN,
}


@contextmanager
def as_before(name: str) -> Generator[None]:
    """Plan by a rule of cdb5aca that was mended since."""
    with ExitStack() as stack:
        for module, rule, earlier in MENDED[name]:
            stack.enter_context(patch.object(module, rule, earlier))
        _forget()
        yield
    _forget()


def _forget() -> None:
    """All that passes know of designs that they have planned."""
    planning = [
        module for name, module in sys.modules.items() if name.startswith(("compiler.analysis.", "compiler.passes."))
    ]
    for kept in (value for module in planning for value in vars(module).values() if hasattr(value, "cache_clear")):
        kept.cache_clear()


Difference = tuple[str, int, str | None]
"""What was compared, the number of the point, and the mended rule that explains it."""


def different(known: dict[str, Any], bundle: Bundle, planned: int, compiled: int) -> Iterator[Difference]:
    """Which of the first points of a workload are other accelerators now, and why."""
    points = [Knobs.from_json(knobs) for knobs in known["knobs"]]
    for kind, find, count in (("planned", planned_digest, planned), ("compiled", compiled_digest, compiled)):
        for number, (knobs, before) in enumerate(zip(points[:count], known[kind][:count], strict=False)):
            if find(bundle, knobs) != before:
                yield kind, number, _explained(lambda knobs=knobs, find=find: find(bundle, knobs), before)


def _explained(find: Callable[[], str], before: str) -> str | None:
    for name in MENDED:
        with as_before(name):
            if find() == before:
                return name
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planned", type=int, default=200, help="points of each workload to plan (all)")
    parser.add_argument("--compiled", type=int, default=10, help="points of each workload to compile (all)")
    args = parser.parse_args()
    table = Table("workload", "planned", "differ", "compiled", "differ", "by rule", "not explained")
    whole = True
    for name, known in json.loads(gzip.decompress(KNOWN.read_bytes())).items():
        workload = Workload(**known["workload"])
        bundle = import_model(workload.model, workload, bundle_cache())
        found = list(different(known, bundle, args.planned, args.compiled))
        counts = Counter(kind for kind, _, _ in found)
        rules = Counter(rule for _, _, rule in found if rule is not None)
        lost = [f"{kind} {number}" for kind, number, rule in found if rule is None]
        whole = whole and not lost
        row = (args.planned, counts["planned"], args.compiled, counts["compiled"])
        told = ", ".join(f"{rule}: {count}" for rule, count in rules.items())
        table.add_row(name, *map(str, row), told, ", ".join(lost[:8]))
    Console().print(table)
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
