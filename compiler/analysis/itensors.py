"""What the operations of a tiled network stream, as their nests walk."""

from collections.abc import Mapping

from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import OWN_EXTENT, LinalgGraph
from compiler.graph.nest import Nest


def read_itensors(graph: LinalgGraph, nests: Mapping[str, Nest]) -> dict[tuple[str, int], ITensor | None]:
    """What input i of each operation streams as; None for a scalar that is passed by value."""
    streams: dict[tuple[str, int], ITensor | None] = {}
    for op in graph.ops:
        for i, operand in enumerate(op.inputs):
            value = graph.value[operand.value]
            if value.role == "scalar":
                streams[op.name, i] = None
            elif op.kind in OWN_EXTENT:
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
