"""share-engines: matrix products take turns at the same lanes (level 3 of the design space).

Lanes are what most of a design's area is. A product that waits for the one before it leaves them idle; where it uses
the same ones, all of them work in every turn, at the price of a drained pipeline between two turns.
"""

from dataclasses import replace

from typing_extensions import override

from compiler.graph.design import Design, Engine
from compiler.graph.engine import Turn, fits, slicing
from compiler.passes.base import Pass


class ShareEngines(Pass):
    """Put operations of a kernel that fit one another at one engine, in the order in which they stand; one that fits no
    other keeps its own lanes, and all do unless `engines` is `shared`. An engine is cut into as many equal slices as
    its lanes allow, `slices` at most.

    Assumes nests by which operations fit (`tile-tasks`) and bound multipliers.
    """

    name = "share-engines"
    options = ("engines", "slices")

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        if self.knobs.engines == "own":
            return design
        groups: list[list[str]] = []
        for op in design.graph.ops:
            group = next((g for g in groups if self._can_join(design, g[0], op.name)), None)
            if group is None:
                groups.append([op.name])
            else:
                group.append(op.name)
        shared = [group for group in groups if len(group) > 1]
        return replace(design, engines={f"engine{n}": self._engine(design, g) for n, g in enumerate(shared)})

    def _engine(self, design: Design, group: list[str]) -> Engine:
        cut = slicing(self._turn(design, group[0]), self.knobs.slices)
        return Engine(design.kernel_of[group[0]], tuple(group), 1 if cut is None else cut.slices)

    def _turn(self, design: Design, op: str) -> Turn:
        return Turn(design.graph.op[op], design.nests[op])

    def _can_join(self, design: Design, first: str, other: str) -> bool:
        one, two = self._turn(design, first), self._turn(design, other)
        same_kernel = design.kernel_of[first] == design.kernel_of[other]
        return same_kernel and design.multipliers.get(first) == design.multipliers.get(other) and fits(one, two)
