"""size-fifos: every stream becomes a FIFO, of so many tokens (paper "Bufferization"; level 3 of the space)."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.build import task_graph
from compiler.analysis.depths import with_depths
from compiler.analysis.joint_loads import of_all_streams
from compiler.analysis.widening import passes_through
from compiler.graph.design import Design
from compiler.graph.task_graph import TaskGraph
from compiler.passes.base import Pass


class SizeFifos(Pass):
    """Set the depth of every stream by `compiler.analysis.depths`: progress, and what hides the loading of weights.
    Streams of operands that a joint load brings are one FIFO, the first of their engine's input, and as deep.

    Assumes packed transfers and one reader of every port.
    """

    name = "size-fifos"
    options = ("fifo", "prefetch_kib")

    @override
    def run(self, design: Design) -> Design:
        tasks = self.sized(design).steady
        depths = {stream.name: stream.depth for stream in tasks.streams if not passes_through(tasks, stream)}
        return replace(design, depths=of_all_streams(design, depths))

    def sized(self, design: Design) -> TaskGraph:
        """The accelerator with these FIFOs."""
        return with_depths(task_graph(design), self.knobs.fifo, self.knobs.prefetch_kib, design.platform)
