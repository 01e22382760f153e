"""tile-tasks: decide every operation's loop nest (level 1 of the design space)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from typing_extensions import override

from compiler.analysis.tiling import check_overrides, plan_nests
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest
from compiler.graph.same import Same
from compiler.options import Knobs
from compiler.passes.base import Pass
from compiler.platforms.platform import Platform


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
        "overrides",
    )

    @override
    def run(self, design: Design) -> Design:
        check_overrides(design.graph, self.knobs)
        walks = tuple(
            replace(override, weights=None, kernel=None) for override in self.knobs.overrides if override.walks
        )
        read: dict[str, Any] = {name: getattr(self.knobs, name) for name in self.options}
        knobs = replace(Knobs(**read), overrides=walks)
        return replace(design, nests=_nests(Same(design.graph), knobs, design.platform))


@lru_cache(maxsize=1024)  # many moves of a search change no nest
def _nests(same: Same[LinalgGraph], knobs: Knobs, platform: Platform) -> Mapping[str, Nest]:
    return plan_nests(same.value, knobs, platform)
