"""Design -> module: what the passes have decided so far, as IR (design section 3, representation 3).

Operations are tasks on tensors; on itensors between the ports of kernels; with loads and stores that move words; on
FIFOs: whichever the design has come to.
"""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from compiler.analysis.engines import engine_streams
from compiler.analysis.names import c_name, input_stream, layer_streams, operand_stream
from compiler.dialects.dataflow_attributes import OutputAttr, PackingAttr, ValueAttr, ValueInfo
from compiler.dialects.dataflow_die import DieOp
from compiler.dialects.dataflow_dma import LoadOp, StoreOp, dma_properties
from compiler.dialects.dataflow_engine import EngineOp
from compiler.dialects.dataflow_kernel import OUTPUT_ATTRIBUTE, VALUE_ATTRIBUTE, KernelOp, YieldOp
from compiler.dialects.dataflow_layers import LayersOp
from compiler.dialects.dataflow_rom import RomOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.element_types import tensor_type
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp, ForkOp
from compiler.dialects.itensor_stream import StreamOp
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp
from compiler.dialects.realisation_attribute import RealisationAttr
from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgOp


def design_text(design: Design, when: str) -> str:
    """The IR as text that a person can read and `read_design` takes back. Raises VerificationError that says `when` the
    IR was not valid.
    """
    try:
        module = write_design(design)
        module.verify()
    except DiagnosticException as error:
        raise VerificationError(f"the IR is not valid {when}: {error}") from error
    return module_text(module)


