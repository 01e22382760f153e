"""size-fifos: how many tokens every FIFO holds (level 3 of the design space)."""

from dataclasses import dataclass
from typing import get_args

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.fifo import size_fifos as plan_depths
from compiler.analysis.read_back import kernels_of, processes_of, stream_of
from compiler.dialects.dataflow import LoadOp
from compiler.dialects.itensor import StreamOp, stream_type
from compiler.options import FifoStrategy


def size_fifos(module: ModuleOp, strategy: FifoStrategy) -> None:
    kernels = kernels_of(module)
    fifos = [op for kernel in kernels for op in kernel.block.ops if isinstance(op, StreamOp)]
    loads = {op.process_name for kernel in kernels for op in processes_of(kernel) if isinstance(op, LoadOp)}
    sized = plan_depths(loads, [stream_of(op) for op in fifos], strategy)
    for fifo, planned in zip(fifos, sized, strict=True):
        Rewriter.replace_value_with_new_type(fifo.stream, stream_type(planned.itensor, planned.depth))


@dataclass(frozen=True)
class SizeFifosPass(ModulePass):
    """Set the depth of every `itensor.stream` by `compiler.analysis.fifo`. Assumes processes on streams."""

    name = "size-fifos"

    strategy: str = "safe"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        strategy: FifoStrategy | None = next((s for s in get_args(FifoStrategy) if s == self.strategy), None)
        if strategy is None:
            known = ", ".join(get_args(FifoStrategy))
            raise PassFailedException(f"FIFO strategy {self.strategy!r} is unknown; use one of {known}")
        size_fifos(op, strategy)
