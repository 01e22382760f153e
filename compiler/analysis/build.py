"""LinalgGraph + knobs -> TaskGraph: what the search evaluates, with no IR built on the way.

The passes of `compiler/transforms` build the same accelerator as IR; a property test holds that both are the same
graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.analysis.boundary import carries_of, stored_inputs
from compiler.analysis.depths import with_depths
from compiler.analysis.fusion import plan_fusion, read_itensors, write_itensors
from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.loads import load_channels, loaded_itensor
from compiler.analysis.names import (
    c_name,
    converter_name,
    fork_name,
    input_stream,
    load_name,
    operand_stream,
    shared_fork_name,
    store_name,
)
from compiler.analysis.order import order_streams, order_tasks
from compiler.analysis.padding import pad
from compiler.analysis.tasks import (
    converter_task,
    fork_task,
    load_task,
    plan_dma,
    store_task,
    structured_task,
)
from compiler.analysis.tiling import plan_nests
from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor, StreamKey
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform


@dataclass(frozen=True, slots=True)
class _Target:
    """A reader of a value in one kernel: task, its stream, and the itensor it wants (None: as it comes)."""

    task: str
    stream: str
    itensor: ITensor | None


def _sharing(streamed: ITensor, targets: Sequence[_Target]) -> list[list[_Target]]:
    """Readers that want one stream in equal order, other than as it comes, are together: they share a converter."""
    groups: list[list[_Target]] = []
    by_stream: dict[StreamKey, list[_Target]] = {}
    for target in targets:
        if target.itensor is None or target.itensor.same_stream(streamed):
            groups.append([target])
        elif group := by_stream.setdefault(target.itensor.key, []):
            group.append(target)
        else:
            group.append(target)
            groups.append(group)
    return groups


@dataclass
class _Builder:
    graph: LinalgGraph
    knobs: Knobs
    platform: Platform
    tasks: list[Task] = field(default_factory=list[Task])
    streams: list[Stream] = field(default_factory=list[Stream])

    def __post_init__(self) -> None:
        self.graph = pad(self.graph, self.knobs)
        self.nests = plan_nests(self.graph, self.knobs)
        self.reads = read_itensors(self.graph, self.nests)
        self.writes = write_itensors(self.graph, self.nests)
        self.kernel_of = plan_fusion(
            FusionCosts(self.graph, self.reads, self.writes, self.knobs.converters),
            self.knobs.fusion_plan,
            self.knobs.fusion_budget,
            self.platform.on_chip_bytes,
        )
        self.stored = stored_inputs(self.graph, self.writes)
        self.results = {out.value for out in self.graph.outputs}
        self.port_bits = self.platform.hbm.port_bits

    def build(self) -> TaskGraph:
        kernels = 1 + max(self.kernel_of.values(), default=0)
        for kernel in range(kernels):
            loaded: set[str] = set()
            for op in self.graph.ops:
                if self.kernel_of[op.name] == kernel:
                    self._load_inputs(op, kernel, loaded)
                    self._add_op(op, kernel)
        tasks = order_tasks(self.tasks, self.streams)
        carries = carries_of(self.graph.outputs, self.graph.values, tasks)
        design = TaskGraph(self.graph.name, kernels, tasks, order_streams(tasks, self.streams), carries)
        return with_depths(design, self.knobs.fifo, self.knobs.prefetch_kib, self.platform)

    def _load_inputs(self, op: LinalgOp, kernel: int, loaded: set[str]) -> None:
        for operand in op.inputs:
            value = self.graph.value[operand.value]
            made_here = value.name in self.writes and self.kernel_of[self.graph.producer[value.name][0].name] == kernel
            if value.role != "scalar" and not made_here and value.name not in loaded:
                loaded.add(value.name)
                self._add_load(value.name, kernel)

    def _add_load(self, value: str, kernel: int) -> None:
        targets = self._targets(value, kernel)
        wanted = [t.itensor for t in targets if t.itensor is not None]
        streamed = loaded_itensor(self.writes.get(value, self.stored.get(value)), wanted, self.port_bits)
        name = load_name(value, kernel)
        dma = plan_dma(value, streamed, load_channels(self.graph, value, self.knobs.hbm_channels), self.port_bits)
        write = self._connect(value, kernel, name, streamed, targets)
        self.tasks.append(load_task(name, kernel, streamed, dma, write, self.platform))

    def _targets(self, value: str, kernel: int) -> list[_Target]:
        targets = [
            _Target(c_name(op.name), operand_stream(op.name, i), self.reads[op.name, i])
            for op, i in self.graph.consumers[value]
            if self.kernel_of[op.name] == kernel
        ]
        made_here = value in self.writes and self.kernel_of[self.graph.producer[value][0].name] == kernel
        leaves = any(self.kernel_of[op.name] != kernel for op, _ in self.graph.consumers[value])
        if made_here and (leaves or value in self.results):
            store = store_name(value)
            targets.append(_Target(store, input_stream(store), None))
        return targets

    def _connect(self, value: str, kernel: int, source: str, streamed: ITensor, targets: list[_Target]) -> str:
        """Wire `source` to its readers through a fork and converters as needed; returns the stream it writes."""
        groups = [targets] if len(targets) == 1 else _sharing(streamed, targets)
        if len(groups) == 1:
            return self._group(value, kernel, source, streamed, groups[0])
        fork = fork_name(value, kernel)
        return self._fork(
            fork, kernel, source, streamed, [self._group(value, kernel, fork, streamed, g) for g in groups]
        )

    def _fork(self, name: str, kernel: int, source: str, streamed: ITensor, branches: list[str]) -> str:
        read = input_stream(name)
        self.tasks.append(fork_task(name, kernel, streamed, read, branches))
        self.streams.append(Stream(read, source, name, streamed))
        return read

    def _group(self, value: str, kernel: int, source: str, streamed: ITensor, group: list[_Target]) -> str:
        """Readers of one stream: behind one converter, then a fork, where there are several."""
        first, made = group[0], group[0].itensor
        if len(group) == 1 or made is None:
            return self._branch(value, kernel, source, streamed, first)
        fork = shared_fork_name(value, first.stream)
        for target in group:
            self.streams.append(Stream(target.stream, fork, target.task, made))
        read = self._fork(fork, kernel, converter_name(value, first.stream), made, [t.stream for t in group])
        return self._convert(value, kernel, source, streamed, made, first, read)

    def _convert(
        self, value: str, kernel: int, source: str, streamed: ITensor, made: ITensor, first: _Target, write: str
    ) -> str:
        """The converter in front of `first`, which writes stream `write`; returns the stream that it reads."""
        name = converter_name(value, first.stream)
        read = input_stream(name)
        converter = plan_converter(streamed, made, self.knobs.converters)
        self.tasks.append(converter_task(name, kernel, converter, read, write))
        self.streams.append(Stream(read, source, name, streamed))
        return read

    def _branch(self, value: str, kernel: int, source: str, streamed: ITensor, target: _Target) -> str:
        if target.itensor is None:
            dma = plan_dma(value, streamed, 1, self.port_bits)
            self.tasks.append(store_task(target.task, kernel, streamed, dma, target.stream))
        elif not streamed.same_stream(target.itensor):
            name = converter_name(value, target.stream)
            self.streams.append(Stream(target.stream, name, target.task, target.itensor))
            return self._convert(value, kernel, source, streamed, target.itensor, target, target.stream)
        self.streams.append(Stream(target.stream, source, target.task, streamed))
        return target.stream

    def _add_op(self, op: LinalgOp, kernel: int) -> None:
        nest = self.nests[op.name]
        task = c_name(op.name)
        writes = [
            self._connect(out.value, kernel, task, self.writes[out.value], self._targets(out.value, kernel))
            for out in op.outputs
        ]
        reads = [None if self.reads[op.name, i] is None else operand_stream(op.name, i) for i in range(len(op.inputs))]
        shapes = [self.graph.value[operand.value].shape for operand in op.inputs]
        self.tasks.append(
            structured_task(op, nest, kernel, reads, shapes, writes, self.knobs.multiplier, self.platform)
        )


def build_task_graph(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> TaskGraph:
    """The accelerator of `graph` with `knobs` on `platform`. O(operations x log(unroll) + streams).

    Raises InvalidInputError where an override does not fit its operation.
    """
    return _Builder(graph, knobs, platform).build()
