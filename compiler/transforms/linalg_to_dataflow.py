"""linalg-to-dataflow: each tiled task becomes a kernel of its own, its ports itensors (paper "Linalg to dataflow")."""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from compiler.analysis.fusion import read_itensors, write_itensors
from compiler.analysis.read_back import linalg_of, tasks_of
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.itensor import ITensor


def _wrap(task: TaskOp, index: int, reads: list[ITensor | None], writes: list[ITensor]) -> None:
    types = [
        value.type if itensor is None else ITensorType(itensor)
        for value, itensor in zip(task.inputs, reads, strict=True)
    ]
    block = Block(arg_types=types)
    inner = task.replicate(block.args, (), [ITensorType(itensor) for itensor in writes])
    block.add_ops([inner, YieldOp(*inner.outputs)])
    kernel = KernelOp(f"kernel{index}", task.inputs, block, task.result_types)
    pairs = [*zip(block.args, task.inputs, strict=True)]
    pairs += [*zip(inner.outputs, task.outputs, strict=True), *zip(kernel.outputs, task.outputs, strict=True)]
    for ssa, named in pairs:
        ssa.name_hint = named.name_hint
    parent = task.parent
    assert parent is not None
    parent.insert_op_before(kernel, task)
    for old, new in zip(task.outputs, kernel.outputs, strict=True):
        old.replace_all_uses_with(new)
    task.detach()
    task.erase()


def linalg_to_dataflow(module: ModuleOp) -> None:
    graph, tasks = linalg_of(module), tasks_of(module)
    nests = {task.process_name: task.tiled for task in tasks}
    reads, writes = read_itensors(graph, nests), write_itensors(graph, nests)
    for index, task in enumerate(tasks):
        wanted = [reads[task.process_name, i] for i in range(len(task.inputs))]
        _wrap(task, index, wanted, [writes[operand.value] for operand in task.writes])


@dataclass(frozen=True)
class LinalgToDataflowPass(ModulePass):
    """Wrap every task in a kernel whose boundary converts tensors to the itensors that the nest walks.

    Assumes tiled tasks on tensors. Rank-0 parameters stay tensors: they are passed by value.
    """

    name = "linalg-to-dataflow"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        linalg_to_dataflow(op)
