"""The choice of the next token: what a launch does that wants one, and may leave out where none is wanted.

Behind layers an arg-max makes one token of a key for each of the vocabulary. All that is walked with these keys, the
products and what they read, serves that choice alone.
"""

from collections.abc import Mapping
from functools import lru_cache

from compiler.analysis.walked_together import walked_together
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.same import Same


def choice_loops(graph: LinalgGraph) -> Mapping[str, int]:
    """The loop over the vocabulary of each operation that has one; none where there is no such choice, or where layers
    walk the vocabulary too, or a result has it.
    """
    return _choice_loops(Same(graph))


@lru_cache(maxsize=256)
def _choice_loops(same: Same[LinalgGraph]) -> Mapping[str, int]:
    graph, classes = same.value, walked_together(same.value)
    largest = [op for op in graph.ops if op.name in graph.outside and _is_of_keys(graph, op)]
    if len(largest) != 1 or largest[0].iterators.count("reduction") != 1:
        return {}
    root = classes.find(("loop", largest[0].name, largest[0].iterators.index("reduction")))
    loops = {op.name: d for op in graph.ops for d in range(len(op.loops)) if classes.find(("loop", op.name, d)) == root}
    made = [(out.value, d) for out in graph.outputs for d in range(len(graph.value[out.value].shape))]
    seen = any(classes.find(("dim", *place)) == root for place in made)
    return {} if seen or not loops.keys() <= set(graph.outside) else loops


def _is_of_keys(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether it makes the largest key of an arg-max (`compiler.frontend.lowering.argmax`)."""
    combined = op.reduction is not None and op.reduction.combiner == "max"
    return combined and graph.value[op.outputs[0].value].dtype == "i64"
