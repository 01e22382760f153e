"""Loops and dimensions that are walked together: what is done to the extent of one is done to that of all."""

from dataclasses import dataclass, field
from functools import lru_cache

from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.same import Same

Place = tuple[str, str, int]  # ("loop", operation, loop) or ("dim", value, dimension)


@dataclass
class Classes:
    """Loops and dimensions that are walked together, by union-find."""

    parent: dict[Place, Place] = field(default_factory=dict[Place, Place])

    def find(self, place: Place) -> Place:
        root = place
        while (above := self.parent.get(root, root)) != root:
            root = above
        self.parent[place] = root
        return root

    def unite(self, a: Place, b: Place) -> None:
        self.parent[self.find(b)] = self.find(a)


def walked_together(graph: LinalgGraph) -> Classes:
    """The classes of all loops and dimensions of the graph, for all who ask: to be read. O(operations x loops), once
    for a graph.
    """
    return _walked_together(Same(graph))


@lru_cache(maxsize=256)
def _walked_together(same: Same[LinalgGraph]) -> Classes:
    graph, classes = same.value, Classes()
    for made, read in graph.carried:
        for i in range(len(graph.value[made].shape)):
            classes.unite(("dim", made, i), ("dim", read, i))
    for op in graph.ops:
        for operand in (*op.inputs, *op.outputs):
            for i, dim in enumerate(operand.dims):
                if not op.own_extent(operand, dim):
                    classes.unite(("loop", op.name, dim), ("dim", operand.value, i))
    return classes
