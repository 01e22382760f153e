"""The fusion plan that moves the fewest bytes through HBM: an exact dynamic program over cuts of an order.

Kernels lie on the board side by side and run one after the other. Operators therefore cost the same whatever the cuts;
what cuts change is traffic (each value that crosses is stored once and loaded by each kernel that reads it) and the
memory of converters and FIFOs. In a topological order every plan of contiguous kernels is a path over cut positions
whose cost is the sum over kernels, so the best path is found exactly in O(operations^2) steps. Orders tried: the
program's, one that keeps little alive between neighbours, and the greedy plan's own, in which that plan is such a path
too: the result never moves more than it.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from compiler.analysis.fusion_costs import FusionCosts, Plan
from compiler.graph.linalg_graph import LinalgOp

# Bytes of traffic that one byte on chip is worth, tried in turn while the kernels together do not fit the board.
MEMORY_PRICES = (0.0, 0.25, 1.0, 4.0, 16.0, 64.0)


class _Kernel(NamedTuple):
    """Operations `first` to `last` of an order as one kernel: bytes through HBM, bytes of converters."""

    first: int
    last: int
    moved: int
    held: int


def _kernels_from(
    costs: FusionCosts,
    order: Sequence[LinalgOp],
    last_use: Mapping[str, int],
    first: int,
    budget: int,
    begins: AbstractSet[str],
) -> Iterator[_Kernel]:
    """Kernels that start at `first` and fit `budget`, shortest first; one operation alone always fits."""
    inputs, converter_bytes, results = costs.inputs, costs.converter_bytes, costs.results
    alone, once = costs.alone, costs.once
    made: set[str] = set()
    leaving: set[str] = set()
    loaded: dict[str, int] = {}
    moved = held = 0
    for last in range(first, len(order)):
        op = order[last]
        if last > first and op.name in begins:
            return
        for value, i in inputs[op.name]:
            if value in made:
                held += converter_bytes[op.name, i]
                if value in leaving and last_use[value] == last and value not in results:
                    leaving.discard(value)
                    moved -= once[value]
                continue
            before = loaded.get(value)
            now = loaded[value] = alone[op.name, i] if before is None else once[value]
            moved += now - (before or 0)
        if last > first and held > budget:
            return
        for out in op.outputs:
            made.add(out.value)
            if out.value in results or last_use.get(out.value, -1) > last:
                leaving.add(out.value)
                moved += once[out.value]
        yield _Kernel(first, last, moved, held)


def _last_uses(costs: FusionCosts, order: Sequence[LinalgOp]) -> dict[str, int]:
    """Position of the last operation that streams each value."""
    return {value: position for position, op in enumerate(order) for value, _ in costs.streamed_inputs(op)}


def _all_kernels(
    costs: FusionCosts, order: Sequence[LinalgOp], budget: int, begins: AbstractSet[str]
) -> list[list[_Kernel]]:
    last_use = _last_uses(costs, order)
    return [list(_kernels_from(costs, order, last_use, first, budget, begins)) for first in range(len(order))]


def _best_cuts(kernels: Sequence[Sequence[_Kernel]], price: float) -> list[_Kernel]:
    """The path of least traffic + price x memory, with the fewest kernels among equals; `kernels[i]` start at i."""
    size = len(kernels)
    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * size
    via: list[_Kernel | None] = [None] * (size + 1)
    for first in range(size):
        moved, count = best[first]
        for kernel in kernels[first]:
            candidate = (moved + kernel.moved + price * kernel.held, count + 1)
            if candidate < best[kernel.last + 1]:
                best[kernel.last + 1], via[kernel.last + 1] = candidate, kernel
    path: list[_Kernel] = []
    position = size
    while position:
        kernel = via[position]
        assert kernel is not None
        path.append(kernel)
        position = kernel.first
    return path[::-1]


def _narrow_order(costs: FusionCosts) -> list[LinalgOp]:
    """A topological order in which the bytes alive after every step are few: of what is ready, what frees most. Ties
    keep program order.
    """
    graph = costs.graph
    unmade = {op.name: {v for v, _ in costs.streamed_inputs(op) if v in graph.producer} for op in graph.ops}
    uses = {value.name: len(graph.consumers[value.name]) for value in graph.values}
    waiting, order = list(graph.ops), list[LinalgOp]()

    def growth(op: LinalgOp) -> int:
        made = sum(costs.stored(out.value) for out in op.outputs)
        return made - sum(costs.stored(v) for v in {v for v, _ in costs.streamed_inputs(op)} if uses[v] == 1)

    while waiting:
        ready = [op for op in waiting if not unmade[op.name]]
        chosen = min(ready, key=growth)
        waiting.remove(chosen)
        order.append(chosen)
        for value, _ in costs.streamed_inputs(chosen):
            uses[value] -= 1
        for out in chosen.outputs:
            for reader, _ in graph.consumers[out.value]:
                unmade[reader.name].discard(out.value)
    return order


def _plan(order: Sequence[LinalgOp], path: Sequence[_Kernel]) -> dict[str, int]:
    return {op.name: k for k, kernel in enumerate(path) for op in order[kernel.first : kernel.last + 1]}


def least_traffic(
    costs: FusionCosts, budget: int, on_chip: int, greedy: Plan, begins: AbstractSet[str]
) -> dict[str, int]:
    """The plan with the fewest bytes through HBM among those whose kernels hold `budget` bytes of converters each and
    `on_chip` bytes of converters and FIFOs together; where none holds so little together, the one that holds least.
    Kernels begin with the operations that `begins` names, as the `greedy` plan's do.
    """
    program = list(costs.graph.ops)
    position = {op.name: k for k, op in enumerate(program)}
    orders = [program, sorted(program, key=lambda op: (greedy[op.name], position[op.name])), _narrow_order(costs)]
    distinct = {tuple(op.name for op in order): order for order in orders}
    candidates = [(order, _all_kernels(costs, order, budget, begins)) for order in distinct.values()]
    tightest: dict[str, int] = {}
    for price in MEMORY_PRICES:
        plans = [_plan(order, _best_cuts(kernels, price)) for order, kernels in candidates]
        fitting = [plan for plan in plans if costs.on_chip_bytes(plan) <= on_chip]
        if fitting:
            return min(fitting, key=costs.external_bytes)
        tightest = min(plans + ([tightest] if tightest else []), key=costs.on_chip_bytes)
    return tightest
