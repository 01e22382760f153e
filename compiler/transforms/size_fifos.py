"""size-fifos: how many tokens every FIFO holds (level 3 of the design space)."""

from dataclasses import dataclass
from typing import get_args

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.depths import with_depths
from compiler.analysis.read_back import kernels_of, read_back
from compiler.dialects.itensor_stream import StreamOp
from compiler.dialects.itensor_type import stream_type
from compiler.options import FifoStrategy
from compiler.platforms.platform import Platform, load_platform


def size_fifos(module: ModuleOp, strategy: FifoStrategy, prefetch_kib: int, platform: Platform) -> None:
    sized = with_depths(read_back(module, platform), strategy, prefetch_kib, platform).stream
    for kernel in kernels_of(module):
        for fifo in [op for op in kernel.block.ops if isinstance(op, StreamOp)]:
            planned = sized[fifo.stream_name]
            Rewriter.replace_value_with_new_type(fifo.stream, stream_type(planned.itensor, planned.depth))


@dataclass(frozen=True)
class SizeFifosPass(ModulePass):
    """Set the depth of every `itensor.stream` by `compiler.analysis.depths`. Assumes processes on streams.

    The pace of a task, and so what its FIFOs hold, depends on the operators of `platform`.
    """

    name = "size-fifos"

    strategy: str = "conservative"
    prefetch_kib: int = 0
    platform: str = "u55c"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        strategy: FifoStrategy | None = next((s for s in get_args(FifoStrategy) if s == self.strategy), None)
        if strategy is None:
            known = ", ".join(get_args(FifoStrategy))
            raise PassFailedException(f"FIFO strategy {self.strategy!r} is unknown; use one of {known}")
        size_fifos(op, strategy, self.prefetch_kib, load_platform(self.platform))
