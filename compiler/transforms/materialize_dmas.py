"""materialize-dmas: conversions at a kernel's boundary become load and store processes (paper "Materialization")."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.loads import load_channels
from compiler.analysis.names import load_name, store_name
from compiler.analysis.read_back import argument_names, design_function, kernels_of, linalg_of, value_of
from compiler.analysis.tasks import plan_dma
from compiler.dialects.dataflow import KernelOp, LoadOp, StoreOp
from compiler.dialects.itensor import ITensorType
from compiler.graph.linalg_graph import LinalgGraph


@dataclass(frozen=True)
class _Dmas:
    """What the DMAs of one module are planned from."""

    graph: LinalgGraph
    names: dict[SSAValue, str]
    hbm_channels: int
    port_bits: int

    def load(self, kernel: KernelOp, number: int) -> None:
        first = kernel.block.first_op
        assert first is not None
        if len(set(kernel.inputs)) != len(kernel.inputs):
            raise PassFailedException(
                f"a tensor enters kernel @{kernel.sym_name.data} more than once; run plan-loads before materialize-dmas"
            )
        for tensor, arg in zip(kernel.inputs, kernel.block.args, strict=True):
            if not isinstance(arg.type, ITensorType):
                continue
            value = value_of(tensor, self.names)
            channels = load_channels(self.graph, value, self.hbm_channels)
            dma = plan_dma(value, arg.type.data, channels, self.port_bits)
            memory = kernel.block.insert_arg(tensor.type, arg.index)
            memory.name_hint = f"{arg.name_hint}_hbm" if arg.name_hint else None
            load = LoadOp.of(load_name(value, number), memory, arg.type, dma)
            load.outputs[0].name_hint = arg.name_hint
            kernel.block.insert_op_before(load, first)
            arg.replace_all_uses_with(load.outputs[0])
            kernel.block.erase_arg(arg)

    def store(self, kernel: KernelOp) -> None:
        yielded = kernel.yielded
        for i, source in enumerate(yielded.arguments):
            if not isinstance(source.type, ITensorType):
                continue
            value = value_of(source, self.names)
            store = StoreOp.of(store_name(value), source, plan_dma(value, source.type.data, 1, self.port_bits))
            store.outputs[0].name_hint = f"{source.name_hint}_hbm" if source.name_hint else None
            kernel.block.insert_op_before(store, yielded)
            yielded.operands[i] = store.outputs[0]


def materialize_dmas(module: ModuleOp, hbm_channels: int, port_bits: int) -> None:
    dmas = _Dmas(linalg_of(module), argument_names(design_function(module)), hbm_channels, port_bits)
    for number, kernel in enumerate(kernels_of(module)):
        dmas.load(kernel, number)
        dmas.store(kernel)


@dataclass(frozen=True)
class MaterializeDmasPass(ModulePass):
    """Make the implicit DMAs explicit; block arguments and yields of kernels become tensors in HBM.

    Assumes that every tensor enters a kernel once. Weights and the KV cache come through up to `hbm_channels` ports of
    `port_bits` bits, everything else through one.
    """

    name = "materialize-dmas"

    hbm_channels: int = 1
    port_bits: int = 512

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        materialize_dmas(op, self.hbm_channels, self.port_bits)
