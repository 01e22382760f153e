"""C++ of the tasks that only route tokens: fork, lanes, route, chunk, concat."""

from collections.abc import Mapping
from math import prod

from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.program import Access, Side
from compiler.graph.task_graph import ChunkTask, ConcatTask, ForkTask, LanesTask, RouteTask
from compiler.targets.nest_code import (
    NestNames,
    guarded,
    row_major,
    subscript,
    unrolled,
)
from compiler.targets.tasks.frame import Frame, TaskLoops, rate
from compiler.targets.tokens import is_packed, word_bits
from compiler.targets.writer import Namer


def emit_routing(frame: Frame, task: ForkTask | LanesTask | RouteTask | ChunkTask | ConcatTask) -> None:
    """Whichever it is."""
    match task:
        case ForkTask():
            _emit_fork(frame, task)
        case LanesTask():
            _emit_lanes(frame, task)
        case RouteTask():
            _emit_route(frame, task)
        case ChunkTask():
            _emit_chunk(frame, task)
        case ConcatTask():
            _emit_concat(frame, task)


def _emit_fork(frame: Frame, task: ForkTask) -> None:
    """Every token to every reader."""
    out = frame.out
    with frame.function(task, f"Copies every token to {len(task.writes)} readers.") as (params, namer):
        token, code = frame.token(task.reads[0]), frame.program(task, namer, params)
        with code.pipelined(task.timing):
            out.line(f"const {token} token = {frame.taken(task.reads[0], params[0])};")
            for access, stream in zip(task.writes, params[1:], strict=False):
                frame.put(access, stream, "token")


def _emit_lanes(frame: Frame, task: LanesTask) -> None:
    """Elements from the tokens of one iteration to others, by wires alone; or of several iterations to one."""
    if task.pieces > 1:
        _emit_widening(frame, task)
        return
    out, deals = frame.out, len(task.reads) == 1
    summary = f"Deals out each token to {len(task.writes)}" if deals else f"Joins tokens of {len(task.reads)}"
    with frame.function(task, f"{summary}. {rate(task)}.") as (params, namer):
        accesses = (*task.reads, *task.writes)
        tokens = {
            access.stream: namer.name(f"{stream}_token") for access, stream in zip(accesses, params, strict=False)
        }
        with frame.program(task, namer, params).pipelined(task.timing):
            for access, stream in zip(task.reads, params, strict=False):
                out.line(f"const {frame.token(access)} {tokens[access.stream]} = {frame.taken(access, stream)};")
            packed = is_packed(frame.itensor(task.reads[0]))
            for access in task.writes:
                out.line(f"{frame.token(access)} {tokens[access.stream]}{'(0)' if packed else ''};")
            (_move_bits if packed else _move_lanes)(frame, task, tokens, namer)
            for access, stream in zip(task.writes, params[len(task.reads) :], strict=False):
                frame.send(task, access, stream, tokens[access.stream])


