"""expand-tasks: spell every task out as the loops that it stands for (paper, "Linalg to dataflow", "Materialization").

    %h = dataflow.task @double nest<[d0 2 x 4], unroll: [4]> ins("x"[d0] = %x : ...) -> ("h"[d0] : ...) { ... }

becomes

    %e = itensor.instance : ...
    %h = dataflow.expanded_task @double inits(%d = %e : ...) {
      scf.for ... { %v = itensor.read %x; ...; itensor.write %w into %a }
    }

For people and for tests: an interpreter of the loops must compute what the network does. The compiler itself plans on
the task's nest, which says the same in one line.
"""

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from compiler.dialects.dataflow_expanded import ExpandedTaskOp
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_access import EmptyOp, InstanceOp
from compiler.dialects.itensor_routing import ConverterOp
from compiler.dialects.itensor_stream import itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.dialects.process import ProcessOp
from compiler.graph.design import Design
from compiler.ir.expand_routing import (
    converter_texts,
    expand_chunk,
    expand_concat,
    expand_converter,
    recast,
    routes_in_order,
)
from compiler.ir.expand_structured import StructuredExpansion
from compiler.ir.loop_builder import Carried, LoopBuilder
from compiler.ir.read import design_function
from compiler.ir.write import module_text, write_design


def _place_for(value: SSAValue, type_: ITensorType) -> EmptyOp | InstanceOp:
    """What is written begins as a FIFO where a process on chip reads it, else as a mere place."""
    leaves = any(isinstance(use.operation, YieldOp) for use in value.uses)
    return EmptyOp(type_) if leaves else InstanceOp(type_)


def _expand_loops(process: TaskOp | ConverterOp) -> None:
    """Replace a process with one output by a task of loops."""
    block = process.parent
    assert block is not None
    inside = Block()
    build = LoopBuilder(inside)
    (written,) = process.written
    inits: list[SSAValue] = []
    dest: Carried = None
    if process.outputs:
        text = converter_texts(process)[1] if isinstance(process, ConverterOp) else itensor_of(written)
        place = _place_for(written, ITensorType(text))
        block.insert_op_before(place, process)
        inits.append(place.result)
        dest = inside.insert_arg(place.result.type, 0)
    if isinstance(process, ConverterOp):
        made = expand_converter(process, build, written, dest)
    else:
        made = StructuredExpansion(process, build, written).write(dest)
    build.add(YieldOp(*([made] if made is not None else [])))
    task = ExpandedTaskOp(process.process_name, inits, inside)
    block.insert_op_before(task, process)
    if process.outputs:
        task.outputs[0].name_hint = process.outputs[0].name_hint
        _replace(process, [task.outputs[0]])
    process.detach()
    process.erase()


def _expand_routing(task: TaskOp) -> None:
    block = task.parent
    assert block is not None
    new = Block()
    made = (expand_chunk if task.op_kind == "chunk" else expand_concat)(task, LoopBuilder(new))
    for op in list(new.ops):
        op.detach()
        block.insert_op_before(op, task)
    _replace(task, made)
    task.detach()
    task.erase()


def _replace(process: ProcessOp, made: list[SSAValue]) -> None:
    block = process.parent
    assert block is not None
    for old, new in zip(process.outputs, made, strict=True):
        new.name_hint = old.name_hint
        adapted = Block()
        value = recast(new, itensor_of(old), LoopBuilder(adapted))
        for op in list(adapted.ops):
            op.detach()
            block.insert_op_before(op, process)
        old.replace_all_uses_with(value)


def _expand_kernel(kernel: KernelOp) -> None:
    for op in list(kernel.block.ops):
        if isinstance(op, TaskOp) and op.nest is None:
            raise PassFailedException(
                f"expand-tasks expects tiled tasks, @{op.process_name} has no nest; run tile-tasks"
            )
        if isinstance(op, ConverterOp) or (isinstance(op, TaskOp) and op.op_kind == "generic"):
            _expand_loops(op)
        elif isinstance(op, TaskOp) and op.op_kind in ("chunk", "concat") and routes_in_order(op):
            _expand_routing(op)


def expand_tasks(module: ModuleOp) -> None:
    for kernel in design_function(module).body.block.ops:
        if isinstance(kernel, KernelOp):
            _expand_kernel(kernel)


def expanded_text(design: Design) -> str:
    """The IR of a design with every task spelled out."""
    module = write_design(design)
    expand_tasks(module)
    module.verify()
    return module_text(module)


@dataclass(frozen=True)
class ExpandTasksPass(ModulePass):
    """Turn tasks and converters into loops with reads and writes, chunk and concat into the itensor operations.

    Works on itensors (after linalg-to-dataflow) and on streams (after size-fifos). A chunk or concat that also
    transposes stays a structured task, and windows do. Assumes kernels of tiled tasks.
    """

    name = "expand-tasks"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        expand_tasks(op)
