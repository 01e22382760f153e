"""set-fifo-depths: the depths that the simulator vouches for (`compiler.sizing.certify`), instead of those by rule."""

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.read_back import kernels_of
from compiler.dialects.itensor_stream import StreamOp
from compiler.dialects.itensor_type import stream_type
from compiler.graph.task_graph import TaskGraph


def set_fifo_depths(module: ModuleOp, depths: Mapping[str, int]) -> None:
    fifos = [op for kernel in kernels_of(module) for op in kernel.block.ops if isinstance(op, StreamOp)]
    names = {fifo.stream_name for fifo in fifos}
    if names != set(depths):
        odd = ", ".join(sorted(names ^ set(depths))[:3])
        raise PassFailedException(f"set-fifo-depths takes one depth for every stream and no others; look at {odd}")
    for fifo in fifos:
        Rewriter.replace_value_with_new_type(fifo.stream, stream_type(fifo.itensor, depths[fifo.stream_name]))


@dataclass(frozen=True)
class SetFifoDepthsPass(ModulePass):
    """Give each of `streams` its depth of `depths`. Assumes processes on streams, all of them named."""

    name = "set-fifo-depths"

    streams: tuple[str, ...]
    depths: tuple[int, ...]

    @staticmethod
    def of(tasks: TaskGraph) -> "SetFifoDepthsPass":
        """The depths that `tasks` has."""
        return SetFifoDepthsPass(tuple(s.name for s in tasks.streams), tuple(s.depth for s in tasks.streams))

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        set_fifo_depths(op, dict(zip(self.streams, self.depths, strict=True)))
