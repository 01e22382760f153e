"""C++ of the transfers between HBM and streams: nests over the words of a packed image.

Where one launch writes and reads an image, both sides ask for the words of a run of their pipeline by hand
(`hls::burst_maxi`), the load behind its credit and the store before it waits for memory's answer. HLS would move the
request of a burst that it infers out of the loops, before the credit. Loads that take several runs ask for the next one
before they read one: those of a shared engine's weights, turn by turn, and of the heads of a row behind its credit.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, takewhile
from math import prod

from compiler.analysis.memories import TOLD
from compiler.errors import UnsupportedError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import (
    LOAD,
    Access,
    BoundLoop,
    LoopNest,
    Program,
    Repeat,
    arguments_of,
    behind_layers,
    nests,
    program_at,
    tokens,
)
from compiler.graph.task_graph import Dma, DmaTask, Joint, LoadTask, StoreTask, done_name, given_name
from compiler.targets.counters import advanced, counter
from compiler.targets.nest_code import gate_condition, guarded, pipelined_nest, row_major, unrolled
from compiler.targets.parameters import launch_arguments
from compiler.targets.parameters import row_credit as row_credit_of
from compiler.targets.program_code import bound_trip
from compiler.targets.tasks.frame import ALWAYS, Frame
from compiler.targets.tokens import is_packed
from compiler.targets.writer import CppWriter, Namer

SELDOM = 4  # cycles between two words that may come alone: a channel serves one in 3 (`random_gb_s` of the board)


def emit_load(frame: Frame, task: LoadTask) -> None:
    """Words of HBM, cut into tokens; those of one stream after those of the other, where it writes several, and again
    in each round of those that are repeated. There the rows of a chunk get the same words, phase by phase. What fills
    memories does so where the launch says it.
    """
    control, summary = frame.tasks.control, f"Reads {', '.join(task.dma.values)} from HBM. {_image_summary(task.dma)}"
    sends = control is not None and control.rows > 1 and task.name == control.given
    with frame.function(task, summary, partial(_send_chunk, frame, task) if sends else None) as (params, namer):
        if not task.turns:
            _emit_part(frame, replace(task, streamed=frame.itensor(task.writes[0])), "", params, namer)
            return
        if arguments_of([task.program]) == (TOLD.argument,):
            with frame.out.block(f"if ({params[-1]})"):
                _emit_turns(frame, replace(task, turns=program_at(task.turns, {LOAD: 1})), params, namer)
            return
        _emit_turns(frame, task, params, namer)


@dataclass(frozen=True)
class _Turn:
    """A load of what one nest writes. Its words lie from `begin` on, and `words` further in each of the `rounds`, which
    `number` counts if there are several. `phase` is that whose rows, and `section` that whose rounds it is one of;
    `behind`: whether that is behind all that is repeated.
    """

    part: LoadTask
    section: int
    phase: int
    rounds: int
    number: str
    words: int
    begin: int
    behind: bool

    def place(self, number: str) -> str:
        """The first of its words in that round, as C++; "" for 0."""
        rounds = [f"{number} * {self.words}"] if self.number and number != "0" else []
        return " + ".join([*rounds, *([str(self.begin)] if self.begin else [])])


def _turns_of(frame: Frame, task: LoadTask, namer: Namer) -> Iterator[_Turn]:
    begin, sections = 0, list(_rounds_of(task.turns))
    for section, (rounds, groups) in enumerate(sections):
        behind = section == len(sections) - 1 and bool(behind_layers(task.turns))
        phases = [[_part(frame, task, nest) for nest in group] for group in groups]
        words, number = sum(p.dma.words for parts in phases for p in parts), namer.name("round") if rounds > 1 else ""
        for phase, parts in enumerate(phases):
            for part in parts:
                yield _Turn(part, section, phase, rounds, number, words, begin, behind)
                begin += part.dma.words
        begin += (rounds - 1) * words


def _emit_turns(frame: Frame, task: LoadTask, params: Sequence[str], namer: Namer) -> None:
    """The words of one stream after those of the other."""
    reads, behind = len(task.reads), len(task.reads) + len(task.writes)
    stream_of = dict(zip((a.stream for a in task.writes), params[reads:behind], strict=True))
    turns, ahead = list(_turns_of(frame, task, namer)), frame.tasks.asks_ahead(task)
    if ahead:
        _ask_for(frame, task, params, [("", turns[0], "0", "0")])
    for (_, number, rounds), section in groupby(turns, lambda turn: (turn.section, turn.number, turn.rounds)):
        head = f"for (int {number} = 0; {number} < {rounds}; ++{number})"
        with frame.out.block(head) if number else nullcontext():
            for _, phase in groupby(section, lambda turn: turn.phase):
                group = list(phase)
                told = task.dma.place is not None or any(turn.part.timing.bounds for turn in group)
                each_row = frame.each_row_inside(task, [a for turn in group for a in turn.part.writes], told=told)
                with each_row(ALWAYS if group[0].behind else ""):
                    for turn in group:
                        part = turn.part
                        own = (*params[:reads], stream_of[part.writes[0].stream], *params[behind:])
                        with frame.out.block("") if number or part.dma.words_per_token > 1 else nullcontext():
                            if ahead:
                                _ask_for(frame, task, params, _behind_turn(frame, task, turns, turn))
                            _emit_part(frame, part, turn.place(number), own, namer, ahead=ahead)


_Next = tuple[str, _Turn | None, str, str]  # under which condition, what turn, of which row and round


def _behind_turn(frame: Frame, task: LoadTask, turns: Sequence[_Turn], turn: _Turn) -> list[_Next]:
    """What may come next; the last of these under no condition."""
    index, found = turns.index(turn), list[_Next]()
    follows = turns[index + 1] if index + 1 < len(turns) else None
    round_ends = follows is None or follows.section != turn.section
    phase_ends = follows is None or round_ends or follows.phase != turn.phase
    of_round = [other for other in turns if other.section == turn.section]
    if phase_ends and frame.rows > 1 and task.by_layer:
        group = [other for other in of_round if other.phase == turn.phase]
        at_once = frame.rows_at_once(task, [a for other in group for a in other.part.writes])
        row = f"row + {1 if turn.behind else at_once}"
        found.append((f"{row} < rows", group[0], row, turn.number))
    if round_ends and turn.number:
        found.append((f"{turn.number} < {turn.rounds - 1}", of_round[0], "0", f"({turn.number} + 1)"))
    return [*found, ("", follows, "0" if phase_ends else "row", "0" if round_ends else turn.number)]


def _ask_for(frame: Frame, task: LoadTask, params: Sequence[str], turns: Sequence[_Next]) -> None:
    """Asks for the words of the first of these turns whose condition is met."""
    begins, words, none = "", "", False
    for when, turn, row, number in turns:
        begin, count = "0", "0"
        if turn is not None:
            begin, count = turn.place(number) or "0", str(turn.part.dma.words)
            if turn.part.timing.bounds:
                followed = _in_words(turn.part, turn.part.streamed.loops)
                rowed = frame.rows > 1 and task.by_layer
                count = bound_trip(followed, f"told[{row}]" if rowed else _row(followed, task, params)[0])
                none = none or not followed.fixed
        none = none or turn is None
        begins += f"{when} ? {begin} : " if when else begin
        words += f"{when} ? {count} : " if when else count
    if words == "0":
        return
    with guarded(frame.out, f"{f'({words})' if '?' in words else words} > 0" if none else ""):
        _request(frame.out, _memory(task, params), begins, words)


def _rounds_of(program: Program) -> Iterator[tuple[int, list[list[LoopNest]]]]:
    """What is done so many times, phase by phase; what is in no repetition once, all together."""
    for repeats, parts in groupby(program, lambda part: isinstance(part, Repeat)):
        if not repeats:
            yield 1, [list(nests(tuple(parts)))]
            continue
        for part in parts:
            assert isinstance(part, Repeat)
            phased = any(isinstance(phase, Repeat) for phase in part.body)
            phases = part.body if phased else (Repeat(1, part.body),)
            yield part.times, [list(nests((phase,))) for phase in phases]


def _send_chunk(frame: Frame, task: LoadTask, params: Sequence[str]) -> None:
    """The tokens of a chunk but the first, which rows behind each other hold, a word each."""
    out, (memory,) = frame.out, _memory(task, params)
    word = f"ap_uint<{task.dma.port_bits}>"
    with out.block("if (rows > 1)"):
        out.line(f"{memory}.read_request(told[0], rows - 1);")
        with out.block("for (int row = 1; row < rows; ++row)"):
            out.pragma(f"loop_tripcount min=1 max={frame.rows} avg=1")
            out.pragma("pipeline II=1")
            out.line(f"const {word} word[1] = {{{memory}.read()}};")
            out.line(f"{frame.token(task.writes[0])} token;")
            out.line("unpack<1>(word, 0, 0, token);")
            out.line(f"{frame.named(task, given_name(task.name))}.write(token);")


def _part(frame: Frame, task: LoadTask, nest: LoopNest) -> LoadTask:
    """A load of what one nest writes, of one round where there are several, which reads its words alone: as many for a
    token as that is wide.
    """
    bounds, streamed = nest.bounds, frame.itensor(nest.writes[0])
    if (moved := tokens((nest,), "writes", nest.writes[0].stream)) < streamed.tokens:
        (*ones, lanes) = streamed.element
        streamed = ITensor((*ones, lanes), streamed.dtype, (Loop(moved, lanes, len(ones)),))
        each = moved // nest.trips[0]  # tokens of an iteration of the loop that follows an argument
        bounds = tuple(BoundLoop(0, b.argument, each * b.fixed, each * b.each) for b in bounds)
    timing = replace(task.timing, trips=nest.trips, bounds=bounds)
    words = -(-streamed.width // task.dma.word_bits)
    dma = replace(task.dma, layout=streamed.without_rereads(), words_per_token=words)
    return replace(task, timing=timing, turns=(), writes=nest.writes, dma=dma, streamed=streamed)


def _emit_part(
    frame: Frame, task: LoadTask, begin: str, params: Sequence[str], namer: Namer, *, ahead: bool = False
) -> None:
    """The words of one stream, which lie in each channel from word `begin` on; `ahead`: they have been asked for."""
    dma, out, streamed = task.dma, frame.out, task.streamed
    credits, stream, memory = params[: len(task.reads)], params[len(task.reads)], _memory(task, params)
    asks = frame.tasks.passes_through_memory(task)
    by_row = asks and dma.at is not None
    walk = (
        _MemoryWalk.of_row(streamed.loops, task, namer, params)
        if by_row
        else _MemoryWalk.of(streamed, task, namer, params, asks=asks)
    )
    # Bits are set some at a time, so packed ones start as zeros.
    declaration = f"{frame.token(task.writes[0])} token{'(0)' if is_packed(streamed) else ''};"
    parts = dma.words_per_token
    if parts > 1:
        out.line(declaration)
    row_credit = row_credit_of(task, frame.tasks)
    with _each_run(frame, task, walk):
        if row_credit is not None:  # what the row before has added
            with out.protocol(f"if ({_of_row(walk, 'row > 0', last=False)})"):
                out.line(f"{frame.named(task, row_credit)}.read();")
        if asks:
            _credits(out, walk, task.reads, [f"{credit}.read();" for credit in credits])
            _ask(out, walk, task, memory)
        with _walking(frame, task, walk, params, namer):
            words = ", ".join(_word(port, walk, dma, begin, asks=asks or ahead) for port in memory)
            out.line(f"const ap_uint<{dma.port_bits}> word[{len(memory)}] = {{{words}}};")
            out.pragma("array_partition variable=word type=complete")
            with _slots(out, walk, dma):
                if parts == 1:
                    out.line(declaration)
                out.line(f"unpack<{parts}>(word, {walk.slot}, {walk.part}, token);")
                with guarded(out, f"{walk.part} == {parts - 1}" if parts > 1 else ""):
                    frame.send(task, task.writes[0], stream, "token")


def _ask(out: CppWriter, walk: "_MemoryWalk", task: LoadTask, memory: Sequence[str]) -> None:
    """Asks for the words of a run, if the one before it has not: of several that nothing but their row's credit keeps
    waiting, each asks for the next.
    """
    ahead = walk.ahead if not task.reads else None
    for when, begin in ahead or (("", walk.begin),):
        with guarded(out, when):
            _request(out, memory, begin, str(walk.words))


def _request(out: CppWriter, memory: Sequence[str], begin: str, words: str) -> None:
    """Asks all channels for words in a row. Who asks ahead has two requests open at most, its run's and the next one's,
    fewer than an adapter takes before it holds up who asks (5, `USER_MAXREQS` of the RTL that HLS makes): so none waits
    for words to be read that its own task reads later, however long they are.
    """
    for port in memory:
        out.line(f"{port}.read_request({begin}, {words});")


def _word(port: str, walk: "_MemoryWalk", dma: Dma, begin: str, *, asks: bool) -> str:
    """What nobody may see is read all the same and masked: Vitis HLS makes no burst of reads under a condition."""
    address = f"{begin} + {walk.address}" if begin else walk.address
    read, word = f"{port}.read()" if asks else f"{port}[{address}]", f"ap_uint<{dma.port_bits}>"
    return f"{read} & ({walk.guard} ? {word}(-1) : {word}(0))" if walk.guard else read


def emit_store(frame: Frame, task: StoreTask) -> None:
    """Tokens, packed into words of HBM."""
    dma, out, control = task.dma, frame.out, frame.tasks.control
    with frame.function(task, f"Writes {dma.value} to HBM. {_image_summary(dma)}") as (params, namer):
        stream, credits, memory = params[0], params[1 : 1 + len(task.writes)], _memory(task, params)
        asks = frame.tasks.passes_through_memory(task)
        streamed, by_row = frame.itensor(task.reads[0]), asks and dma.at is not None
        walk = (
            _MemoryWalk.of_row(streamed.loops, task, namer, params)
            if by_row
            else _MemoryWalk.of(streamed, task, namer, params, asks=asks)
        )
        token, parts = frame.token(task.reads[0]), dma.words_per_token
        reports, stored = control is not None and task.name in control.reporting, ""
        row_credit = row_credit_of(task, frame.tasks)
        if control is not None and task.name == control.made:
            stored = namer.name("stored")
            out.line(f"{token} {stored};")
        if parts > 1:
            out.line(f"{token} token;")
        with _each_run(frame, task, walk):
            for port in memory if asks else ():
                out.line(f"{port}.write_request({walk.begin}, {walk.words});")
            with _walking(frame, task, walk, params, namer):
                out.line(f"ap_uint<{dma.port_bits}> word[{len(memory)}] = {{{', '.join('0' for _ in memory)}}};")
                out.pragma("array_partition variable=word type=complete")
                with _slots(out, walk, dma):
                    if parts == 1:
                        out.line(f"const {token} token = {frame.taken(task.reads[0], stream)};")
                        if stored:
                            out.line(f"{stored} = token;")
                    else:
                        with guarded(out, f"{walk.part} == 0"):
                            out.line(f"token = {frame.taken(task.reads[0], stream)};")
                    out.line(f"pack<{parts}>(token, {walk.slot}, {walk.part}, word);")
                for channel, port in enumerate(memory):
                    word = f"word[{channel}]"
                    out.line(f"{port}.write({word});" if asks else f"{port}[{walk.address}] = {word};")
            for port in memory if asks else ():
                out.line(f"{port}.write_response();")
            _credits(out, walk, task.writes, [f"{credit}.write(0);" for credit in credits])
            if row_credit is not None:
                with out.protocol(f"if ({_of_row(walk, 'row < rows - 1', last=True)})"):
                    out.line(f"{frame.named(task, row_credit)}.write(true);")
        if reports:
            with out.protocol("if (row == rows - 1)" if frame.rows > 1 and not task.by_layer else ""):
                out.line(f"{frame.named(task, done_name(task.name))}.write({stored or 'true'});")


@contextmanager
def _each_run(frame: Frame, task: DmaTask, walk: "_MemoryWalk") -> Generator[None]:
    """Loops outside the pipeline: HLS must not flatten them into it, and does not, as they do more than it."""
    with ExitStack() as stack:
        for number, (name, trip, _) in enumerate(walk.outer):
            if trip > 1:
                stack.enter_context(frame.out.block(f"for (int {name} = 0; {name} < {trip}; ++{name})"))
            if number == 0:
                stack.enter_context(frame.each_row_inside(task)(""))
        yield


def _of_row(walk: "_MemoryWalk", condition: str, *, last: bool) -> str:
    """In the first, or last, of the runs that move the row of a chunk: those of the loops inside that over layers."""
    runs = [(name, trip) for name, trip, _ in walk.outer[1:] if trip > 1]
    return " && ".join([condition, *(f"{name} == {trip - 1 if last else 0}" for name, trip in runs)])


def _credits(out: CppWriter, walk: "_MemoryWalk", accesses: Sequence[Access], statements: Sequence[str]) -> None:
    """Credits, in the runs that their gates admit. No data leads from them to the accesses of memory."""
    outer = len(walk.outer)
    names, trips = [name for name, _, _ in walk.outer], [trip for _, trip, _ in walk.outer]
    for access, statement in zip(accesses, statements, strict=True):
        gates = [gate for gate in access.gates if gate.loop < outer and trips[gate.loop] > 1]
        condition = gate_condition(gates, names, trips)
        with out.protocol(f"if ({condition})" if condition else ""):
            out.line(statement)


@contextmanager
def _walking(frame: Frame, task: DmaTask, walk: "_MemoryWalk", params: Sequence[str], namer: Namer) -> Generator[None]:
    """The loops over words; where one follows an argument, HLS could not flatten them: they are written as one. And so
    where words are read again, but seldom enough to come alone: of the innermost loop HLS would make a burst, and wait
    for the memory before each (70 cycles: csynth/yuan0404 of the fixtures), while counters that carry make none.
    """
    each = task.dma.tokens_per_word
    if walk.counts:
        frame.out.line(counter(walk.part, task.dma.words_per_token - 1))
    if walk.bounds or (walk.again and _come_alone(task)):
        words = LoopNest(walk.trips, (), (), bounds=walk.bounds)
        code = frame.program(task, namer, params, (words,), counters=walk.names)
        loops = code.pipelined(task.timing, each)
    else:
        loops = pipelined_nest(frame.out, walk.names, walk.trips, task.timing, each)
    with loops:
        yield
        if walk.counts:
            frame.out.line(advanced(walk.part, str(task.dma.words_per_token - 1)))


@contextmanager
def _slots(out: CppWriter, walk: "_MemoryWalk", dma: Dma) -> Generator[None]:
    """Around what is done for each token of a word; the last word may hold fewer, but that of a row never does."""
    partial = dma.layout.tokens % dma.tokens_per_word
    with unrolled(out, [("slot", dma.tokens_per_word)]):
        condition = f"{walk.address} * {dma.tokens_per_word} + slot < {dma.layout.tokens}" if partial else ""
        with guarded(out, condition):
            yield


@dataclass(frozen=True)
class _MemoryWalk:
    """The nest in which a transfer walks the words of its image; loops that re-read leave the address alone.

    The nest advances by words: the tokens of a word pass in the `tokens_per_word` cycles of one iteration, so that
    the memory access is unconditional and bursts. `outer` loops, of (name, trip, re-reads), are outside of it: each
    iteration of them walks `words` words in a row from `begin` on, which lie `stride` behind those of the iteration
    before; 0 where they do not. Words that a `guard` does not admit are zero. `again`: it reads words again within a
    run. Which `part` of a token a word is: a loop says it, or where one loop walks words in a row, it `counts` them: a
    remainder of their number would be divided, where the parts are no power of two.
    """

    outer: tuple[tuple[str, int, bool], ...]
    names: tuple[str, ...]
    trips: tuple[int, ...]
    address: str
    slot: str
    part: str
    begin: str
    words: int | str
    bounds: tuple[BoundLoop, ...]
    guard: str
    again: bool = False
    stride: int = 0

    @property
    def counts(self) -> bool:
        """Whether no loop says which `part` of a token a word is."""
        return self.part not in ("0", *self.names)

    @property
    def ahead(self) -> tuple[tuple[str, str], ...] | None:
        """In which runs of a row to ask for words, and from where on: its own in the first, and the next ones' in all
        but the last. None where it has one run, or goes back to words that are not those of the run before.
        """
        runs = [loop for loop in self.outer[1:] if loop[1] > 1]
        again = [loop for loop in runs if loop[2]]
        if not self.stride or not runs or runs[len(runs) - len(again) :] != again:
            return None
        own = " && ".join(f"{name} == 0" for name, _, _ in runs)
        others = " || ".join(f"{name} < {trip - 1}" for name, trip, _ in runs)
        done = " && ".join(f"{name} == {trip - 1}" for name, trip, _ in again)
        step = f"({done} ? {self.stride} : 0)" if done else str(self.stride)
        start = "" if self.begin == "0" else f"{self.begin} + "
        return (own, self.begin), (others, f"{start}{step}")

    @staticmethod
    def of(streamed: ITensor, task: DmaTask, namer: Namer, params: Sequence[str], *, asks: bool) -> "_MemoryWalk":
        """`asks` for all words of an iteration of the outer loops at once; `params` are those of the task's function.
        Raises UnsupportedError where these are not whole words in a row, or words would hold a part of what a
        loop says that follows an argument.
        """
        dma, outer, bounds = task.dma, task.timing.restarts, task.timing.bounds
        around = _around(streamed.loops[:outer], namer)
        advancing = [(name, trip) for name, trip, repeats in around if not repeats and trip > 1]
        rereads = any(loop.dim is None for loop in streamed.loops[outer:])
        if (run := _MemoryWalk._run_of(task, again=rereads, asks=asks)) is not None:
            return run(streamed.loops[outer:], task, around, advancing, namer, params)._again_inside(task, asks=asks)
        split = len(streamed.loops) if dma.at is None else _place(streamed.loops, dma.at.loop)
        several = outer and (not rereads or dma.below is not None or split < outer)
        if (bounds or dma.at) and (asks or several):
            raise UnsupportedError("what is asked for by hand, or in several runs, can not follow an argument")
        rows = () if dma.below is None else (BoundLoop(_place(streamed.loops, dma.below.loop), dma.below.argument),)
        inside = _runs(streamed.loops[outer:split], _behind((*bounds, *rows), outer))
        place = len(inside)
        inside += _runs(streamed.loops[split:], _behind(bounds, split))
        guard = ""
        if asks and any(repeats for repeats, _, _ in inside):
            raise UnsupportedError("it reads again within a run of its pipeline; let that loop be outside of it")
        if advancing and prod(trip for repeats, trip, _ in inside if not repeats) % dma.tokens_per_word:
            raise UnsupportedError(f"a run of its pipeline ends within a word of {dma.tokens_per_word} tokens")
        loops: list[tuple[str, int]] = []
        addressed: list[tuple[str, int]] = []
        followed: list[BoundLoop] = []
        inside = inside or ([(False, 1, None)] if asks else [])
        for number, (repeats, trip, bound) in enumerate(inside):
            if dma.at is not None and number == place:
                addressed.append(_row(dma.at, task, params))
            last_run = not repeats and not any(not r for r, _, _ in inside[number + 1 :])
            words = -(-trip // dma.tokens_per_word) if last_run else trip
            if (bounds or rows) and last_run and (trip % dma.tokens_per_word or (bound and dma.tokens_per_word > 1)):
                raise UnsupportedError(
                    f"a loop that follows an argument ends within a word of {dma.tokens_per_word} tokens"
                )
            loop = (namer.name("again" if repeats else "w" if last_run else "block"), words)
            if bound is not None and rows:
                guard = f"{loop[0]} < {_row(rows[0], task, params)[0]}"
            elif bound is not None:
                followed.append(bound._replace(loop=len(loops)))
            loops.append(loop)
            addressed += [] if repeats else [loop]
        if dma.at is not None and place == len(inside):
            addressed.append(_row(dma.at, task, params))
        part = "0"
        if dma.words_per_token > 1:
            part = namer.name("part")
            loops.append((part, dma.words_per_token))
            addressed.append(loops[-1])
        slot = "slot" if dma.tokens_per_word > 1 else "0"
        names, trips = tuple(n for n, _ in loops), tuple(t for _, t in loops)
        words = prod(trip for _, trip in addressed)
        begin = row_major([*advancing, ("", words)]).removesuffix(" + ") if advancing else "0"
        address = row_major([*advancing, *addressed]) or "0"
        again = len(trips) > 1 and any(repeats and trip > 1 for repeats, trip, _ in inside)
        return _MemoryWalk(
            around, names, trips, address, slot, part, begin, words, tuple(followed), guard, again, words
        )

    def _again_inside(self, task: DmaTask, *, asks: bool) -> "_MemoryWalk":
        """With loops that only read again in the run, where words come alone: memory is waited for once."""
        again = len(list(takewhile(lambda loop: loop[2], reversed(self.outer[1:]))))
        if asks or not again or not _come_alone(task):
            return self
        kept, moved = self.outer[:-again], self.outer[-again:]
        return replace(
            self,
            outer=kept,
            names=(*(name for name, _, _ in moved), *self.names),
            trips=(*(trip for _, trip, _ in moved), *self.trips),
            bounds=tuple(bound._replace(loop=bound.loop + again) for bound in self.bounds),
            again=True,
        )

    @staticmethod
    def _run_of(task: DmaTask, *, again: bool, asks: bool) -> "Callable[..., _MemoryWalk] | None":
        """The walk of words in a row in each iteration of the outer loops, if that is what the task does; `again`: it
        reads some again within such an iteration.
        """
        dma, outer, bounds = task.dma, task.timing.restarts, task.timing.bounds
        plain = all(bound == BoundLoop(bound.loop, bound.argument) for bound in bounds)
        if (
            bounds
            and (dma.below is not None or not asks)
            and not again
            and (outer or dma.place is not None or not plain or bounds[0].loop == 0)
        ):
            return _MemoryWalk._one_run
        return _MemoryWalk._row_again if outer and dma.at is not None and not again and not asks else None

    @staticmethod
    def _row_again(
        loops: Sequence[Loop],
        task: DmaTask,
        around: tuple[tuple[str, int, bool], ...],
        advancing: Sequence[tuple[str, int]],
        namer: Namer,
        params: Sequence[str],
    ) -> "_MemoryWalk":
        """The words of the launch's row, which are all that `loops` walk, in each iteration of those `around`."""
        dma, parts, tokens = task.dma, task.dma.words_per_token, prod(loop.trip for loop in loops)
        if tokens % dma.tokens_per_word or len(task.row) != len([loop for loop in loops if loop.dim is not None]):
            raise UnsupportedError(f"a row of {tokens} tokens, {dma.tokens_per_word} in a word, is no run of words")
        assert dma.at is not None
        words, word = tokens // dma.tokens_per_word * parts, namer.name("w")
        address = row_major([*advancing, _row(dma.at, task, params), (word, words)])
        slot, part = "slot" if dma.tokens_per_word > 1 else "0", namer.name("part") if parts > 1 else "0"
        return _MemoryWalk(around, (word,), (words,), address, slot, part, "0", words, (), "")

    @staticmethod
    def _one_run(
        loops: Sequence[Loop],
        task: DmaTask,
        around: tuple[tuple[str, int, bool], ...],
        advancing: Sequence[tuple[str, int]],
        namer: Namer,
        params: Sequence[str],
    ) -> "_MemoryWalk":
        """Words in a row, as many as an argument says, in each iteration of the loops `around`: what HLS makes a burst
        of, whatever its length. `loops` are those inside.
        """
        dma, parts, followed = task.dma, task.dma.words_per_token, _in_words(task, loops)
        word = namer.name("w")
        place = [] if dma.at is None else [_row(dma.at, task, params)]
        guard = ""
        if dma.below is not None:
            row = prod(loop.trip for loop in loops[1:]) * parts // dma.tokens_per_word
            guard = f"{word} < {_row(dma.below, task, params)[0]}{f' * {row}' if row > 1 else ''}"
        slot = "slot" if dma.tokens_per_word > 1 else "0"
        part = namer.name("part") if parts > 1 else "0"
        address, words = row_major([*advancing, *place, (word, followed.most)]), followed.most
        begin = row_major([*advancing, ("", words)]).removesuffix(" + ") if advancing else "0"
        asked = bound_trip(followed, _row(followed, task, params)[0])
        return _MemoryWalk(
            around, (word,), (words,), address, slot, part, begin, asked, (followed,), guard, stride=words
        )

    @staticmethod
    def of_row(loops: Sequence[Loop], task: DmaTask, namer: Namer, params: Sequence[str]) -> "_MemoryWalk":
        """The words of the launch's row, a whole number of them (`TaskGraph.verify`), asked for at once in each
        iteration of the loops in front of it.
        """
        dma, split = task.dma, len(loops) - len(task.row)
        assert dma.at is not None
        around, tokens = _around(loops[:split], namer), prod(loop.trip for loop in task.row) * dma.words_per_token
        words, word, parts = tokens // dma.tokens_per_word, namer.name("w"), dma.words_per_token
        places = [*((name, trip) for name, trip, _ in around if trip > 1), _row(dma.at, task, params)]
        begin, slot = row_major([*places, ("", words)]).removesuffix(" + "), "slot" if dma.tokens_per_word > 1 else "0"
        part = namer.name("part") if parts > 1 else "0"
        return _MemoryWalk(around, (word,), (words,), word, slot, part, begin, words, (), "")


