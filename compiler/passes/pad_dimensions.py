"""pad-dimensions: lengthen the dimensions that no tile divides, so that they can be tiled."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.padding import pad
from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.passes.base import Pass


class PadDimensions(Pass):
    """Pad by `compiler.analysis.padding`: longer tensors and loops, `valid` on every operation that has one.

    Assumes that nothing is tiled yet.
    """

    name = "pad-dimensions"
    options = ("default_tile_size", "max_padding")

    @override
    def run(self, design: Design) -> Design:
        if design.nests:
            raise VerificationError(
                f"{next(iter(design.nests))} is tiled already; run pad-dimensions before tile-tasks"
            )
        return replace(design, graph=pad(design.graph, self.knobs))
