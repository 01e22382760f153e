"""Tasks as C++ functions: one method per kind of task.

Each is one perfect pipelined nest over the task's timing spec, with reads and writes under the conditions of its gates.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from math import prod

from compiler.analysis.tasks import converter_banks
from compiler.errors import UnsupportedError
from compiler.graph.converter import shared_prefix
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgOp, Operand
from compiler.graph.nest import Nest
from compiler.graph.task_graph import Access, Buffer, Dma, Task, TaskGraph
from compiler.targets.body import describe_body, emit_body
from compiler.targets.counters import Counters
from compiler.targets.hazards import write_to_read_distance
from compiler.targets.interface import Interface, Parameter, short_names, task_parameters, token_type
from compiler.targets.nest_code import (
    NestNames,
    gate_condition,
    guarded,
    pipelined_nest,
    row_major,
    subscript,
    unrolled,
)
from compiler.targets.scalar_ops import C_TYPE, TREE, combine, is_neutral, literal
from compiler.targets.writer import CppWriter, Namer


@dataclass(frozen=True)
class _Accumulator:
    """Partial results of a reduction: `target` is the running lane's, `first` the condition when it starts anew."""

    target: str
    first: str


class TaskEmitter:
    """Writes the functions of a design's tasks."""

    def __init__(self, tasks: TaskGraph, interface: Interface, out: CppWriter):
        self.tasks = tasks
        self.interface = interface
        self.out = out
        self._methods = {
            "compute": self._compute,
            "fork": self._fork,
            "chunk": self._chunk,
            "concat": self._concat,
            "converter": self._converter,
            "load": self._load,
            "store": self._store,
        }

    def emit(self, task: Task) -> None:
        """Write `task`. Raises UnsupportedError that names the task and what has no C++."""
        if task.kind not in self._methods:
            raise UnsupportedError(f"no C++ for task {task.name} of kind {task.kind}")
        try:
            self._methods[task.kind](task)
        except UnsupportedError as error:
            raise UnsupportedError(f"task {task.name}: {error}") from error

    def parameters(self, task: Task) -> tuple[Parameter, ...]:
        return task_parameters(task, self.tasks, self.interface.task_ports.get(task.name, ()))

    def _itensor(self, access: Access) -> ITensor:
        return self.tasks.stream[access.stream].itensor

    def _token(self, access: Access) -> str:
        return token_type(self._itensor(access))

    @contextmanager
    def _function(self, task: Task, summary: str) -> Generator[tuple[list[str], Namer]]:
        """The function of `task` around what the caller writes; gives the parameters' names and a namer for others."""
        parameters = self.parameters(task)
        names = [p.name for p in parameters]
        self.out.comment(summary)
        for number, access in enumerate((*task.reads, *task.writes)):
            verb = "reads" if number < len(task.reads) else "writes"
            self.out.line(f"//   {verb} {names[number]}: {self._itensor(access)}")
        self.out.statement(f"void {task.name}", [p.declaration for p in parameters], " {")
        with self.out.indented():
            yield names, Namer([task.name, *names])
        self.out.line("}")
        self.out.line()

    # Computation

    def _compute(self, task: Task) -> None:
        op, nest = task.op, task.nest
        assert op is not None
        assert nest is not None
        with self._function(task, _compute_summary(op, nest, task)) as (params, namer):
            names = NestNames.of(op, nest, namer)
            registers = self._declare_tokens(task, params, namer)
            args = self._arguments(task, params, registers, names)
            accumulator = self._declare_accumulator(task, names, namer)
            with pipelined_nest(self.out, names.loops, nest.trips, task.timing.ii):
                reads = zip(task.reads, params, registers, strict=False)
                for condition, group in groupby(
                    reads, lambda read: gate_condition(read[0].gates, names.loops, nest.trips)
                ):
                    with guarded(self.out, condition):
                        for _, stream, register in group:
                            self.out.line(f"{register} = {stream}.read();")
                (write,), stream = task.writes, params[len(task.reads)]
                result = self._token_of_points(task, args, names, accumulator, namer, namer.name(f"{stream}_token"))
                with guarded(self.out, gate_condition(write.gates, names.loops, nest.trips)):
                    self.out.line(f"{stream}.write({result});")

    def _token_of_points(
        self,
        task: Task,
        args: Sequence[str],
        names: NestNames,
        accumulator: _Accumulator | None,
        namer: Namer,
        result: str,
    ) -> str:
        """The output token `result`, its elements side by side; a lone element is the expression itself."""
        assert task.op is not None
        dims = task.op.outputs[0].dims
        lanes = names.lanes(dims)
        if not lanes:
            return self._point(task, args, names, accumulator, namer)
        self.out.line(f"{self._token(task.writes[0])} {result};")
        with unrolled(self.out, lanes):
            value = self._point(task, args, names, accumulator, namer)
            self.out.line(f"{result}[{names.element(dims)}] = {value};")
        return result

    def _declare_tokens(self, task: Task, params: Sequence[str], namer: Namer) -> list[str]:
        """Registers of the tokens that are read; iterations that do not read reuse them."""
        registers = [namer.name(f"{stream}_token") for stream in params[: len(task.reads)]]
        for access, register in zip(task.reads, registers, strict=True):
            self.out.line(f"{self._token(access)} {register};")
        return registers

    def _arguments(self, task: Task, params: Sequence[str], registers: Sequence[str], names: NestNames) -> list[str]:
        """The body's arguments: the running lane of each token, scalars as they are."""
        assert task.op is not None
        tokens, scalars = iter(registers), iter(params[len(task.reads) + len(task.writes) :])
        return [
            next(scalars) if operand.value in task.scalars else subscript(next(tokens), names.element(operand.dims))
            for operand in task.op.inputs
        ]

    def _declare_accumulator(self, task: Task, names: NestNames, namer: Namer) -> _Accumulator | None:
        """Memory of the partial results, one for every parallel point inside the outermost reduction loop."""
        op, nest = task.op, task.nest
        assert op is not None
        assert nest is not None
        assert op.body is not None
        reductions = nest.reduction_loops(op.iterators)
        if not reductions:
            return None
        kept = [k for k in range(reductions[0], len(nest.loops)) if op.iterators[nest.loops[k].dim] == "parallel"]
        lanes = names.lanes(op.outputs[0].dims)
        name = namer.name("acc")
        extents = [*(nest.trips[k] for k in kept), *(trip for _, trip in lanes)]
        self.out.line(f"{C_TYPE[op.body.dtype_of(op.body.result)]} {name}{''.join(f'[{e}]' for e in extents)};")
        if extents and not task.buffers:
            self.out.pragma(f"array_partition variable={name} type=complete dim=0")
        for buffer in task.buffers:
            for dim in range(len(kept) + 1, len(extents) + 1):
                self.out.pragma(f"array_partition variable={name} type=complete dim={dim}")
            self._bind(name, buffer)
        if kept:
            # An accumulator comes round again after the loops inside the innermost reduction loop.
            distance = nest.reuse_distance(op.iterators)
            self.out.pragma(f"dependence variable={name} type=inter direction=RAW distance={distance} dependent=true")
        index = "".join(f"[{i}]" for i in (*(names.loops[k] for k in kept), *(lane for lane, _ in lanes)))
        return _Accumulator(f"{name}{index}", " && ".join(f"{names.loops[k]} == 0" for k in reductions))

    def _point(
        self, task: Task, args: Sequence[str], names: NestNames, accumulator: _Accumulator | None, namer: Namer
    ) -> str:
        """One element of the output token: body over the reduction's lanes, their tree, the accumulation."""
        op = task.op
        assert op is not None
        assert op.body is not None
        multiplier = _multiplier(task)
        if op.reduction is None:
            return emit_body(self.out, op.body, args, multiplier, namer)
        dtype = op.body.dtype_of(op.body.result)
        lanes = names.lanes([d for d, it in enumerate(op.iterators) if it == "reduction"])
        if lanes:
            terms = namer.name("terms")
            self.out.line(f"{C_TYPE[dtype]} {terms}[{prod(trip for _, trip in lanes)}];")
            self.out.pragma(f"array_partition variable={terms} type=complete")
            with unrolled(self.out, lanes):
                value = emit_body(self.out, op.body, args, multiplier, namer)
                self.out.line(f"{terms}[{row_major(lanes)}] = {value};")
            term = f"reduce_tree<{TREE[op.reduction.combiner]}>({terms})"
        else:
            term = emit_body(self.out, op.body, args, multiplier, namer)
        return self._accumulate(op, dtype, term, accumulator, namer)

    def _accumulate(self, op: LinalgOp, dtype: str, term: str, accumulator: _Accumulator | None, namer: Namer) -> str:
        assert op.reduction is not None
        combiner, init = op.reduction.combiner, op.reduction.init
        neutral = is_neutral(combiner, dtype, init)
        start = literal(init, dtype)
        if accumulator is None:
            return term if neutral else combine(combiner, dtype, start, term)
        if term.startswith("reduce_tree"):  # written once, used twice
            partial = namer.name("partial")
            self.out.line(f"const {C_TYPE[dtype]} {partial} = {term};")
            term = partial
        first = term if neutral else combine(combiner, dtype, start, term)
        later = combine(combiner, dtype, accumulator.target, term)
        if " ? " in later:
            later = f"({later})"
        total = namer.name("total")
        self.out.line(f"const {C_TYPE[dtype]} {total} = {accumulator.first} ? {first} : {later};")
        self.out.line(f"{accumulator.target} = {total};")
        return total

    # Routing

    def _fork(self, task: Task) -> None:
        with self._function(task, f"Copies every token to {len(task.writes)} readers.") as (params, namer):
            token = self._token(task.reads[0])
            with pipelined_nest(self.out, [namer.name("t")], [task.timing.iterations], task.timing.ii):
                self.out.line(f"const {token} token = {params[0]}.read();")
                for stream in params[1:]:
                    self.out.line(f"{stream}.write(token);")

    def _chunk(self, task: Task) -> None:
        op, nest = task.op, task.nest
        assert op is not None
        assert nest is not None
        summary = f"{op.name}: each token goes to the output of the chunk that it is in."
        with self._function(task, summary) as (params, namer):
            names = NestNames.of(op, nest, namer)
            with pipelined_nest(self.out, names.loops, nest.trips, task.timing.ii):
                self.out.line(f"const {self._token(task.reads[0])} token = {params[0]}.read();")
                for access, stream in zip(task.writes, params[1:], strict=True):
                    with guarded(self.out, gate_condition(access.gates, names.loops, nest.trips)):
                        self.out.line(f"{stream}.write(token);")

    def _concat(self, task: Task) -> None:
        op, nest = task.op, task.nest
        assert op is not None
        assert nest is not None
        summary = f"{op.name}: the tokens of one input after the other along {op.outputs[0].value}'s joined dimension."
        with self._function(task, summary) as (params, namer):
            names = NestNames.of(op, nest, namer)
            with pipelined_nest(self.out, names.loops, nest.trips, task.timing.ii):
                self.out.line(f"{self._token(task.writes[0])} token;")
                for access, stream in zip(task.reads, params, strict=False):
                    with guarded(self.out, gate_condition(access.gates, names.loops, nest.trips)):
                        self.out.line(f"token = {stream}.read();")
                self.out.line(f"{params[-1]}.write(token);")

    def _converter(self, task: Task) -> None:
        converter = task.converter
        assert converter is not None
        (buffer,) = task.buffers
        prefix = shared_prefix(converter.source, converter.target)
        dims = [d for d, extent in enumerate(converter.extent) if extent > 1]
        with self._function(task, _converter_summary(task)) as (params, namer):
            halves = converter.halves > 1
            extents = [*([2] if halves else []), *(converter.extent[d] for d in dims)]
            name = namer.name("buffer")
            self.out.line(f"{C_TYPE[converter.source.dtype]} {name}{''.join(f'[{e}]' for e in extents)};")
            self._partition(name, task, dims, buffer)
            fill = Counters.of(prefix.source, "fill", namer)
            drain = Counters.of(prefix.target, "drain", namer)
            fill.declare(self.out)
            drain.declare(self.out)
            loops = [namer.name("round"), namer.name("t")] if halves else [namer.name("t")]
            trips = task.timing.trips
            with pipelined_nest(self.out, loops, trips, task.timing.ii):
                # The read comes first: no iteration reads what it writes itself.
                with guarded(self.out, gate_condition(task.writes[0].gates, loops, trips)):
                    half = [f"({loops[0]} + 1) % 2"] if halves else []
                    lanes, element, place = _box(converter.target, drain, dims, half)
                    self.out.line(f"{self._token(task.writes[0])} token;")
                    with unrolled(self.out, lanes):
                        self.out.line(f"{subscript('token', element)} = {name}{place};")
                    self.out.line(f"{params[1]}.write(token);")
                    drain.advance(self.out)
                with guarded(self.out, gate_condition(task.reads[0].gates, loops, trips)):
                    half = [f"{loops[0]} % 2"] if halves else []
                    lanes, element, place = _box(converter.source, fill, dims, half)
                    self.out.line(f"const {self._token(task.reads[0])} token = {params[0]}.read();")
                    with unrolled(self.out, lanes):
                        self.out.line(f"{name}{place} = {subscript('token', element)};")
                    fill.advance(self.out)

    def _partition(self, name: str, task: Task, dims: Sequence[int], buffer: Buffer) -> None:
        """A bank for every element that a token of either side moves at once."""
        converter = task.converter
        assert converter is not None
        banks = converter_banks(converter)
        for position, dim in enumerate(dims, start=2 if converter.halves > 1 else 1):
            if banks[dim] == converter.extent[dim]:
                self.out.pragma(f"array_partition variable={name} type=complete dim={position}")
            elif banks[dim] > 1:
                self.out.pragma(f"array_partition variable={name} type=cyclic factor={banks[dim]} dim={position}")
        self._bind(name, buffer)
        distance = write_to_read_distance(task)
        self.out.pragma(f"dependence variable={name} type=inter direction=RAW distance={distance} dependent=true")

    def _bind(self, name: str, buffer: Buffer) -> None:
        if buffer.kind != "registers":
            self.out.pragma(f"bind_storage variable={name} type=ram_s2p impl={buffer.kind}")

    # Memory

    def _load(self, task: Task) -> None:
        dma = task.dma
        assert dma is not None
        streamed = self._itensor(task.writes[0])
        with self._function(task, f"Reads {dma.value} from HBM. {_image_summary(dma)}") as (params, namer):
            out, memory = params[0], params[1:]
            walk = _MemoryWalk.of(streamed, dma, namer)
            token, parts = self._token(task.writes[0]), dma.words_per_token
            if parts > 1:
                self.out.line(f"{token} token;")
            with pipelined_nest(self.out, walk.names, walk.trips, task.timing.ii * dma.tokens_per_word):
                words = ", ".join(f"{port}[{walk.address}]" for port in memory)
                self.out.line(f"const ap_uint<512> word[{len(memory)}] = {{{words}}};")
                self.out.pragma("array_partition variable=word type=complete")
                with self._slots(walk, dma):
                    if parts == 1:
                        self.out.line(f"{token} token;")
                    self.out.line(f"unpack<{parts}>(word, {walk.slot}, {walk.part}, token);")
                    with guarded(self.out, f"{walk.part} == {parts - 1}" if parts > 1 else ""):
                        self.out.line(f"{out}.write(token);")

    def _store(self, task: Task) -> None:
        dma = task.dma
        assert dma is not None
        with self._function(task, f"Writes {dma.value} to HBM. {_image_summary(dma)}") as (params, namer):
            stream, memory = params[0], params[1:]
            walk = _MemoryWalk.of(self._itensor(task.reads[0]), dma, namer)
            token, parts = self._token(task.reads[0]), dma.words_per_token
            if parts > 1:
                self.out.line(f"{token} token;")
            with pipelined_nest(self.out, walk.names, walk.trips, task.timing.ii * dma.tokens_per_word):
                self.out.line(f"ap_uint<512> word[{len(memory)}] = {{{', '.join('0' for _ in memory)}}};")
                self.out.pragma("array_partition variable=word type=complete")
                with self._slots(walk, dma):
                    if parts == 1:
                        self.out.line(f"const {token} token = {stream}.read();")
                    else:
                        with guarded(self.out, f"{walk.part} == 0"):
                            self.out.line(f"token = {stream}.read();")
                    self.out.line(f"pack<{parts}>(token, {walk.slot}, {walk.part}, word);")
                for channel, port in enumerate(memory):
                    self.out.line(f"{port}[{walk.address}] = word[{channel}];")

    @contextmanager
    def _slots(self, walk: "_MemoryWalk", dma: Dma) -> Generator[None]:
        """Around what is done for each token of a word; the last word may hold fewer."""
        partial = dma.layout.tokens % dma.tokens_per_word
        with unrolled(self.out, [("slot", dma.tokens_per_word)]):
            condition = f"{walk.address} * {dma.tokens_per_word} + slot < {dma.layout.tokens}" if partial else ""
            with guarded(self.out, condition):
                yield


