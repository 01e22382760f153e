"""What a fusion plan costs: bytes that cross the HBM ports, bytes that converters and FIFOs hold on chip.

Both are known before anything is placed: of every edge from the itensors at its two ends. Plans with equal kernels cost
the same, whatever made them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.graph.computed_once import computed_once
from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.options import ConverterRule

Reads = Mapping[tuple[str, int], ITensor | None]
Writes = Mapping[str, ITensor]
Plan = Mapping[str, int]


def _bytes(itensor: ITensor) -> int:
    return -(-itensor.tokens * itensor.width // 8)


@dataclass(frozen=True)
class FusionCosts:
    """Costs of the edges of one tiled network. `reads[op, i]` is what input i of an operation must stream as (None for
    a scalar passed by value), `writes[value]` what its producer makes, `rule` how converters are realised.
    """

    graph: LinalgGraph
    reads: Reads
    writes: Writes
    rule: ConverterRule = "exact"

    @computed_once
    def converter_bytes(self) -> dict[tuple[str, int], int]:
        """On-chip bytes of the converter in front of input i of an operation, when its producer is in its kernel."""
        cost: dict[tuple[str, int], int] = {}
        for op in self.graph.ops:
            for i, operand in enumerate(op.inputs):
                target, source = self.reads[op.name, i], self.writes.get(operand.value)
                if target is not None and source is not None:
                    same = source.same_stream(target)
                    cost[op.name, i] = 0 if same else plan_converter(source, target, self.rule).bits // 8
        return cost

    @computed_once
    def results(self) -> frozenset[str]:
        return frozenset(out.value for out in self.graph.outputs)

    @computed_once
    def once(self) -> dict[str, int]:
        """Bytes of each value that a kernel may read from HBM, once through."""
        sizes = {value: _bytes(itensor) for value, itensor in self.writes.items()}
        for (op, i), itensor in self.reads.items():
            value = self.graph.op[op].inputs[i].value
            if itensor is not None and value not in sizes:
                sizes[value] = _bytes(itensor.without_rereads())
        return sizes

    def stored(self, value: str) -> int:
        """Bytes that are written when `value` leaves its kernel."""
        return self.once[value]

    @computed_once
    def _as_stored(self) -> dict[tuple[str, int], bool]:
        """Whether an input wants its value in the order in which it lies in HBM, re-reads aside."""
        ordered: dict[tuple[str, int], bool] = {}
        for (op, i), wanted in self.reads.items():
            stored = self.writes.get(self.graph.op[op].inputs[i].value)
            ordered[op, i] = wanted is None or stored is None or stored.same_stream(wanted.without_rereads())
        return ordered

    @computed_once
    def alone(self) -> dict[tuple[str, int], int]:
        """Bytes that an input reads from HBM when no other in its kernel reads the same value."""
        return {
            (op, i): _bytes(wanted) if self._as_stored[op, i] else self.once[self.graph.op[op].inputs[i].value]
            for (op, i), wanted in self.reads.items()
            if wanted is not None
        }

    def loaded(self, value: str, readers: Sequence[tuple[str, int]]) -> int:
        """Bytes that a kernel reads of `value`, made elsewhere, for these of its inputs: a lone reader that wants the
        order in which it lies in HBM has it re-read there, all others once (`compiler.analysis.loads`).
        """
        return self.alone[readers[0]] if len(readers) == 1 else self.once[value]

    @computed_once
    def inputs(self) -> dict[str, tuple[tuple[str, int], ...]]:
        """Values that each operation streams, with the number of the input."""
        return {
            op.name: tuple((o.value, i) for i, o in enumerate(op.inputs) if self.reads[op.name, i] is not None)
            for op in self.graph.ops
        }

    def streamed_inputs(self, op: LinalgOp) -> tuple[tuple[str, int], ...]:
        return self.inputs[op.name]

    def external_bytes(self, plan: Plan) -> int:
        """Bytes that all kernels of the plan move through HBM: loads with their re-reads, stores once. O(edges)."""
        readers: dict[tuple[str, int], list[tuple[str, int]]] = {}
        leaving = set(self.results)
        for op in self.graph.ops:
            for value, i in self.streamed_inputs(op):
                source = self.graph.producer.get(value)
                if source is None or plan[source[0].name] != plan[op.name]:
                    readers.setdefault((value, plan[op.name]), []).append((op.name, i))
                    leaving.add(value)
        loads = sum(self.loaded(value, inputs) for (value, _), inputs in readers.items())
        return loads + sum(self.stored(value) for value in leaving if value in self.writes)

    def kernel_bytes(self, plan: Plan) -> list[int]:
        """Converter bytes inside each kernel: what `Knobs.fusion_budget` bounds. O(edges)."""
        held = [0] * (1 + max(plan.values(), default=-1))
        for op in self.graph.ops:
            for value, i in self.streamed_inputs(op):
                source = self.graph.producer.get(value)
                if source is not None and plan[source[0].name] == plan[op.name]:
                    held[plan[op.name]] += self.converter_bytes[op.name, i]
        return held

    @computed_once
    def most_bytes(self) -> int:
        """No plan holds more on chip: every converter, and every value at each of its readers. O(edges)."""
        edges = (value for inputs in self.inputs.values() for value, _ in inputs)
        return sum(self.converter_bytes.values()) + sum(self.once[value] for value in edges)

    def on_chip_bytes(self, plan: Plan) -> int:
        """Converters of all kernels, at their loads too, and FIFOs that hold a whole value where two paths meet again:
        an upper estimate of what fusion keeps on the board. O(edges).
        """
        held = sum(self.kernel_bytes(plan))
        union = _Union()
        for op in self.graph.ops:
            kernel, met = plan[op.name], set[tuple[str, int]]()
            entering: list[tuple[str, int]] = []
            for value, i in self.streamed_inputs(op):
                source = self.graph.producer.get(value)
                if source is None or plan[source[0].name] != kernel:
                    held += self._at_load(value, (op.name, i))
                root = union.find((value, kernel))
                entering += [(value, i)] if root in met else []
                met.add(root)
            held += sum(self.once[value] for value, _ in entering)
            union.join([*met, *((out.value, kernel) for out in op.outputs)])
        return held

    def _at_load(self, value: str, reader: tuple[str, int]) -> int:
        """Bytes of the converter behind a load of an intermediate value; none where only re-reads were missing."""
        return 0 if self._as_stored[reader] or value not in self.writes else self.converter_bytes[reader]


class _Union:
    """Sets of values that undirected paths of streams connect."""

    def __init__(self) -> None:
        self._parent: dict[tuple[str, int], tuple[str, int]] = {}

    def find(self, node: tuple[str, int]) -> tuple[str, int]:
        while (parent := self._parent.get(node, node)) != node:
            self._parent[node] = self._parent.get(parent, parent)
            node = parent
        return node

    def join(self, nodes: list[tuple[str, int]]) -> None:
        root = self.find(nodes[0])
        for node in nodes[1:]:
            self._parent[self.find(node)] = root
