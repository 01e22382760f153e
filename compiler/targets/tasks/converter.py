"""C++ of a converter: an on-chip buffer that one side fills while the other drains it.

The buffer is an array over the dimensions in which its box has more than one element. A folded dimension comes first,
so that its length enters no stride. A dimension that needs a number of banks that is no power of two becomes two, the
banks apart, where both sides step in whole banks: no index is divided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from math import prod

from compiler.analysis.banks import banks_apart, converter_banks
from compiler.graph.converter import Converter, box_of
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import ConverterTask
from compiler.targets.counters import Counters, counter
from compiler.targets.hazards import write_to_read_distance
from compiler.targets.nest_code import guarded, row_major, subscript, unrolled
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.tasks.frame import Frame, TaskLoops, bind_storage, rate
from compiler.targets.writer import CppWriter, Namer

LOOP_NAMES = {1: ("t",), 2: ("round", "t"), 3: ("round", "step", "t")}


@dataclass(frozen=True)
class _Layout:
    """The array: its dimensions in order, the banks of those whose banks lie apart, and how rounds share it."""

    converter: Converter
    dims: tuple[int, ...]
    apart: dict[int, int]

    @staticmethod
    def of(converter: Converter) -> "_Layout":
        folded = converter.realisation.kind == "circular"
        dims = [d for d, extent in enumerate(converter.extent) if extent > 1]
        dims.sort(key=lambda d: not (folded and d == converter.realisation.dim))
        return _Layout(converter, tuple(dims), banks_apart(converter))

    @property
    def folds(self) -> bool:
        """Whether a round starts where the last one ended, at an offset that wraps round."""
        return self.converter.realisation.kind == "circular"

    @property
    def ring(self) -> tuple[int, int]:
        """Length of the folded dimension and what a round takes of it; in banks, where those lie apart."""
        chosen = self.converter.realisation
        unit = self.apart.get(chosen.dim, 1)
        return chosen.length // unit, self.converter.extent[chosen.dim] // unit

    @property
    def extents(self) -> list[int]:
        halves = [2] if self.converter.halves > 1 else []
        return [*halves, *(extent for d in self.dims for extent in self._parts(d))]

    def _parts(self, dim: int) -> list[int]:
        bank = self.apart.get(dim, 1)
        return [self.converter.half[dim] // bank, bank] if bank > 1 else [self.converter.half[dim]]


@dataclass(frozen=True)
class _Side:
    """One walk over the buffer. `half` selects a half of a ping-pong pair, `origin` is where the round starts."""

    layout: _Layout
    itensor: ITensor
    counters: Counters
    half: str
    origin: str
    at: str

    @staticmethod
    def of(layout: _Layout, itensor: ITensor, loops: Sequence[Loop], word: str, half: str, namer: Namer) -> "_Side":
        split = [part for loop in loops for part in _split(loop, layout.apart)]
        if not layout.folds:  # how often the whole is walked through matters to the start of the next round only
            split = list(dropwhile(lambda loop: loop.dim is None, split))
        counters = Counters.of(split, word, namer)
        names = (namer.name(f"{word}_origin"), namer.name(f"{word}_at")) if layout.folds else ("", "")
        return _Side(layout, itensor, counters, half, *names)

    def declare(self, out: CppWriter) -> None:
        self.counters.declare(out)
        if self.origin:
            out.line(counter(self.origin, self.layout.ring[0] - 1))

    def advance(self, out: CppWriter) -> None:
        length, extent = self.layout.ring
        spare = length - extent
        origin = f"int({self.origin})"
        carry = f"{self.origin} = {self.origin} < {spare} ? {origin} + {extent} : {origin} - {spare};"
        self.counters.advance(out, carry if self.origin else "")

    @property
    def lanes(self) -> list[tuple[str, int]]:
        return [(f"e{d}", extent) for d, extent in enumerate(self.itensor.element) if extent > 1]

    @property
    def element(self) -> str:
        """Place of the running element in the token."""
        return row_major(self.lanes)

    def locate(self, out: CppWriter) -> None:
        """Where the token lies along the folded dimension: whole tokens end where the buffer does."""
        if not self.origin:
            return
        dim, (length, _) = self.layout.converter.realisation.dim, self.layout.ring
        bank = self.layout.apart.get(dim)
        terms = self.counters.offset(dim) if bank is None else self.counters.bank(dim, bank)
        out.line(f"int {self.at} = {' + '.join([self.origin, *terms])};")
        out.line(f"{self.at} = {self.at} < {length} ? {self.at} : {self.at} - {length};")

    @property
    def place(self) -> str:
        """Index of the running element in the buffer."""
        indices = [self.half] if self.half else []
        for dim in self.layout.dims:
            lane = [f"e{dim}"] if self.itensor.element[dim] > 1 else []
            folded = bool(self.origin) and dim == self.layout.converter.realisation.dim
            bank = self.layout.apart.get(dim)
            if bank is not None:
                indices.append(self.at if folded else _sum(self.counters.bank(dim, bank)))
                indices.append(_sum([*self.counters.offset(dim, bank), *lane]))
            else:
                indices.append(_sum([*([self.at] if folded else self.counters.offset(dim)), *lane]))
        return "".join(f"[{index}]" for index in indices)


def _sum(terms: Sequence[str]) -> str:
    return " + ".join(terms) or "0"


def _split(loop: Loop, apart: Mapping[int, int]) -> list[Loop]:
    """The loop, in two where it steps within an extent of banks and crosses into the next."""
    span, bank = loop.step * loop.trip, 0 if loop.dim is None else apart.get(loop.dim, 0)
    if not loop.step < bank < span:
        return [loop]
    return [Loop(span // bank, bank, loop.dim), Loop(bank // loop.step, loop.step, loop.dim)]


def emit_converter(frame: Frame, task: ConverterTask) -> None:
    """The buffer, and the two walks over it in one pipelined loop."""
    converter, out = task.converter, frame.out
    box, layout = box_of(converter.source, converter.target), _Layout.of(converter)
    with frame.function(task, _summary(task)) as (params, namer):
        name = namer.name("buffer")
        out.line(f"{C_TYPE[converter.source.dtype]} {name}{''.join(f'[{e}]' for e in layout.extents)};")
        _directives(out, name, task, layout)
        halves = converter.halves > 1
        fill = _Side.of(layout, converter.source, box.fill, "fill", "round % 2" if halves else "", namer)
        drain = _Side.of(layout, converter.target, box.drain, "drain", "(round + 1) % 2" if halves else "", namer)
        fill.declare(out)
        drain.declare(out)
        trips = task.timing.trips
        outer = ("layer",) * task.timing.restarts
        loops = [namer.name(loop) for loop in (*outer, *LOOP_NAMES[len(trips) - len(outer)])]
        code = TaskLoops.of(frame, task, namer, params, loops)
        writes, reads = code.condition("writes", task.writes[0]), code.condition("reads", task.reads[0])
        with code.pipelined():
            # Takes what comes before it passes on, as the machine does that certifies FIFOs: who waits for room would
            # hold back its writer. Drains before it fills: no iteration reads what it writes itself.
            frame.declare(task.reads[0], "came")
            with guarded(out, reads):
                frame.read(task.reads[0], params[0], "came")
            with guarded(out, writes):
                drain.locate(out)
                frame.declare(task.writes[0], "token")
                with unrolled(out, drain.lanes):
                    out.line(f"{subscript('token', drain.element)} = {name}{drain.place};")
                frame.write(task.writes[0], params[1], "token")
                drain.advance(out)
            with guarded(out, reads):
                fill.locate(out)
                with unrolled(out, fill.lanes):
                    out.line(f"{name}{fill.place} = {subscript('came', fill.element)};")
                fill.advance(out)


def _directives(out: CppWriter, name: str, task: ConverterTask, layout: _Layout) -> None:
    """Registers, or a bank for every element that a token of either side moves at once, or one of whole tokens; the
    memory; the distance of its accesses.
    """
    banks, (buffer,) = converter_banks(layout.converter), task.buffers
    if buffer.kind == "registers":
        _registers(out, name, layout)
    else:
        _banks(out, name, layout, banks, "reshape" if buffer.banks < prod(banks) else "partition")
        bind_storage(out, name, buffer)
    distance = write_to_read_distance(task)
    out.pragma(f"dependence variable={name} type=inter direction=RAW distance={distance} dependent=true")


def _registers(out: CppWriter, name: str, layout: _Layout) -> None:
    """One for all that both sides move at once along a dimension: HLS takes long where it chooses among thousands."""
    converter = layout.converter
    elements = zip(converter.source.element, converter.target.element, converter.half, strict=True)
    together = {dim for dim, extents in enumerate(elements) if len({*extents}) == 1}
    if together.isdisjoint(layout.dims):
        out.pragma(f"array_partition variable={name} type=complete dim=0")
        return
    if converter.halves > 1:
        out.pragma(f"array_partition variable={name} type=complete dim=1")
    for position, dim in enumerate(layout.dims, start=converter.halves):
        how = "reshape" if dim in together else "partition"
        out.pragma(f"array_{how} variable={name} type=complete dim={position}")


def _banks(out: CppWriter, name: str, layout: _Layout, banks: Sequence[int], how: str) -> None:
    position = 2 if layout.converter.halves > 1 else 1
    for dim in layout.dims:
        if dim in layout.apart:
            position += 1
            out.pragma(f"array_{how} variable={name} type=complete dim={position}")
        elif banks[dim] == layout.converter.half[dim]:
            out.pragma(f"array_{how} variable={name} type=complete dim={position}")
        elif banks[dim] > 1:
            out.pragma(f"array_{how} variable={name} type=cyclic factor={banks[dim]} dim={position}")
        position += 1


def _summary(task: ConverterTask) -> str:
    converter = task.converter
    box, chosen = "x".join(map(str, converter.extent)), converter.realisation
    if converter.shared == 1:
        return f"Re-orders tokens: the two sides share no loop, so all of {box} is filled, then drained. {rate(task)}."
    kept = {
        "single": "once: it is filled, then drained",
        "ping-pong": "twice: one half fills while the other drains",
        "refill": "once: the next fills it behind the last uses of this one",
        "circular": f"in a ring of {chosen.length} along d{chosen.dim}: the next follows the last uses of this one",
    }[chosen.kind]
    return (
        f"Re-orders tokens: both sides walk the outer {converter.shared} iterations alike, so a box of {box} is kept, "
        f"{kept}. {rate(task)}."
    )
