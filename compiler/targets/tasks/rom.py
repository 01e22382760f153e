"""C++ of a tensor that stays on the chip: an array, a row a token. It has constants (`compiler.targets.constants`), or
keeps what a launch has filled it with, `static` in the function of its one task, so that no other process touches it.
"""

from collections.abc import Sequence
from math import prod

from compiler.graph.program import LOAD
from compiler.graph.task_graph import Dma, RomTask, TimingSpec
from compiler.targets.nest_code import guarded, pipelined_nest, row_major, unrolled
from compiler.targets.parameters import launch_arguments
from compiler.targets.tasks.frame import Frame, TaskLoops, bind_storage, rate
from compiler.targets.tokens import is_packed, token_type
from compiler.targets.writer import Namer, identifier


def rom_name(task: RomTask) -> str:
    """Of its array."""
    return f"{task.name}_rom"


def emit_rom(frame: Frame, task: RomTask) -> None:
    """Row by row; loops that read again leave the place alone."""
    if task.filled is None:
        _emit_constant(frame, task)
    else:
        _emit_memory(frame, task, task.filled)


def _emit_constant(frame: Frame, task: RomTask) -> None:
    out, (access,), (buffer,) = frame.out, task.writes, task.buffers
    itensor, name = frame.itensor(access), rom_name(task)
    with frame.function(task, f"Holds {task.value} on the chip. {rate(task)}.") as (params, namer):
        names = _loop_names(task, namer)
        row = f"{name}[{_place(task, names)}]"
        if prod(itensor.element) > 1:
            how = "partition variable={} dim=0" if buffer.kind == "registers" else "reshape variable={} dim=2"
            out.pragma(f"array_{how.format(name)} type=complete")
        if buffer.kind != "registers":
            out.pragma(f"bind_storage variable={name} type=rom_1p impl={buffer.kind}")
        with TaskLoops.of(frame, task, namer, params, names).pipelined():
            if prod(itensor.element) == 1:
                frame.write(access, params[0], row)
                return
            word = namer.name("word")
            frame.declare(access, word)
            with unrolled(out, [("element", prod(itensor.element))]):
                out.line(f"{word}[element] = {row}[element];")
            frame.write(access, params[0], word)


def _emit_memory(frame: Frame, task: RomTask, dma: Dma) -> None:
    """Filled first, where the launch says so."""
    out, (access,), (buffer,) = frame.out, task.writes, task.buffers
    pushing, arguments = task.steady, launch_arguments([task])
    assert pushing is not None  # it is read
    summary = f"Holds {task.value} on the chip, also between launches. {rate(pushing)}."
    with frame.function(task, summary) as (params, namer):
        words, pushed, *others = params
        told = dict(zip((a.name for a in arguments), others, strict=True))
        load, memory = told.pop(LOAD), namer.name(identifier(f"{task.name}_memory"))
        names = _loop_names(task, namer)
        out.line(f"static {token_type(frame.itensor(access))} {memory}[{buffer.depth}];")
        bind_storage(out, memory, buffer)
        with out.block(f"if ({load})"):
            _fill(frame, task, dma, memory, words, namer)
        with TaskLoops.of(frame, pushing, namer, [pushed, *told.values()], names).pipelined():
            frame.put(access, pushed, f"{memory}[{_place(task, names)}]")


def _loop_names(task: RomTask, namer: Namer) -> tuple[str, ...]:
    return tuple(namer.name("again" if loop.dim is None else "w") for loop in task.streamed.loops)


def _place(task: RomTask, names: Sequence[str]) -> str:
    """The row that an iteration reads."""
    loops = zip(names, task.streamed.loops, strict=True)
    return row_major([(name, loop.trip) for name, loop in loops if loop.dim is not None and loop.trip > 1]) or "0"


def _fill(frame: Frame, task: RomTask, dma: Dma, memory: str, stream: str, namer: Namer) -> None:
    """Words as they lie in the image, each read once; what of a word is behind the last token is nothing."""
    out, (write,) = frame.out, task.writes
    itensor, parts, several = frame.itensor(write), dma.words_per_token, dma.tokens_per_word
    tokens = itensor.without_rereads().tokens
    names = [namer.name("row"), namer.name("part" if parts > 1 else "slot")]
    token = f"{token_type(itensor)} token{'(0)' if is_packed(itensor) else ''};"
    word = f"ap_uint<{dma.port_bits}> word[1]"
    if several > 1:
        out.line(f"{word};")
    if parts > 1:
        out.line(token)
    trips = [dma.words, several] if several > 1 else [tokens, parts] if parts > 1 else [tokens]
    spec = TimingSpec(tuple(trips), 1, task.timing.depth, task.timing.style)
    with pipelined_nest(out, tuple(names[: len(trips)]), tuple(trips), spec):
        if several > 1:  # the next token of a word comes to where the first one was
            with out.block(f"if ({names[1]} == 0)"):
                out.line(f"pack<1>({stream}.read(), 0, 0, word);")
            with out.block("else"):
                out.line(f"word[0] >>= {itensor.width};")
            out.line(token)
            out.line("unpack<1>(word, 0, 0, token);")
            place = f"{names[0]} * {several} + {names[1]}"
            with guarded(out, f"{place} < {tokens}" if tokens % several else ""):
                out.line(f"{memory}[{place}] = token;")
            return
        out.line(f"{word} = {{0}};")
        out.line(f"pack<1>({stream}.read(), 0, 0, word);")
        if parts == 1:
            out.line(token)
        out.line(f"unpack<{parts}>(word, 0, {names[1] if parts > 1 else '0'}, token);")
        with guarded(out, f"{names[1]} == {parts - 1}" if parts > 1 else ""):
            out.line(f"{memory}[{names[0]}] = token;")
