"""materialize-dmas: what enters and leaves a kernel becomes load and store processes that move words of HBM (paper
"Materialization", "pack" and "widen").

The order in memory needs no decision: it is that of the itensor, without what is read again. Weights are packed when
the design is compiled, other inputs by the host; an output that the next run reads is stored as that run loads it.
"""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.loads import load_channels
from compiler.analysis.tasks import plan_packing
from compiler.graph.design import Design
from compiler.passes.base import Pass


class MaterializeDmas(Pass):
    """Give every load and store its packing: weights and the KV cache come through up to `hbm_channels` ports,
    everything else through one.

    Assumes that what enters a kernel streams as it is loaded (`plan-loads`).
    """

    name = "materialize-dmas"
    options = ("hbm_channels",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        graph, bits, most = design.graph, design.platform.hbm.port_bits, self.knobs.hbm_channels
        loads = {
            name: load._replace(packing=plan_packing(load.itensor, load_channels(graph, load.value, most), bits))
            for name, load in design.loads.items()
        }
        stores = {
            name: store._replace(packing=plan_packing(store.itensor, 1, bits)) for name, store in design.stores.items()
        }
        return replace(design, loads=loads, stores=stores)