def _come_alone(task: DmaTask) -> bool:
    """Whether words are read seldom enough to come one by one."""
    return isinstance(task, LoadTask) and task.dma.tokens_per_word * task.timing.ii >= SELDOM


def _memory(task: DmaTask, params: Sequence[str]) -> Sequence[str]:
    """Its pointers, which stand behind its streams."""
    first = len(task.reads) + len(task.writes)
    return params[first : first + task.dma.channels]


def _around(loops: Sequence[Loop], namer: Namer) -> tuple[tuple[str, int, bool], ...]:
    """Names, trips and whether they re-read, of loops outside the pipeline."""
    return tuple((namer.name("pass" if loop.dim is None else "run"), loop.trip, loop.dim is None) for loop in loops)


def _behind(bounds: Sequence[BoundLoop], loops: int) -> list[BoundLoop]:
    """Those of loops behind so many, counted from there."""
    return [bound._replace(loop=bound.loop - loops) for bound in bounds]


def _runs(loops: Sequence[Loop], bounds: Sequence[BoundLoop]) -> list[tuple[bool, int, BoundLoop | None]]:
    """Neighbouring loops that advance, and that re-read, as one trip each: (re-reads, trip, how it follows an
    argument). One that follows an argument stands alone.
    """
    followed = {bound.loop: bound for bound in bounds}
    runs: list[tuple[bool, int, BoundLoop | None]] = []
    for number, loop in enumerate(loops):
        if loop.trip == 1 and number not in followed:
            continue
        repeats, bound = loop.dim is None, followed.get(number)
        if runs and runs[-1][0] == repeats and bound is None and runs[-1][2] is None:
            runs[-1] = (repeats, runs[-1][1] * loop.trip, None)
        else:
            runs.append((repeats, loop.trip, bound))
    return runs


