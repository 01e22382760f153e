"""fuse-kernels: put neighbours on chip together under a budget of converter memory (level 2 of the design space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.connect import connected
from compiler.analysis.fusion import plan_fusion
from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.rows import kept_rows
from compiler.graph.design import Design
from compiler.passes.base import Pass


class FuseKernels(Pass):
    """Merge kernels by a plan of `compiler.analysis.fusion`; converters in one kernel take at most `fusion_budget`
    bytes, and all kernels together at most what the board has on chip where that is possible. One begins where an
    override says so. Operations stand in the order of their kernels from here on.
    """

    name = "fuse-kernels"
    options = ("fusion_budget", "fusion_plan", "converters")
    overrides = ("kernel",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        self.expect(not design.forks, "streams that are not copied yet; run it before insert-forks")
        knobs = self.knobs
        costs = FusionCosts(design.graph, design.reads, design.writes, knobs.converters)
        if design.graph.layers is not None or kept_rows(design.graph):  # what repeats, or stays, is of one kernel
            return connected(replace(design, kernel_of=dict.fromkeys(design.kernel_of, 0)), knobs.converters)
        on_chip, begins = design.platform.on_chip_bytes, knobs.begins
        plan = plan_fusion(costs, knobs.fusion_plan, knobs.fusion_budget, on_chip, begins)
        graph = design.graph.ordered(sorted(design.graph.ops, key=lambda op: plan[op.name]))
        return connected(replace(design, graph=graph, kernel_of=plan), knobs.converters)
