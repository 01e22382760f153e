"""Memories that keep parameters between launches: what fills them.

What is too large for a constant lies in one image, one tensor behind the other, each packed by itself into whole words.
`load_memories` reads it through a port of its own, in a launch that is told to (`LOAD`), and sends each memory its
words; that writes them before it reads any, so no reader is ahead of them. A launch that finds memories filled moves
nothing through that port. The host says which one it is, by the digest of the image (`compiler.host.accelerator`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import LOAD, Access, Argument, BoundLoop, Gate, LoopNest
from compiler.graph.task_graph import Dma, Joint, LoadTask, Part, RomTask, Stream, Task, TimingSpec
from compiler.platforms.platform import Platform

LOADER = "load_memories"
TOLD = BoundLoop(0, Argument(LOAD, 1))


def words_name(rom: str) -> str:
    """The stream of the words that fill a memory."""
    return f"{rom}_words"


def with_memories(
    tasks: Sequence[Task], streams: Sequence[Stream], platform: Platform
) -> tuple[list[Task], list[Stream]]:
    """Beside the other tasks those that fill memories, one a kernel; memories are filled before they are read.
    O(tasks).
    """
    roms = [task for task in tasks if isinstance(task, RomTask) and task.filled is not None]
    loaders = [
        _loader(kernel, [rom for rom in roms if rom.kernel == kernel], platform)
        for kernel in sorted({rom.kernel for rom in roms})
    ]
    if taken := {task.name for task in tasks} & {loader.name for loader in loaders}:
        raise VerificationError(f"a tensor must not be called as what loads all memories: {min(taken)}")
    source = {access.stream: loader for loader in loaders for access in loader.writes}
    words = (
        Stream(words_name(rom.name), source[words_name(rom.name)].name, rom.name, words_of(dma), MIN_DEPTH)
        for rom, dma in _filled(roms)
    )
    filling = {rom.name: _filling(rom, dma) for rom, dma in _filled(roms)}
    return [*(filling.get(task.name, task) for task in tasks), *loaders], [*streams, *words]


def words_of(dma: Dma) -> ITensor:
    """The words of a part, as bytes."""
    lanes = dma.port_bits // 8
    return ITensor((lanes,), "i8", (Loop(dma.words, lanes, 0),))


def _filled(roms: Iterable[RomTask]) -> Iterable[tuple[RomTask, Dma]]:
    return ((rom, rom.filled) for rom in roms if rom.filled is not None)


def _loader(kernel: int, roms: Sequence[RomTask], platform: Platform) -> LoadTask:
    """What reads the image of a kernel: the words of one memory, then those of the next."""
    dmas = [dma for _, dma in _filled(roms)]
    writes = [Access(words_name(rom.name)) for rom in roms]
    nests = (LoopNest((1, d.words), (), (w,), bounds=(TOLD,)) for d, w in zip(dmas, writes, strict=True))
    name = LOADER if kernel == 0 else f"{LOADER}_{kernel}"
    lanes = platform.hbm.port_bits // 8
    whole = ITensor((lanes,), "i8", (Loop(sum(d.words for d in dmas), lanes, 0),))
    joint = Joint(1, tuple(Part(d.value, d.layout) for d in dmas), packed=tuple(dmas), words=True)
    dma = Dma(name.removeprefix("load_"), whole, 1, 1, 1, platform.hbm.port_bits, joint=joint)
    timing = TimingSpec((), 1, platform.hbm.read_latency_cycles + READ_WRITE_CYCLES)
    return LoadTask(name, kernel, timing, (), tuple(writes), dma, whole, turns=tuple(nests))


def _filling(rom: RomTask, dma: Dma) -> RomTask:
    """The memory with its words written first: one a cycle, or where a word holds several tokens one of them."""
    inside, words = max(dma.tokens_per_word, 1), Access(words_name(rom.name))
    read = words._replace(gates=(Gate(2, 0, 1),)) if inside > 1 else words
    fill = LoopNest((1, dma.words, inside) if inside > 1 else (1, dma.words), (read,), (), bounds=(TOLD,))
    push = rom.timing.nest(rom.reads, rom.writes)
    timing = replace(rom.timing, trips=(), restarts=0, bounds=())
    return replace(rom, timing=timing, reads=(words,), turns=(fill, push))
