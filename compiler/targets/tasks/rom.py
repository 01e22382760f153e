"""C++ of a tensor that stays on the chip: an array of constants (`compiler.targets.constants`), a row a token."""

from math import prod

from compiler.graph.task_graph import RomTask
from compiler.targets.nest_code import row_major, unrolled
from compiler.targets.tasks.frame import Frame, TaskLoops, rate


def rom_name(task: RomTask) -> str:
    """Of its array."""
    return f"{task.name}_rom"


def emit_rom(frame: Frame, task: RomTask) -> None:
    """Row by row; loops that read again leave the place alone."""
    out, (access,), (buffer,) = frame.out, task.writes, task.buffers
    itensor, name = frame.itensor(access), rom_name(task)
    with frame.function(task, f"Holds {task.value} on the chip. {rate(task)}.") as (params, namer):
        names = tuple(namer.name("again" if loop.dim is None else "w") for loop in task.streamed.loops)
        advancing = [(n, loop.trip) for n, loop in zip(names, task.streamed.loops, strict=True) if loop.dim is not None]
        row = f"{name}[{row_major([one for one in advancing if one[1] > 1]) or '0'}]"
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
