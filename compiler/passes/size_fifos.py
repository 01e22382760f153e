"""size-fifos: every stream becomes a FIFO, of so many tokens (paper "Bufferization"; level 3 of the space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.build import task_graph
from compiler.analysis.depths import with_depths
from compiler.graph.design import Design
from compiler.graph.task_graph import TaskGraph
from compiler.passes.base import Pass


class SizeFifos(Pass):
    """Set the depth of every stream by `compiler.analysis.depths`: progress, and what hides the loading of weights.

    Assumes packed transfers and one reader of every port.
    """

    name = "size-fifos"
    options = ("fifo", "prefetch_kib")

    @override
    def run(self, design: Design) -> Design:
        return replace(design, depths={stream.name: stream.depth for stream in self.sized(design).streams})

    def sized(self, design: Design) -> TaskGraph:
        """The accelerator with these FIFOs."""
        self.expect_kernels(design)
        packed = all(transfer.packing for transfer in (*design.loads.values(), *design.stores.values()))
        self.expect(packed, "packed loads and stores; run materialize-dmas first")
        return with_depths(task_graph(design), self.knobs.fifo, self.knobs.prefetch_kib, design.platform)
