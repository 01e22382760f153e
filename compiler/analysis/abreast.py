"""Which tasks have rows of a prompt side by side: engines, and what only brings them their tokens.

An engine takes as long for a row as its products have iterations, while most others rest. So it has copies, of which
each computes another row with the same weights, read once for all of them. What passes tokens on to an engine, from
another one too, as often as it is to read them, has as many.
"""

from collections.abc import Iterable, Mapping, Sequence

from compiler.analysis.names import engine_names
from compiler.graph.design import Engine
from compiler.graph.task_graph import ConverterTask, ForkTask, LanesTask, LoadTask, RouteTask, Stream, Task

PASSING = (ConverterTask, ForkTask, LanesTask, RouteTask)


def rows_abreast(engines: Mapping[str, Engine]) -> int:
    """How many rows engines have side by side; 1 where there are none whose weights come by one load, since others are
    not brought once for several rows.
    """
    return min((engine.rows for engine in engines.values() if engine.joint), default=1)


def copied_tasks(engines: Mapping[str, Engine], tasks: Iterable[Task], streams: Sequence[Stream]) -> tuple[str, ...]:
    """Of `engines` those whose weights come by one load, and what passes on tokens to these alone, but for those of
    loads; in the order of `tasks`. The others, as of what turns by the position, have few iterations.
    """
    task = {t.name: t for t in tasks}
    readers, writers = dict[str, set[str]](), dict[str, set[str]]()
    for stream in streams:
        readers.setdefault(stream.source, set()).add(stream.target)
        writers.setdefault(stream.target, set()).add(stream.source)
    weighted = {part for name, engine in engines.items() if engine.joint for part in engine_names(name, engine.slices)}
    loads = {name for name, t in task.items() if isinstance(t, LoadTask)}
    passing = {name for name, t in task.items() if isinstance(t, PASSING)}
    before = _leading(passing, readers, weighted) - _leading(passing, writers, loads)
    return tuple(name for name in task if name in weighted | before)


def _leading(passing: set[str], neighbours: Mapping[str, set[str]], ends: set[str]) -> set[str]:
    """Of those `passing` on tokens the ones all of whose neighbours are such, or `ends`."""
    found = set(passing)
    while out := {name for name in found if not neighbours[name] <= found | ends}:
        found -= out
    return found
