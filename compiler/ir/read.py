"""Module -> Design: what IR says of a design, whichever pass it was written after, also where a person edited it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import get_args

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from compiler.analysis.engines import engine_streams
from compiler.analysis.itensors import read_itensors, write_itensors
from compiler.analysis.names import (
    c_name,
    input_stream,
    layer_streams,
    load_name,
    operand_stream,
    own_load_name,
    store_name,
)
from compiler.dialects.context import design_context
from compiler.dialects.dataflow_attributes import OutputAttr, ValueAttr
from compiler.dialects.dataflow_die import DieOp
from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_engine import EngineOp
from compiler.dialects.dataflow_kernel import OUTPUT_ATTRIBUTE, VALUE_ATTRIBUTE, KernelOp
from compiler.dialects.dataflow_layers import LayersOp
from compiler.dialects.dataflow_rom import RomOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp, ForkOp
from compiler.dialects.itensor_stream import StreamOp, itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp
from compiler.dialects.streamed import data_shape, element_name
from compiler.errors import VerificationError
from compiler.graph.converter import converter_of
from compiler.graph.design import Conversion, Design, Edge, Engine, Fork, Transfer
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Value
from compiler.graph.nest import Nest
from compiler.ir.checks import verify_design, verify_distinct, verify_moved, verify_operations, verify_strings
from compiler.options import Multiplier
from compiler.platforms.platform import Platform


def parse_design(text: str, platform: Platform) -> Design:
    """The design that a text describes, for `platform`. Raises VerificationError where it is not valid."""
    verify_strings(text)
    try:
        module = Parser(design_context(), text).parse_module()
        module.verify()
        return read_design(module, platform)
    except (ParseError, VerifyException, ValueError) as error:  # xDSL raises ValueError for some texts
        raise VerificationError(str(error)) from error


def read_design(module: ModuleOp, platform: Platform) -> Design:
    """The design of a module that is valid. O(operations)."""
    function = design_function(module)
    verify_operations(function)
    kernels = [op for op in function.body.block.ops if isinstance(op, KernelOp)]
    scopes = [kernel.block for kernel in kernels] or [function.body.block]
    tasks = [(number, op) for number, scope in enumerate(scopes) for op in scope.ops if isinstance(op, TaskOp)]
    ops = tuple(task.linalg for _, task in tasks)
    made = [value for (_, task), op in zip(tasks, ops, strict=True) for value in _made_values(task, op)]
    loop = _layers_of(function)
    layers = None if loop is None else loop.layers
    graph = LinalgGraph(function.sym_name.data, (*arguments_of(function), *made), ops, outputs_of(function), layers)
    verify_distinct("values", (value.name for value in graph.values))
    nests = {task.process_name: task.tiled for _, task in tasks if kernels or task.nest is not None}
    reader = _Reader({arg: value.name for arg, value in zip(function.args, graph.values, strict=False)})
    if not kernels:
        reader.read_tasks(task for _, task in tasks)
    for number, kernel in enumerate(kernels):
        reader.read(kernel, number)
    returned = function.get_return_op()
    for out, tensor in zip(graph.outputs, returned.arguments if returned is not None else (), strict=True):
        verify_moved(f"output {out.name}", out.value, reader.tensors.get(tensor))
    verify_distinct("processes", reader.nodes)
    design = _design(graph, platform, nests, tasks if kernels else [], reader)
    if loop is not None and reader.fifos:
        design = replace(design, depths={**design.depths, **_loop_depths(loop)})
    design = replace(design, dies=_dies(function))
    verify_design(design)
    return design


def _design(
    graph: LinalgGraph,
    platform: Platform,
    nests: dict[str, Nest],
    in_kernels: list[tuple[int, TaskOp]],
    reader: "_Reader",
) -> Design:
    if not in_kernels:
        return Design(graph, platform, nests)
    return Design(
        graph,
        platform,
        nests,
        read_itensors(graph, nests),
        write_itensors(graph, nests),
        {task.process_name: number for number, task in in_kernels},
        reader.loads,
        reader.stores,
        reader.converters,
        reader.forks,
        reader.edges,
        {task.process_name: m for _, task in in_kernels if (m := _multiplier(task)) is not None},
        reader.engines,
        {name: fifo.type.depth.data for name, fifo in reader.fifos.items()} | _inner_depths(graph, nests, reader),
        {name: fifo.reason.data for name, fifo in reader.fifos.items() if fifo.reason is not None},
    )


def _inner_depths(graph: LinalgGraph, nests: dict[str, Nest], reader: "_Reader") -> dict[str, int]:
    """Of the FIFOs between engines and their routes."""
    found: dict[str, int] = {}
    for name, depths in reader.engine_depths.items():
        engine = reader.engines[name]
        if unknown := [op for op in engine.turns if op not in graph.op]:
            raise VerificationError(f"@{name} serves @{unknown[0]}, which is no task of its kernel")
        streams = list(engine_streams(name, engine, graph, nests))
        if len(depths) != (len(streams) if reader.fifos else 0):
            raise VerificationError(f"@{name} has {len(streams)} FIFOs where streams are FIFOs, else none")
        found |= dict(zip(streams, depths, strict=False))
    return found


def _layers_of(function: FuncOp) -> LayersOp | None:
    """How often a launch runs the tasks. Raises VerificationError where that is said twice."""
    found = [op for op in function.body.block.ops if isinstance(op, LayersOp)]
    if len(found) > 1:
        raise VerificationError("a design says once, if at all, how many layers it runs")
    return found[0] if found else None


def _loop_depths(loop: LayersOp) -> dict[str, int]:
    """Of the FIFOs that close the loop over layers."""
    streams = [name for carried in loop.layers.carried for name in layer_streams(*carried)]
    if len(loop.fifo_depths) != len(streams):
        raise VerificationError(f"dataflow.layers has {len(streams)} FIFOs where streams are FIFOs")
    return dict(zip(streams, loop.fifo_depths, strict=True))


def _dies(function: FuncOp) -> dict[str, str]:
    """The die of each task. Raises VerificationError where one lies on two."""
    dies = [op for op in function.body.block.ops if isinstance(op, DieOp)]
    held = [(task, op.die.data) for op in dies for task in op.held]
    verify_distinct("processes that lie on dies", (task for task, _ in held))
    return dict(held)


def design_function(module: ModuleOp) -> FuncOp:
    """The one function of a design. Raises VerificationError where there is another number of them."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        raise VerificationError(f"a design is one func.func, this module has {len(functions)}")
    return functions[0]


