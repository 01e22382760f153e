"""Streams on cycles of the undirected graph: only through those can a cycle of waits close."""

from collections.abc import Sequence
from functools import lru_cache

from compiler.graph.task_graph import Stream


@lru_cache(maxsize=1024)
def biconnected_components(edges: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """Component number of each edge of the undirected multigraph (Hopcroft and Tarjan), iterative. O(edges). An edge
    from a node to itself is in none: -1.
    """
    neighbours = _neighbours(edges)
    component = [-1] * len(edges)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[int] = []
    components = 0
    for root in list(neighbours):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        path = [(root, -1, iter(neighbours[root]))]
        while path:
            node, via, rest = path[-1]
            step = next(rest, None)
            if step is not None:
                other, edge = step
                if edge == via or component[edge] >= 0:
                    continue
                if other not in order:
                    stack.append(edge)
                    order[other] = low[other] = len(order)
                    path.append((other, edge, iter(neighbours[other])))
                elif order[other] < order[node]:
                    stack.append(edge)
                    low[node] = min(low[node], order[other])
                continue
            path.pop()
            if not path:
                continue
            parent = path[-1][0]
            low[parent] = min(low[parent], low[node])
            if low[node] >= order[parent]:
                first = stack.index(via)
                for edge in stack[first:]:
                    component[edge] = components
                del stack[first:]
                components += 1
    return tuple(component)


def _neighbours(edges: Sequence[tuple[str, str]]) -> dict[str, list[tuple[str, int]]]:
    """Other nodes by node, each with the number of the edge."""
    found: dict[str, list[tuple[str, int]]] = {}
    for k, (a, b) in enumerate(edges):
        if a != b:
            found.setdefault(a, []).append((b, k))
            found.setdefault(b, []).append((a, k))
    return found


def bridges(streams: Sequence[Stream]) -> set[str]:
    """Streams on no undirected cycle: no wait ever closes through them."""
    component = biconnected_components(tuple([(s.source, s.target) for s in streams]))
    count: dict[int, int] = {}
    for number in component:
        count[number] = count.get(number, 0) + 1
    return {s.name for s, number in zip(streams, component, strict=True) if number >= 0 and count[number] == 1}


def reconvergent_streams(streams: Sequence[Stream]) -> set[str]:
    """Streams that enter a task together with another stream of the same undirected cycle."""
    component = biconnected_components(tuple([(s.source, s.target) for s in streams]))
    entering: dict[tuple[str, int], list[str]] = {}
    for stream, number in zip(streams, component, strict=True):
        entering.setdefault((stream.target, number), []).append(stream.name)
    return {name for names in entering.values() if len(names) > 1 for name in names}
