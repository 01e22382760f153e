"""Which tasks have rows of a prompt side by side: engines, and what only brings them their tokens.

An engine takes as long for a row as its products have iterations, while most others rest. So it has copies, of which
each computes another row with the same weights, read once for all of them. What passes tokens on to an engine, from
another one too, as often as it is to read them, has as many. Where weights come more slowly than an engine could take
them, which in a token that is made alone lanes for what is loaded ahead are there for, a copy takes several rows.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.analysis.banks import choice_depth
from compiler.analysis.names import engine_names, joint_load_name
from compiler.graph.design import Engine
from compiler.graph.program import SIDES, arguments_of, iterations, nests, of_layers
from compiler.graph.program import streams as streams_of
from compiler.graph.task_graph import ConverterTask, EngineTask, ForkTask, LanesTask, LoadTask, RouteTask, Stream, Task

SLACK = 0.05  # of weights that share their load with a little else
SELECT_BITS = 32  # of a core that chooses
PASSING = (ConverterTask, ForkTask, LanesTask, RouteTask)


def rows_abreast(engines: Mapping[str, Engine]) -> int:
    """How many rows engines have side by side; 1 where there are none whose weights come by one load, since others are
    not brought once for several rows.
    """
    return min((engine.rows for engine in engines.values() if engine.joint), default=1)


def copied_tasks(engines: Mapping[str, Engine], tasks: Iterable[Task], streams: Sequence[Stream]) -> tuple[str, ...]:
    """Of `engines` those whose weights come by one load, and what passes on tokens to these alone, but for those of
    loads and, where there are layers, of what is outside of them; in the order of `tasks`. The others, as of what turns
    by the position, have few iterations.
    """
    task, (readers, writers) = {t.name: t for t in tasks}, _neighbours(streams)
    weighted = {part for name, engine in engines.items() if engine.joint for part in engine_names(name, engine.slices)}
    loads = {name for name, t in task.items() if isinstance(t, LoadTask)}
    layered = any(task[name].by_layer for name in weighted)
    passing = {name for name, t in task.items() if isinstance(t, PASSING) and (t.by_layer or not layered)}
    before = _leading(passing, readers, weighted) - _leading(passing, writers, loads)
    return tuple(name for name in task if name in weighted | before)


def told_apart(copied: Iterable[Task]) -> bool:
    """Whether copies, which have several rows, would be told another number for each within layers."""
    return bool(arguments_of(of_layers(task.program) for task in copied))


def behind_alone(copied: Iterable[Task]) -> Iterator[str]:
    """Streams of tasks that are `copied` on which only the first copy moves tokens, behind layers."""
    for task in copied:
        inside = of_layers(task.program)
        for side in SIDES:
            used = streams_of(inside, side)
            yield from (name for name in streams_of(task.program, side) if name not in used)


def interleaved_tasks(copied: Collection[str], tasks: Iterable[Task], streams: Sequence[Stream]) -> tuple[str, ...]:
    """Of tasks that are `copied` those that may take rows in turns: engines, and what leads to these alone without
    keeping a token from one iteration for another; none where one of them does that.
    """
    task, (readers, _) = {t.name: t for t in tasks}, _neighbours(streams)
    engines = {name for name in copied if isinstance(task[name], EngineTask)}
    passing = {name for name in copied if isinstance(task[name], ForkTask | LanesTask | RouteTask)}
    found = engines | _leading(passing, readers, engines)
    walked = [nest for name in found - engines for nest in nests(of_layers(task[name].program))]
    keeps = any(access.gates for nest in walked for access in (*nest.reads, *nest.writes))
    return () if keeps else tuple(name for name in copied if name in found)


def rows_in_turns(rows: int, engines: Mapping[str, Engine], task: Mapping[str, Task]) -> int:
    """How many of the rows that are computed side by side a copy takes: as many as would be done while the slowest of
    the engines' loads brings what one needs; a divisor of `rows`.
    """
    longest = max(
        iterations(of_layers(task[joint_load_name(name, index)].program))
        / iterations(of_layers(task[engine_names(name, engine.slices)[0]].program))
        for name, engine in engines.items()
        for index in engine.joint
    )
    return max(each for each in range(1, rows + 1) if rows % each == 0 and (each == 1 or each <= longest * (1 + SLACK)))


def engine_in_turns(task: EngineTask, rows: int, width: Mapping[str, int]) -> EngineTask:
    """An engine that takes so many rows in turns, with partial results of each, and a choice of theirs among tokens
    that it keeps; streams are so many bits wide.
    """
    kept = {access.stream for nest in nests(task.program) for access in nest.reads if access.gates}
    words = choice_depth(rows) * sum(-(-width[stream] // SELECT_BITS) for stream in kept)
    operators = (*task.operators, ("select", words)) if words else task.operators
    buffers = tuple(replace(buffer, depth=buffer.depth * rows) for buffer in task.buffers)
    return replace(task, buffers=buffers, operators=operators)


def _neighbours(streams: Sequence[Stream]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Readers, and writers, by the name of a task."""
    readers, writers = dict[str, set[str]](), dict[str, set[str]]()
    for stream in streams:
        readers.setdefault(stream.source, set()).add(stream.target)
        writers.setdefault(stream.target, set()).add(stream.source)
    return readers, writers


def _leading(passing: set[str], neighbours: Mapping[str, set[str]], ends: set[str]) -> set[str]:
    """Of those `passing` on tokens the ones all of whose neighbours are such, or `ends`."""
    found = set(passing)
    while out := {name for name in found if not neighbours[name] <= found | ends}:
        found -= out
    return found