def _move_bits(frame: Frame, task: LanesTask, tokens: Mapping[str, str], namer: Namer) -> None:
    """The same of packed tokens: neighbours of a block at once, where no word splits them."""
    deals = len(task.reads) == 1
    whole, parts = (task.reads, task.writes) if deals else (task.writes, task.reads)
    itensors = [frame.itensor(access) for access in (*whole, *parts)]
    element = DTYPE_BITS[itensors[0].dtype]
    run = prod(itensors[1].element) // task.blocks * element
    split = any(word_bits(itensor, frame.tasks.port_bits) % run for itensor in itensors)
    bits = element if split else run
    block, piece = namer.name("block"), namer.name("piece")
    moving = [loop for loop in ((block, task.blocks), (piece, run // bits)) if loop[1] > 1]
    with unrolled(frame.out, moving):
        inside = [f"{piece} * {bits}"] if run > bits else []
        for number, part in enumerate(parts):
            own = [f"{block} * {run}"] if task.blocks > 1 else []
            of_all = [f"{block} * {run * len(parts)}"] if task.blocks > 1 else []
            of_all += [str(number * run)] if number else []
            places = [" + ".join([*terms, *inside]) or "0" for terms in (of_all, own)]
            ends = [tokens[whole[0].stream], places[0]], [tokens[part.stream], places[1]]
            (source, target) = ends if deals else ends[::-1]
            frame.out.statement(f"move_bits<{bits}>", [*source, *target], ";")


def _move_lanes(frame: Frame, task: LanesTask, tokens: Mapping[str, str], namer: Namer) -> None:
    """Between the whole token and its parts."""
    deals = len(task.reads) == 1
    whole, parts = (task.reads, task.writes) if deals else (task.writes, task.reads)
    run = prod(frame.itensor(parts[0]).element) // task.blocks  # neighbours that a part has of each block
    loops = [(namer.name("block"), task.blocks), (namer.name("element"), run)]
    moving = [loop for loop in loops if loop[1] > 1]
    with unrolled(frame.out, loops):
        for number, part in enumerate(parts):
            inside = [(str(number), len(parts))]
            block, element = ([loop] if loop in moving else [] for loop in loops)
            one = subscript(tokens[part.stream], row_major(moving))
            of_all = f"{tokens[whole[0].stream]}[{row_major([*block, *inside, *element])}]"
            frame.out.line(f"{of_all if not deals else one} = {one if not deals else of_all};")


def _emit_widening(frame: Frame, task: LanesTask) -> None:
    """Pieces are shifted in: behind the last one the first is in front."""
    out, (read,), (write,) = frame.out, task.reads, task.writes
    with frame.function(task, f"Puts each token together from {task.pieces}. {rate(task)}.") as (params, namer):
        code, whole = frame.program(task, namer, params), namer.name("whole")
        out.line(f"{frame.token(write)} {whole}(0);")
        reads = code.condition("reads", read.stream, params[0])
        writes = code.condition("writes", write.stream, params[1])
        with code.pipelined(task.timing):
            with guarded(out, reads):
                out.line(f"shift_in({whole}, {frame.taken(read, params[0])});")
            with guarded(out, writes):
                frame.send(task, write, params[1], whole)


def _emit_route(frame: Frame, task: RouteTask) -> None:
    """What an iteration reads to all that it writes, each type of token for itself: the token of the first stream that
    it reads, the others are but waited for, or what was read last where it reads none.
    """
    out = frame.out
    with frame.function(task, f"Passes on tokens, turn by turn. {rate(task)}.") as (params, namer):
        code = frame.program(task, namer, params)
        passed = {kind: namer.name("passed") for kind in dict.fromkeys(map(frame.token, (*task.reads, *task.writes)))}
        for kind, name in passed.items():
            out.line(f"{kind} {name}(0);")

        def port(side: Side, access: Access, stream: str) -> tuple[Access, str, str]:
            return access, stream, code.condition(side, access.stream, stream)

        reads = [port("reads", access, stream) for access, stream in zip(task.reads, params, strict=False)]
        written = params[len(task.reads) :]
        writes = [port("writes", access, stream) for access, stream in zip(task.writes, written, strict=False)]
        with code.pipelined(task.timing):
            for access, stream, condition in reversed(reads):  # the first one's token is to stay
                with guarded(out, condition):
                    out.line(f"{passed[frame.token(access)]} = {frame.taken(access, stream)};")
            for access, stream, condition in writes:
                with guarded(out, condition):
                    frame.send(task, access, stream, passed[frame.token(access)])


def _emit_chunk(frame: Frame, task: ChunkTask) -> None:
    """Each token to the output of its chunk."""
    op, nest, out = task.op, task.nest, frame.out
    summary = f"{op.name}: each token goes to the output of the chunk that it is in."
    with frame.function(task, summary) as (params, namer):
        names = NestNames.of(op, nest, namer)
        loops = TaskLoops.of(frame, task, namer, params, names.loops)
        ports = [(a, stream, loops.condition("writes", a)) for a, stream in zip(task.writes, params[1:], strict=False)]
        with loops.pipelined():
            out.line(f"const {frame.token(task.reads[0])} token = {frame.taken(task.reads[0], params[0])};")
            for access, stream, condition in ports:
                with guarded(out, condition):
                    frame.put(access, stream, "token")


def _emit_concat(frame: Frame, task: ConcatTask) -> None:
    """The inputs one after the other."""
    op, nest, out = task.op, task.nest, frame.out
    assert op.axis is not None
    summary = f"{op.name}: the tokens of one input after the other along {op.outputs[0].value}'s joined dimension."
    with frame.function(task, summary) as (params, namer):
        names = NestNames.of(op, nest, namer)
        loops = TaskLoops.of(frame, task, namer, params, names.loops)
        reads = [loops.condition("reads", access) for access in task.reads]
        with loops.pipelined():
            # Zeros follow the last input where the joined dimension is padded.
            behind = "(0)" if op.true_loops[op.axis] < op.loops[op.axis] else ""
            out.line(f"{frame.token(task.writes[0])} token{behind};")
            for access, stream, condition in zip(task.reads, params, reads, strict=False):
                with guarded(out, condition):
                    out.line(f"token = {frame.taken(access, stream)};")
            frame.put(task.writes[0], params[len(reads)], "token")
