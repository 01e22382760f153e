"""C++ of integer products two to a DSP: those of neighbouring lanes that share a factor."""

from collections.abc import Sequence
from math import prod

from compiler.analysis.operators import pair_dim
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.targets.nest_code import NestNames, subscript, unrolled
from compiler.targets.writer import CppWriter


def emit_products(
    out: CppWriter, op: LinalgOp, nest: Nest, names: NestNames, registers: Sequence[str], array: str
) -> None:
    """All products of an iteration into `array`, by output lane and, where there are several, by reduction lane."""
    pair, output = pair_dim(op, nest), op.outputs[0].dims
    assert pair is not None
    reduced = [d for d, it in enumerate(op.iterators) if it == "reduction"]
    lanes = [prod(nest.unroll[d] for d in dims) for dims in (output, reduced)]
    out.line(f"int {array}{''.join(f'[{n}]' for n in lanes if n > 1)};")
    out.pragma(f"array_partition variable={array} type=complete dim=0")
    single, shared = sorted(zip(op.inputs, registers, strict=True), key=lambda o: pair not in o[0].dims)
    with unrolled(out, names.lanes([*output, *reduced]), pairs=names.lane(pair)):
        first, second = (subscript(single[1], names.element(single[0].dims, n)) for n in (None, pair))
        place = subscript("", names.element(reduced))
        results = [f"{array}[{names.element(output, n)}]{place}" for n in (None, pair)]
        factor = subscript(shared[1], names.element(shared[0].dims))
        out.statement("mul2", [second, first, factor, results[1], results[0]], ";")