def module_text(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return f"{stream.getvalue()}\n"


def write_design(design: Design) -> ModuleOp:
    """The module of a design: one function, of which arguments are what the network is given and results its outputs.
    O(operations + streams).
    """
    graph = design.graph
    arguments = [value for value in graph.values if value.role != "intermediate"]
    types = {value.name: tensor_type(value.shape, value.dtype) for value in graph.values}
    infos = [ValueAttr(ValueInfo(v.name, v.role, v.source, v.valid, v.sources, v.row)) for v in arguments]
    function = FuncOp(
        graph.name,
        ([types[value.name] for value in arguments], [types[out.value] for out in graph.outputs]),
        arg_attrs=_entries(VALUE_ATTRIBUTE, infos),
        res_attrs=_entries(OUTPUT_ATTRIBUTE, [OutputAttr(out) for out in graph.outputs]),
    )
    tensors: dict[str, SSAValue] = {value.name: arg for value, arg in zip(arguments, function.args, strict=True)}
    block = function.body.block
    if design.kernel_of:
        block.add_ops(_KernelWriter(design, number, tensors).write() for number in range(design.kernels))
    else:
        block.add_ops(_tasks_on_tensors(design, tensors, types))
    for name, ssa in tensors.items():
        _call(ssa, name)
    if graph.layers is not None:
        streams = (name for carried in graph.layers.carried for name in layer_streams(*carried))
        block.add_op(LayersOp(graph.layers, [design.depths[name] for name in streams if name in design.depths]))
    block.add_ops(DieOp(die, held) for die, held in _by_die(design).items())
    block.add_op(ReturnOp(*(tensors[out.value] for out in graph.outputs)))
    return ModuleOp([function])


def _by_die(design: Design) -> dict[str, list[str]]:
    """Tasks of each die, dies by name."""
    found: dict[str, list[str]] = {die: [] for die in sorted(set(design.dies.values()))}
    for task, die in design.dies.items():
        found[die].append(task)
    return found


def _entries(name: str, attributes: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(DictionaryAttr({name: attribute}) for attribute in attributes)


def _call(ssa: SSAValue, name: str) -> None:
    """Let the printer call a value by `name`, where that is a name in MLIR."""
    ssa.name_hint = c_name(name) if SSAValue.is_valid_name(c_name(name)) else None


def _tasks_on_tensors(design: Design, tensors: dict[str, SSAValue], types: Mapping[str, Attribute]) -> Iterator[TaskOp]:
    for op in design.graph.ops:
        inputs = [tensors[operand.value] for operand in op.inputs]
        task = TaskOp.of(op, design.nests.get(op.name), None, inputs, (), [types[out.value] for out in op.outputs])
        tensors |= {out.value: result for out, result in zip(op.outputs, task.outputs, strict=True)}
        yield task


class _KernelWriter:
    """Writes one kernel. `tensors` are the values in HBM so far, to which what it stores is added."""

    def __init__(self, design: Design, number: int, tensors: dict[str, SSAValue]) -> None:
        self.design, self.number, self.tensors = design, number, tensors
        self.ops = [op for op in design.graph.ops if design.kernel_of[op.name] == number]
        self.loads = {name: load for name, load in design.loads.items() if load.kernel == number}
        self.stores = {name: store for name, store in design.stores.items() if store.kernel == number}
        self.converters = {name: c for name, c in design.converters.items() if c.kernel == number}
        self.forks = {name: fork for name, fork in design.forks.items() if fork.kernel == number}
        self.block = Block()
        self.fifos: dict[str, SSAValue] = {}
        self.ports: dict[tuple[str, str], Sequence[SSAValue]] = {}  # of the nodes that are written, on itensors

    def write(self) -> KernelOp:
        memories = {name: self._enter(name) for name in self.loads}
        scalars = dict.fromkeys(
            o.value for op in self.ops for i, o in enumerate(op.inputs) if self.design.reads[op.name, i] is None
        )
        self.scalars = {value: self._argument(self.tensors[value].type, value) for value in scalars}
        nodes = {*self.loads, *self.stores, *self.converters, *self.forks, *(c_name(op.name) for op in self.ops)}
        if self.design.depths:
            self._make_fifos(nodes)
        for name, load in self.loads.items():
            if load.resident:
                held: dict[str, Attribute] = {"value": StringAttr(load.value)}
                held |= {} if load.packing is None else {"packing": PackingAttr(load.packing)}
                self._process(RomOp, name, [memories[name]], load.value, load.itensor, held)
            elif load.packing is not None:
                properties = dma_properties(load.value, load.packing)
                properties |= {"through": StringAttr(load.through)} if load.through else {}
                self._process(LoadOp, name, [memories[name]], load.value, load.itensor, properties)
        for op in self.ops:
            self._task(op)
        for name in (*self.converters, *self.forks):
            self._adapter(name)
        leaving = [self._leave(name) for name in self.stores]
        self._declare_fifos()
        self.block.add_ops(self._engines())
        self.block.add_op(YieldOp(*leaving))
        values = [self.design.graph.value[store.value] for store in self.stores.values()]
        inputs = [self.tensors[load.value] for load in self.loads.values()] + [self.tensors[v] for v in scalars]
        kernel = KernelOp(f"kernel{self.number}", inputs, self.block, [tensor_type(v.shape, v.dtype) for v in values])
        self.tensors |= {v.name: result for v, result in zip(values, kernel.outputs, strict=True)}
        return kernel

    def _engines(self) -> Iterator[EngineOp]:
        for name, engine in self.design.engines.items():
            if engine.kernel == self.number:
                depths, streams = self.design.depths, engine_streams(name, engine, self.design.graph, self.design.nests)
                fifos = [depths[s] for s in streams if s in depths]
                shared = engine.turns, engine.slices, engine.joint, engine.rows
                yield EngineOp(name, *shared, fifos)

    def _argument(self, type_: Attribute, name: str) -> SSAValue:
        argument = self.block.insert_arg(type_, len(self.block.args))
        _call(argument, name)
        return argument

    def _enter(self, name: str) -> SSAValue:
        """The argument of a load: the tensor, or before it is said how that comes what it streams."""
        load = self.loads[name]
        if load.resident or load.packing is not None:
            return self._argument(self.tensors[load.value].type, load.value)
        argument = self._argument(ITensorType(load.itensor), load.value)
        self.ports[name, load.value] = [argument]
        return argument

    def _make_fifos(self, nodes: set[str]) -> None:
        for name, edge in self.design.edges.items():
            if edge.source in nodes:
                stream = StreamOp(name, edge.itensor, self.design.depths[name], self.design.reasons.get(name))
                self.fifos[name] = stream.stream
                _call(stream.stream, name)

    def _declare_fifos(self) -> None:
        """In front of everything, in the order of their writers."""
        written = [stream for op in self.block.ops if isinstance(op, ProcessOp) for stream in op.streams]
        made = [stream.owner for stream in written if isinstance(stream.owner, StreamOp)]
        if made and self.block.first_op is not None:
            self.block.insert_ops_before(made, self.block.first_op)

    def _read(self, stream: str, wanted: ITensor) -> SSAValue:
        """What the reader of a stream sees: its FIFO, or the value that it carries, cast to the text that it wants."""
        edge = self.design.edges[stream]
        self._adapter(edge.source)
        if self.fifos:
            return self.fifos[stream]
        made = self.ports[edge.port]
        value = made[self.design.leaving[edge.port].index(stream) if edge.source in self.forks else 0]
        if edge.itensor == wanted:
            return value
        cast = CastOp(value, ITensorType(wanted))
        self.block.add_op(cast)
        _call(cast.result, edge.value)
        return cast.result

    def _process(
        self,
        kind: type[ProcessOp],
        node: str,
        inputs: Sequence[SSAValue],
        value: str,
        itensor: ITensor,
        properties: dict[str, Attribute],
    ) -> None:
        """A node that writes one value: to FIFOs, or as a result a copy."""
        streams = self.design.leaving.get((node, value), [])
        copies = len(streams) if kind is ForkOp else 1
        process = kind.build(
            operands=[inputs, [self.fifos[s] for s in streams] if self.fifos else []],
            result_types=[[] if self.fifos else [ITensorType(itensor)] * copies],
            properties={"sym_name": StringAttr(node), **properties},
        )
        self._keep(process, {value: process.outputs})
        self.block.add_op(process)

    def _keep(self, process: ProcessOp, made: dict[str, Sequence[SSAValue]]) -> None:
        for value, results in made.items():
            self.ports[c_name(process.process_name), value] = results
            for result in results:
                _call(result, value)

    def _task(self, op: LinalgOp) -> None:
        design, node = self.design, c_name(op.name)
        wanted = [design.reads[op.name, i] for i in range(len(op.inputs))]
        inputs = [
            self.scalars[o.value] if itensor is None else self._read(operand_stream(op.name, i), itensor)
            for i, (o, itensor) in enumerate(zip(op.inputs, wanted, strict=True))
        ]
        outputs = [out.value for out in op.outputs]
        streams = [self.fifos[s] for v in outputs for s in design.leaving[node, v]] if self.fifos else []
        results = [] if self.fifos else [ITensorType(design.writes[v]) for v in outputs]
        task = TaskOp.of(op, design.nests[op.name], design.multipliers.get(op.name), inputs, streams, results)
        self._keep(task, {value: [result] for value, result in zip(outputs, task.outputs, strict=False)})
        self.block.add_op(task)

    def _adapter(self, node: str) -> None:
        """The converter or fork `node`, if it is one, and is not there yet."""
        if (fork := self.forks.get(node)) is not None and (node, fork.value) not in self.ports:
            self._process(ForkOp, node, [self._read(input_stream(node), fork.itensor)], fork.value, fork.itensor, {})
        if (made := self.converters.get(node)) is not None and (node, made.value) not in self.ports:
            source, target = made.converter.source, made.converter.target
            how: dict[str, Attribute] = {"realisation": RealisationAttr.new(made.converter.realisation)}
            self._process(ConverterOp, node, [self._read(input_stream(node), source)], made.value, target, how)

    def _leave(self, name: str) -> SSAValue:
        store = self.stores[name]
        source = self._read(input_stream(name), store.itensor)
        if store.packing is None:
            return source
        value = self.design.graph.value[store.value]
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name), **dma_properties(store.value, store.packing)}
        process = StoreOp.build(
            operands=[[source], []], result_types=[[tensor_type(value.shape, value.dtype)]], properties={**properties}
        )
        self.block.add_op(process)
        _call(process.outputs[0], store.value)
        return process.outputs[0]
