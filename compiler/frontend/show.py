"""Lists the graph of a workload: `python -m compiler.frontend.show gpt2 --phase decode --length 64`."""

import argparse
import sys
from pathlib import Path
from tempfile import gettempdir

from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.options import Workload


def listing(graph: LinalgGraph) -> str:
    """One line per operation: loops (p parallel, r reduction; `:` between groups), inputs, outputs, body."""
    lines = [_line(graph, op) for op in graph.ops]
    outputs = [f"{o.name} = {o.value} permuted {list(o.permutation)} as {list(o.shape)}" for o in graph.outputs]
    return "\n".join((f"{graph.name}: {len(graph.ops)} operations", *lines, *outputs))


def _line(graph: LinalgGraph, op: LinalgOp) -> str:
    loops = "".join(
        f"{':' if i and op.groups[i - 1] != group else ' '}{trip}{kind[0]}"
        for i, (trip, kind, group) in enumerate(zip(op.loops, op.iterators, op.groups, strict=True))
    )
    body = " ".join(o.name.partition(".")[2] for o in op.body.ops if o.const is None) if op.body else op.kind
    combiner = f" -> {op.reduction.combiner} from {op.reduction.init}" if op.reduction else ""
    reads, writes = (", ".join(_operand(graph, o) for o in uses) for uses in (op.inputs, op.outputs))
    return f"{op.name:32}[{loops.strip()}] ({reads}) => ({writes}) {{{body}{combiner}}}"


def _operand(graph: LinalgGraph, operand: Operand) -> str:
    value = graph.value[operand.value]
    return f"{value.name}:{value.dtype}{list(operand.dims)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="List the operations of a workload")
    parser.add_argument("model")
    parser.add_argument("--phase", default="decode")
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--precision", default="w4a8")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path(gettempdir()) / "millrace-bundles")
    options = parser.parse_args()
    try:
        workload = Workload(options.model, options.phase, options.length, options.precision, layers=options.layers)
        bundle = import_model(options.model, workload, options.cache, lambda text: print(f"# {text}", file=sys.stderr))
    except MillraceError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"# {bundle.directory}")
    print(listing(bundle.graph))
    return 0


if __name__ == "__main__":
    sys.exit(main())
