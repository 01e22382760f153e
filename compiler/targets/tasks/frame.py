"""What the emitters of all kinds of task share: the design, the writer, the function around a task's code."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from compiler.graph.abreast import ONCE, SEVERAL, copy_name
from compiler.graph.itensor import ITensor
from compiler.graph.program import Access, Program, Side, arguments_of, behind_layers
from compiler.graph.task_graph import Buffer, Task, TaskGraph, go_name
from compiler.targets.nest_code import gate_condition, pipelined_nest
from compiler.targets.parameters import ALONE, BESIDE, EVERY, NTH, OWN, launch_arguments, of_chunks, task_parameters
from compiler.targets.program_code import ProgramCode
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.tokens import is_packed, part_names, token_type
from compiler.targets.writer import CppWriter, Namer

ALWAYS = "true"


@dataclass(frozen=True)
class Frame:
    """The function `name` of a task of the design, which is written to `out`."""

    tasks: TaskGraph
    out: CppWriter
    name: str

    def program(
        self,
        task: Task,
        namer: Namer,
        params: Sequence[str],
        program: Program = (),
        *,
        counted: bool = False,
        counters: tuple[str, ...] = (),
    ) -> ProgramCode:
        """The loops that the function of `task`, with these parameters, runs: those of `program`, if it is not the
        task's own. Raises UnsupportedError.
        """
        arguments = launch_arguments([task])
        given = params[len(params) - len(arguments) :]
        names = {a.name: name for a, name in zip(arguments, given, strict=True)}
        run, innermost = program or task.program, ""
        if self.rows_in_turns(task) > 1:
            run, innermost, names = self.tasks.abreast.in_turns(run), OWN, {**names, SEVERAL: SEVERAL}
        code = ProgramCode.of(self.out, namer, run, names, counted=counted, counters=counters, innermost=innermost)
        return replace(code, inside=self.each_row_inside(task))

    def each_turn(self, task: Task, access: Access) -> str:
        """Extents of what a copy of the task keeps of a token, as C++: one of each row that it takes in turns."""
        once, rows = self.tasks.abreast.passing.get(access.stream) in ONCE, self.rows_in_turns(task)
        return f"[{rows}]" if rows > 1 and not once else ""

    def own_turn(self, task: Task, access: Access) -> str:
        """The running row's of these."""
        return f"[{OWN}]" if self.each_turn(task, access) else ""

    def rows_in_turns(self, task: Task) -> int:
        """How many rows of a chunk a copy of the task takes in turns."""
        return self.tasks.abreast.each if task.name in self.tasks.abreast.interleaved else 1

    def itensor(self, access: Access) -> ITensor:
        return self.tasks.stream[access.stream].itensor

    def token(self, access: Access) -> str:
        """C++ type of one token of the access."""
        return token_type(self.itensor(access))

    def declare(self, access: Access, name: str, each: str = "") -> None:
        """`name` for the elements of one token, to be indexed by element; a lone one is a variable. `each`: extents of
        an array of those, as C++.
        """
        itensor = self.itensor(access)
        if is_packed(itensor):
            self.out.line(f"{C_TYPE[itensor.dtype]} {name}{each}[{prod(itensor.element)}];")
        else:
            self.out.line(f"{self.token(access)} {name}{each};")
        if each or is_packed(itensor):
            self.out.pragma(f"array_partition variable={name} type=complete{' dim=0' if each else ''}")

    def read(self, access: Access, stream: str, name: str, declare: bool = False) -> None:
        """Read a token into the elements `name`, which are declared here or were before."""
        if not is_packed(self.itensor(access)):
            self.out.line(f"{f'const {self.token(access)} ' if declare else ''}{name} = {self.taken(access, stream)};")
            return
        if declare:
            self.declare(access, name)
        self.out.line(f"unpack_elements({self.taken(access, stream)}, {name});")

    def taken(self, access: Access, stream: str) -> str:
        """The next token of the stream, as C++, which reads it."""
        first, *others = (f"{part}.read()" for part in part_names(stream, self.itensor(access)))
        return f"{self.token(access)}({', '.join([first, *others])})" if others else first

    def put(self, access: Access, stream: str, value: str) -> None:
        """Write a token."""
        parts = part_names(stream, self.itensor(access))
        if len(parts) == 1:
            self.out.line(f"{stream}.write({value});")
            return
        with nullcontext() if value.isidentifier() else self.out.block(""):
            if not value.isidentifier():
                self.out.line(f"const {self.token(access)} whole = {value};")
                value = "whole"
            for number, part in enumerate(parts):
                self.out.line(f"{part}.write({value}.parts[{number}]);")

    def write(self, access: Access, stream: str, name: str, task: Task | None = None) -> None:
        """Write the elements `name`, or the expression of a lone one, as a token; `task`, which may do for several."""
        packed = is_packed(self.itensor(access))
        value = f"pack_elements<{self.token(access)}>({name})" if packed else name
        if task is None:
            self.put(access, stream, value)
        else:
            self.send(task, access, stream, value)

    def send(self, task: Task, access: Access, stream: str, value: str) -> None:
        """Write a token; of what several rows side by side share, to the streams of all of them."""
        self.put(access, stream, value)
        if not self._is_shared(access):
            return
        for row in range(1, self.tasks.abreast.side_by_side):
            with self.out.block(f"if ({BESIDE} > {row})"):
                self.put(access, self.named(task, copy_name(access.stream, row)), value)

    def _is_shared(self, access: Access) -> bool:
        """Whether rows side by side share the tokens."""
        return self.tasks.abreast.passing.get(access.stream) == "shared"

    @property
    def rows(self) -> int:
        """Of a chunk of a prompt."""
        return 1 if self.tasks.control is None else self.tasks.control.rows

    def rows_at_once(self, task: Task, writes: Sequence[Access] | None = None) -> int:
        """How many rows of a chunk an iteration of the loop over them is for, around these writes, or all."""
        abreast = self.tasks.abreast
        once = any(abreast.passing.get(a.stream) in ONCE for a in (task.writes if writes is None else writes))
        return abreast.rows if once and task.name not in abreast.copied else self.rows_in_turns(task)

    def named(self, task: Task, stream: str) -> str:
        """The parameter of the task's function that is this stream between tasks and control."""
        return next(p.name for p in task_parameters(task, self.tasks, self.name) if p.argument == stream)

    def each_row_inside(
        self, task: Task, writes: Sequence[Access] | None = None, *, told: bool = True
    ) -> Callable[[str], AbstractContextManager[None]]:
        """What opens the loop over the rows of a chunk inside that over layers, around these writes, or all; `told`:
        what is inside uses what the task is told of a row. It is given when that is behind layers (`ProgramCode`).
        """
        return partial(self._each_row, task, writes, told=told) if self.rows > 1 and task.by_layer else nullcontext

    @contextmanager
    def _each_row(
        self, task: Task, writes: Sequence[Access] | None = None, behind: str = "", *, told: bool = True
    ) -> Generator[None]:
        """Where some are side by side, what is `behind` layers is done as if each row were alone."""
        out, at_once, every = self.out, self.rows_at_once(task, writes), self.every(task)
        by_row = any("row" in p.row for p in task_parameters(task, self.tasks, self.name))
        own, count, step, left = "row", "rows", f"row += {at_once}" if at_once > 1 else "++row", "rows - row"
        if behind == ALWAYS:
            step, left = "++row", "1"
        elif behind and (by_row or at_once > 1 or every != count):
            out.line(f"const bool {ALONE} = {behind};")
            own, left = NTH, f"({ALONE} ? 1 : rows - {NTH})"
            count = count if every == count else f"({ALONE} ? {every} : {count})"
            step = f"{NTH} += {ALONE} ? 1 : {at_once}" if at_once > 1 else f"++{NTH}"
        with out.block(f"for (int {own} = 0; {own} < {count}; {step})"):
            out.pragma("loop_flatten off")
            out.pragma(f"loop_tripcount min=1 max={self.rows} avg=1")
            if own != "row" and by_row:
                out.line(f"const int row = {ALONE} ? 0 : {NTH};")
            if self.rows_in_turns(task) > 1:
                out.line(f"const int {SEVERAL} = {left} < {at_once} ? {left} : {at_once};")
            if self.tasks.abreast.side_by_side > 1 and any(self._is_shared(a) for a in task.writes):
                out.line(f"const int {BESIDE} = {left};")
            for argument in self._arguments(task) if told else ():
                out.line(f"const int {argument} = told[{own}];")
            yield

    def every(self, task: Task) -> str:
        """C++ of how many rows the chunk has, in the function of a task, a copy of which has some of them."""
        apart = task.name in self.tasks.abreast.copied and self.tasks.abreast.side_by_side > 1
        return EVERY if apart and behind_layers(task.program) else "rows"

    def _arguments(self, task: Task) -> list[str]:
        """C++ of what the task is told."""
        namer = self._namer(task)
        return [namer.name(argument.name) for argument in launch_arguments([task])]

    def _namer(self, task: Task) -> Namer:
        """For names inside the task's function."""
        return Namer(
            [self.name, *of_chunks(self.tasks), *(p.name for p in task_parameters(task, self.tasks, self.name))]
        )

    @contextmanager
    def function(
        self, task: Task, summary: str, first: Callable[[Sequence[str]], None] | None = None
    ) -> Generator[tuple[list[str], Namer]]:
        """The function of `task` around what the caller writes; gives the parameters' names and a namer for others.
        `first` writes, of these names, what is done for a chunk before all of its rows.
        """
        parameters = task_parameters(task, self.tasks, self.name)
        names = [p.name for p in parameters if not p.part]
        self.out.comment(summary)
        for number, access in enumerate((*task.reads, *task.writes)):
            verb = "reads" if number < len(task.reads) else "writes"
            self.out.line(f"//   {verb} {names[number]}: {self.itensor(access)}")
        self.out.statement(f"void {self.name}", [p.declaration for p in parameters], " {")
        with self.out.indented():
            namer = self._namer(task)
            self._fill(task, names[len(task.reads) :], namer)
            names = [f"{p.name}{p.row}" for p in parameters if not p.part]
            if self.tasks.control is None:
                yield names, namer
            else:
                with self._each_token(task, names, namer, first) as told:
                    yield told, namer
            self._drain(task, names, namer)
        self.out.line("}")
        self.out.line()

    @contextmanager
    def _each_token(
        self, task: Task, names: list[str], namer: Namer, first: Callable[[Sequence[str]], None] | None
    ) -> Generator[list[str]]:
        """Loop over tokens, or chunks of them, outside of all pipelines; gives the names of parameters, with what the
        task is told.
        """
        go = self.named(task, go_name(task.name))
        own, arguments = names[: names.index(go)], [namer.name(name) for name in self._arguments(task)]
        if self.rows > 1:
            every = self.every(task)
            with self.out.block(f"while (const int {every} = {go}.read())"):
                if every != "rows":
                    sides = self.tasks.abreast.side_by_side
                    self.out.line(f"const int rows = ({every} + {sides - 1}) / {sides};")
                if arguments:
                    self.out.line(f"int told[{self.rows}];")
                    with self.out.block(f"for (int row = 0; row < {every}; ++row)"):
                        self.out.pragma(f"loop_tripcount min=1 max={self.rows} avg=1")
                        self.out.pragma("pipeline II=1")
                        self.out.line(f"told[row] = {go}.read();")
                if first is not None:
                    first(names)
                with nullcontext() if task.by_layer else self._each_row(task):
                    yield [*own, *arguments]
            return
        with self.out.block(f"while ({'true' if arguments else f'{go}.read()'})"):
            for argument in arguments:
                self.out.line(f"const int {argument} = {go}.read();")
                self.out.line(f"if ({argument} < 0) break;")
            yield [*own, *arguments]

    def _fill(self, task: Task, written: Sequence[str], namer: Namer) -> None:
        """No FIFO of hardware begins with tokens, so who writes it puts them there before all else, as zeros; in a loop
        of its own, since HLS may schedule a write and the read of its answer into one cycle (UCLA-VAST/tapa, 111).
        """
        for access, name in zip(task.writes, written, strict=False):
            self._initially(access, namer, partial(self.put, access, name, f"{self.token(access)}(0)"))

    def _drain(self, task: Task, read: Sequence[str], namer: Namer) -> None:
        """As many tokens are left at the end; the next launch puts in its own."""
        for access, name in zip(task.reads, read, strict=False):
            self._initially(access, namer, partial(self.out.line, f"{self.taken(access, name)};"))

    def _initially(self, access: Access, namer: Namer, move: Callable[[], None]) -> None:
        if initial := self.tasks.stream[access.stream].initial:
            index = namer.name("first")
            with self.out.block(f"for (int {index} = 0; {index} < {initial}; ++{index})"):
                self.out.pragma("pipeline II=1")
                move()


