"""join-loads: the weights of an engine come through the same ports (level 3 of the design space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.joint_loads import hindrance
from compiler.graph.design import Design, Engine
from compiler.passes.base import Pass


class JoinLoads(Pass):
    """Let one load bring an input of an engine to all of its operations, in the order of their turns, where `loads` is
    `joint` and every one of them reads a parameter of its own there, once in a launch. Others keep their loads.

    Assumes engines, and one reader of every port (`insert-forks`).
    """

    name = "join-loads"
    options = ("loads",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        self.expect(not any(load.packing for load in design.loads.values()), "loads that are not packed yet")
        if self.knobs.loads == "own":
            return design
        for name, engine in design.engines.items():
            design = replace(design, engines={**design.engines, name: self._joined(design, engine)})
        return design

    @staticmethod
    def _joined(design: Design, engine: Engine) -> Engine:
        inputs = range(len(design.graph.op[engine.turns[0]].inputs))
        joint = tuple(i for i in inputs if hindrance(design, engine, i) is None)
        return engine._replace(joint=joint)
