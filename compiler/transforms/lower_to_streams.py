"""lower-to-streams: itensors become FIFOs (paper "Bufferization"; layout is settled before and stripped here)."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.names import input_stream, operand_stream
from compiler.analysis.read_back import kernels_of, processes_of
from compiler.dialects.dataflow_kernel import KernelOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_stream import StreamOp, itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp


def _stream_name(reader: ProcessOp, index: int) -> str:
    if isinstance(reader, TaskOp):
        return operand_stream(reader.process_name, index)
    return input_stream(reader.process_name)


def _make_stream(value: OpResult) -> StreamOp:
    """The FIFO for an itensor, looking through a cast to its reader."""
    uses = list(value.uses)
    if len(uses) != 1:
        raise PassFailedException(
            f"lower-to-streams expects one reader of every itensor, one has {len(uses)}; run insert-forks first"
        )
    reader, index = uses[0].operation, uses[0].index
    if isinstance(reader, CastOp):
        following = _make_stream(reader.result)
        return StreamOp(following.stream_name, itensor_of(value), MIN_DEPTH)
    if not isinstance(reader, ProcessOp):
        raise PassFailedException(f"{reader.name} reads an itensor; run materialize-dmas before lower-to-streams")
    return StreamOp(_stream_name(reader, index), itensor_of(value), MIN_DEPTH)


def _reader_end(value: SSAValue) -> SSAValue:
    """What the reader of a FIFO sees: the value, or the cast of it."""
    (use,) = value.uses
    return use.operation.results[0] if isinstance(use.operation, CastOp) else value


def _lower_kernel(kernel: KernelOp) -> None:
    if any(isinstance(arg.type, ITensorType) for arg in kernel.block.args):
        raise PassFailedException(
            f"kernel @{kernel.sym_name.data} takes itensors; run materialize-dmas before lower-to-streams"
        )
    fifo_of: dict[SSAValue, SSAValue] = {}
    processes = processes_of(kernel)
    streams: list[StreamOp] = []
    for process in processes:
        for value in process.outputs:
            if isinstance(value.type, ITensorType):
                stream = _make_stream(value)
                stream.stream.name_hint = stream.stream_name
                streams.append(stream)
                fifo_of[value] = fifo_of[_reader_end(value)] = stream.stream
    for process in processes:
        kept = [value for value in process.outputs if value not in fifo_of]
        written = [fifo_of[value] for value in process.outputs if value in fifo_of]
        read = [fifo_of.get(value, value) for value in process.inputs]
        lowered = process.replicate(read, written, [value.type for value in kept])
        kernel.block.insert_op_before(lowered, process)
        for old, new in zip(kept, lowered.outputs, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
    for op in reversed([op for op in kernel.block.ops if isinstance(op, CastOp) or op in set(processes)]):
        op.detach()
        op.erase()
    if streams and kernel.block.first_op is not None:
        kernel.block.insert_ops_before(streams, kernel.block.first_op)


def lower_to_streams(module: ModuleOp) -> None:
    for kernel in kernels_of(module):
        _lower_kernel(kernel)


@dataclass(frozen=True)
class LowerToStreamsPass(ModulePass):
    """Make an `itensor.stream` for every itensor, named after its reader; processes push and pop, casts disappear.

    Assumes explicit DMAs and one reader of every itensor.
    """

    name = "lower-to-streams"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_to_streams(op)
