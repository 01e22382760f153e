"""How soon a converter reads back what it wrote: the distance that lets the tool pipeline the buffer's accesses."""

import numpy as np

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
    latest = tensor_to_tokens(written, target).max(axis=1)
    # Draining starts when the next round does; a buffer of one half drains behind its fill.
    start = task.timing.trips[-1] if converter.halves > 1 else converter.fill
    return int((start + np.arange(converter.drain) - latest).min())
