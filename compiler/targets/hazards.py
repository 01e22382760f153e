"""How soon a converter reads back what it wrote: the distance that lets the tool pipeline the buffer's accesses."""

import numpy as np
from numpy.typing import NDArray

from compiler.graph.converter import shared_prefix
from compiler.graph.itensor import ITensor
from compiler.graph.task_graph import Task
from compiler.targets.images import tensor_to_tokens


def write_to_read_distance(task: Task) -> int:
    """Fewest iterations between the write of a buffered element and its first read. O(elements of the buffered box)."""
    converter = task.converter
    assert converter is not None
    prefix = shared_prefix(converter.source, converter.target)
    source = ITensor(converter.source.element, converter.source.dtype, prefix.source)
    target = ITensor(converter.target.element, converter.target.dtype, prefix.target)
    written = np.zeros(converter.extent, np.int64)
    places = tensor_to_tokens(np.arange(written.size).reshape(converter.extent), source)
    written.reshape(-1)[places] = np.arange(converter.fill)[:, None]
    latest = tensor_to_tokens(written, target.without_rereads()).max(axis=1)
    # Draining starts when the next round does; a buffer of one half drains behind its fill.
    start = task.timing.trips[-1] if converter.halves > 1 else converter.fill
    return int((start + _first_passes(target) - latest).min())


def _first_passes(itensor: ITensor) -> NDArray[np.int64]:
    """Number, re-reads counted, of the token that first passes each element, in order."""
    numbers = np.zeros(1, np.int64)
    inner = itensor.tokens
    for loop in itensor.loops:
        inner //= loop.trip
        if loop.dim is not None:
            numbers = (numbers[:, None] + np.arange(loop.trip) * inner).reshape(-1)
    return numbers
