"""What one run leaves in HBM for the next: which outputs are inputs again, and whether their memory layouts are one.

A block runs once a layer: `hidden_out` of a layer is `hidden` of the next, and a decode step's new row of K and V joins
the cache. The compiler loads such an input in the order in which the output is stored, so that nobody re-packs it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod

from compiler.graph.boundary import Carry
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, Output, Value
from compiler.graph.task_graph import ConcatTask, Dma, LoadTask, StoreTask, Task


def next_input(output: str) -> str:
    """The tensor that an output is in the next run: `hidden_out` is `hidden`, `h0.k` joins the cache `h0.k_past`."""
    return output.removesuffix("_out") if output.endswith("_out") else f"{output}_past"


def carried(outputs: Sequence[Output], values: Iterable[Value]) -> tuple[tuple[Output, Value], ...]:
    """Outputs that are inputs of the next run, with those."""
    inputs = {source: v for v in values if v.role in {"input", "state"} for source in v.tensors}
    pairs = ((out, inputs.get(next_input(out.name))) for out in outputs)
    return tuple((out, value) for out, value in pairs if value is not None)


def stored_inputs(graph: LinalgGraph, writes: Mapping[str, ITensor]) -> dict[str, ITensor]:
    """How inputs lie in HBM that the last run wrote whole, in their own dimensions; `writes` is how values are made."""
    return {
        value.name: writes[out.value]
        for out, value in carried(graph.outputs, graph.values)
        if out.value in writes and same_places(out, graph.value[out.value], value)
    }


def same_places(out: Output, made: Value, value: Value) -> bool:
    """Whether the output is the input, element for element, dimension for dimension."""
    return (
        value.role == "input"
        and out.permutation == tuple(range(len(made.shape)))
        and (made.shape, made.valid, made.dtype) == (value.shape, value.valid, value.dtype)
    )


@lru_cache(maxsize=4096)
def by_element(dma: Dma) -> ITensor | None:
    """The order of single elements in the memory image; None where words hold gaps between tokens."""
    layout = dma.layout
    word = dma.word_bits
    dense = dma.tokens_per_word * layout.width == word or dma.words_per_token * word == layout.width
    if not dense and dma.words > 1:
        return None
    inside = tuple(Loop(extent, 1, d) for d, extent in enumerate(layout.element) if extent > 1)
    return ITensor((1,) * len(layout.element), layout.dtype, (*layout.loops, *inside))


def same_image(stored: Dma, loaded: Dma) -> bool:
    """Whether the bytes that one transfer writes are those that the other reads."""
    if stored.channels != loaded.channels:
        return False
    orders = by_element(stored), by_element(loaded)
    if orders[0] is not None and orders[1] is not None:
        return orders[0].same_stream(orders[1])
    packing = stored.tokens_per_word, stored.words_per_token, stored.layout.key
    return packing == (loaded.tokens_per_word, loaded.words_per_token, loaded.layout.key)


def appends(row: Dma, cache: Dma, axis: int) -> bool:
    """Whether the bytes of a new row are those of one step of the cache along `axis`: the outermost, in whole words."""
    rows, held = by_element(row), by_element(cache)
    if rows is None or held is None or row.channels != cache.channels or len(held.element) != len(rows.element) + 1:
        return False
    first = next(iter(held.canonical), None)
    if held.shape[axis] > 1 and first != Loop(held.shape[axis], 1, axis):
        return False
    dims = [d for d in range(len(held.element)) if d != axis]
    rest = tuple(Loop(k.trip, k.step, dims.index(k.dim)) for k in held.canonical if k.dim in dims)
    row_bits = DTYPE_BITS[rows.dtype] * prod(rows.shape)
    return rows.canonical == rest and row_bits % row.word_bits == 0


def carries_of(outputs: Sequence[Output], values: Iterable[Value], tasks: Iterable[Task]) -> tuple[Carry, ...]:
    """Every output that is an input again, and whether it has to be laid out anew in between."""
    stores: dict[str, Dma] = {}
    loads: dict[str, list[Dma]] = {}
    axes: dict[str, int] = {}
    for task in tasks:
        match task:
            case ConcatTask(op=op) if op.axis is not None:
                axes |= {o.value: o.dims.index(op.axis) for o in op.inputs if op.axis in o.dims}
            case LoadTask(dma=dma):
                loads.setdefault(dma.value, []).append(dma)
            case StoreTask(dma=dma):
                stores[dma.value] = dma
            case _:
                pass
    return tuple(
        Carry(
            out.name,
            next_input(out.name),
            relayout=not all(
                _fits(out, value, stores[out.value], load, axes.get(value.name)) for load in loads[value.name]
            ),
        )
        for out, value in carried(outputs, values)
        if out.value in stores and value.name in loads
    )


def _fits(out: Output, value: Value, stored: Dma, loaded: Dma, axis: int | None) -> bool:
    if value.role == "state":
        return axis is not None and appends(stored, loaded, axis)
    in_order = out.permutation == tuple(range(len(out.permutation)))
    return in_order and stored.layout.shape == loaded.layout.shape and same_image(stored, loaded)
