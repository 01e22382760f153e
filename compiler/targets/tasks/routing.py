"""C++ of the tasks that only route tokens: fork, chunk, concat."""

from compiler.graph.task_graph import ChunkTask, ConcatTask, ForkTask
from compiler.targets.nest_code import NestNames, gate_condition, guarded, pipelined_nest
from compiler.targets.tasks.frame import Frame


def emit_fork(frame: Frame, task: ForkTask) -> None:
    """Every token to every reader."""
    out = frame.out
    with frame.function(task, f"Copies every token to {len(task.writes)} readers.") as (params, namer):
        token = frame.token(task.reads[0])
        with pipelined_nest(out, [namer.name("t")], [task.timing.iterations], task.timing):
            out.line(f"const {token} token = {params[0]}.read();")
            for stream in params[1:]:
                out.line(f"{stream}.write(token);")


def emit_chunk(frame: Frame, task: ChunkTask) -> None:
    """Each token to the output of its chunk."""
    op, nest, out = task.op, task.nest, frame.out
    summary = f"{op.name}: each token goes to the output of the chunk that it is in."
    with frame.function(task, summary) as (params, namer):
        names = NestNames.of(op, nest, namer)
        with pipelined_nest(out, names.loops, nest.trips, task.timing):
            out.line(f"const {frame.token(task.reads[0])} token = {params[0]}.read();")
            for access, stream in zip(task.writes, params[1:], strict=True):
                with guarded(out, gate_condition(access.gates, names.loops, nest.trips)):
                    out.line(f"{stream}.write(token);")


def emit_concat(frame: Frame, task: ConcatTask) -> None:
    """The inputs one after the other."""
    op, nest, out = task.op, task.nest, frame.out
    assert op.axis is not None
    summary = f"{op.name}: the tokens of one input after the other along {op.outputs[0].value}'s joined dimension."
    with frame.function(task, summary) as (params, namer):
        names = NestNames.of(op, nest, namer)
        with pipelined_nest(out, names.loops, nest.trips, task.timing):
            # Zeros follow the last input where the joined dimension is padded.
            behind = "(0)" if op.true_loops[op.axis] < op.loops[op.axis] else ""
            out.line(f"{frame.token(task.writes[0])} token{behind};")
            for access, stream in zip(task.reads, params, strict=False):
                with guarded(out, gate_condition(access.gates, names.loops, nest.trips)):
                    out.line(f"token = {stream}.read();")
            out.line(f"{params[-1]}.write(token);")
