"""C++ of an engine: the same lanes in every turn, and tables of what differs between the operations that it serves."""

from collections.abc import Sequence
from math import prod

from compiler.graph.engine import Turn
from compiler.graph.task_graph import EngineTask
from compiler.targets.nest_code import NestNames
from compiler.targets.parameters import OWN
from compiler.targets.program_code import ProgramCode
from compiler.targets.tasks.frame import Frame
from compiler.targets.tasks.points import Accumulators, Points


def emit_engine(frame: Frame, task: EngineTask) -> None:
    """A turn an operation, one after the other; one flat pipelined loop inside."""
    first, *_ = task.operations
    names_of = ", ".join(op.name for op, _ in task.served)
    part = "" if task.cut is None else f"A slice of {task.cut.slices}. "
    summary = f"{part}Serves {names_of}, one after the other, {first.nest.lanes} points side by side."
    with frame.function(task, summary) as (params, namer):
        names = NestNames.of(*first, namer)
        code = frame.program(task, namer, params, counted=True)
        reads = [
            code.condition("reads", access.stream, param) for access, param in zip(task.reads, params, strict=False)
        ]
        write = code.condition("writes", task.writes[0].stream, params[len(task.reads)])
        accumulators = _accumulators(task.operations, code, frame.rows_in_turns(task))
        points = Points(frame, task, first, names, namer, params, reads, accumulators)
        with code.pipelined(task.timing):
            points.emit(write)


def _accumulators(served: Sequence[Turn], code: ProgramCode, rows: int) -> Accumulators | None:
    """As many as the operation has alive that needs most, for each of so many `rows` that are taken in turns; each
    numbers its own, the innermost loop's as neighbours.
    """
    if not any(nest.reduction_loops(op.iterators) for op, nest in served):
        return None
    kept = max(nest.accumulators(op.iterators) for op, nest in served)
    inside = [0] * (rows > 1)  # the loop over rows is the innermost
    strides = _per_loop([[*_strides(turn), *inside] for turn in served], code)
    terms = [_term(code, k, column) for k, column in enumerate(strides) if any(column)]
    reduced = _per_loop([[*_reduced(turn), *inside] for turn in served], code)
    first = " && ".join(_when_zero(code, k, column) for k, column in enumerate(reduced) if any(column))
    distance = min(nest.reuse_distance(op.iterators) for op, nest in served)
    extents, index = ([kept], [" + ".join(terms)]) if kept > 1 else ([], [])
    if rows > 1:
        extents, index = [rows, *extents], [OWN, *index]
    return Accumulators(extents, index, first or "true", distance)


def _term(code: ProgramCode, k: int, strides: Sequence[int | None]) -> str:
    """What loop k adds to the number of a partial result."""
    counter, stride = code.counters[k], code.per_turn(f"stride{k}", strides)
    return counter if stride == "1" else f"{counter} * {stride}"


def _when_zero(code: ProgramCode, k: int, reduced: Sequence[int | None]) -> str:
    """That loop k is at its begin, in turns where it sums up."""
    counter, flag = code.counters[k], code.per_turn(f"sums{k}", reduced)
    return f"{counter} == 0" if flag == "true" else f"({counter} == 0 || !{flag})"


def _per_loop(rows: Sequence[Sequence[int]], code: ProgramCode) -> list[list[int | None]]:
    """For each loop of the engine a number a turn; None where a turn does not have the loop."""
    loops = len(code.counters)
    filled = [[*[None] * (loops - len(row)), *row] for row in rows]
    return [list(column) for column in zip(*filled, strict=True)]


def _strides(turn: Turn) -> list[int]:
    """By how much a step of each loop moves on in the partial results."""
    op, nest = turn
    reductions = nest.reduction_loops(op.iterators)
    inside = [
        bool(reductions) and k > reductions[0] and op.iterators[loop.dim] == "parallel"
        for k, loop in enumerate(nest.loops)
    ]
    return [
        prod(nest.trips[j] for j in range(k + 1, len(inside)) if inside[j]) if inside[k] else 0
        for k in range(len(inside))
    ]


def _reduced(turn: Turn) -> list[int]:
    op, nest = turn
    reductions = nest.reduction_loops(op.iterators)
    return [k in reductions for k in range(len(nest.loops))]
