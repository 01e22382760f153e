"""Trip counts that follow the position of a launch: tasks do what the rows need that are there.

Where a launch adds a row to those that stay in memory (`compiler.analysis.rows`), the loops over these make as many
tiles as are begun by the rows before it and itself. A tile is the same for all tasks: a multiple of what each passes in
an iteration of its outermost loop over rows. Where one task can not follow, none does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm

from compiler.analysis.names import c_name
from compiler.analysis.padding import walked_together
from compiler.analysis.rows import kept_rows
from compiler.graph.converter import shared_prefix
from compiler.graph.design import Design
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import Argument, BoundLoop
from compiler.graph.task_graph import (
    ConverterTask,
    ForkTask,
    LoadTask,
    Stream,
    StructuredTask,
    Task,
)


class _CanNotFollowError(Exception):
    """Why a design walks all rows in every launch."""


@dataclass(frozen=True)
class _Rows:
    """Dimensions that walk rows, and how many rows there are with the new one."""

    argument: str
    count: int
    loops: Mapping[str, int]
    dims: Mapping[str, int]

    @staticmethod
    def of(graph: LinalgGraph) -> "_Rows | None":
        kept = list(kept_rows(graph).values())
        if not kept:
            return None
        classes = walked_together(graph)
        roots = {classes.find(("loop", row.op.name, row.op.axis or 0)) for row in kept}
        loops = {
            op.name: dim
            for op in graph.ops
            for dim in range(len(op.loops))
            if classes.find(("loop", op.name, dim)) in roots
        }
        dims = {
            v.name: dim
            for v in graph.values
            for dim in range(len(v.shape))
            if classes.find(("dim", v.name, dim)) in roots
        }
        count = kept[0].row.count + 1
        if any(
            graph.op[name].true_loops[dim] != count or graph.op[name].loops[dim] != count for name, dim in loops.items()
        ):
            raise _CanNotFollowError("rows are padded")
        return _Rows(kept[0].row.argument, count, loops, dims)


def following(design: Design, tasks: Sequence[Task], streams: Iterable[Stream]) -> list[Task]:
    """The tasks, with trip counts that follow the position; as they are where one of them can not."""
    try:
        rows = _Rows.of(design.graph)
        return list(tasks) if rows is None else _Following(design, rows, tasks, {s.name: s for s in streams}).tasks()
    except _CanNotFollowError:
        return list(tasks)


class _Following:
    """From the operations that walk rows back along the streams that bring them: which loop of each task follows, and
    how many rows an iteration takes.
    """

    def __init__(self, design: Design, rows: _Rows, tasks: Sequence[Task], streams: Mapping[str, Stream]) -> None:
        self.design, self.rows, self.all, self.streams = design, rows, tasks, streams
        self.by_name = {t.name: t for t in tasks}
        self.states = {row.state for row in kept_rows(design.graph).values()}
        # loop of a task, rows of an iteration, fixed iterations, iterations of all rows
        self.found: dict[str, tuple[int, int, int, int]] = {}

    def tasks(self) -> list[Task]:
        for op in self.design.graph.ops:
            if op.name in self.rows.loops:
                self._operation(op.name)
        tile = lcm(*(step for _, step, _, _ in self.found.values()))
        if tile >= self.rows.count or self.rows.count % tile:
            raise _CanNotFollowError(f"a tile has {tile} of {self.rows.count} rows")
        argument = Argument(self.rows.argument, self.rows.count - 2, tile, 1)
        return [self._bound(task, argument) for task in self.all]

    def _bound(self, task: Task, argument: Argument) -> Task:
        if task.name not in self.found:
            return task
        loop, _, fixed, whole = self.found[task.name]
        bound = BoundLoop(loop, argument, fixed, whole * argument.tile // self.rows.count)
        assert bound.most == task.timing.trips[loop], (task.name, bound, task.timing)
        restarts = loop if isinstance(task, LoadTask) else task.timing.restarts
        return replace(task, timing=replace(task.timing, bounds=(bound,), restarts=restarts))

    def _operation(self, name: str) -> None:
        op, nest, task = self.design.graph.op[name], self.design.nests[name], self.by_name.get(c_name(name))
        if not isinstance(task, StructuredTask) or task.turns:
            raise _CanNotFollowError(f"{name} is served by an engine")
        dim = self.rows.loops[name]
        over = [k for k, loop in enumerate(nest.loops) if loop.dim == dim]
        if not over:
            raise _CanNotFollowError(f"{name} takes all rows at once")
        loop = over[0]
        self.found[task.name] = (loop, nest.loops[loop].step, 0, nest.loops[loop].trip)
        for i, operand in enumerate(op.inputs):
            itensor, level = self.design.reads[name, i], nest.read_level(operand.dims)
            if itensor is None or level <= loop:
                continue
            joined = op.kind == "concat" and dim not in operand.dims
            if not joined:
                self._stream(f"{c_name(name)}_in{i}", itensor, loop, nest.loops[loop].step)

    def _stream(self, name: str, itensor: ITensor, loop: int, step: int) -> None:
        """What brings the tokens of `itensor`, whose loop number `loop` is over rows."""
        source = self.by_name[self.streams[name].source]
        match source:
            case LoadTask():
                self._load(source, itensor, loop, step)
            case ForkTask():
                trips = tuple(k.trip for k in itensor.loops)
                if source.timing.trips != trips:
                    raise _CanNotFollowError(f"{source.name} copies in another order")
                self._set(source.name, (loop, step, 0, trips[loop]))
                self._stream(source.reads[0].stream, itensor, loop, step)
            case ConverterTask():
                self._converter(source, itensor, loop, step)
            case _:
                pass

    def _set(self, name: str, entry: tuple[int, int, int, int]) -> None:
        if self.found.setdefault(name, entry) != entry:
            raise _CanNotFollowError(f"{name} has readers that follow in several ways")

    def _load(self, task: LoadTask, itensor: ITensor, loop: int, step: int) -> None:
        if tuple(k.trip for k in task.streamed.loops) != tuple(k.trip for k in itensor.loops):
            raise _CanNotFollowError(f"{task.name} loads in another order")
        if any(k.dim is None for k in task.streamed.loops[loop:]) or task.dma.words_per_token > 1:
            raise _CanNotFollowError(f"{task.name} reads again within a tile, or in parts")
        state = task.dma.value in self.states
        run = 1
        for k in task.streamed.loops[loop + 1 :]:
            run *= k.trip
        each = lcm(run, task.dma.tokens_per_word) // run  # iterations that end with a word
        step *= 1 if state else each
        trip = task.streamed.loops[loop].trip
        self._set(task.name, (loop, step, -1 if state else 0, trip + 1 if state else trip))

    def _converter(self, task: ConverterTask, itensor: ITensor, loop: int, step: int) -> None:
        plan, outer = task.converter, task.timing.restarts
        row = next((d for d in [itensor.loops[loop].dim]), None)
        if row is None:  # what is read again for each tile
            if plan.shared != 1 or plan.realisation.kind != "single" or loop > outer:
                raise _CanNotFollowError(f"{task.name} reads again within what both sides share")
            self._set(task.name, (outer, step, plan.fill, plan.drain))
            return
        dim = row - outer
        prefix = shared_prefix(plan.source, plan.target).loops
        over = [k for k in prefix if k.dim == dim]
        if len(over) != 1 or over[0].trip * over[0].step != self.rows.count:
            raise _CanNotFollowError(f"{task.name} re-orders rows across tiles")
        self._set(task.name, (outer, lcm(step, over[0].step), plan.realisation.delay, plan.shared))
        source = self.by_name[self.streams[task.reads[0].stream].source]
        if not isinstance(source, StructuredTask):
            written = self.streams[task.reads[0].stream].itensor
            first = next(k for k, loop_ in enumerate(written.loops) if loop_.dim == row)
            self._stream(task.reads[0].stream, written, first, written.loops[first].step)