@dataclass(frozen=True)
class _MemoryWalk:
    """The nest in which a transfer walks the words of its image; loops that re-read leave the address alone.

    The nest advances by words: the tokens of a word pass in the `tokens_per_word` cycles of one iteration, so that
    the memory access is unconditional and bursts.
    """

    names: tuple[str, ...]
    trips: tuple[int, ...]
    address: str
    slot: str
    part: str

    @staticmethod
    def of(streamed: ITensor, dma: Dma, namer: Namer) -> "_MemoryWalk":
        loops: list[tuple[str, int]] = []
        addressed: list[tuple[str, int]] = []
        for repeats, trip in _runs(streamed.loops):
            last_run = not repeats and len(addressed) + 1 == sum(not r for r, _ in _runs(streamed.loops))
            words = -(-trip // dma.tokens_per_word) if last_run else trip
            loop = (namer.name("again" if repeats else "w" if last_run else "block"), words)
            loops.append(loop)
            addressed += [] if repeats else [loop]
        part = "0"
        if dma.words_per_token > 1:
            part = namer.name("part")
            loops.append((part, dma.words_per_token))
            addressed.append(loops[-1])
        slot = "slot" if dma.tokens_per_word > 1 else "0"
        names, trips = tuple(n for n, _ in loops), tuple(t for _, t in loops)
        return _MemoryWalk(names, trips, row_major(addressed) or "0", slot, part)


def _runs(loops: Sequence[Loop]) -> list[tuple[bool, int]]:
    """Neighbouring loops that advance, and that re-read, as one trip each: (re-reads, trip)."""
    runs: list[tuple[bool, int]] = []
    for loop in loops:
        if loop.trip == 1:
            continue
        repeats = loop.dim is None
        if runs and runs[-1][0] == repeats:
            runs[-1] = (repeats, runs[-1][1] * loop.trip)
        else:
            runs.append((repeats, loop.trip))
    return runs


def _box(
    itensor: ITensor, counters: Counters, dims: Sequence[int], half: Sequence[str]
) -> tuple[list[tuple[str, int]], str, str]:
    """A token in a converter's buffer: its loops in space, the running element's place in it and in the buffer."""
    lanes = {d: (f"e{d}", extent) for d, extent in enumerate(itensor.element) if extent > 1}
    offsets = ([*counters.offset(d), *([lanes[d][0]] if d in lanes else [])] for d in dims)
    place = "".join(f"[{i}]" for i in (*half, *(" + ".join(terms) or "0" for terms in offsets)))
    return list(lanes.values()), row_major(list(lanes.values())), place


def _multiplier(task: Task) -> str | None:
    """Realisation of the task's integer products, as its operator cores name it (`imul_8x4_dsp`)."""
    cores = [core for core, _ in task.operators if core.startswith("imul_")]
    return cores[0].rsplit("_", 1)[1] if cores else None


def _rate(task: Task) -> str:
    every = "every cycle" if task.timing.ii == 1 else f"every {task.timing.ii} cycles"
    return f"{task.timing.iterations} iterations, one {every}"


def _compute_summary(op: LinalgOp, nest: Nest, task: Task) -> str:
    names = NestNames.of(op, nest, Namer())
    assert op.body is not None
    what = describe_body(op.body, [_indexed(o, op, names) for o in op.inputs])
    if op.reduction is not None:
        over = ", ".join(n for n, it in zip(names.dims, op.iterators, strict=True) if it == "reduction")
        what = f"{op.reduction.combiner} over {over} of {what}"
    lanes = f"{nest.lanes} points side by side" if nest.lanes > 1 else "one point at a time"
    return f"{op.name}: {_indexed(op.outputs[0], op, names)} = {what}. {_rate(task)}, {lanes}."


def _indexed(operand: Operand, op: LinalgOp, names: NestNames) -> str:
    """An operand with its indices, as a comment shows it."""
    index = ", ".join(names.dims[d] for d in operand.dims)
    return subscript(short_names(op)[operand.value], index)


def _converter_summary(task: Task) -> str:
    converter = task.converter
    assert converter is not None
    box = "x".join(map(str, converter.extent))
    if converter.halves == 1:
        return f"Re-orders tokens: the two sides share no loop, so all of {box} is filled, then drained. {_rate(task)}."
    return (
        f"Re-orders tokens: both sides walk the outer {converter.shared} iterations alike, so a box of {box} is kept, "
        f"twice: one half fills while the other drains. {_rate(task)}."
    )


def _image_summary(dma: Dma) -> str:
    bits = dma.channels * 512
    if dma.words_per_token > 1:
        return f"A token takes {dma.words_per_token} words of {bits} bits."
    return f"A word of {bits} bits holds {dma.tokens_per_word} token{'s' if dma.tokens_per_word > 1 else ''}."
