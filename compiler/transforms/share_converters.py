"""share-converters: readers that want one stream in the same order share one converter (paper "Materialization", CSE).

    %a = itensor.converter @convert_x_to_up_in0 ins(%x : !s) -> (!t)
    %b = itensor.converter @convert_x_to_gate_in0 ins(%x : !s) -> (!t)

becomes the first of the two with two readers; `insert-forks` copies what it makes. A token's copies cost a register, a
second converter costs its memory again.
"""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from compiler.analysis.read_back import kernels_of
from compiler.dialects.dataflow_kernel import KernelOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.itensor import StreamKey


def _share(kernel: KernelOp) -> None:
    first_of: dict[tuple[SSAValue, StreamKey], ConverterOp] = {}
    for converter in [op for op in kernel.block.ops if isinstance(op, ConverterOp)]:
        (made,) = converter.outputs
        first = first_of.setdefault((converter.inputs[0], converter.target.key), converter)
        if first is converter:
            continue
        shared: SSAValue = first.outputs[0]
        if shared.type != made.type:
            cast = CastOp(shared, ITensorType(converter.target))
            kernel.block.insert_op_before(cast, converter)
            cast.result.name_hint = made.name_hint
            shared = cast.result
        made.replace_all_uses_with(shared)
        converter.detach()
        converter.erase()


def share_converters(module: ModuleOp) -> None:
    for kernel in kernels_of(module):
        _share(kernel)


@dataclass(frozen=True)
class ShareConvertersPass(ModulePass):
    """Keep one of several converters from one value to equal streams, the first; others' readers read it.

    Assumes converters on itensors, so that several readers of one value are allowed still.
    """

    name = "share-converters"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        share_converters(op)
