"""Rows of a prompt that a launch takes at once.

Between two layers of a token most tasks wait for what others make of it. A prompt's tokens are known, so those of a
chunk follow each other within a layer, and each task is busy with another of them. Weights are read again for each.
"""

from compiler.analysis.rows import given_rows
from compiler.graph.design import Design, Transfer
from compiler.graph.layers import is_long
from compiler.graph.task_graph import TaskGraph

PROMPT_ROWS = 8
"""Of a chunk: more than there are matrix products in a layer, so that the slowest of them never waits for the others;
what a layer makes of so many rows is kept until the next one takes it.
"""


def prompt_rows(folded: Design) -> int:
    """Tokens of a prompt in a chunk; 1 where they go through one by one: no prompt is given, or kernels run in turn,
    or a load brings several tensors, or does not bring each layer by itself.
    """
    graph = folded.graph
    given = given_rows(graph) & {load.value for load in folded.loads.values() if not load.resident}
    shared = any(engine.joint for engine in folded.engines.values()) or any(t.through for t in folded.loads.values())
    if not given or folded.kernels != 1 or shared:
        return 1
    if graph.layers is None:
        return PROMPT_ROWS
    moved = (t for t in (*folded.loads.values(), *folded.stores.values()) if not t.resident)
    return PROMPT_ROWS if all(_ends_with_word(folded, t) for t in moved if in_layers(folded, t)) else 1


def in_layers(folded: Design, transfer: Transfer) -> bool:
    """Whether each layer moves the value, or its own."""
    layers = folded.graph.layers
    outside = folded.graph.once if layers is None else folded.graph.once | layers.read | layers.made
    return layers is not None and transfer.value not in outside


def _ends_with_word(folded: Design, transfer: Transfer) -> bool:
    """Whether a layer begins with a word of its own."""
    tokens, packing = transfer.itensor.without_rereads().tokens, transfer.packing
    long = is_long(folded.graph, folded.graph.value[transfer.value])
    return packing is not None and (not long or tokens % packing.tokens_per_word == 0)


def chunk_depths(tasks: TaskGraph) -> dict[str, int]:
    """The least depth of streams that lead from a layer to the next, by name: the rows of a chunk that the next one has
    not taken while the first layer still takes others.
    """
    if tasks.control is None:
        return {}
    back = [tasks.stream[name] for name in tasks.control.looped]
    return {s.name: tasks.control.rows * s.itensor.tokens // s.itensor.loops[0].trip for s in back}
