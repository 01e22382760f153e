"""What expanded IR means: a small interpreter of loops, itensors and FIFOs. Slow and obvious.

A FIFO is a queue without bound, so processes may run one after the other, each to its end, in program order. An
itensor is the queue of its tokens: writing appends, reading takes the first. At the end every queue must be empty:
a stream that is not read to its end is a wrong design.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, memref, scf, tensor, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, VectorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_expanded import ExpandedTaskOp
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.element_types import dtype_name
from compiler.dialects.itensor_access import EmptyOp, InstanceOp, ReadOp, WriteOp
from compiler.dialects.itensor_adapters import CastOp, ReassociateOp
from compiler.dialects.itensor_routing import ChunkOp, ConcatOp, ConverterOp, ForkOp, JoinOp
from compiler.dialects.itensor_stream import BufferOp, StreamCastOp, StreamOp, StreamReadOp, StreamWriteOp, itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp
from compiler.dialects.scalar_ops import read_scalar
from compiler.frontend.interpret import NUMPY_DTYPE, evaluate_body
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import Body
from compiler.ir.read import arguments_of, design_function

Array = NDArray[Any]


@dataclass(frozen=True)
class Fifo:
    """Tokens on their way, seen as tokens of `itensor`. Views of one FIFO share its queue."""

    itensor: ITensor
    queue: deque[Array] = field(default_factory=deque[Array])

    def push(self, token: Array) -> None:
        self.queue.append(np.array(token))

    def pop(self) -> Array:
        assert self.queue, f"a reader of {self.itensor} finds no token"
        return self.queue.popleft().reshape(self.itensor.element)

    def push_tensor(self, data: Array) -> None:
        for offset in self.itensor.offsets():
            self.push(data[tuple(slice(o, o + e) for o, e in zip(offset, self.itensor.element, strict=True))])

    def pop_tensor(self) -> Array:
        data = np.zeros(self.itensor.shape, NUMPY_DTYPE[self.itensor.dtype])
        for offset in self.itensor.offsets():
            data[tuple(slice(o, o + e) for o, e in zip(offset, self.itensor.element, strict=True))] = self.pop()
        return data


class StreamInterpreter:
    """Runs one module. Values are numbers, arrays (tensors, tokens, buffers) and FIFOs."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, Any] = {}
        self.fifos: list[Fifo] = []

    def run(self, module: ModuleOp, inputs: Mapping[str, Array]) -> list[Array]:
        """Results of the design's function; `inputs` by value name."""
        function = design_function(module)
        for arg, value in zip(function.args, arguments_of(function), strict=True):
            self.values[arg] = inputs[value.name]
        results = self._block(function.body.block)
        left = [fifo for fifo in self.fifos if fifo.queue]
        assert not left, f"{len(left[0].queue)} tokens of {left[0].itensor} are never read"
        return results

    def _block(self, block: Block) -> list[Any]:
        """Values that the terminator passes on."""
        for op in block.ops:
            if isinstance(op, YieldOp | scf.YieldOp | ReturnOp):
                return self._of(op.operands)
            made = self._run(op)
            self.values |= dict(zip(op.results, made, strict=True))
            for result, value in zip(op.results, made, strict=True):
                if isinstance(value, Fifo) and not list(result.uses):
                    value.queue.clear()  # before insert-forks nobody drains what nobody reads
        return []

    def _of(self, values: Sequence[SSAValue]) -> list[Any]:
        return [self.values[value] for value in values]

    def _run(self, op: Operation) -> Sequence[Any]:
        method = METHODS.get(type(op))
        return method(self, op) if method is not None else self._scalar(op)

    def _fifo(self, itensor: ITensor) -> Fifo:
        fifo = Fifo(itensor)
        self.fifos.append(fifo)
        return fifo

    # Structure

    def kernel(self, op: KernelOp) -> Sequence[Any]:
        for arg, value in zip(op.block.args, self._of(op.inputs), strict=True):
            if isinstance(arg.type, ITensorType):
                fifo = self._fifo(arg.type.data)
                fifo.push_tensor(value)
                value = fifo  # a tensor at the boundary is a stream inside
            self.values[arg] = value
        return [left.pop_tensor() if isinstance(left, Fifo) else left for left in self._block(op.block)]

    def task(self, op: ExpandedTaskOp) -> Sequence[Any]:
        self.values |= dict(zip(op.body.block.args, self._of(op.inits), strict=True))
        return self._block(op.body.block)

    def for_loop(self, op: scf.ForOp) -> Sequence[Any]:
        carried = self._of(op.iter_args)
        for i in range(*self._of((op.lb, op.ub, op.step))):
            self.values |= dict(zip(op.body.block.args, [i, *carried], strict=True))
            carried = self._block(op.body.block)
        return carried

    # Streams

    def place(self, op: EmptyOp | InstanceOp) -> Sequence[Any]:
        return [self._fifo(itensor_of(op.result))]

    def stream(self, op: StreamOp) -> Sequence[Any]:
        return [self._fifo(op.itensor)]

    def view(self, op: CastOp | ReassociateOp | StreamCastOp) -> Sequence[Any]:
        return [Fifo(itensor_of(op.results[0]), self.values[op.operands[0]].queue)]

    def read(self, op: ReadOp | StreamReadOp) -> Sequence[Any]:
        return [self.values[op.source].pop()]

    def write(self, op: WriteOp | StreamWriteOp) -> Sequence[Any]:
        self.values[op.dest].push(self.values[op.value])
        return [self.values[op.dest]] if op.results else []

    # Processes

    def _outputs(self, op: ProcessOp) -> tuple[list[Fifo], list[Fifo]]:
        """FIFOs that a process writes, and those of them that are its results."""
        made = [self._fifo(itensor_of(value)) for value in op.outputs]
        return [*self._of(op.streams), *made], made

    def fork(self, op: ForkOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        source: Fifo = self.values[op.inputs[0]]
        for _ in range(source.itensor.tokens):
            token = source.pop()
            for fifo in written:
                fifo.push(token)
        return made

    def converter(self, op: ConverterOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        written[0].push_tensor(self.values[op.inputs[0]].pop_tensor())
        return made

    def chunk(self, op: ChunkOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        source: Fifo = self.values[op.inputs[0]]
        extent = written[0].itensor.shape[op.dim.data]
        for offset in source.itensor.offsets():
            written[offset[op.dim.data] // extent].push(source.pop())
        return made

    def concat(self, op: ConcatOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        parts: list[Fifo] = self._of(op.inputs)
        owner = [part for part in parts for _ in range(part.itensor.shape[op.dim.data])]
        for offset in written[0].itensor.offsets():
            written[0].push(owner[offset[op.dim.data]].pop())
        return made

    def join(self, op: JoinOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        parts: list[Fifo] = self._of(op.inputs)
        for _ in range(parts[0].itensor.tokens):
            for part in parts:
                written[0].push(part.pop())
        return made

    def load(self, op: LoadOp) -> Sequence[Any]:
        written, made = self._outputs(op)
        written[0].push_tensor(self.values[op.inputs[0]])
        return made

    def store(self, op: StoreOp) -> Sequence[Any]:
        return [self.values[op.inputs[0]].pop_tensor()]

    # Numbers

    def buffer(self, op: BufferOp) -> Sequence[Any]:
        type_ = cast(MemRefType[Attribute], op.memory.type)
        return [np.zeros(type_.get_shape(), NUMPY_DTYPE[dtype_name(type_.element_type)])]

    def memory_load(self, op: memref.LoadOp) -> Sequence[Any]:
        return [self.values[op.memref][tuple(self._of(op.indices))]]

    def memory_store(self, op: memref.StoreOp) -> Sequence[Any]:
        self.values[op.memref][tuple(self._of(op.indices))] = self.values[op.value]
        return []

    def extract_scalar(self, op: tensor.ExtractOp) -> Sequence[Any]:
        return [self.values[op.tensor][()]]

    def _lane(self, op: vector.ExtractOp | vector.InsertOp) -> tuple[int, ...]:
        return tuple(self.values[p] if isinstance(p, SSAValue) else p for p in op.get_mixed_position())

    def extract(self, op: vector.ExtractOp) -> Sequence[Any]:
        return [self.values[op.vector][self._lane(op)]]

    def insert(self, op: vector.InsertOp) -> Sequence[Any]:
        token = np.array(self.values[op.dest])
        token[self._lane(op)] = self.values[op.source]
        return [token]

    def constant(self, op: arith.ConstantOp) -> Sequence[Any]:
        if isinstance(op.value, DenseIntOrFPElementsAttr):
            type_ = cast(VectorType[Attribute], op.result.type)
            return [np.zeros(type_.get_shape(), NUMPY_DTYPE[dtype_name(type_.element_type)])]
        if isinstance(op.result.type, IndexType):
            assert isinstance(op.value, IntegerAttr)
            return [op.value.value.data]
        return self._scalar(op)

    def add(self, op: arith.AddiOp) -> Sequence[Any]:
        return [sum(self._of(op.operands))] if isinstance(op.result.type, IndexType) else self._scalar(op)

    def index_cast(self, op: arith.IndexCastOp) -> Sequence[Any]:
        return [np.int32(self.values[op.input])]

    def compare(self, op: arith.CmpiOp) -> Sequence[Any]:
        low, high = self._of(op.operands)
        return [low < high] if isinstance(op.lhs.type, IndexType) else self._scalar(op)

    def _scalar(self, op: Operation) -> Sequence[Any]:
        """Any operation of a body, by the interpreter of networks."""
        args = self._of(op.operands)
        dtypes = tuple(dtype_name(value.type) for value in op.operands)
        body = Body(dtypes, (read_scalar(op, tuple(range(len(args)))),), len(args))
        return [evaluate_body(body, args)[()]]


METHODS: dict[type[Operation], Callable[[StreamInterpreter, Any], Sequence[Any]]] = {
    KernelOp: StreamInterpreter.kernel,
    ExpandedTaskOp: StreamInterpreter.task,
    scf.ForOp: StreamInterpreter.for_loop,
    EmptyOp: StreamInterpreter.place,
    InstanceOp: StreamInterpreter.place,
    StreamOp: StreamInterpreter.stream,
    CastOp: StreamInterpreter.view,
    ReassociateOp: StreamInterpreter.view,
    StreamCastOp: StreamInterpreter.view,
    ReadOp: StreamInterpreter.read,
    WriteOp: StreamInterpreter.write,
    StreamReadOp: StreamInterpreter.read,
    StreamWriteOp: StreamInterpreter.write,
    ForkOp: StreamInterpreter.fork,
    ConverterOp: StreamInterpreter.converter,
    ChunkOp: StreamInterpreter.chunk,
    ConcatOp: StreamInterpreter.concat,
    JoinOp: StreamInterpreter.join,
    LoadOp: StreamInterpreter.load,
    StoreOp: StreamInterpreter.store,
    BufferOp: StreamInterpreter.buffer,
    memref.LoadOp: StreamInterpreter.memory_load,
    memref.StoreOp: StreamInterpreter.memory_store,
    tensor.ExtractOp: StreamInterpreter.extract_scalar,
    vector.ExtractOp: StreamInterpreter.extract,
    vector.InsertOp: StreamInterpreter.insert,
    arith.ConstantOp: StreamInterpreter.constant,
    arith.AddiOp: StreamInterpreter.add,
    arith.IndexCastOp: StreamInterpreter.index_cast,
    arith.CmpiOp: StreamInterpreter.compare,
}


def run_module(module: ModuleOp, inputs: Mapping[str, Array]) -> list[Array]:
    """Results of an expanded design, in order, for `inputs` by value name in the shapes of the function's arguments."""
    return StreamInterpreter().run(module, inputs)
