"""C++ of windows: the lines that wait, a bank each, and the taps of the window at the element that came last.

Where an element comes, all lines move on by one bank at its place, and the column of them, with the element itself, is
what taps are chosen of. A line that repeats is its own column, and stays where it is. What lies outside of all lines is
never read from the banks but filled in, so that these need not be cleared. A line of one element waits in registers.

Where walks follow each other without a pause, a counter of its own says which window of its walk a row is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from compiler.errors import UnsupportedError
from compiler.graph.program import Access, LoopNest, with_nests
from compiler.graph.task_graph import WindowTask
from compiler.targets.counters import advanced, counter
from compiler.targets.nest_code import (
    NestNames,
    gate_condition,
    guarded,
    row_major,
    subscript,
    unrolled,
)
from compiler.targets.scalar_ops import literal
from compiler.targets.tasks.frame import Frame, TaskLoops, bind_storage, rate
from compiler.targets.tokens import is_packed
from compiler.targets.writer import Namer


def emit_window(frame: Frame, task: WindowTask) -> None:
    """The banks, and one pipelined loop that takes elements and passes on taps. Raises UnsupportedError."""
    with frame.function(task, _summary(task)) as (params, namer):
        code = _Code.of(frame, task, namer)
        code.declare()
        walk = _Walk.of(frame, task, namer, params, code)
        with walk.loops.pipelined():
            with guarded(frame.out, f"{code.tap} == 0" if code.tap else ""):
                code.take(params[0], walk.comes)
            with guarded(frame.out, walk.leaves):
                code.pass_on(params[1], walk.row)
            code.advance()


def _summary(task: WindowTask) -> str:
    walk = task.walk
    apart = f", {walk.dilation} apart" if walk.dilation > 1 else ""
    every = f" at every {walk.stride} lines" if walk.stride > 1 else ""
    again = f" that repeat {walk.repeat} times" if walk.repeat > 1 else ""
    kept = f"{walk.kept} lines of {task.buffers[0].depth} tokens wait" if task.buffers else "no line waits"
    outside = f", {task.op.windows.fill:g} outside" if task.op.windows and _outside(task) else ""
    return f"Windows of {walk.kernel} of {walk.lines} lines{again}{apart}{every}{outside}: {kept}. {rate(task)}."


def _outside(task: WindowTask) -> bool:
    return task.walk.begins_outside or task.walk.ends_outside


class _Walk(NamedTuple):
    """The loops: a perfect nest, or one flat loop for rows of both kinds. As C++: when a line comes, whichever tap it
    is, when a window leaves, and the number of the row.
    """

    loops: TaskLoops
    comes: str
    leaves: str
    row: str

    @staticmethod
    def of(frame: Frame, task: WindowTask, namer: Namer, params: Sequence[str], code: "_Code") -> "_Walk":
        if not task.turns:
            trips = task.timing.trips
            nest = task.timing.nest(task.reads, task.writes)
            ends = ((_whichever_tap(nest) if code.tap else nest).reads[0], nest.writes[0])
            # Gates are on the loops within an input, none of which follows an argument.
            comes, leaves = (gate_condition(access.gates, code.loops, trips) for access in ends)
            return _Walk(TaskLoops.of(frame, task, namer, params, code.loops), comes, leaves, code.window or code.row)
        inside = code.loops[code.loops.index(code.row) :]
        taken = with_nests(task.turns, _whichever_tap) if code.tap else task.turns
        program = frame.program(task, namer, params, taken, counters=inside)
        comes = program.condition("reads", task.reads[0].stream, params[0])
        leaves = program.condition("writes", task.writes[0].stream, params[1])
        begins = program.per_turn("begins", [rows.first for rows in task.walk.parts]) if _outside(task) else ""
        row = f"({code.row} + {begins})" if begins else code.row
        return _Walk(TaskLoops(frame, task, inside, program), comes, leaves, row)


def _whichever_tap(nest: LoopNest) -> LoopNest:
    """The nest as if lines came with every tap, of which its last loop is over."""
    last = len(nest.trips) - 1
    reads = tuple(Access(a.stream, tuple(gate for gate in a.gates if gate.loop != last)) for a in nest.reads)
    return replace(nest, reads=reads)


@dataclass(frozen=True)
class _Code:
    """Names: of the loops, of that over rows and that over taps in time ("" where there is none), of the window of a
    row (the row itself, where walks do not follow each other: then it is "" here), of the banks, the
    place in a line ("" where it has one) and the column.
    """

    frame: Frame
    task: WindowTask
    loops: tuple[str, ...]
    row: str
    window: str
    phase: str
    tap: str
    lines: str
    at: str
    column: str
    origin: str

    @staticmethod
    def of(frame: Frame, task: WindowTask, namer: Namer) -> "_Code":
        if any(is_packed(frame.itensor(access)) for access in (*task.reads, *task.writes)):
            raise UnsupportedError("there is no C++ for windows of elements that are narrower than a byte")
        op, nest = task.op, task.nest
        assert op.windows is not None
        assert op.axis is not None
        nested = NestNames.of(op, nest, namer)
        named = list(zip(nested.loops, (loop.dim for loop in nest.loops), strict=True))
        outside, inside = [n for n, dim in named if dim < op.axis], [n for n, dim in named if dim > op.axis]
        row, window = namer.name("row"), ""
        if task.walks > 1:
            outside, window = outside[: task.timing.restarts], namer.name("window")
        phase = namer.name("phase") if task.walk.phases > 1 else ""
        tap = inside[-1] if named and named[-1][1] == op.windows.loop else ""
        at = namer.name("at") if task.buffers and task.buffers[0].depth > 1 else ""
        lines, column, origin = (namer.name(word) for word in ("lines", "column", "origin"))
        loops = (*outside, row, *([phase] if phase else []), *inside)
        return _Code(frame, task, loops, row, window, phase, tap, lines, at, column, origin)

    @property
    def _place(self) -> str:
        return f"[{self.at}]" if self.at else ""

    def declare(self) -> None:
        """A bank a line, in memory where it has several elements, and the column in registers."""
        out, task, token = self.frame.out, self.task, self.frame.token(self.task.reads[0])
        for buffer in task.buffers:
            out.line(f"{token} {self.lines}[{buffer.banks}]{f'[{buffer.depth}]' if self.at else ''};")
            out.pragma(f"array_partition variable={self.lines} type=complete{' dim=1' if self.at else ''}")
            if self.at:
                distance = buffer.depth * (task.nest.trips[-1] if self.tap else 1)
                bind_storage(out, self.lines, buffer)
                out.pragma(
                    f"dependence variable={self.lines} type=inter direction=RAW distance={distance} dependent=true"
                )
                out.line(counter(self.at, buffer.depth - 1))
        if self.window:
            out.line(counter(self.window, task.walk.windows - 1, task.walk.windows - 1))
        out.line(f"{token} {self.column}[{task.walk.span}];")
        out.pragma(f"array_partition variable={self.column} type=complete")

    def take(self, stream: str, comes: str) -> None:
        """The column at the place of the element that `comes`, if one does; the lines move on."""
        out, walk = self.frame.out, self.task.walk
        kept, last = walk.kept, walk.span - 1
        this, behind = ("line", "line + 1") if kept > 1 else ("0", f"{last}")
        if kept:
            with unrolled(out, [("line", kept)]):
                out.line(f"{self.column}[{this}] = {self.lines}[{this}]{self._place};")
        with guarded(out, comes):
            out.line(f"{self.column}[{last}] = {self.frame.taken(self.task.reads[0], stream)};")
        if kept:
            with unrolled(out, [("line", kept)]):
                out.line(f"{self.lines}[{this}]{self._place} = {self.column}[{behind}];")

    def pass_on(self, stream: str, row: str) -> None:
        """A token of taps, each of all elements that came side by side, in row number `row`, or of that window."""
        task, walk, out = self.task, self.task.walk, self.frame.out
        op, nest, write = task.op, task.nest, task.writes[0]
        assert op.windows is not None
        made, taps = op.outputs[0].dims, op.windows.loop
        lanes = {d: (f"e{d}", nest.unroll[d]) for d in made if nest.unroll[d] > 1}
        side = nest.unroll[taps] if taps is not None else 1
        steps = [f"{self.tap} * {side * walk.dilation}" if side * walk.dilation > 1 else self.tap] if self.tap else []
        if taps in lanes:
            steps.append(f"{lanes[taps][0]} * {walk.dilation}" if walk.dilation > 1 else lanes[taps][0])
        step = " + ".join(steps) or "0"
        came = subscript(f"{self.column}[{step}]", row_major([lanes[d] for d in op.inputs[0].dims if d in lanes]))
        if _outside(task):
            offset = -walk.padding if self.window else walk.phase - walk.kept
            first = f"{row} * {walk.stride}" if walk.stride > 1 else row
            out.line(f"const int {self.origin} = {first} {'-' if offset < 0 else '+'} {abs(offset)};")
            line = self.origin if step == "0" else f"{self.origin} + {step}"
            ends = [f"{line} >= 0"] * walk.begins_outside + [f"{line} < {walk.lines}"] * walk.ends_outside
            fill = literal(op.windows.fill, self.frame.itensor(write).dtype)
            came = f"{' && '.join(ends)} ? {came} : {fill}"
        self.frame.declare(write, "token")
        with unrolled(out, list(lanes.values())):
            out.line(f"{subscript('token', row_major([lanes[d] for d in made if d in lanes]))} = {came};")
        self.frame.write(write, stream, "token")

    def advance(self) -> None:
        """To the next place of a line, behind the last tap, and behind the last place of a row to the next window."""
        if not self.at and not self.window:
            return
        out, walk = self.frame.out, self.task.walk
        lasts = [f"{self.tap} == {self.task.nest.trips[-1] - 1}"] if self.tap else []
        if self.at:
            with guarded(out, "".join(lasts)):
                out.line(advanced(self.at, str(self.task.buffers[0].depth - 1)))
            lasts.append(f"{self.at} == 0")
        if self.window:
            lasts += [f"{self.phase} == {walk.phases - 1}"] if self.phase else []
            with guarded(out, " && ".join(lasts)):
                out.line(advanced(self.window, str(walk.windows - 1)))
