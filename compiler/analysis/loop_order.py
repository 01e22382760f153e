"""Order of every operation's loops outside the tile: level 1 of the design space.

An operation walks its tensors in the order in which they arrive: what its predecessors walk outermost, it walks
outermost too, so that a converter between them buffers a tile and not a tensor. Reductions of contractions go inside
or outside of that by `Knobs.order`; over rows that stay in memory they go outside in any case, or a launch could not
stop behind the rows that are there, and inside of the vocabulary, or it could not leave out the choice of a token
(`compiler.analysis.following`). A `TaskOverride` gives the order of its operation's loop groups; what follows inherits
it.

Where reductions go inside, a product whose data another one makes meanwhile walks its rows outside, then what it sums
over, then the rest: it begins with the first of them, and holds the sums of a row instead of all that is summed. Its
results come at the end of a row, so that the next product does not.

Where reductions go outside and engines are shared, the parts of a product that its reader adds up go outside of them,
one at a time, and are added up in that order: each result then waits for a later part only, so one adder keeps up with
the products of all. Adders of their own wait for no others' turns: there the tile keeps as many parts as it holds.

Where products that come one after the other, as those of heads, read the parts that a chunk tells apart, all parts are
made by turns: queries, keys and values of one head, then of the next, so that who reads them begins with the first.
"""

from collections.abc import Container, Iterator, Mapping, Set
from functools import lru_cache

from compiler.analysis.choice import choice_loops
from compiler.analysis.followed_products import followed_with
from compiler.analysis.inner_order import told_apart
from compiler.analysis.rows import row_loops
from compiler.analysis.walked_together import walked_together
from compiler.errors import InvalidInputError
from compiler.graph.engine import adds_parts
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.same import Same
from compiler.options import Knobs, LoopOrder

Order = tuple[int, ...]


def loop_orders(graph: LinalgGraph, knobs: Knobs) -> Mapping[str, Order]:
    """Loops of each operation outside its tile, outermost first. O(operations x loops), once for orders of a graph.

    Raises InvalidInputError where an override is no permutation of its operation's groups.
    """
    groups = {override.op: override.order for override in reversed(knobs.overrides)}
    given = tuple((op, order) for op, order in groups.items() if order is not None)
    return _loop_orders(Same(graph), knobs.order, parts_outside(knobs), given)


@lru_cache(maxsize=1024)
def _loop_orders(
    same: Same[LinalgGraph], preferred: LoopOrder, with_parts: bool, overrides: tuple[tuple[str, Order], ...]
) -> Mapping[str, Order]:
    graph, groups = same.value, dict(overrides)
    rows = row_loops(graph)
    orders: dict[str, Order] = {}
    arrival: dict[str, Order] = {}  # dimensions of a value in the order in which they are walked
    parts = _parts(same)
    for op in graph.ops:
        inherited = _inherited(graph, op, arrival, parts)
        wanted, outside = preferred, added_up(graph, op) if with_parts else ()
        if op.name in rows and op.iterators[rows[op.name]] == "reduction":
            wanted = "reduction-outer"
        elif op.name in choice_loops(graph):
            wanted = "reduction-inner"
        elif wanted == "reduction-inner" and (data := _made_meanwhile(graph, op, orders)) is not None:
            wanted = "reduction-outer"
            outside = tuple(d for d in inherited if d in data.dims and op.iterators[d] == "parallel")
        order = _chosen(op, inherited, groups.get(op.name), wanted, outside)
        orders[op.name] = order
        for out in op.outputs:
            arrival[out.value] = tuple(out.dims.index(d) for d in order if d in out.dims)
    return orders


