"""C++ of the transfers between HBM and streams: nests over the words of a packed image."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from compiler.errors import UnsupportedError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Argument, BoundLoop, LoopNest
from compiler.graph.task_graph import Dma, DmaTask, LoadTask, StoreTask
from compiler.targets.nest_code import guarded, pipelined_nest, row_major, unrolled
from compiler.targets.tasks.frame import Frame
from compiler.targets.tokens import is_packed
from compiler.targets.writer import CppWriter, Namer


def emit_load(frame: Frame, task: LoadTask) -> None:
    """Words of HBM, cut into tokens."""
    dma, out = task.dma, frame.out
    streamed = frame.itensor(task.writes[0])
    with frame.function(task, f"Reads {dma.value} from HBM. {_image_summary(dma)}") as (params, namer):
        stream, memory = params[0], params[1 : 1 + dma.channels]
        walk = _MemoryWalk.of(streamed, dma, namer, task.timing.bounds)
        # Bits are set some at a time, so packed ones start as zeros.
        declaration = f"{frame.token(task.writes[0])} token{'(0)' if is_packed(streamed) else ''};"
        parts = dma.words_per_token
        if parts > 1:
            out.line(declaration)
        with _walking(frame, task, walk, params, namer):
            words = ", ".join(f"{port}[{walk.address}]" for port in memory)
            out.line(f"const ap_uint<{dma.port_bits}> word[{len(memory)}] = {{{words}}};")
            out.pragma("array_partition variable=word type=complete")
            with _slots(out, walk, dma):
                if parts == 1:
                    out.line(declaration)
                out.line(f"unpack<{parts}>(word, {walk.slot}, {walk.part}, token);")
                with guarded(out, f"{walk.part} == {parts - 1}" if parts > 1 else ""):
                    out.line(f"{stream}.write(token);")


def emit_store(frame: Frame, task: StoreTask) -> None:
    """Tokens, packed into words of HBM."""
    dma, out = task.dma, frame.out
    with frame.function(task, f"Writes {dma.value} to HBM. {_image_summary(dma)}") as (params, namer):
        stream, memory = params[0], params[1 : 1 + dma.channels]
        walk = _MemoryWalk.of(frame.itensor(task.reads[0]), dma, namer, task.timing.bounds)
        token, parts = frame.token(task.reads[0]), dma.words_per_token
        if parts > 1:
            out.line(f"{token} token;")
        with _walking(frame, task, walk, params, namer):
            out.line(f"ap_uint<{dma.port_bits}> word[{len(memory)}] = {{{', '.join('0' for _ in memory)}}};")
            out.pragma("array_partition variable=word type=complete")
            with _slots(out, walk, dma):
                if parts == 1:
                    out.line(f"const {token} token = {stream}.read();")
                else:
                    with guarded(out, f"{walk.part} == 0"):
                        out.line(f"token = {stream}.read();")
                out.line(f"pack<{parts}>(token, {walk.slot}, {walk.part}, word);")
            for channel, port in enumerate(memory):
                out.line(f"{port}[{walk.address}] = word[{channel}];")


@contextmanager
def _walking(frame: Frame, task: DmaTask, walk: "_MemoryWalk", params: Sequence[str], namer: Namer) -> Generator[None]:
    """The loops over words; where one follows an argument, HLS could not flatten them: they are written as one."""
    each = task.dma.tokens_per_word
    if not walk.bounds:
        with pipelined_nest(frame.out, walk.names, walk.trips, task.timing, each):
            yield
        return
    words = LoopNest(walk.trips, (), (), bounds=walk.bounds)
    code = frame.program(task, namer, params, (words,), counters=walk.names)
    with code.pipelined(task.timing, each):
        yield


@contextmanager
def _slots(out: CppWriter, walk: "_MemoryWalk", dma: Dma) -> Generator[None]:
    """Around what is done for each token of a word; the last word may hold fewer."""
    partial = dma.layout.tokens % dma.tokens_per_word
    with unrolled(out, [("slot", dma.tokens_per_word)]):
        condition = f"{walk.address} * {dma.tokens_per_word} + slot < {dma.layout.tokens}" if partial else ""
        with guarded(out, condition):
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
    bounds: tuple[BoundLoop, ...]

    @staticmethod
    def of(streamed: ITensor, dma: Dma, namer: Namer, bounds: Sequence[BoundLoop] = ()) -> "_MemoryWalk":
        """`bounds` are those of loops of `streamed`. Raises UnsupportedError where words would hold a part of what
        such a loop says.
        """
        loops: list[tuple[str, int]] = []
        addressed: list[tuple[str, int]] = []
        followed: list[BoundLoop] = []
        runs = _runs(streamed.loops, bounds)
        for repeats, trip, argument in runs:
            last_run = not repeats and len(addressed) + 1 == sum(not r for r, _, _ in runs)
            words = -(-trip // dma.tokens_per_word) if last_run else trip
            if bounds and last_run and (trip % dma.tokens_per_word or (argument and dma.tokens_per_word > 1)):
                raise UnsupportedError(
                    f"a loop that follows an argument ends within a word of {dma.tokens_per_word} tokens"
                )
            if argument is not None:
                followed.append(BoundLoop(len(loops), argument))
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
        return _MemoryWalk(names, trips, row_major(addressed) or "0", slot, part, tuple(followed))


def _runs(loops: Sequence[Loop], bounds: Sequence[BoundLoop]) -> list[tuple[bool, int, Argument | None]]:
    """Neighbouring loops that advance, and that re-read, as one trip each: (re-reads, trip, argument). One that follows
    an argument stands alone.
    """
    followed = {bound.loop: bound.argument for bound in bounds}
    runs: list[tuple[bool, int, Argument | None]] = []
    for number, loop in enumerate(loops):
        if loop.trip == 1 and number not in followed:
            continue
        repeats, argument = loop.dim is None, followed.get(number)
        if runs and runs[-1][0] == repeats and argument is None and runs[-1][2] is None:
            runs[-1] = (repeats, runs[-1][1] * loop.trip, None)
        else:
            runs.append((repeats, loop.trip, argument))
    return runs


def _image_summary(dma: Dma) -> str:
    if dma.words_per_token > 1:
        return f"A token takes {dma.words_per_token} words of {dma.word_bits} bits."
    return f"A word of {dma.word_bits} bits holds {dma.tokens_per_word} token{'s' if dma.tokens_per_word > 1 else ''}."
