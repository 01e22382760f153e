"""The depth of every FIFO of a design: what progress needs, what a chunk of a prompt does, what hides the loading of
weights, and beyond that what its memory holds anyway.
"""

from dataclasses import replace

from compiler.analysis.fifo import BRIDGE_DEPTH, size_fifos
from compiler.analysis.memory_steps import free_depth
from compiler.analysis.placement.prefetch import behind_loads, prefetch_depths
from compiler.analysis.prompt_rows import chunk_depths
from compiler.analysis.widening import passes_through, shares
from compiler.graph.program import behind_layers
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.options import FifoStrategy
from compiler.platforms.platform import Platform

BITS_PER_KIB = 8 << 10


def with_depths(tasks: TaskGraph, strategy: FifoStrategy, prefetch_kib: int, platform: Platform) -> TaskGraph:
    """`tasks` with FIFOs as deep as `strategy` and the prefetch budget say; depths that it has are not looked at."""
    least, working = chunk_depths(tasks), tasks.steady  # what fills memories needs no more than any FIFO has
    sized = size_fifos(working.tasks, working.streams, strategy)
    # Tokens that are shared, or of which some are for what is behind layers, which waits far longer for what it reads
    # beside them, wait in front of a reader for no more than what is loaded ahead, which comes below.
    loaded = {
        s.name
        for s, _ in behind_loads(working)
        if shares(tasks.task[s.source]) or behind_layers(tasks.task[s.target].program)
    }
    sized = (s._replace(depth=min(s.depth, BRIDGE_DEPTH)) if s.name in loaded else s for s in sized)
    depths = {s.name: max(s.depth, least.get(s.name, 0)) for s in sized if not passes_through(tasks, s)}
    safe = replace(tasks, streams=tuple([s._replace(depth=depths.get(s.name, s.depth)) for s in tasks.streams]))
    depths |= prefetch_depths(safe.steady, platform, prefetch_kib * BITS_PER_KIB)
    streams = (s._replace(depth=_filled(s, depths.get(s.name, s.depth), platform)) for s in tasks.streams)
    return replace(tasks, streams=tuple(streams))


def _filled(stream: Stream, depth: int, platform: Platform) -> int:
    """As deep as its memory is for nothing, which rows of a prompt and whatever comes unevenly make use of."""
    if stream.initial or stream.tokens <= depth:
        return depth
    return min(stream.tokens, free_depth(stream.width, depth, platform.memories))
