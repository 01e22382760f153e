"""linalg-to-dataflow: each operation becomes a kernel of its own, its ports itensors (paper "Linalg to dataflow")."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.connect import connected
from compiler.analysis.itensors import read_itensors, write_itensors
from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.passes.base import Pass


class LinalgToDataflow(Pass):
    """Stream every tensor as the nest that reads or makes it walks, between HBM and one kernel an operation.

    Assumes tiled operations. Rank-0 parameters are passed by value.
    """

    name = "linalg-to-dataflow"

    @override
    def run(self, design: Design) -> Design:
        return connected(self.handed_on(design), self.knobs.converters)

    @override
    def handed_on(self, design: Design) -> Design:
        """Without connections: `fuse-kernels` makes them anew."""
        graph, nests = design.graph, design.nests
        self.expect(not design.kernel_of, "tasks on tensors; it runs once")
        if untiled := [op.name for op in graph.ops if op.name not in nests]:
            raise VerificationError(f"{untiled[0]} has no nest; run tile-tasks first")
        kernel_of = {op.name: number for number, op in enumerate(graph.ops)}
        reads, writes = read_itensors(graph, nests), write_itensors(graph, nests)
        return replace(design, reads=reads, writes=writes, kernel_of=kernel_of)