def _in_words(task: DmaTask, loops: Sequence[Loop]) -> BoundLoop:
    """The loop over words of a run that follows an argument; `loops` are those inside the run."""
    (bound,), each_word = task.timing.bounds, task.dma.tokens_per_word
    tokens = prod(loop.trip for loop in loops[1:]) * task.dma.words_per_token  # or words, where these are parts of one
    each, fixed = tokens * bound.each, tokens * bound.fixed
    if bound.loop != task.timing.restarts or each % each_word or fixed % each_word:
        raise UnsupportedError("a loop that follows an argument must be the first of a run, and end with a word")
    return BoundLoop(0, bound.argument, fixed // each_word, each // each_word)


def _place(loops: Sequence[Loop], row: int) -> int:
    """The loop of a stream behind so many that advance: of its rows, or in front of which the row is."""
    advancing = [k for k, loop in enumerate(loops) if loop.dim is not None]
    return advancing[row] if row < len(advancing) else len(loops)


def _row(at: BoundLoop, task: DmaTask, params: Sequence[str]) -> tuple[str, int]:
    """The parameter that says which row, and of how many."""
    arguments = launch_arguments([task])
    named = dict(zip((a.name for a in arguments), params[len(params) - len(arguments) :], strict=True))
    return named[at.argument.name], at.argument.most + 1


def _image_summary(dma: Dma) -> str:
    rows = ""
    if dma.place is not None:
        what = "The row" if dma.at is not None else "Rows before the one"
        rows = f"{what} that {dma.place.argument.name} says, of {dma.place.argument.most + 1}. "
    if dma.joint is not None:
        rows = f"They lie in one image in the order of their use{_in_rounds(dma.joint)}. "
    if dma.words_per_token > 1:
        return f"{rows}A token takes {dma.words_per_token} words of {dma.word_bits} bits."
    tokens = f"{dma.tokens_per_word} token{'s' if dma.tokens_per_word > 1 else ''}"
    return f"{rows}A word of {dma.word_bits} bits holds {tokens}."


def _in_rounds(joint: Joint) -> str:
    return f", a part of each in every one of {joint.rounds} rounds" if joint.rounds > 1 else ""