def arguments_of(function: FuncOp) -> tuple[Value, ...]:
    """What each argument of the function is."""
    values: list[Value] = []
    infos = _attributes(function.arg_attrs, VALUE_ATTRIBUTE, ValueAttr, len(function.args))
    for arg, info in zip(function.args, infos, strict=True):
        assert isinstance(info, ValueAttr)
        data = info.data
        values.append(
            Value(
                data.name,
                data_shape(arg.type),
                element_name(arg.type),
                data.role,
                data.source,
                data.valid,
                data.sources,
                data.row,
            )
        )
    return tuple(values)


def outputs_of(function: FuncOp) -> tuple[Output, ...]:
    count = len(function.function_type.outputs)
    outputs = _attributes(function.res_attrs, OUTPUT_ATTRIBUTE, OutputAttr, count)
    return tuple(attr.data for attr in outputs if isinstance(attr, OutputAttr))


def _attributes(
    holder: ArrayAttr[DictionaryAttr] | None, name: str, kind: type[Attribute], count: int
) -> list[Attribute]:
    found = [entry.data.get(name) for entry in holder] if holder is not None else []
    if len(found) != count or not all(isinstance(attr, kind) for attr in found):
        raise VerificationError(f"every argument or result of a design's function needs a {name} attribute")
    return [attr for attr in found if attr is not None]


