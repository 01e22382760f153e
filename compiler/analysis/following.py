"""Trip counts that follow the position of a launch: tasks do what the rows need that are there.

Where a launch adds a row to those that stay in memory (`compiler.analysis.rows`), the loops over these make as many
tiles as are begun by the rows before it and itself. A tile is the same for all tasks: a multiple of what each passes in
an iteration of its outermost loop over rows. Where one task can not follow, none does.

In the same way what chooses the next token behind layers, the product with the vocabulary and its arg-max, follows
whether one is wanted (`CHOOSE`): where not, its tasks do the first tile alone, and the token is none to be used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm, prod
from typing import NamedTuple

from compiler.analysis.choice import choice_loops
from compiler.analysis.names import c_name, engine_names, joint_load_name, operand_stream, route_in, route_out
from compiler.analysis.rows import kept_rows, row_loops
from compiler.graph.converter import shared_prefix
from compiler.graph.design import Design
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.program import Argument, BoundLoop, LoopNest
from compiler.graph.task_graph import (
    CHOOSE,
    ConverterTask,
    ForkTask,
    LoadTask,
    RomTask,
    Stream,
    StructuredTask,
    Task,
)


class _CanNotFollowError(Exception):
    """Why a design walks all rows in every launch."""


@dataclass(frozen=True)
class _Rows:
    """The loop of each operation that walks rows, how many rows there are with the new one, and where they stay."""

    argument: str
    count: int
    loops: Mapping[str, int]
    states: frozenset[str]
    skipped: bool = False

    @staticmethod
    def choices(graph: LinalgGraph) -> "_Rows | None":
        """Those of the vocabulary, of which a launch may do without the choice."""
        loops = choice_loops(graph)
        if not loops:
            return None
        (count,) = {graph.op[name].loops[dim] for name, dim in loops.items()}
        return _Rows(CHOOSE, count, loops, frozenset(), skipped=True)

    def followed(self, tile: int) -> Argument:
        """What trip counts follow, in tiles of so many rows."""
        return Argument(self.argument, 1) if self.skipped else Argument(self.argument, self.count - 2, tile, 1)

    def bound(self, trip: "_Trip", argument: Argument, tile: int) -> BoundLoop:
        """The loop of a launch that is given `argument`."""
        each, left = divmod(trip.whole * tile, self.count)
        if left:
            raise _CanNotFollowError(f"loop {trip.loop} makes no whole number of iterations in a tile")
        if self.skipped:  # the first tile in any case, so that what is behind the arg-max has one to pass on
            return BoundLoop(trip.loop, argument, trip.fixed + each, trip.whole - each)
        return BoundLoop(trip.loop, argument, trip.fixed, each)

    @staticmethod
    def of(graph: LinalgGraph) -> "_Rows | None":
        kept = list(kept_rows(graph).values())
        if not kept:
            return None
        loops = row_loops(graph)
        count = kept[0].row.count + 1
        if any(
            graph.op[name].true_loops[dim] != count or graph.op[name].loops[dim] != count for name, dim in loops.items()
        ):
            raise _CanNotFollowError("rows are padded")
        return _Rows(kept[0].row.argument, count, loops, frozenset(row.state for row in kept))


class _Trip(NamedTuple):
    """How the trip count of one loop of a task follows: `loop` makes `fixed` iterations however many rows there are,
    and `whole` more where all are there. Only after a multiple of `step` rows may it stop.
    """

    loop: int
    step: int
    fixed: int
    whole: int


def following(design: Design, tasks: Sequence[Task], streams: Iterable[Stream]) -> list[Task]:
    """The tasks, with trip counts that follow the position, and whether the next token is to be chosen; of either, as
    they are where one of them can not.
    """
    found, named = list(tasks), {s.name: s for s in streams}
    for group in (_Rows.of, _Rows.choices):
        try:
            rows = group(design.graph)
            found = found if rows is None else _Following(design, rows, found, named).tasks()
        except _CanNotFollowError:
            continue
    return found


def _outside(loops: Sequence[Loop], number: int) -> tuple[Loop, ...]:
    """Loops around one, as they walk: without those of one iteration."""
    return tuple(loop for loop in loops[:number] if loop.trip > 1)


def _until_word(task: LoadTask, run: int) -> int:
    """Iterations of so many tokens until one ends with a word."""
    return lcm(run, task.dma.tokens_per_word) // run


class _Following:
    """From the operations that walk rows back along the streams that bring them: which loop of each task follows, and
    how many rows an iteration takes.
    """

    def __init__(self, design: Design, rows: _Rows, tasks: Sequence[Task], streams: Mapping[str, Stream]) -> None:
        self.design, self.rows, self.all, self.streams = design, rows, tasks, streams
        self.by_name = {t.name: t for t in tasks}
        self.found: dict[str, _Trip] = {}  # by the names of tasks

    def tasks(self) -> list[Task]:
        for op in self.design.graph.ops:
            if op.name in self.rows.loops:
                self._operation(op.name)
        tile = lcm(*(trip.step for trip in self.found.values()))
        if tile >= self.rows.count or self.rows.count % tile:
            raise _CanNotFollowError(f"a tile has {tile} of {self.rows.count} rows")
        argument = self.rows.followed(tile)
        if argument.trip(argument.most) * tile < self.rows.count and not self.rows.skipped:
            raise _CanNotFollowError("no position begins the last row alone")  # it would only be masked
        return [self._bound(task, argument, tile) for task in self.all]

    def _bound(self, task: Task, argument: Argument, tile: int) -> Task:
        if task.name not in self.found:
            return task
        bound = self.rows.bound(self.found[task.name], argument, tile)
        if task.turns:  # what is done last: of a load of several parameters, or of an engine
            *others, last = task.turns
            assert isinstance(last, LoopNest)
            assert bound.most == last.trips[bound.loop], (task.name, bound, last)
            return replace(task, turns=(*others, replace(last, bounds=(bound,))))
        assert bound.most == task.timing.trips[bound.loop], (task.name, bound, task.timing)
        restarts = bound.loop if isinstance(task, LoadTask) else task.timing.restarts
        return replace(task, timing=replace(task.timing, bounds=(bound,), restarts=restarts))

    def _operation(self, name: str) -> None:
        op, nest, task = self.design.graph.op[name], self.design.nests[name], self.by_name.get(c_name(name))
        if task is None:
            self._turn(op, nest)
            return
        if not isinstance(task, StructuredTask) or task.turns:
            raise _CanNotFollowError(f"{name} takes turns")
        dim = self.rows.loops[name]
        over = [k for k, loop in enumerate(nest.loops) if loop.dim == dim]
        if not over:
            raise _CanNotFollowError(f"{name} takes all rows at once")
        loop = over[0]
        step = nest.loops[loop].step
        self.found[task.name] = _Trip(loop, step, fixed=0, whole=nest.loops[loop].trip)
        for i, operand in enumerate(op.inputs):
            itensor, level = self.design.reads[name, i], nest.read_level(operand.dims)
            if itensor is None or level <= loop:
                continue
            is_new_row = op.kind == "concat" and dim not in operand.dims
            if not is_new_row:
                self._stream(f"{c_name(name)}_in{i}", itensor, loop, step)

    def _turn(self, op: LinalgOp, nest: Nest) -> None:
        """The last turn of an engine: of its slices, and of all that brings them tokens and takes them."""
        engines = self.design.engines.items()
        name, engine = next((e for e in engines if e[1].turns[-1] == op.name), ("", None))
        if engine is None or op.name not in self.design.graph.outside or nest.loops[0].dim != self.rows.loops[op.name]:
            raise _CanNotFollowError(f"{op.name} is an engine's, but not its last turn behind layers, tile by tile")
        step, slices = nest.loops[0].step, engine_names(name, engine.slices)
        ends = [self.by_name[part] for part in slices]
        around = {*slices}
        for index, operand in enumerate(op.inputs):
            if nest.read_level(operand.dims) == 0:
                continue
            fronts = route_in(name, index), joint_load_name(name, index)
            for task in ends:
                around |= self._up_to(*fronts, stream=task.reads[index].stream)
            itensor = self.design.reads[op.name, index]
            if index not in engine.joint and itensor is not None:
                self._stream(operand_stream(op.name, index), itensor, 0, step)
        for task in ends:
            around |= self._down_to(route_out(name), task.writes[0].stream)
        for task in map(self.by_name.__getitem__, sorted(around)):
            last = task.turns[-1]
            assert isinstance(last, LoopNest)
            tiles = _until_word(task, prod(last.trips[1:])) if isinstance(task, LoadTask) else 1
            self.found[task.name] = _Trip(0, step * tiles, fixed=0, whole=last.trips[0])

    def _up_to(self, *fronts: str, stream: str) -> set[str]:
        """Tasks that a stream's tokens pass, from one of those in front of an engine on."""
        task = self.by_name[self.streams[stream].source]
        return {task.name} | (set() if task.name in fronts else self._up_to(*fronts, stream=task.reads[0].stream))

    def _down_to(self, end: str, stream: str) -> set[str]:
        task = self.by_name[self.streams[stream].target]
        return {task.name} | (set() if task.name == end else self._down_to(end, task.writes[0].stream))

    def _stream(self, name: str, itensor: ITensor, loop: int, step: int) -> None:
        """What brings the tokens of `itensor`, whose loop number `loop` is over rows."""
        source = self.by_name[self.streams[name].source]
        match source:
            case LoadTask():
                self._load(source, name, itensor, loop, step)
            case RomTask():
                raise _CanNotFollowError(f"{source.name} passes on the whole of what it holds")
            case ForkTask():
                read = source.reads[0].stream
                passed = self.streams[read].itensor.loops  # the same tokens, in loops of its own
                number = next((k for k, one in enumerate(passed) if one.dim == itensor.loops[loop].dim), None)
                if number is None or _outside(passed, number) != _outside(itensor.loops, loop):
                    raise _CanNotFollowError(f"{source.name} copies in another order")
                own = passed[number]
                self._set(source.name, _Trip(number, own.step, fixed=0, whole=own.trip))
                self._stream(read, self.streams[read].itensor, number, own.step)
            case ConverterTask():
                self._converter(source, itensor, loop, step)
            case _:
                pass

    def _set(self, name: str, trip: _Trip) -> None:
        if self.found.setdefault(name, trip) != trip:
            raise _CanNotFollowError(f"{name} has readers that follow in several ways")

    def _load(self, task: LoadTask, stream: str, itensor: ITensor, loop: int, step: int) -> None:
        """What writes `stream`."""
        streamed = self.streams[stream].itensor if task.turns else task.streamed
        if tuple(k.trip for k in streamed.loops) != tuple(k.trip for k in itensor.loops):
            raise _CanNotFollowError(f"{task.name} loads in another order")
        if task.turns and (loop or task.writes[-1].stream != stream):
            raise _CanNotFollowError(f"{task.name} loads others behind it")
        trip = streamed.loops[loop].trip
        if task.dma.value in self.rows.states:  # the new row is not read
            if any(k.dim is None for k in task.streamed.loops[loop:]):
                raise _CanNotFollowError(f"{task.name} reads rows again within a tile")
            self._set(task.name, _Trip(loop, step, fixed=-1, whole=trip + 1))
            return
        run = prod(k.trip for k in streamed.loops[loop + 1 :] if k.dim is not None)
        self._set(task.name, _Trip(loop, step * _until_word(task, run), fixed=0, whole=trip))

    def _converter(self, task: ConverterTask, itensor: ITensor, loop: int, step: int) -> None:
        plan, outer = task.converter, task.timing.restarts
        row = itensor.loops[loop].dim
        if row is None:  # what is read again for each tile, in each round of what both sides share
            rounds = prod(k.trip for k in itensor.loops[outer:loop])
            if plan.realisation.kind != "single" or plan.shared != rounds:
                raise _CanNotFollowError(f"{task.name} reads again within what both sides share")
            steps = outer + (1 if rounds > 1 else 0)
            self._set(task.name, _Trip(steps, step, fixed=plan.fill, whole=plan.drain))
            return
        prefix = shared_prefix(plan.source, plan.target).loops
        over = [k for k in prefix if k.dim == row - outer]
        if not over or over[0].trip * over[0].step != self.rows.count:
            raise _CanNotFollowError(f"{task.name} re-orders rows across tiles")
        self._set(task.name, _Trip(outer, lcm(step, over[0].step), fixed=plan.realisation.delay, whole=plan.shared))
        stream = self.streams[task.reads[0].stream]
        if not isinstance(self.by_name[stream.source], StructuredTask):
            number, first = next((k, one) for k, one in enumerate(stream.itensor.loops) if one.dim == row)
            self._stream(stream.name, stream.itensor, number, first.step)
