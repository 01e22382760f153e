"""Any `dataflow.json` to what is simulated; what it may contain is in `compiler/dataflow.schema.json`.

The file may be written by hand or by another program: every field that matters is checked, and that both ends of every
stream move the same tokens, so that what is simulated can end.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from compiler.analysis.transfers import run_of
from compiler.errors import InvalidInputError, VerificationError
from compiler.graph.memory_order import misplaced_credit
from compiler.graph.program import (
    SIDES,
    Access,
    Argument,
    BoundLoop,
    Gate,
    LoopNest,
    Program,
    Repeat,
    Values,
    iterations,
    program_at,
    streams,
    telling_values,
    tokens,
)
from compiler.graph.task_graph import Control, PipelineStyle, TaskKind, TimingSpec
from compiler.platforms.platform import PORT_WIDTHS
from compiler.simulator.timing.design import TimedDesign, TimedStream, TimedTask, Transfer, under_control
from compiler.simulator.timing.json_fields import Fields

MOST_TASKS = 100_000
MOST_LOOPS = 64
MOST_PARTS = 10_000  # nests and repetitions of one task
MOST_CYCLES = 1 << 50  # of all tasks together: days on a board; the simulator counts parts of cycles in 64 bits
MOST_ROWS = 1 << 10  # that are taken at once
MOST_INSIDE = 1 << 24  # cycles of all pipelines together: the simulator keeps two numbers for each
MOST_TOKENS_PER_WORD = 1024 * max(PORT_WIDTHS)  # bits of the widest word
_KINDS, _STYLES = get_args(TaskKind), get_args(PipelineStyle)
_ITENSOR = re.compile(r"itensor<[^<>]*iter_space: \[([\d,]*)\]\*\[[\d,]*\], iter_map: \([d\d,]*\)->\(([d\d,+]*)\)>")


def task_timing_from_json(data: Any) -> TimedDesign:
    """The design that a parsed `dataflow.json` describes. Raises InvalidInputError that names what is wrong."""
    top = Fields(data, "the design")
    kernels = top.integer("kernels", 1, MOST_TASKS)
    entries = top.list("streams")
    if len(entries) + len(top.list("tasks")) > MOST_TASKS:
        raise InvalidInputError(f"the design has more than {MOST_TASKS} tasks and streams; the simulator takes no more")
    streams = [Fields(entry, f"stream {n}").named("stream") for n, entry in enumerate(entries)]
    itensors = {s.text("name"): s.text("itensor", "") for s in streams}
    tasks = tuple(
        _task(Fields(t, f"task {n}").named("task"), kernels, itensors, top) for n, t in enumerate(top.list("tasks"))
    )
    design = TimedDesign(top.text("name", "design"), kernels, tasks, tuple(map(_stream, streams)))
    if top.has("control"):
        design = under_control(design, _control(top.object("control"), design))
    _check_size(design)
    check(design)
    return design


def _control(fields: Fields, design: TimedDesign) -> Control:
    stores = {task.name for task in design.tasks if task.kind == "store"}
    kept = tuple(str(name) for name in fields.list("kept"))
    given = fields.text("given") if fields.has("given") else None
    rows = fields.integer("rows", 1, MOST_ROWS, default=1)
    names = ("looped", "loads", "held", "copied", "interleaved", "behind")
    told = (tuple(map(str, fields.list(name))) if fields.has(name) else () for name in names)
    looped, loads, held, copied, interleaved, behind = told
    abreast = fields.integer("abreast", 1, rows, default=1)
    each = fields.integer("each", 1, abreast, default=1)
    streams = fields.text("token"), fields.text("position"), fields.text("made")
    control = Control(*streams, kept, given, rows, looped, loads, held, abreast, copied, each, interleaved, behind)
    if given is not None and given not in {task.name for task in design.tasks if task.kind == "load"}:
        raise InvalidInputError(f"control is given tokens by {given}, which is no load")
    if unknown := [name for name in control.reporting if name not in stores]:
        raise InvalidInputError(f"control waits for {unknown[0]}, which is no store")
    (store, times), *_ = Counter(control.reporting).most_common(1)
    if times > 1:
        raise InvalidInputError(f"control waits for {store} twice; it answers once for each token")
    _check_rows(control, design)
    return control


def _check_rows(control: Control, design: TimedDesign) -> None:
    """Raise InvalidInputError unless a chunk of a prompt has what it needs."""
    if control.rows > 1 and (control.given is None or len(control.loads) != len(control.kept)):
        raise InvalidInputError(
            f"control takes {control.rows} rows at once: that needs who is given tokens, and a load for each of kept"
        )
    if unknown := set(control.loads) - {task.name for task in design.tasks if task.kind == "load"}:
        raise InvalidInputError(f"control has rows read again by {min(unknown)}, which is no load")
    if unknown := {*control.looped, *control.held, *control.behind} - {stream.name for stream in design.streams}:
        raise InvalidInputError(f"control has rows on {min(unknown)}, which is no stream")
    if unknown := set(control.copied) - {task.name for task in design.tasks}:
        raise InvalidInputError(f"control has copies of {min(unknown)}, which is no task")
    if unknown := set(control.interleaved) - set(control.copied):
        raise InvalidInputError(f"control has rows in turns at {min(unknown)}, of which it has no copies")
    if control.abreast % control.each:
        raise InvalidInputError(f"control has {control.abreast} rows side by side, {control.each} of them in a copy")


def _stream(fields: Fields) -> TimedStream:
    source, target = fields.text("source"), fields.text("target")
    depth, reason = fields.integer("depth", 1), fields.text("reason", "")
    initial = fields.integer("initial", 0, depth, default=0)
    return TimedStream(fields.text("name"), source, target, depth, reason, initial, fields.flag("feedback"))


def _task(fields: Fields, kernels: int, itensors: dict[str, str], top: Fields) -> TimedTask:
    name = fields.text("name")
    kind = cast("TaskKind", fields.choice("kind", _KINDS))
    kernel = fields.integer("kernel", 0, kernels - 1)
    timing = _timing(fields.object("timing"))
    reads, writes = (_accesses(fields, end, timing.trips) for end in ("reads", "writes"))
    turns = _program(fields, "turns", [MOST_PARTS]) if fields.has("turns") else ()
    task = TimedTask(name, kind, kernel, timing, reads, writes, turns=turns)
    if kind not in ("load", "store"):
        return task
    return replace(task, transfer=_transfer(fields, task, itensors, top))


def _program(fields: Fields, name: str, left: list[int], depth: int = 0) -> Program:
    """Nests in turn; `left` counts how many parts programs may still have."""
    if depth > MOST_LOOPS:
        raise InvalidInputError(f"{fields.where} repeats repetitions more than {MOST_LOOPS} deep")
    parts: list[LoopNest | Repeat] = []
    for number, entry in enumerate(fields.list(name)):
        part = Fields(entry, f"part {number} of {name} of {fields.where}")
        left[0] -= 1
        if left[0] < 0:
            raise InvalidInputError(f"{fields.where} has more than {MOST_PARTS} parts; the simulator takes no more")
        if part.has("body"):
            parts.append(Repeat(part.integer("times", 0), _program(part, "body", left, depth + 1)))
        else:
            parts.append(_nest(part))
    return tuple(parts)


def _nest(fields: Fields) -> LoopNest:
    trips = fields.integers("trips", 0)
    _check_loops(fields, trips)
    reads, writes = (_accesses(fields, end, trips) for end in ("reads", "writes"))
    return LoopNest(trips, reads, writes, fields.integer("restarts", 0, len(trips), default=0), _bounds(fields, trips))


def _timing(fields: Fields) -> TimingSpec:
    trips = fields.integers("trips", 1)
    _check_loops(fields, trips)
    restarts = fields.integer("restarts", 0, len(trips), default=0)
    style = cast("PipelineStyle", fields.choice("style", _STYLES, default="flp"))
    ii, depth, gap = fields.integer("ii", 1), fields.integer("depth", 1, 1 << 20), fields.integer("gap", 0, default=0)
    return TimingSpec(trips, ii, depth, style, restarts, gap, _bounds(fields, trips))


def _check_loops(fields: Fields, trips: Sequence[int]) -> None:
    if len(trips) > MOST_LOOPS:
        raise InvalidInputError(f"{fields.where} has {len(trips)} loops; the simulator takes at most {MOST_LOOPS}")


def _bounds(fields: Fields, trips: Sequence[int]) -> tuple[BoundLoop, ...]:
    entries = fields.list("bounds") if fields.has("bounds") else []
    return tuple(_bound(Fields(entry, f"a bound of {fields.where}"), trips) for entry in entries)


def _bound(fields: Fields, trips: Sequence[int]) -> BoundLoop:
    loop = fields.integer("loop", 0, len(trips) - 1)
    tile, more = fields.integer("tile", 1, default=1), fields.integer("more", 0, default=0)
    argument = Argument(fields.text("name"), fields.integer("most", 1), tile, more)
    each = fields.integer("each", 1, default=1)
    bound = BoundLoop(loop, argument, fields.integer("fixed", -each * argument.trip(0), default=0), each)
    if bound.most != trips[loop]:
        raise InvalidInputError(
            f"{fields.where}: {argument.name} up to {argument.most} in tiles of {argument.tile} makes "
            f"{bound.most} iterations, but loop {loop} has {trips[loop]}"
        )
    return bound


def _check_size(design: TimedDesign) -> None:
    """Raise InvalidInputError where the simulator could not count the cycles, or hold what is inside the pipelines."""
    if sum(t.cycles + t.timing.depth for t in design.tasks) > MOST_CYCLES:
        raise InvalidInputError(f"the tasks take more than {MOST_CYCLES} cycles; the simulator can not count them")
    if sum(t.timing.depth for t in design.tasks) > MOST_INSIDE:
        raise InvalidInputError(
            f"the pipelines are more than {MOST_INSIDE} cycles deep in all; the simulator takes less"
        )


def _accesses(fields: Fields, end: str, trips: Sequence[int]) -> tuple[Access, ...]:
    return tuple(_access(Fields(a, f"an access in {end} of {fields.where}"), trips) for a in fields.list(end))


def _access(fields: Fields, trips: Sequence[int]) -> Access:
    stream = fields.text("stream")
    gates = tuple(_gate(Fields(g, f"a gate of {fields.where}"), trips) for g in fields.list("gates"))
    if len({g.loop for g in gates}) != len(gates):
        raise InvalidInputError(f"{fields.where}, stream {stream}, has two gates on one loop; give their intersection")
    return Access(stream, gates)


def _gate(fields: Fields, trips: Sequence[int]) -> Gate:
    loop = fields.integer("loop", 0, len(trips) - 1)
    low = fields.integer("low", 0, trips[loop] - 1)
    return Gate(loop, low, fields.integer("high", low + 1, trips[loop]))


def _transfer(fields: Fields, task: TimedTask, itensors: dict[str, str], top: Fields) -> Transfer:
    dma = fields.object("dma")
    ports, per_word = dma.integer("channels", 1, 1024), dma.integer("tokens_per_word", 1, MOST_TOKENS_PER_WORD)
    per_token = dma.integer("words_per_token", 1)
    inside = task.writes if task.kind == "load" else task.reads
    if len(inside) != 1 and not (task.kind == "load" and task.turns):
        raise InvalidInputError(f"{task.kind} {task.name} must {'write' if task.kind == 'load' else 'read'} one stream")
    if min(per_word, per_token) != 1 or (per_word > 1 and inside[0].gates):
        raise InvalidInputError(
            f"{dma.where} packs several tokens in a word: each iteration must then move one, and a token be one word"
        )
    channels = top.object("hbm_channels").integers(task.name, 0) if _assigned(top, task.name) else ()
    loops = _loops(itensors.get(inside[0].stream, ""))
    run = run_of(loops, per_token)
    if run is not None and iterations(task.program) % run:
        raise InvalidInputError(f"{dma.where} re-reads every {run} iterations, of which the task has no whole number")
    credit = misplaced_credit(task.program, {a.stream for a in task.credits}, writes=task.kind == "store")
    if credit is not None:
        raise InvalidInputError(f"{task.kind} {task.name} must move credits of {credit} at the ends of its runs")
    again = (*(rereads for _, rereads in loops), *((False,) if per_token > 1 else ()))
    value = dma.text("value", "")
    if task.kind == "store" and dma.has("at"):  # a row that no load of the launch reads, as `DmaTask.memory_use`
        value = f"{value} at {dma.object('at').text('name')}"
    return Transfer(ports, per_word, per_token, run, channels, value, again)


def _assigned(top: Fields, task: str) -> bool:
    return top.has("hbm_channels") and top.object("hbm_channels").has(task)


def _loops(itensor: str) -> list[tuple[int, bool]]:
    """Trip counts of a printed itensor, and whether the loop re-reads; none where there is no itensor."""
    if not itensor:
        return []
    match = _ITENSOR.fullmatch(itensor)
    if match is None:
        raise InvalidInputError(f"{itensor[:80]!r} is not an itensor as the IR prints it")
    used = set(re.findall(r"\d+", match[2]))
    trips = [int(trip) for trip in match[1].split(",") if trip]
    return [(trip, str(k) not in used) for k, trip in enumerate(trips)]


def check(design: TimedDesign) -> None:
    """Raise InvalidInputError unless tasks and streams fit together: names, ends, order, numbers of tokens, whatever
    the arguments are.
    """
    _unique("task", (t.name for t in design.tasks))
    _unique("stream", (s.name for s in design.streams))
    ends = _ends(design)
    position = {t.name: n for n, t in enumerate(design.tasks)}
    for stream in design.streams:
        ends_of = ends.get(stream.name, {})
        source, target = ends_of.get("writes", []), ends_of.get("reads", [])
        if [t.name for t in source] != [stream.source] or [t.name for t in target] != [stream.target]:
            raise InvalidInputError(
                f"stream {stream.name} goes from {stream.source} to {stream.target}, but is written by "
                f"{_names(source)} and read by {_names(target)}; it needs exactly that writer and that reader"
            )
        _check_ends(stream, source[0], target[0], position)
    for values in ({}, *telling_values(design.arguments.values())):
        _check_balance(design, values)


def _unique(what: str, names: Iterable[str]) -> None:
    (name, count), *_ = Counter(names).most_common(1) or [("", 0)]
    if count > 1:
        raise InvalidInputError(f"{count} {what}s are called {name}; names must differ")


def _ends(design: TimedDesign) -> dict[str, dict[str, list[TimedTask]]]:
    ends: dict[str, dict[str, list[TimedTask]]] = {s.name: {"reads": [], "writes": []} for s in design.streams}
    for task in design.tasks:
        for side in SIDES:
            for stream in streams(task.program, side):
                if stream not in ends:
                    raise InvalidInputError(f"task {task.name} {side} stream {stream}, which is not listed")
                ends[stream][side].append(task)
    return ends


def _names(ends: Sequence[TimedTask]) -> str:
    return ", ".join(task.name for task in ends) or "none"


def _check_ends(stream: TimedStream, writer: TimedTask, reader: TimedTask, position: dict[str, int]) -> None:
    if writer.kernel != reader.kernel:
        raise InvalidInputError(f"stream {stream.name} goes from kernel {writer.kernel} to kernel {reader.kernel}")
    if position[writer.name] >= position[reader.name] and not stream.feedback:
        raise InvalidInputError(
            f"task {reader.name} reads {stream.name} of {writer.name}, which comes later: tasks must be in topological "
            "order, and a stream that closes a loop be marked as feedback"
        )


def _check_balance(design: TimedDesign, values: Values) -> None:
    try:
        now = {task.name: program_at(task.program, values) for task in design.tasks}
    except VerificationError as error:
        raise InvalidInputError(f"the tasks have no program for {values}: {error}") from error
    for stream in design.streams:
        written = tokens(now[stream.source], "writes", stream.name)
        wanted = tokens(now[stream.target], "reads", stream.name)
        if written != wanted:
            at = "".join(f" where {name} is {value}" for name, value in values.items())
            raise InvalidInputError(
                f"{stream.source} writes {written} tokens to {stream.name}, {stream.target} reads {wanted}{at}: "
                "the run can not end"
            )
