"""tile-tasks: decide every operation's loop nest (level 1 of the design space)."""

from dataclasses import replace
from functools import lru_cache

from typing_extensions import override

from compiler.analysis.tiling import plan_nests
from compiler.graph.design import Design
from compiler.graph.nest import Nest
from compiler.graph.same import Same
from compiler.passes.base import Pass


class TileTasks(Pass):
    """Set the nest of every operation by `compiler.analysis.tiling`. Assumes a network as it is padded."""

    name = "tile-tasks"
    options = (
        "default_tile_size",
        "overall_unroll",
        "unrolling",
        "order",
        "hbm_channels",
        "stream_width",
        "engines",
        "rows",
        "multiplier",
        "weights",
    )
    overrides = ("tile", "unroll", "order")

    @override
    def run(self, design: Design) -> Design:
        nests = plan_nests(design.graph, self.knobs, design.platform)
        return _tiled(Same(design), tuple(nests.items()))


@lru_cache(maxsize=1024)
def _tiled(same: Same[Design], nests: tuple[tuple[str, Nest], ...]) -> Design:
    """One design for all knobs that give these nests: what follows from it is known."""
    return replace(same.value, nests=dict(nests))
