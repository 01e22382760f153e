"""Level 2 of the design space: which operations share a kernel (paper "Fusion space", greedy plan)."""

from collections.abc import Mapping

from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest


def read_itensors(graph: LinalgGraph, nests: Mapping[str, Nest]) -> dict[tuple[str, int], ITensor | None]:
    """What input i of each operation streams as; None for a scalar that is passed by value."""
    streams: dict[tuple[str, int], ITensor | None] = {}
    for op in graph.ops:
        for i, operand in enumerate(op.inputs):
            value = graph.value[operand.value]
            if value.role == "scalar":
                streams[op.name, i] = None
            elif op.kind == "concat":
                streams[op.name, i] = nests[op.name].part_itensor(operand.dims, value.shape, op.axis, value.dtype)
            else:
                streams[op.name, i] = nests[op.name].read_itensor(operand.dims, value.dtype)
    return streams


def write_itensors(graph: LinalgGraph, nests: Mapping[str, Nest]) -> dict[str, ITensor]:
    """What each intermediate value streams as when it is made."""
    streams: dict[str, ITensor] = {}
    for op in graph.ops:
        for out in op.outputs:
            streams[out.value] = nests[op.name].write_itensor(out.dims, graph.value[out.value].dtype)
    return streams


def plan_fusion(
    graph: LinalgGraph,
    reads: Mapping[tuple[str, int], ITensor | None],
    writes: Mapping[str, ITensor],
    budget: int,
) -> dict[str, int]:
    """Kernel of each operation, by the paper's greedy rule: in topological order, join the latest kernel among the
    predecessors' where the converters of its edges fit under `budget` bytes, else open a new one. O(edges).
    """
    kernel_of: dict[str, int] = {}
    spent: list[int] = []
    for op in graph.ops:
        edges = [
            (graph.producer[operand.value][0].name, operand.value, i)
            for i, operand in enumerate(op.inputs)
            if operand.value in graph.producer
        ]
        if not edges and spent:
            kernel_of[op.name] = len(spent) - 1
            continue
        kernel = max((kernel_of[source] for source, _, _ in edges), default=-1)
        cost = 0
        for source, value, i in edges:
            target = reads[op.name, i]
            if kernel_of[source] == kernel and target is not None and not writes[value].same_stream(target):
                cost += plan_converter(writes[value], target).bits // 8
        if kernel < 0 or spent[kernel] + cost > budget:
            kernel = len(spent)
            spent.append(0)
            cost = 0
        spent[kernel] += cost
        kernel_of[op.name] = kernel
    return kernel_of
