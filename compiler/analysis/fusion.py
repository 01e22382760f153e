"""Level 2 of the design space: which operations share a kernel. The paper's greedy plan, and one that moves least."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.fusion_traffic import least_traffic
from compiler.options import FusionPlan


def greedy_fusion(costs: FusionCosts, budget: int, begins: AbstractSet[str] = frozenset()) -> dict[str, int]:
    """The paper's rule: in topological order, join the latest kernel among the predecessors' where the converters of
    the operation's edges fit under `budget` bytes and it is none that `begins` one, else open a new one. O(edges).
    """
    graph, kernel_of = costs.graph, dict[str, int]()
    spent: list[int] = []
    for op in graph.ops:
        edges = [(graph.producer[v][0].name, i) for v, i in costs.streamed_inputs(op) if v in graph.producer]
        if not edges and spent and op.name not in begins:
            kernel_of[op.name] = len(spent) - 1
            continue
        kernel = max((kernel_of[source] for source, _ in edges), default=-1)
        cost = sum(costs.converter_bytes[op.name, i] for source, i in edges if kernel_of[source] == kernel)
        if kernel < 0 or op.name in begins or spent[kernel] + cost > budget:
            kernel = len(spent)
            spent.append(0)
            cost = 0
        spent[kernel] += cost
        kernel_of[op.name] = kernel
    return kernel_of


def _traffic_fusion(costs: FusionCosts, budget: int, on_chip: int, begins: AbstractSet[str]) -> dict[str, int]:
    """Everything in one kernel where that fits: nothing moves less. Else the best of all cuts."""
    together = dict.fromkeys((op.name for op in costs.graph.ops), 0)
    fits = not begins and (costs.most_bytes <= on_chip or costs.on_chip_bytes(together) <= on_chip)
    if fits and sum(costs.converter_bytes.values()) <= budget:
        return together
    return least_traffic(costs, budget, on_chip, greedy_fusion(costs, budget, begins), begins)


PLANS: dict[FusionPlan, Callable[[FusionCosts, int, int, AbstractSet[str]], dict[str, int]]] = {
    "greedy": lambda costs, budget, _on_chip, begins: greedy_fusion(costs, budget, begins),
    "traffic": _traffic_fusion,
}


def plan_fusion(
    costs: FusionCosts, plan: FusionPlan, budget: int, on_chip: int, begins: AbstractSet[str] = frozenset()
) -> dict[str, int]:
    """Kernel of each operation, kernels in the order in which they run: an operation never reads from a later one.

    The converters of one kernel take at most `budget` bytes. `traffic` moves the fewest bytes through HBM, and keeps
    what all kernels hold together below `on_chip` bytes where any plan does; `greedy` is the paper's. An operation that
    `begins` a kernel has none of its kernel before it.
    """
    return PLANS[plan](costs, budget, on_chip, begins)
