"""Vectorise: tokens as wide as the tasks around them can use (paper, "Iterative tensor vectorization").

The tiling heuristic unrolls whatever is slowest, on its own. This step comes after it and looks at neighbours:

- A concat that appends to a cache passes rows of it in wide tokens (`compiler.analysis.caches`).
- What reads a cache whose rows pass in several tokens walks all rows of one part before those of the next
  (`compiler.analysis.row_parts`).
- Chains of row-wise tasks, of which each waits for a reduction of the one before, get more lanes
  (`compiler.analysis.widen_rows`).
"""

from collections.abc import Mapping

from compiler.analysis.caches import append_nest, appends_to_cache
from compiler.analysis.growth import Part
from compiler.analysis.row_parts import parts_in_turn
from compiler.analysis.widen_rows import widen_rows
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest
from compiler.options import Knobs
from compiler.platforms.platform import Platform


def vectorise(
    graph: LinalgGraph, nests: Mapping[str, Nest], parts: Mapping[str, Part], knobs: Knobs, platform: Platform
) -> dict[str, Nest]:
    """The nests, widened; `parts` are the operations that compute. O(operations)."""
    append = {op.name: append_nest(graph, op, knobs.stream_width) for op in graph.ops if appends_to_cache(graph, op)}
    wider = widen_rows(graph, {**nests, **append}, parts, knobs, platform)
    return parts_in_turn(graph, wider, knobs.stream_width, platform)
