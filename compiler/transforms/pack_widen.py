"""pack-widen: settle how every tensor lies in HBM, in the order of its stream and in words as wide as the ports.

    %y = dataflow.kernel @k (%a : !itensor.itensor<1x4xf32, ...> = %x : tensor<8x8xf32>) ...

becomes

    %y = dataflow.kernel @k (%a : ... = %x : tensor<8x8xf32>
           packing<channels: 1, tokens_per_word: 4, words_per_token: 1>) ...

The order needs no attribute: it is that of the itensor, without what is read again. Weights are packed when the design
is compiled, other inputs by the host; an output that the next run reads is stored as that run loads it (`plan-loads`).
"""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, NoneAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from compiler.analysis.loads import load_channels
from compiler.analysis.read_back import argument_names, design_function, kernels_of, linalg_of, value_of
from compiler.analysis.tasks import plan_dma
from compiler.dialects.dataflow_attributes import Packing, PackingAttr
from compiler.dialects.itensor_type import ITensorType


def _packing(type_: Attribute, channels: int, port_bits: int) -> PackingAttr | NoneAttr:
    if not isinstance(type_, ITensorType):
        return NoneAttr()
    dma = plan_dma("", type_.data, channels, port_bits)
    return PackingAttr(Packing(dma.channels, dma.tokens_per_word, dma.words_per_token))


def pack_widen(module: ModuleOp, hbm_channels: int, port_bits: int) -> None:
    graph, names = linalg_of(module), argument_names(design_function(module))
    for kernel in kernels_of(module):
        kernel.input_packing = ArrayAttr(
            _packing(arg.type, load_channels(graph, value_of(tensor, names), hbm_channels), port_bits)
            for tensor, arg in zip(kernel.inputs, kernel.block.args, strict=True)
        )
        kernel.output_packing = ArrayAttr(_packing(made.type, 1, port_bits) for made in kernel.yielded.arguments)


@dataclass(frozen=True)
class PackWidenPass(ModulePass):
    """Give every tensor at a kernel's boundary its packing. Weights and the KV cache come through up to `hbm_channels`
    ports of `port_bits` bits, everything else through one.

    Assumes that what enters a kernel streams as it is loaded (`plan-loads`).
    """

    name = "pack-widen"

    hbm_channels: int = 1
    port_bits: int = 512

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pack_widen(op, self.hbm_channels, self.port_bits)
