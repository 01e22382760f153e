"""C++ of integer products two to a DSP: those of neighbouring lanes that share a factor."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod

from compiler.analysis.operators import pair_dim, reduction_lanes, summed_as_pairs
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.targets.nest_code import NestNames, subscript, unrolled
from compiler.targets.writer import CppWriter, Namer

PAIR_BITS = 35  # of a pair of products


def emit_products(
    out: CppWriter, op: LinalgOp, nest: Nest, names: NestNames, registers: Sequence[str], array: str
) -> None:
    """All products of an iteration into `array`, by output lane and, where there are several, by reduction lane."""
    with _pairs(out, op, nest, names, "int", array) as (pair, factors, place):
        output = op.outputs[0].dims
        results = [f"{array}[{names.element(output, n)}]{place}" for n in (None, pair)]
        out.statement("mul2", [*factors(registers), results[1], results[0]], ";")


def emit_sums(
    out: CppWriter, op: LinalgOp, nest: Nest, names: NestNames, registers: Sequence[str], array: str, namer: Namer
) -> None:
    """Sums over reduction lanes of all products of an iteration into `array`, by output lane: pairs are taken apart
    when they are summed. Where the lanes are more than can be summed as pairs, a sum of each part of them.
    """
    output, pairs = op.outputs[0].dims, namer.name("pair")
    lanes = reduction_lanes(op, nest)
    each = summed_as_pairs(op, lanes)
    parts = [(namer.name("part"), lanes // each)] if lanes > each else []
    bits = PAIR_BITS + (each - 1).bit_length()
    with _pairs(out, op, nest, names, f"ap_int<{bits}>", pairs, each) as (pair, factors, place):
        target = f"{pairs}[{names.element(output)}]{place}"
        out.statement(f"{target} = pair2", factors(registers), ";")
    out.line(f"int {array}[{prod(nest.unroll[d] for d in output)}]{''.join(f'[{n}]' for _, n in parts)};")
    out.pragma(f"array_partition variable={array} type=complete dim=0")
    with unrolled(out, [*names.lanes(output), *parts], pairs=names.lane(pair)):
        part = "".join(f"[{name}]" for name, _ in parts)
        sums = [f"{array}[{names.element(output, n)}]{part}" for n in (pair, None)]
        out.statement("split2", [f"reduce_tree<Add>({pairs}[{names.element(output)}]{part})", *sums], ";")


@contextmanager
def _pairs(
    out: CppWriter, op: LinalgOp, nest: Nest, names: NestNames, kind: str, array: str, each: int = 0
) -> Generator[tuple[int, Callable[[Sequence[str]], list[str]], str]]:
    """A loop in space over pairs of products, which go into `array` of elements of a `kind`. Gives the loop that a pair
    lies along, the factors of the running one, of tokens in registers (its own, second first, and the shared one), and
    the subscript of its reduction lane: of its part and the lane in it, where parts have `each` lanes.
    """
    pair, output = pair_dim(op, nest), op.outputs[0].dims
    assert pair is not None
    reduced = [d for d, it in enumerate(op.iterators) if it == "reduction"]
    outputs, lanes = (prod(nest.unroll[d] for d in dims) for dims in (output, reduced))
    apart = 0 < each < lanes
    extents = (outputs, lanes // each, each) if apart else (outputs, lanes)
    out.line(f"{kind} {array}{''.join(f'[{n}]' for n in extents if n > 1)};")
    out.pragma(f"array_partition variable={array} type=complete dim=0")

    def factors(registers: Sequence[str]) -> list[str]:
        single, shared = sorted(zip(op.inputs, registers, strict=True), key=lambda o: pair not in o[0].dims)
        own = [subscript(single[1], names.element(single[0].dims, n)) for n in (pair, None)]
        return [*own, subscript(shared[1], names.element(shared[0].dims))]

    with unrolled(out, names.lanes([*output, *reduced]), pairs=names.lane(pair)):
        lane = names.element(reduced)
        yield pair, factors, f"[({lane}) / {each}][({lane}) % {each}]" if apart else subscript("", lane)
