"""Who reads what from whom: a port and a reader that wants another order have a converter between them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from compiler.analysis.names import (
    c_name,
    converter_name,
    input_stream,
    layer_streams,
    load_name,
    operand_stream,
    own_load_name,
    store_name,
)
from compiler.analysis.rows import Kept, kept_rows, row_itensor, row_loops
from compiler.graph.converter import plan_converter
from compiler.graph.design import Conversion, Design, Edge, Transfer
from compiler.graph.itensor import ITensor
from compiler.options import ConverterRule


@dataclass
class Wiring:
    """Edges and converters as they are made; `rule` is how converters are realised."""

    rule: ConverterRule
    converters: dict[str, Conversion] = field(default_factory=dict[str, Conversion])
    edges: dict[str, Edge] = field(default_factory=dict[str, Edge])

    def join(self, stream: str, edge: Edge, wanted: ITensor, kernel: int, *, again: bool = False) -> None:
        """Let the reader of `stream` have `edge` as `wanted`. `again`: it is read again for rows that stay in memory,
        of which a launch has more or fewer.
        """
        if edge.itensor.same_stream(wanted):
            self.edges[stream] = edge
            return
        name = converter_name(edge.value, stream)
        converter = plan_converter(edge.itensor, wanted, self.rule, in_turn=again)
        self.converters[name] = Conversion(edge.value, kernel, converter)
        self.edges[input_stream(name)] = Edge(edge.value, edge.source, name, edge.itensor)
        self.edges[stream] = Edge(edge.value, name, edge.target, wanted)


def connected(design: Design, rule: ConverterRule) -> Design:
    """`design` with the streams of its kernels: on chip between operations of one kernel, from and to HBM elsewhere.

    Every input that comes from HBM has a load of its own, which streams as the input wants. What is a row of a state
    is stored as that is read. O(operands).
    """
    graph, kernel_of, wiring = design.graph, design.kernel_of, Wiring(rule)
    kept, rows = kept_rows(graph), row_loops(graph)
    loads: dict[str, Transfer] = {}
    stores: dict[str, Transfer] = {}
    leaving = {out.value for out in graph.outputs}
    entering = dict(_entering(design, wiring))
    for op in graph.ops:
        kernel = kernel_of[op.name]
        for i, operand in enumerate(op.inputs):
            wanted, value, stream = design.reads[op.name, i], operand.value, operand_stream(op.name, i)
            if wanted is None:
                continue
            producer, _ = graph.producer.get(value, (None, 0))
            if producer is not None and kernel_of[producer.name] == kernel:
                source, made = entering.get(value, (c_name(producer.name), design.writes[value]))
                edge = Edge(value, source, c_name(op.name), made)
                again = op.kind == "generic" and op.name in rows and rows[op.name] not in operand.dims
                wiring.join(stream, edge, wanted, kernel, again=again)
                continue
            leaving.add(value)
            name = load_name(value, kernel)
            name = name if name not in loads else own_load_name(value, kernel, stream)
            loads[name] = Transfer(value, kernel, wanted)
            wiring.edges[stream] = Edge(value, name, c_name(op.name), wanted)
    for op in graph.ops:
        for out in op.outputs:
            if out.value in leaving:
                name, made = store_name(out.value), design.writes[out.value]
                edge, kernel = Edge(out.value, c_name(op.name), name, made), kernel_of[op.name]
                wanted = _as_kept(design, kept[out.value]) if out.value in kept else made
                stores[name] = Transfer(out.value, kernel, wanted)
                wiring.join(input_stream(name), edge, wanted, kernel)
    return replace(design, loads=loads, stores=stores, converters=wiring.converters, edges=wiring.edges)


def _entering(design: Design, wiring: Wiring) -> Iterator[tuple[str, tuple[str, ITensor]]]:
    """Values that are made in front of layers in another order than that in which these hand them on: what brings them
    into the first layer in that order.
    """
    graph, writes = design.graph, design.writes
    for made, read in graph.carried:
        if read not in graph.producer or writes[read].same_stream(writes[made]):
            continue
        producer, kernel = (design.kernel_of[graph.producer[value][0].name] for value in (read, made))
        if producer != kernel:  # through HBM, until all is one kernel
            continue
        source, name = c_name(graph.producer[read][0].name), converter_name(read, layer_streams(made, read)[0])
        wiring.converters[name] = Conversion(read, kernel, plan_converter(writes[read], writes[made], wiring.rule))
        wiring.edges[input_stream(name)] = Edge(read, source, name, writes[read])
        yield read, (name, writes[made])


def _as_kept(design: Design, kept: Kept) -> ITensor:
    state = design.reads[kept.op.name, kept.operand]
    assert state is not None
    return row_itensor(state, kept.axis)
