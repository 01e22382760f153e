"""plan-loads: every tensor enters a kernel once, in an order that its memory image allows."""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.boundary import stored_inputs
from compiler.analysis.connect import Wiring
from compiler.analysis.loads import loaded_itensor
from compiler.analysis.names import load_name
from compiler.graph.design import Design, Edge, Transfer
from compiler.graph.itensor import ITensor
from compiler.passes.base import Pass


class PlanLoads(Pass):
    """Merge the loads of one tensor in a kernel, and load it in the order in which it lies in HBM wherever another
    order would not read whole words; converters restore what each reader wants. An input that is an output of the last
    run is loaded as that is stored, one that enters the first layer as layers hand it on, which is never again.

    Assumes that every load has one reader.
    """

    name = "plan-loads"
    options = ("converters",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        handed_on = {read: design.writes[made] for made, read in design.graph.carried}
        lies = {**stored_inputs(design.graph, design.writes), **design.writes}
        wanted: dict[tuple[str, int], list[ITensor]] = {}
        for edge in design.edges.values():
            if (load := design.loads.get(edge.source)) is not None:
                wanted.setdefault((load.value, load.kernel), []).append(edge.itensor)
        bits = design.platform.hbm.port_bits
        found = {
            key: handed_on.get(key[0]) or loaded_itensor(lies.get(key[0]), itensors, bits)
            for key, itensors in wanted.items()
        }
        loads = {load_name(*key): Transfer(*key, itensor) for key, itensor in found.items()}
        wiring = Wiring(self.knobs.converters, dict(design.converters))
        for name, edge in design.edges.items():
            if (load := design.loads.get(edge.source)) is None:
                wiring.edges[name] = edge
                continue
            merged = load_name(load.value, load.kernel)
            made = Edge(edge.value, merged, edge.target, loads[merged].itensor)
            wiring.join(name, made, edge.itensor, load.kernel)
        return replace(design, loads=loads, converters=wiring.converters, edges=wiring.edges)