def bind_storage(out: CppWriter, name: str, buffer: Buffer) -> None:
    """The directive that puts array `name` into the memory that `buffer` says."""
    if buffer.kind != "registers":
        out.pragma(f"bind_storage variable={name} type=ram_s2p impl={buffer.kind}")


def rate(task: Task) -> str:
    """How many iterations the task runs and how often one starts, for its comment."""
    if task.iterations == 1:
        return "One iteration"
    every = "every cycle" if task.timing.ii == 1 else f"every {task.timing.ii} cycles"
    most = " at most" if arguments_of([task.program]) else ""
    return f"{task.iterations} iterations{most}, one {every}"


@dataclass(frozen=True)
class TaskLoops:
    """The loops of a task: a perfect nest, or one flat loop where a trip count follows an argument, since HLS would not
    flatten that, or there are several nests in turn (`compiler.targets.program_code`).
    """

    frame: Frame
    task: Task
    names: tuple[str, ...]
    code: ProgramCode | None

    @staticmethod
    def of(frame: Frame, task: Task, namer: Namer, params: Sequence[str], names: Sequence[str]) -> "TaskLoops":
        """`names` are those of the loops, outermost first."""
        inside = tuple(names[task.timing.restarts :])
        code = frame.program(task, namer, params, counters=inside) if task.timing.bounds else None
        return TaskLoops(frame, task, tuple(names), code)

    def condition(self, side: Side, access: Access) -> str:
        """When an iteration makes the access, as C++; "" for always. Before the loops."""
        if self.code is not None:
            return self.code.condition(side, access.stream, side)
        return gate_condition(access.gates, self.names, self.task.timing.trips)

    @contextmanager
    def pipelined(self) -> Generator[None]:
        """The loops, around what one iteration does."""
        timing = self.task.timing
        if self.code is not None:
            with self.code.pipelined(timing):
                yield
            return
        inside = self.frame.each_row_inside(self.task)
        with pipelined_nest(self.frame.out, self.names, timing.trips, timing, outer=timing.restarts, inside=inside):
            yield
