"""Small parameters of a layer that come from memory as one: each of them would take a port, and few words pass it.

What has one shape and type, and is read once by something that no engine serves, is one parameter with a dimension
more; a `chunk` gives each of its readers what is theirs, in the order in which operations use them. It holds a tensor
of every part in each layer (`Value.sources`, layer by layer). What engines read, weights and scales of parts of
products, comes by loads of their own, or by one for all turns (`compiler.analysis.joint_loads`).
"""

from collections.abc import Sequence
from dataclasses import replace

from compiler.graph.engine import service_of
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Value


def joined(graph: LinalgGraph) -> LinalgGraph:
    """The network, folded, with its layers' small parameters joined. O(operations)."""
    groups: dict[tuple[tuple[int, ...], str], list[Value]] = {}
    for value in sorted(_small(graph), key=lambda value: _first_use(graph, value)):
        groups.setdefault((value.shape, value.dtype), []).append(value)
    number = 0
    for parts in groups.values():
        if len(parts) > 1:
            graph = _with_one(graph, parts, number)
            number += 1
    return graph


def _small(graph: LinalgGraph) -> list[Value]:
    def alone(value: Value) -> bool:
        readers = graph.consumers[value.name]
        return len(readers) == 1 and readers[0][0].kind == "generic" and service_of(readers[0][0]) is None

    given = [value for value in graph.values if value.role == "param" and value.sources and value.row is None]
    return [value for value in given if alone(value)]


def _first_use(graph: LinalgGraph, value: Value) -> int:
    return graph.ops.index(graph.consumers[value.name][0][0])


def _with_one(graph: LinalgGraph, parts: Sequence[Value], number: int) -> LinalgGraph:
    first = graph.consumers[parts[0].name][0][0]
    name, shape = f"{first.name.partition('.')[0]}.small{number}", (len(parts), *parts[0].shape)
    sources = tuple(source for layer in zip(*(part.sources for part in parts), strict=True) for source in layer)
    whole = Value(name, shape, parts[0].dtype, "param", sources=sources)
    inner = tuple(range(1, len(shape)))
    chunk = LinalgOp(
        f"{name}.chunk", "chunk", shape, ("parallel",) * len(shape), tuple(range(len(shape))),
        (Operand(name, (0, *inner)),), tuple(Operand(part.name, inner) for part in parts), axis=0,
    )  # fmt: skip
    made = {part.name: replace(part, role="intermediate", sources=()) for part in parts}
    values = (whole, *(made.get(value.name, value) for value in graph.values))
    place = graph.ops.index(first)
    return replace(graph, values=values, ops=(*graph.ops[:place], chunk, *graph.ops[place:]))
