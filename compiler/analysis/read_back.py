"""IR -> frozen graphs: what the passes plan on, and the TaskGraph of the design that is emitted.

`read_back` goes through the same functions as the search (`compiler.analysis.tasks`), so a property test can hold that
both give the same graph.
"""

from collections.abc import Callable, Mapping
from typing import get_args

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue

from compiler.analysis.boundary import carries_of
from compiler.analysis.names import c_name
from compiler.analysis.order import order_streams, order_tasks
from compiler.analysis.tasks import (
    converter_task,
    fork_task,
    load_task,
    store_task,
    structured_task,
)
from compiler.dialects.dataflow_attributes import OutputAttr, ValueAttr
from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_kernel import KernelOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_routing import ConverterOp, ForkOp
from compiler.dialects.itensor_stream import StreamOp, itensor_of
from compiler.dialects.process import ProcessOp
from compiler.dialects.streamed import data_shape, element_name
from compiler.errors import VerificationError
from compiler.graph.converter import converter_of
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Value
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

VALUE_ATTRIBUTE = "dataflow.value"
OUTPUT_ATTRIBUTE = "dataflow.output"


def design_function(module: ModuleOp) -> FuncOp:
    """The one function of a design. Raises VerificationError where there is another number of them."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        raise VerificationError(f"a design is one func.func, this module has {len(functions)}")
    return functions[0]


def kernels_of(module: ModuleOp) -> tuple[KernelOp, ...]:
    """Kernels in the order in which they run."""
    return tuple(op for op in design_function(module).body.block.ops if isinstance(op, KernelOp))


def processes_of(kernel: KernelOp) -> tuple[ProcessOp, ...]:
    return tuple(op for op in kernel.block.ops if isinstance(op, ProcessOp))


def tasks_of(module: ModuleOp) -> tuple[TaskOp, ...]:
    """Structured tasks in program order, inside kernels or not yet."""
    found: list[TaskOp] = []
    for op in design_function(module).body.block.ops:
        found += [op] if isinstance(op, TaskOp) else []
        found += [inner for inner in op.body.block.ops if isinstance(inner, TaskOp)] if isinstance(op, KernelOp) else []
    return tuple(found)


def _attributes(
    holder: ArrayAttr[DictionaryAttr] | None, name: str, kind: type[Attribute], count: int
) -> list[Attribute]:
    found = [entry.data.get(name) for entry in holder] if holder is not None else []
    if len(found) != count or not all(isinstance(attr, kind) for attr in found):
        raise VerificationError(f"every argument or result of a design's function needs a {name} attribute")
    return [attr for attr in found if attr is not None]


def arguments_of(function: FuncOp) -> tuple[Value, ...]:
    """What each argument of the function is."""
    values: list[Value] = []
    infos = _attributes(function.arg_attrs, VALUE_ATTRIBUTE, ValueAttr, len(function.args))
    for arg, info in zip(function.args, infos, strict=True):
        assert isinstance(info, ValueAttr)
        data = info.data
        values.append(
            Value(data.name, data_shape(arg.type), element_name(arg.type), data.role, data.source, data.valid)
        )
    return tuple(values)


def outputs_of(function: FuncOp) -> tuple[Output, ...]:
    count = len(function.function_type.outputs)
    outputs = _attributes(function.res_attrs, OUTPUT_ATTRIBUTE, OutputAttr, count)
    return tuple(attr.data for attr in outputs if isinstance(attr, OutputAttr))


def linalg_of(module: ModuleOp) -> LinalgGraph:
    """The network that a module computes, before `lower-to-streams`. Intermediate values come after the arguments."""
    function = design_function(module)
    values = list(arguments_of(function))
    tasks = tasks_of(module)
    ops = tuple(task.linalg for task in tasks)
    for task, op in zip(tasks, ops, strict=True):
        values += [
            _made_value(op, operand, element_name(result.type))
            for operand, result in zip(op.outputs, task.outputs, strict=True)
        ]
    return LinalgGraph(function.sym_name.data, tuple(values), ops, outputs_of(function))


def _made_value(op: LinalgOp, operand: Operand, dtype: str) -> Value:
    """The value that an operation makes."""
    shape, true = (tuple(loops[d] for d in operand.dims) for loops in (op.loops, op.true_loops))
    return Value(operand.value, shape, dtype, valid=true if true != shape else ())


def value_of(ssa: SSAValue, arguments: Mapping[SSAValue, str]) -> str:
    """Name of the value that `ssa` holds or streams; `arguments` names those of the function."""
    if ssa in arguments:
        return arguments[ssa]
    if isinstance(ssa, BlockArgument):
        kernel = ssa.block.parent_op()
        assert isinstance(kernel, KernelOp)
        return value_of(kernel.inputs[ssa.index], arguments)
    assert isinstance(ssa, OpResult)
    match ssa.op:
        case TaskOp():
            return ssa.op.writes[ssa.index].value
        case LoadOp() | StoreOp():
            return ssa.op.value.data
        case KernelOp():
            return value_of(ssa.op.yielded.arguments[ssa.index], arguments)
        case _:
            return value_of(ssa.op.operands[0], arguments)


def argument_names(function: FuncOp) -> dict[SSAValue, str]:
    """Value name of each argument of the function, for `value_of`."""
    return {arg: value.name for arg, value in zip(function.args, arguments_of(function), strict=True)}


def stream_of(op: StreamOp) -> Stream:
    """The FIFO, with the tasks at its ends."""
    writer, reader = op.writer, op.reader
    assert isinstance(writer, ProcessOp)
    assert isinstance(reader, ProcessOp)
    names = c_name(writer.process_name), c_name(reader.process_name)
    return Stream(op.stream_name, *names, op.itensor, op.type.depth.data)


def _fifo(value: SSAValue) -> str:
    if not isinstance(value.owner, StreamOp):
        raise VerificationError("a process does not read and write streams yet; run lower-to-streams first")
    return value.owner.stream_name


def _structured(op: ProcessOp, kernel: int, platform: Platform) -> Task:
    assert isinstance(op, TaskOp)
    linalg, nest = op.linalg, op.tiled
    reads = [None if isinstance(value.type, TensorType) else _fifo(value) for value in op.inputs]
    writes = [_fifo(value) for value in op.streams]
    multiplier: Multiplier = next(
        (m for m in get_args(Multiplier) if op.multiplier is not None and m == op.multiplier.data), "fabric"
    )
    shapes = [
        data_shape(value.type) if read is None else itensor_of(value).shape
        for value, read in zip(op.inputs, reads, strict=True)
    ]
    return structured_task(linalg, nest, kernel, reads, shapes, writes, multiplier, platform)


def _fork(op: ProcessOp, kernel: int, platform: Platform) -> Task:  # noqa: ARG001 # one signature for the table
    name, source = op.process_name, op.inputs[0]
    return fork_task(name, kernel, itensor_of(source), _fifo(source), [_fifo(value) for value in op.streams])


def _converter(op: ProcessOp, kernel: int, platform: Platform) -> Task:  # noqa: ARG001 # one signature for the table
    assert isinstance(op, ConverterOp)
    converter = converter_of(op.source, op.target, op.realisation.data)
    return converter_task(op.process_name, kernel, converter, _fifo(op.inputs[0]), _fifo(op.streams[0]))


def _load(op: ProcessOp, kernel: int, platform: Platform) -> Task:
    assert isinstance(op, LoadOp)
    return load_task(op.process_name, kernel, op.streamed, op.dma, _fifo(op.streams[0]), platform)


def _store(op: ProcessOp, kernel: int, platform: Platform) -> Task:  # noqa: ARG001 # one signature for the table
    assert isinstance(op, StoreOp)
    return store_task(op.process_name, kernel, op.streamed, op.dma, _fifo(op.inputs[0]))


TASK_OF: dict[type[ProcessOp], Callable[[ProcessOp, int, Platform], Task]] = {
    TaskOp: _structured,
    ForkOp: _fork,
    ConverterOp: _converter,
    LoadOp: _load,
    StoreOp: _store,
}


def read_back(module: ModuleOp, platform: Platform) -> TaskGraph:
    """The accelerator that a lowered module describes (after `size-fifos`), on `platform`. O(operations)."""
    kernels = kernels_of(module)
    tasks = [TASK_OF[type(op)](op, i, platform) for i, kernel in enumerate(kernels) for op in processes_of(kernel)]
    streams = [stream_of(op) for kernel in kernels for op in kernel.block.ops if isinstance(op, StreamOp)]
    ordered = order_tasks(tasks, streams)
    function = design_function(module)
    named = function.arg_attrs is not None and function.res_attrs is not None
    carries = carries_of(outputs_of(function), arguments_of(function), ordered) if named else ()
    return TaskGraph(function.sym_name.data, len(kernels), ordered, order_streams(ordered, streams), carries)