def _made_values(task: TaskOp, op: LinalgOp) -> Iterator[Value]:
    for operand, result in zip(op.outputs, task.written, strict=True):
        shape, true = (_extents(operand, loops) for loops in (op.loops, op.true_loops))
        dtype = element_name(result.type) if task.outputs else itensor_of(result).dtype
        yield Value(operand.value, shape, dtype, valid=true if true != shape else ())


def _extents(operand: Operand, loops: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(loops[dim] for dim in operand.dims)


def _multiplier(task: TaskOp) -> Multiplier | None:
    word = task.multiplier.data if task.multiplier is not None else None
    return next((m for m in get_args(Multiplier) if m == word), None)


class _Reader:
    """What kernels hold, one after the other. `tensors` names the values that lie in HBM."""

    def __init__(self, tensors: dict[SSAValue, str]) -> None:
        self.tensors = tensors
        self.nodes: list[str] = []
        self.loads: dict[str, Transfer] = {}
        self.stores: dict[str, Transfer] = {}
        self.converters: dict[str, Conversion] = {}
        self.forks: dict[str, Fork] = {}
        self.edges: dict[str, Edge] = {}
        self.fifos: dict[str, StreamOp] = {}
        self.engines: dict[str, Engine] = {}
        self.engine_depths: dict[str, tuple[int, ...]] = {}

    def read_tasks(self, tasks: Iterable[TaskOp]) -> None:
        """Name the values of tasks on tensors."""
        for task in tasks:
            self.nodes.append(c_name(task.process_name))
            self._verify_moves(task)
            self.tensors |= {made: operand.value for made, operand in zip(task.outputs, task.writes, strict=True)}

    def read(self, kernel: KernelOp, number: int) -> None:
        """Add what one kernel holds."""
        self.number = number
        self.source: dict[SSAValue, tuple[str, str]] = {}  # node and value that an itensor or FIFO comes from
        self._enter(kernel)
        processes = [op for op in kernel.block.ops if isinstance(op, ProcessOp)]
        waiting = list(processes)
        while waiting:  # FIFOs do not order their processes: a value is known when its writer's is
            later = [process for process in waiting if not self._name_outputs(process)]
            if len(later) == len(waiting):
                raise VerificationError(f"@{later[0].process_name} reads what nothing in its kernel makes")
            waiting = later
        fifos = [op for op in kernel.block.ops if isinstance(op, StreamOp)]
        self.fifos |= {fifo.stream_name: fifo for fifo in fifos}
        declared: dict[SSAValue, int] = {fifo.stream: number for number, fifo in enumerate(fifos)}
        reads = [(value, stream, process) for process in processes for stream, value in _streamed_inputs(process)]
        for value, stream, process in sorted(reads, key=lambda read: declared.get(read[0], 0)):
            self._add_edge(value, stream, c_name(process.process_name))
        self.nodes += [c_name(process.process_name) for process in processes]
        for process in processes:
            self._verify_moves(process)
            self._add_node(process)
        for engine in kernel.block.ops:
            if isinstance(engine, EngineOp):
                self._add_engine(engine)
        for left, result in zip(kernel.yielded.arguments, kernel.outputs, strict=True):
            self.tensors[result] = self._leave(left)

    def _enter(self, kernel: KernelOp) -> None:
        number = self.number
        for tensor, argument in zip(kernel.inputs, kernel.block.args, strict=True):
            if tensor not in self.tensors:
                raise VerificationError(f"kernel @{kernel.sym_name.data} reads what is not made before it")
            value = self.tensors[tensor]
            self.tensors[argument] = value
            if isinstance(argument.type, ITensorType):
                name = load_name(value, number)
                name = name if name not in self.loads else own_load_name(value, number, _first_stream(argument))
                self.loads[name] = Transfer(value, number, itensor_of(argument))
                self.source[argument] = name, value

    def _name_outputs(self, process: ProcessOp) -> bool:
        """Say what the process writes; False where that is not known yet."""
        match process:
            case TaskOp():
                values = [operand.value for operand in process.writes]
            case LoadOp() | RomOp():
                values = [process.value.data]
            case StoreOp():
                self.tensors[process.outputs[0]] = process.value.data
                return True
            case _:
                origin = _uncast(process.inputs[0])
                if origin not in self.source:
                    return False
                values = [self.source[origin][1]] * len(process.written)
        node = c_name(process.process_name)
        self.source |= {made: (node, value) for made, value in zip(process.written, values, strict=True)}
        return True

    def _verify_moves(self, process: ProcessOp) -> None:
        """Where a process says which values it reads, it does."""
        match process:
            case TaskOp():
                said = [operand.value for operand in process.reads]
            case LoadOp() | RomOp() | StoreOp():
                said = [process.value.data]
            case _:
                return
        for label, value in zip(said, process.inputs, strict=True):
            found = self.tensors.get(value) if isinstance(value.type, TensorType) else self._origin(value)[1]
            verify_moved(f"@{process.process_name}", label, found)

    def _origin(self, value: SSAValue) -> tuple[str, str]:
        return self.source[_uncast(value)]

    def _add_edge(self, value: SSAValue, stream: str, reader: str) -> None:
        origin = _uncast(value)
        if isinstance(origin.owner, StreamOp) and origin.owner.stream_name != stream:
            raise VerificationError(
                f"@{reader} reads stream @{origin.owner.stream_name}; a stream is named after its reader: @{stream}"
            )
        source, carried = self._origin(value)
        self.edges[stream] = Edge(carried, source, reader, itensor_of(origin))

    def _add_node(self, process: ProcessOp) -> None:
        name, number = process.process_name, self.number
        match process:
            case LoadOp():
                moved = process.value.data, number, process.streamed, process.packing.data
                self.loads[name] = Transfer(*moved, through=process.shared)
            case RomOp():
                packing = None if process.packing is None else process.packing.data
                self.loads[name] = Transfer(process.value.data, number, process.streamed, packing, resident=True)
            case StoreOp():
                self.stores[name] = Transfer(process.value.data, number, process.streamed, process.packing.data)
            case ConverterOp():
                converter = converter_of(process.source, process.target, process.realisation.data)
                self.converters[name] = Conversion(self._value(process), number, converter)
            case ForkOp():
                self.forks[name] = Fork(self._value(process), number, itensor_of(process.inputs[0]))
            case _:
                pass

    def _add_engine(self, op: EngineOp) -> None:
        self.nodes.append(op.engine_name)
        shared = op.served, op.cut_into, op.joint_inputs, op.side_by_side
        self.engines[op.engine_name] = Engine(self.number, *shared)
        self.engine_depths[op.engine_name] = op.fifo_depths

    def _value(self, process: ProcessOp) -> str:
        return self._origin(process.inputs[0])[1]

    def _leave(self, left: SSAValue) -> str:
        """The value of something that is yielded; where it streams, it is stored."""
        if left in self.tensors:
            return self.tensors[left]
        value = self._origin(left)[1]
        name = store_name(value)
        self.stores[name] = Transfer(value, self.number, itensor_of(left))
        self._add_edge(left, input_stream(name), name)
        return value


def _uncast(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, CastOp):
        value = value.owner.source
    return value


def _streamed_inputs(process: ProcessOp) -> Iterator[tuple[str, SSAValue]]:
    """The streams that a process reads, by the names that follow from it."""
    for index, value in enumerate(process.inputs):
        if not isinstance(value.type, TensorType):
            is_task = isinstance(process, TaskOp)
            name = operand_stream(process.process_name, index) if is_task else input_stream(process.process_name)
            yield name, value


def _first_stream(argument: SSAValue) -> str:
    """The stream that the first task behind an argument reads."""
    use = next(iter(argument.uses), None)
    if use is None or not isinstance(use.operation, TaskOp):
        raise VerificationError("a tensor that enters a kernel several times has a task behind each of its arguments")
    return operand_stream(use.operation.process_name, use.index)
