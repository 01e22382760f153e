"""FIFO depths by a rule that is safe, not small: `safe` (sizes that are certified and tight need the simulator).

A deadlock is a cycle of tasks, each waiting for the next on a full or an empty FIFO. Seen without direction it is a
cycle of streams, and in an acyclic graph every such cycle holds a task that both its streams enter. If streams that
enter a task and lie on a common cycle hold all their tokens, they are never full, so no cycle of waits closes. Those
streams get their whole token count; all others need only decouple two pipelines.

This holds for pipelines that finish what they hold when their input runs dry (`style=flp`, which the emitted C++ asks
for); a stalling pipeline keeps results back and needs the simulator's check.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from compiler.graph.task_graph import Stream
from compiler.options import FifoStrategy

MIN_DEPTH = 2
PREFETCH_BITS = 8 << 20  # on-chip bits that `safe-prefetch` spends on all weight prefetch together
MAX_PREFETCH_TOKENS = 2048


def biconnected_components(edges: Sequence[tuple[str, str]]) -> list[int]:
    """Component number of each edge of the undirected multigraph (Hopcroft and Tarjan), iterative. O(edges)."""
    neighbours: dict[str, list[tuple[str, int]]] = {}
    for k, (a, b) in enumerate(edges):
        neighbours.setdefault(a, []).append((b, k))
        neighbours.setdefault(b, []).append((a, k))
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
    return component


def reconvergent_streams(streams: Sequence[Stream]) -> set[str]:
    """Streams that enter a task together with another stream of the same undirected cycle."""
    component = biconnected_components([(s.source, s.target) for s in streams])
    entering: dict[tuple[str, int], list[str]] = {}
    for stream, number in zip(streams, component, strict=True):
        entering.setdefault((stream.target, number), []).append(stream.name)
    return {name for names in entering.values() if len(names) > 1 for name in names}


def size_fifos(loads: Collection[str], streams: Sequence[Stream], strategy: FifoStrategy) -> tuple[Stream, ...]:
    """Streams with their depths; `loads` names the tasks that read HBM. `safe-prefetch` also deepens weight streams,
    with equal shares of `PREFETCH_BITS`, so that weights load while their task still waits for its activations.
    """
    whole = reconvergent_streams(streams)
    weights = [s for s in streams if s.source in loads and s.name not in whole]
    share = PREFETCH_BITS // max(1, len(weights))
    prefetched = {s.name for s in weights} if strategy == "safe-prefetch" else set[str]()

    def depth(stream: Stream) -> int:
        if stream.name in whole:
            return max(MIN_DEPTH, stream.tokens)
        if stream.name in prefetched:
            return max(MIN_DEPTH, min(stream.tokens, share // stream.width, MAX_PREFETCH_TOKENS))
        return MIN_DEPTH

    return tuple(replace(s, depth=depth(s)) for s in streams)
