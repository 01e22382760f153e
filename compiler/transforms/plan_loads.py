"""plan-loads: every tensor enters a kernel once, in an order that its memory image allows."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.boundary import stored_inputs
from compiler.analysis.loads import loaded_itensor
from compiler.analysis.read_back import argument_names, design_function, kernels_of, linalg_of, tasks_of
from compiler.dialects.dataflow_kernel import KernelOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.itensor import ITensor
from compiler.options import ConverterRule
from compiler.transforms.restream import converter_rule, restream


def _stored_inputs(module: ModuleOp) -> dict[SSAValue, ITensor]:
    """How arguments of the function lie in HBM that the last run wrote."""
    writes = {
        operand.value: itensor_of(made)
        for task in tasks_of(module)
        for operand, made in zip(task.writes, task.outputs, strict=True)
    }
    stored = stored_inputs(linalg_of(module), writes)
    names = argument_names(design_function(module))
    return {arg: stored[name] for arg, name in names.items() if name in stored}


def _stored(tensor: SSAValue) -> ITensor | None:
    """How an earlier kernel wrote the tensor."""
    if isinstance(tensor, OpResult) and isinstance(tensor.op, KernelOp):
        return itensor_of(tensor.op.yielded.arguments[tensor.index])
    return None


def _reader(arg: BlockArgument) -> tuple[TaskOp, int]:
    uses = list(arg.uses)
    if len(uses) != 1 or not isinstance(uses[0].operation, TaskOp):
        raise PassFailedException("plan-loads expects one task behind every kernel argument; run it after fuse-kernels")
    return uses[0].operation, uses[0].index


def _enter_once(
    kernel: KernelOp, stored: ITensor | None, args: list[BlockArgument], port_bits: int, rule: ConverterRule
) -> None:
    """One new argument for all readers of a tensor that lies in HBM as `stored`."""
    wanted = [arg.type.data for arg in args if isinstance(arg.type, ITensorType)]
    type_ = ITensorType(loaded_itensor(stored, wanted, port_bits)) if wanted else args[0].type
    entered = kernel.block.insert_arg(type_, len(kernel.block.args))
    entered.name_hint = args[0].name_hint
    for task, index in map(_reader, args):
        restream(entered, task, index, task.reads[index].value, rule)


def plan_loads(module: ModuleOp, port_bits: int, rule: ConverterRule) -> None:
    inputs = _stored_inputs(module)
    for kernel in kernels_of(module):
        old = kernel.block.args
        args_of: dict[SSAValue, list[BlockArgument]] = {}
        for tensor, arg in zip(kernel.inputs, old, strict=True):
            args_of.setdefault(tensor, []).append(arg)
        for tensor, args in args_of.items():
            _enter_once(kernel, inputs.get(tensor, _stored(tensor)), args, port_bits, rule)
        for arg in old:
            kernel.block.erase_arg(arg)
        kernel.operands = list(args_of)


@dataclass(frozen=True)
class PlanLoadsPass(ModulePass):
    """Merge kernel arguments that stream the same tensor, and load it in the order in which it lies in HBM wherever
    another order would not read whole words; converters restore what each reader wants. An input that is an output of
    the last run is loaded as that is stored.

    Assumes that every kernel argument has one reader. `port_bits` is the width of an HBM port, `converters` the rule
    of their buffers (`Knobs.converters`).
    """

    name = "plan-loads"

    port_bits: int = 512
    converters: str = "exact"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan_loads(op, self.port_bits, converter_rule(self.converters))
