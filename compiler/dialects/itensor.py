"""Iterative tensors and streams: tensors in the order in which their elements pass a FIFO (design 3.1).

Machine model. Dataflow processes run side by side and talk through FIFOs only: every token is pushed once and popped
once, in order. Before bufferisation a FIFO's content is a value of type `!itensor.itensor`, immutable, of which the
type alone says in which order the tensor passes; so a producer may feed a consumer directly exactly when their types
push the same tokens (`ITensor.same_stream`). `itensor.cast` states that two texts are one stream, `itensor.converter`
buys the difference with on-chip memory, `itensor.fork` copies. After bufferisation the FIFO is a value of type
`!itensor.stream` that knows token and depth; the order is kept on the `itensor.stream` operation that makes it.

Splitting and joining tensors (chunk, concat) are structured tasks of the dataflow dialect, because their loops are;
`expand-tasks` spells every task out in the operations of this dialect: loops around `read` and `write`, `buffer` for
partial results, `chunk`, `concat` and `join` for routing.
"""

from xdsl.ir import Dialect

from compiler.dialects.itensor_access import EmptyOp, InstanceOp, ReadOp, WriteOp
from compiler.dialects.itensor_adapters import CastOp, ReassociateOp
from compiler.dialects.itensor_routing import ChunkOp, ConcatOp, ConverterOp, ForkOp, JoinOp
from compiler.dialects.itensor_stream import BufferOp, StreamCastOp, StreamOp, StreamReadOp, StreamWriteOp
from compiler.dialects.itensor_type import ITensorType, StreamType
from compiler.dialects.realisation_attribute import RealisationAttr

ITENSOR = Dialect(
    "itensor",
    [
        EmptyOp, InstanceOp, ReadOp, WriteOp, CastOp, ReassociateOp, ConverterOp, ChunkOp, ConcatOp, ForkOp, JoinOp,
        StreamOp, StreamReadOp, StreamWriteOp, StreamCastOp, BufferOp,
    ],
    [ITensorType, StreamType, RealisationAttr],
)  # fmt: skip
