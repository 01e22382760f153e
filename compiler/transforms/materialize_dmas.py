"""materialize-dmas: conversions at a kernel's boundary become load and store processes (paper "Materialization")."""

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.names import load_name, store_name
from compiler.analysis.read_back import argument_names, design_function, kernels_of, value_of
from compiler.dialects.dataflow_attributes import PackingAttr
from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_kernel import KernelOp, Packings
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.itensor import ITensor
from compiler.graph.task_graph import Dma


def _dma(value: str, streamed: ITensor, packing: Attribute) -> Dma:
    assert isinstance(packing, PackingAttr)
    fields = packing.data
    return Dma(value, streamed.without_rereads(), fields.channels, fields.tokens_per_word, fields.words_per_token)


def _packing_of(kernel: KernelOp) -> tuple[Packings, Packings]:
    if kernel.input_packing is None or kernel.output_packing is None:
        raise PassFailedException(
            f"kernel @{kernel.sym_name.data} does not say how its tensors are packed; "
            "run pack-widen before materialize-dmas"
        )
    return kernel.input_packing, kernel.output_packing


def _load(kernel: KernelOp, number: int, packings: Packings, names: Mapping[SSAValue, str]) -> None:
    first = kernel.block.first_op
    assert first is not None
    if len(set(kernel.inputs)) != len(kernel.inputs):
        raise PassFailedException(
            f"a tensor enters kernel @{kernel.sym_name.data} more than once; run plan-loads before materialize-dmas"
        )
    for tensor, arg, packing in zip(kernel.inputs, kernel.block.args, packings, strict=True):
        if not isinstance(arg.type, ITensorType):
            continue
        value = value_of(tensor, names)
        memory = kernel.block.insert_arg(tensor.type, arg.index)
        memory.name_hint = f"{arg.name_hint}_hbm" if arg.name_hint else None
        load = LoadOp.of(load_name(value, number), memory, arg.type, _dma(value, arg.type.data, packing))
        load.outputs[0].name_hint = arg.name_hint
        kernel.block.insert_op_before(load, first)
        arg.replace_all_uses_with(load.outputs[0])
        kernel.block.erase_arg(arg)


def _store(kernel: KernelOp, packings: Packings, names: Mapping[SSAValue, str]) -> None:
    yielded = kernel.yielded
    for i, (source, packing) in enumerate(zip(yielded.arguments, packings, strict=True)):
        if not isinstance(source.type, ITensorType):
            continue
        value = value_of(source, names)
        store = StoreOp.of(store_name(value), source, _dma(value, source.type.data, packing))
        store.outputs[0].name_hint = f"{source.name_hint}_hbm" if source.name_hint else None
        kernel.block.insert_op_before(store, yielded)
        yielded.operands[i] = store.outputs[0]


def materialize_dmas(module: ModuleOp) -> None:
    names = argument_names(design_function(module))
    for number, kernel in enumerate(kernels_of(module)):
        inputs, outputs = _packing_of(kernel)
        kernel.input_packing = kernel.output_packing = None
        _load(kernel, number, inputs, names)
        _store(kernel, outputs, names)


@dataclass(frozen=True)
class MaterializeDmasPass(ModulePass):
    """Make the implicit DMAs explicit; block arguments and yields of kernels become tensors in HBM, the packing of each
    moves to its DMA.

    Assumes that every tensor enters a kernel once, and that packing is settled (`pack-widen`).
    """

    name = "materialize-dmas"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        materialize_dmas(op)
