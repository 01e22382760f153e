"""tile-tasks: decide every operation's loop nest (level 1 of the design space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.tiling import plan_nests
from compiler.graph.design import Design
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
        "overrides",
    )

    @override
    def run(self, design: Design) -> Design:
        return replace(design, nests=plan_nests(design.graph, self.knobs, design.platform))
