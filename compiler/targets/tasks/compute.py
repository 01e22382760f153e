"""C++ of a compute task: the nest of an operation over its tokens."""

from compiler.graph.linalg_graph import LinalgOp, Operand
from compiler.graph.nest import Nest
from compiler.graph.task_graph import ComputeTask
from compiler.targets.body import describe_body
from compiler.targets.nest_code import NestNames, subscript
from compiler.targets.parameters import short_names
from compiler.targets.tasks.frame import Frame, TaskLoops, rate
from compiler.targets.tasks.points import Accumulators, Points
from compiler.targets.writer import Namer

# What a reduction is called in a comment.
COMBINED = {"add": "sum", "mul": "product", "max": "largest", "min": "smallest"}


def emit_compute(frame: Frame, task: ComputeTask) -> None:
    """Reads, the points of one token side by side, accumulation, write."""
    op, nest = task.op, task.nest
    with frame.function(task, _summary(op, nest, task)) as (params, namer):
        names = NestNames.of(op, nest, namer)
        loops = TaskLoops.of(frame, task, namer, params, names.loops)
        reads = [loops.condition("reads", access) for access in task.reads]
        accumulators = _accumulators(op, nest, names)
        points = Points(frame, task, (op, nest), names, namer, params, reads, accumulators)
        write = loops.condition("writes", task.writes[0])
        with loops.pipelined():
            points.emit(write)


def _accumulators(op: LinalgOp, nest: Nest, names: NestNames) -> Accumulators | None:
    """One for every parallel point inside the outermost reduction loop."""
    reductions = nest.reduction_loops(op.iterators)
    if not reductions:
        return None
    kept = [k for k in range(reductions[0], len(nest.loops)) if op.iterators[nest.loops[k].dim] == "parallel"]
    return Accumulators(
        [nest.trips[k] for k in kept],
        [names.loops[k] for k in kept],
        " && ".join(f"{names.loops[k]} == 0" for k in reductions),
        nest.reuse_distance(op.iterators),
    )


def _summary(op: LinalgOp, nest: Nest, task: ComputeTask) -> str:
    names = NestNames.of(op, nest, Namer())
    assert op.body is not None
    what = describe_body(op.body, [_indexed(o, op, names) for o in op.inputs], names.dims)
    if op.reduction is not None:
        over = ", ".join(n for n, it in zip(names.dims, op.iterators, strict=True) if it == "reduction")
        what = f"{COMBINED[op.reduction.combiner]} over {over} of {what}"
    lanes = f"{nest.lanes} points side by side" if nest.lanes > 1 else "one point at a time"
    return f"{op.name}: {_indexed(op.outputs[0], op, names)} = {what}. {rate(task)}, {lanes}."


def _indexed(operand: Operand, op: LinalgOp, names: NestNames) -> str:
    """An operand with its indices, as a comment shows it."""
    index = ", ".join(names.dims[d] for d in operand.dims)
    return subscript(short_names(op)[operand.value], index)
