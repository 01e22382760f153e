"""fold-layers: layers that are alike become one, which a launch runs once for each (level 3 of the design space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.errors import UnsupportedError
from compiler.graph.design import Design
from compiler.graph.layers import folded
from compiler.passes.base import Pass


class FoldLayers(Pass):
    """Keep the operations of the first layer, with the tensors of all, where `layers` is `folded`; a network of one
    layer stays as it is.

    Assumes that nothing is tiled yet.
    """

    name = "fold-layers"
    options = ("layers",)

    @override
    def run(self, design: Design) -> Design:
        self.expect(not design.nests, "operations that are not tiled yet; run it before tile-tasks")
        if self.knobs.layers == "apart" or design.graph.layers is not None:
            return design
        graph = folded(design.graph)
        if graph is None:
            raise UnsupportedError(
                f"{design.graph.name} has no two layers that do the same, one on the results of the other; "
                "leave its layers apart"
            )
        return replace(design, graph=graph.in_order)