@lru_cache(maxsize=256)
def _parts(same: Same[LinalgGraph]) -> Set[tuple[str, int]]:
    """Operations and their loops over parts that are made by turns."""
    graph = same.value
    classes, apart = walked_together(graph), told_apart(graph)
    chunked = {
        classes.find(("dim", read.value, read.dims.index(op.axis)))
        for op in graph.ops
        for read in op.inputs
        if op.kind == "chunk" and op.axis is not None and any(r.name in apart for r in _readers(graph, op))
    }
    loops = ((op.name, d) for op in graph.ops for d in range(len(op.loops)))
    return {(name, d) for name, d in loops if classes.find(("loop", name, d)) in chunked}


def _made_meanwhile(graph: LinalgGraph, op: LinalgOp, orders: Mapping[str, Order]) -> Operand | None:
    """What a product with parameters reads of another one, where that gives one result after the other, and not all
    at its end. None of what is read in windows, which hold lines back, or makes parts that are added up: those are
    walked as they come anyway.
    """
    has_parameters = any(graph.value[operand.value].role == "param" for operand in op.inputs)
    if not op.is_contraction or not has_parameters or added_up(graph, op):
        return None
    for data in op.inputs:
        source = graph.producer[data.value][0] if data.value in graph.producer else None
        following = None if source is None or source.kind == "window" else followed_with(graph, source)
        if following is not None and not following.adders and not following.behind:
            product = graph.op[following.product]
            return data if product.iterators[orders[product.name][-1]] == "reduction" else None
    return None


def _readers(graph: LinalgGraph, op: LinalgOp) -> Iterator[LinalgOp]:
    return (reader for out in op.outputs for reader, _ in graph.consumers[out.value])


def _inherited(
    graph: LinalgGraph, op: LinalgOp, arrival: Mapping[str, Order], parts: Container[tuple[str, int]]
) -> Order:
    """The loops as the widest input arrives, then the others, those over parts last."""
    widest = graph.widest_input(op, arrival)
    arriving = () if widest is None else tuple(widest.dims[i] for i in arrival[widest.value])
    others = sorted(range(len(op.loops)), key=lambda d: (op.name, d) in parts)
    return tuple(dict.fromkeys((*arriving, *others)))


def parts_outside(knobs: Knobs) -> bool:
    """Whether parts that are added up are walked outside of tiles."""
    return knobs.order == "reduction-outer" and knobs.engines == "shared"


def added_up(graph: LinalgGraph, op: LinalgOp) -> Order:
    """Loops of a product over parts of results, which its reader adds up, and of that reader; none of what chooses."""
    made, found = op.outputs[0], list[int]()
    if op.name in choice_loops(graph):
        return ()
    if adds_parts(op) and any(source.is_contraction for source in graph.sources(op)):
        return tuple(d for d, kind in enumerate(op.iterators) if kind == "reduction")
    for reader, number in graph.consumers[made.value]:
        if op.is_contraction and adds_parts(reader):
            dims = zip(made.dims, reader.inputs[number].dims, strict=True)
            found += (own for own, read in dims if reader.iterators[read] == "reduction")
    return tuple(found)


def _chosen(op: LinalgOp, inherited: Order, groups: Order | None, preferred: LoopOrder, outside: Order) -> Order:
    """The override's groups, each with its loops as they arrive; else all as they arrive, the reductions of a
    contraction where the knobs want them.
    """
    if groups is not None:
        if sorted(groups) != sorted(set(op.groups)):
            raise InvalidInputError(
                f"order {list(groups)} of {op.name} is not a permutation of its loop groups "
                f"{list(dict.fromkeys(op.groups))}"
            )
        return tuple(d for g in groups for d in inherited if op.groups[d] == g)
    if op.kind == "window":  # lines outside of what they consist of, whatever arrives
        return tuple(range(len(op.loops)))
    if not op.is_contraction:
        return inherited
    reductions = tuple(d for d in inherited if op.iterators[d] == "reduction")
    parallels = tuple(d for d in inherited if op.iterators[d] == "parallel")
    if preferred == "reduction-inner":
        return parallels + reductions
    return tuple(dict.fromkeys((*outside, *reductions, *parallels)))
