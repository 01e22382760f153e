"""fuse-kernels: put neighbours on chip together under a budget of converter memory (level 2 of the design space)."""

from dataclasses import dataclass
from typing import get_args

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.analysis.fusion import plan_fusion
from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.read_back import kernels_of, linalg_of
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.itensor import ITensor
from compiler.options import ConverterRule, FusionPlan
from compiler.transforms.restream import converter_rule, restream


def _single_task(kernel: KernelOp) -> TaskOp:
    tasks = list(kernel.block.ops)[:-1]
    if len(tasks) == 1 and isinstance(tasks[0], TaskOp):
        return tasks[0]
    raise PassFailedException(
        f"fuse-kernels expects kernels of one task, @{kernel.sym_name.data} has {len(tasks)} operations; "
        "run it directly after linalg-to-dataflow"
    )


def _costs(module: ModuleOp, tasks: list[TaskOp], rule: ConverterRule) -> FusionCosts:
    reads: dict[tuple[str, int], ITensor | None] = {}
    writes: dict[str, ITensor] = {}
    for task in tasks:
        for i, value in enumerate(task.inputs):
            reads[task.process_name, i] = value.type.data if isinstance(value.type, ITensorType) else None
        for operand, result in zip(task.writes, task.outputs, strict=True):
            assert isinstance(result.type, ITensorType)
            writes[operand.value] = result.type.data
    return FusionCosts(linalg_of(module), reads, writes, rule)


def _merge(index: int, group: list[KernelOp], rule: ConverterRule) -> None:
    """One kernel from several: what one makes and another reads stays on chip."""
    block, inputs = Block(), list[SSAValue]()
    on_chip: dict[SSAValue, SSAValue] = {}
    members = set(group)
    for kernel in group:
        task = _single_task(kernel)
        task.detach()
        block.add_op(task)
        for i, (outer, arg) in enumerate(zip(kernel.inputs, kernel.block.args, strict=True)):
            if outer in on_chip:
                restream(on_chip[outer], task, i, task.reads[i].value, rule)
                continue
            inputs.append(outer)
            task.operands[i] = block.insert_arg(arg.type, len(block.args))
            task.operands[i].name_hint = arg.name_hint
        on_chip |= dict(zip(kernel.outputs, task.outputs, strict=True))
    leaving = [v for v in on_chip if any(use.operation not in members for use in v.uses)]
    block.add_op(YieldOp(*(on_chip[value] for value in leaving)))
    merged = KernelOp(f"kernel{index}", inputs, block, [value.type for value in leaving])
    function = group[0].parent
    assert function is not None
    assert function.last_op is not None
    function.insert_op_before(merged, function.last_op)  # after every kernel that it may read from
    for value, result in zip(leaving, merged.outputs, strict=True):
        result.name_hint = value.name_hint
        value.replace_uses_with_if(result, lambda use: use.operation not in members)
    for kernel in reversed(group):
        kernel.detach()
        kernel.erase()


def fuse_kernels(module: ModuleOp, budget: int, plan_name: FusionPlan, on_chip: int, rule: ConverterRule) -> None:
    kernels = kernels_of(module)
    tasks = [_single_task(kernel) for kernel in kernels]
    plan = plan_fusion(_costs(module, tasks, rule), plan_name, budget, on_chip)
    groups: dict[int, list[KernelOp]] = {}
    for kernel, task in zip(kernels, tasks, strict=True):
        groups.setdefault(plan[task.process_name], []).append(kernel)
    for index in sorted(groups):
        _merge(index, groups[index], rule)


@dataclass(frozen=True)
class FuseKernelsPass(ModulePass):
    """Merge kernels by a plan of `compiler.analysis.fusion`; converters in one kernel take at most `budget` bytes, and
    all kernels together at most `on_chip` where that is possible. `converters` is the rule of their buffers
    (`Knobs.converters`). Assumes kernels of one task each, in topological order.
    """

    name = "fuse-kernels"

    budget: int = 16 << 20
    plan: str = "traffic"
    on_chip: int = 40 << 20
    converters: str = "exact"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan: FusionPlan | None = next((p for p in get_args(FusionPlan) if p == self.plan), None)
        if plan is None:
            known = ", ".join(get_args(FusionPlan))
            raise PassFailedException(f"fusion plan {self.plan!r} is unknown; use one of {known}")
        fuse_kernels(op, self.budget, plan, self.on_chip, converter_rule(self.converters))
