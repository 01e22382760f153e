"""insert-forks: a stream has one reader, so copy where a value has several (paper "single use")."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.names import fork_name, operand_stream, shared_fork_name
from compiler.analysis.read_back import argument_names, design_function, kernels_of, value_of
from compiler.dialects.dataflow_kernel import KernelOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp, ForkOp
from compiler.dialects.itensor_type import ITensorType


def _reading_order(use: Use, position: dict[Operation, int]) -> tuple[int, int]:
    """Where the task stands that finally reads this use, and at which input: stable under adapters in between."""
    operation, index = use.operation, use.index
    if not isinstance(operation, CastOp | ConverterOp):
        return position[operation], index
    uses = list(operation.results[0].uses)
    if not uses or (len(uses) > 1 and isinstance(operation, CastOp)):
        raise PassFailedException(
            f"insert-forks expects one reader behind {operation.name}, one has {len(uses)}; adapt for each reader"
        )
    return min(_reading_order(behind, position) for behind in uses)


def _first_stream(use: Use) -> str:
    """The stream that the task behind this use reads."""
    while isinstance(use.operation, CastOp):
        (use,) = use.operation.result.uses
    assert isinstance(use.operation, TaskOp)
    return operand_stream(use.operation.process_name, use.index)


def insert_forks(module: ModuleOp) -> None:
    names = argument_names(design_function(module))
    for number, kernel in enumerate(kernels_of(module)):
        position = {op: i for i, op in enumerate(kernel.block.ops)}
        made = [v for op in kernel.block.ops if isinstance(op, TaskOp) for v in op.outputs]
        converted = [op.outputs[0] for op in kernel.block.ops if isinstance(op, ConverterOp) and op.outputs]
        for source in (*kernel.block.args, *made, *converted):
            uses = sorted(source.uses, key=lambda use: _reading_order(use, position))
            if not isinstance(source.type, ITensorType) or len(uses) == 1:
                continue
            value = value_of(source, names)
            behind = isinstance(source.owner, ConverterOp)
            name = shared_fork_name(value, _first_stream(uses[0])) if behind else fork_name(value, number)
            _fork(kernel, source, uses, name)


def _fork(kernel: KernelOp, source: SSAValue, uses: list[Use], name: str) -> None:
    fork = ForkOp(name, source, len(uses))
    if isinstance(source.owner, Operation):
        kernel.block.insert_op_after(fork, source.owner)
    else:
        assert kernel.block.first_op is not None
        kernel.block.insert_op_before(fork, kernel.block.first_op)
    for use, copy in zip(uses, fork.outputs, strict=True):
        copy.name_hint = source.name_hint
        use.operation.operands[use.index] = copy


@dataclass(frozen=True)
class InsertForksPass(ModulePass):
    """Give every itensor in a kernel exactly one use; one without any is drained by a fork without copies.

    Assumes that casts have one reader. Copies are numbered in the order of the tasks that read them.
    """

    name = "insert-forks"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        insert_forks(op)
