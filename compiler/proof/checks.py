"""Every task against its own operation on what it read, and every tensor against the network (design 3.7).

*Local*: the tokens that a task wrote against what its operation gives for the very tokens that it read; for loads and
stores, against the memory images. Nothing that an earlier task rounded counts, so the bounds are those of one operation
(`compiler.proof.bounded`), and integers and movements are exact.

*Global*: the same tensors against the network, computed in double precision from what it is given. Where the design
has quantised, the network goes on with the design's own integers; these may be a step off where the number before lies
within `NEAR` of a rounding boundary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from compiler.analysis.names import enter_name, leave_name
from compiler.analysis.relays import relays
from compiler.errors import VerificationError
from compiler.frontend.interpret import Array
from compiler.graph.layers import each_name, last_name
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.padded_array import crop_array
from compiler.graph.task_graph import (
    ConverterTask,
    EngineTask,
    ForkTask,
    LoadTask,
    RomTask,
    RouteTask,
    StoreTask,
    Task,
    TaskGraph,
)
from compiler.proof.bounded import Bounded, evaluate, exact
from compiler.proof.memory import Memory
from compiler.proof.ports import OperationPorts, ports_of, routes
from compiler.proof.recording import Recording
from compiler.targets.images import split

NEAR = 1e-4  # of a rounding boundary, in steps of the quantised number
FLIPPED = 1e-3  # share of a tensor that may fall on the other side


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element that is off: where in its tensor, what it is, what it should be, and how far off it may be."""

    index: tuple[int, ...]
    got: float
    expected: float
    allowed: float

    def __str__(self) -> str:
        off = f", {self.allowed:.2g} off is allowed" if self.allowed else ""
        return f"element {list(self.index)} is {self.got:.9g} instead of {self.expected:.9g}{off}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison: of a task's output (`node` empty where it only moves tokens of `value`), local or global.

    `elements` were compared, `wrong` of them are off; `used` is the largest difference of the others as a share of what
    is allowed there, `flipped` counts quantised elements that are a step off at a rounding boundary;
    `note` says why nothing could be compared.
    """

    task: str
    kind: str
    node: str
    value: str
    scope: str
    elements: int
    wrong: int
    used: float
    flipped: int = 0
    first: Difference | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return f"task {self.task}: {self.note}"
        where = f"node {self.node}" if self.node else f"it moves {self.value}"
        against = "its operation" if self.scope == "local" else "the network"
        return f"task {self.task} ({where}) differs from {against} in {self.wrong} of {self.elements}: {self.first}"


@dataclass
class Checks:
    """The findings of one run, in the order in which the tasks pass data on.

    `network` are the values of the network so far; what was given to readers makes no network of it.
    """

    graph: LinalgGraph
    tasks: TaskGraph
    recording: Recording
    memory: Memory
    network: dict[str, Bounded] = field(default_factory=dict[str, Bounded])

    def run(self) -> Iterator[Finding]:
        """Compare all tasks; an operation of an engine as soon as the network has come to what it reads."""
        waiting: list[OperationPorts] = []
        for task in self.tasks.tasks:
            waiting += map(self._of_launch, ports_of(task, self.tasks))
            if not task.operations:
                yield from self._checked(task, self._moving(task))
            while (ready := next(filter(self._is_ready, waiting), None)) is not None:
                waiting.remove(ready)
                yield from self._checked(ready.task, self._operation(ready))
        for ports in waiting:  # of what they read, something has been found wrong
            yield from self._checked(ports.task, self._operation(ports))

    def _of_launch(self, ports: OperationPorts) -> OperationPorts:
        """The operation in all layers: an engine is told those of one, and repeats its turns."""
        turning = self.graph.layers is not None and isinstance(ports.task, EngineTask)
        return replace(ports, op=self.graph.op[ports.op.name]) if turning else ports

    def _is_ready(self, ports: OperationPorts) -> bool:
        known = self.network, self.memory.scalars
        return self.recording.given or all(any(o.value in values for values in known) for o in ports.op.inputs)

    def _checked(self, task: Task, findings: Iterator[Finding]) -> Iterator[Finding]:
        try:
            yield from findings
        except VerificationError as error:
            yield Finding(task.name, task.kind, "", "", "local", 0, 1, 0.0, note=str(error))

    def _operation(self, ports: OperationPorts) -> Iterator[Finding]:
        read, written = self._inputs(ports), [self.recording.written(stream) for stream in ports.writes]
        expected = evaluate(ports.op, self.graph, [exact(a) for a in read])
        yield from self._found(ports.task, ports.op, "local", written, expected)
        if not self.recording.given:
            yield from self._in_network(ports, read, written, expected)

    def _moving(self, task: Task) -> Iterator[Finding]:
        if task.name in self._routes:  # checked with the operations whose tokens it passes on
            return
        recording = self.recording
        written = [recording.written(a.stream) for a in task.writes]
        match task:
            case LoadTask():
                if not recording.given:  # memory is the same in every run
                    yield from self._loaded(task, written)
            case RomTask():
                if not recording.given:
                    self.network.setdefault(task.value, exact(written[0]))
                    held = self.memory.held(self.graph.value[task.value], written[0])
                    yield self._moved(task, task.value, written[0], held)
            case StoreTask():
                read = recording.read(task.reads[0].stream)
                yield self._moved(task, task.dma.value, self.memory.stored(task, read), read)
            case RouteTask() if not relays(task):
                yield from self._between_layers(task, written)
            case ForkTask() | ConverterTask() | RouteTask():
                read = recording.read(task.reads[0].stream)
                for access, array in zip(task.writes, written, strict=True):
                    yield self._moved(task, access.stream, array, read)
            case _:
                raise VerificationError(f"a task of kind {task.kind} has no check")

    def _loaded(self, task: LoadTask, written: Sequence[Array]) -> Iterator[Finding]:
        """What is in memory; of a joint load that writes several streams, what each of them should get."""
        value, joint = self.memory.loaded(task), task.dma.joint
        tensors = split(value, joint)
        for name, tensor in zip(task.dma.values, tensors, strict=True):
            self.network.setdefault(name, exact(tensor))
        names, expected = [task.dma.value], [value]
        if joint is not None and joint.words:
            ends = np.cumsum([dma.words * dma.port_bits // 8 for dma in joint.packed])
            names, expected = list(joint.values), np.split(value.reshape(-1), ends[:-1])
        elif joint is not None and joint.packed:
            names, expected = list(joint.values), tensors
        for name, got, wanted in zip(names, written, expected, strict=True):
            yield self._moved(task, name, got, wanted.reshape(got.shape))

    def _between_layers(self, task: RouteTask, written: Sequence[Array]) -> Iterator[Finding]:
        """What closes the loop over layers: the first one's input, then what the others get, as one; or the reverse.
        The network goes on with that, so that what a layer is off counts for itself alone.
        """
        read, carried = [self.recording.read(a.stream) for a in task.reads], self.graph.carried
        if len(written) > 1:
            expected = [read[0][:-1], read[0][-1]]
            self.network |= {last_name(c.made): exact(written[1]) for c in carried if leave_name(c.made) == task.name}
        else:
            expected = [np.concatenate([read[0][np.newaxis], read[1]])]
            self.network |= {each_name(c.read): exact(written[0]) for c in carried if enter_name(c.read) == task.name}
        for access, got, wanted in zip(task.writes, written, expected, strict=True):
            yield self._moved(task, access.stream, got, wanted)

    @cached_property
    def _routes(self) -> set[str]:
        return routes(self.tasks)

    def _inputs(self, ports: OperationPorts) -> list[Array]:
        """What the operation read, in the order of its inputs."""
        passed, scalars = iter(ports.reads), self.memory.scalars
        return [
            scalars[o.value] if o.value in scalars else self.recording.passed(next(passed)) for o in ports.op.inputs
        ]

    def _in_network(
        self, ports: OperationPorts, read: Sequence[Array], written: Sequence[Array], local: list[Bounded]
    ) -> Iterator[Finding]:
        op = ports.op
        for operand in op.inputs:
            if operand.value in self.memory.scalars:
                self.network[operand.value] = exact(self.memory.passed(operand.value))
            elif operand.value not in self.network:
                return  # what makes it has been found wrong
        given = [self.network[o.value] for o in op.inputs]
        same = all(g.error is None and np.array_equal(g.value, r) for g, r in zip(given, read, strict=True))
        expected = local if same else evaluate(op, self.graph, given, NEAR)
        quantises = op.kind == "generic" and written[0].dtype == np.int8 and not same
        likely = evaluate(op, self.graph, given, 0.0) if quantises else None
        yield from self._found(ports.task, op, "global", written, expected, likely)
        integers = np.issubdtype(written[0].dtype, np.integer)
        for operand, array, value in zip(op.outputs, written, expected, strict=True):
            self.network[operand.value] = exact(array) if integers else value

    def _found(
        self,
        task: Task,
        op: LinalgOp,
        scope: str,
        written: Sequence[Array],
        expected: Sequence[Bounded],
        likely: Sequence[Bounded] | None = None,
    ) -> Iterator[Finding]:
        for number, (operand, got, wanted) in enumerate(zip(op.outputs, written, expected, strict=True)):
            shape = self.graph.value[operand.value].true_shape
            got, wanted = crop_array(got, shape), wanted.map(lambda a, s=shape: crop_array(a, s))
            wrong, used, first = compare_bounded(got, wanted)
            flipped = 0
            if likely is not None:
                flipped = int(np.count_nonzero(got != crop_array(likely[number].value, shape)))
                wrong = max(wrong, flipped) if flipped > max(1, FLIPPED * got.size) else wrong
            yield Finding(task.name, _kind(op), op.name, operand.value, scope, got.size, wrong, used, flipped, first)

    def _moved(self, task: Task, value: str, got: Array, expected: Array) -> Finding:
        wrong, used, first = compare_bits(got, expected)
        return Finding(task.name, task.kind, "", value, "local", got.size, wrong, used, 0, first)


def compare_bounded(got: Array, expected: Bounded) -> tuple[int, float, Difference | None]:
    """How many elements of `got` are further off than allowed, the largest share of what is allowed that the others
    use, and the first that is off.
    """
    made, value = got.astype(np.float64), expected.value
    if expected.error is None and np.array_equal(made, value):
        return 0, 0.0, None
    with np.errstate(all="ignore"):
        off = np.abs(made - value)
        same = (made == value.astype(np.float32)) | (np.isnan(made) & np.isnan(value))  # infinite on both sides
        allowed = expected.bound
        wrong = ~(same | (off <= allowed) | ~np.isfinite(allowed))
        shares = np.where(same | ~np.isfinite(allowed) | (allowed == 0), 0, off / allowed)
    used = float(shares[~wrong].max(initial=0))
    if not wrong.any():
        return 0, used, None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    first = Difference(index, *(float(array[index]) for array in (made, value, np.broadcast_to(allowed, off.shape))))
    return int(np.count_nonzero(wrong)), used, first


def compare_bits(got: Array, expected: Array) -> tuple[int, float, Difference | None]:
    """The same for what is only moved: bit by bit."""
    same = _bits(got) == _bits(expected)
    if same.all():
        return 0, 0.0, None
    index = tuple(int(i) for i in np.argwhere(~same)[0])
    first = Difference(index, float(got[index]), float(expected[index]), 0.0)
    return int(np.count_nonzero(~same)), 0.0, first


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def _kind(op: LinalgOp) -> str:
    if op.kind != "generic":
        return op.kind
    if op.is_contraction:
        return "contraction"
    return "elementwise" if op.reduction is None else "reduction"


def summary(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """By scope and kind: how many tasks and elements, how many tasks are wrong, and the largest difference of what is
    right as a share of what is allowed.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for found in findings:
        groups.setdefault((found.scope, found.kind), []).append(found)
    return [
        {
            "scope": scope,
            "kind": kind,
            "tasks": len({f.task for f in group}),
            "elements": sum(f.elements for f in group),
            "wrong": len({f.task for f in group if f.wrong}),
            "used": max(f.used for f in group),
            "flipped": sum(f.flipped for f in group),
        }
        for (scope, kind), group in groups.items()
    ]
