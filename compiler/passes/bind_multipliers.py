"""bind-multipliers: choose what products are made of (level 3 of the design space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.operators import sums_float_products
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgOp
from compiler.passes.base import Pass


def _multiplies_integers(op: LinalgOp) -> bool:
    return op.body is not None and any(scalar.name == "arith.muli" for scalar in op.body.ops)


class BindMultipliers(Pass):
    """Mark every operation with integer products: LUTs (`fabric`) or DSP blocks (`dsp`, `dsp_packed`). With DSP blocks
    also what sums float products: it leaves the DSPs of its adders to the products.
    """

    name = "bind-multipliers"
    options = ("multiplier",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        wanted = self.knobs.multiplier
        bound = {
            op.name: wanted
            for op in design.graph.ops
            if _multiplies_integers(op) or (wanted != "fabric" and sums_float_products(op))
        }
        return replace(design, multipliers=bound)
