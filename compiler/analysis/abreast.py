"""Which tasks have rows of a prompt side by side: engines, and what only brings them their tokens.

An engine takes as long for a row as its products have iterations, while most others rest. So it has copies, of which
each computes another row with the same weights, read once for all of them. What passes tokens on to an engine, from
another one too, as often as it is to read them, has as many.
"""

from collections.abc import Iterable, Mapping, Sequence

from compiler.graph.design import Engine
from compiler.graph.task_graph import ConverterTask, EngineTask, ForkTask, LanesTask, LoadTask, RouteTask, Stream, Task

PASSING = (ConverterTask, ForkTask, LanesTask, RouteTask)


def rows_abreast(engines: Mapping[str, Engine]) -> int:
    """How many rows engines have side by side: 1 where there are none, or weights of one do not come by one load, since
    those are not brought once for several rows.
    """
    if any(not engine.joint for engine in engines.values()):
        return 1
    return min((engine.rows for engine in engines.values()), default=1)


def copied_tasks(tasks: Iterable[Task], streams: Sequence[Stream]) -> tuple[str, ...]:
    """Engines, and what passes on tokens to engines alone, but for those of loads; in the order of `tasks`."""
    task = {t.name: t for t in tasks}
    readers, writers = dict[str, set[str]](), dict[str, set[str]]()
    for stream in streams:
        readers.setdefault(stream.source, set()).add(stream.target)
        writers.setdefault(stream.target, set()).add(stream.source)
    engines, loads = ({name for name, t in task.items() if isinstance(t, kind)} for kind in (EngineTask, LoadTask))
    passing = {name for name, t in task.items() if isinstance(t, PASSING)}
    before = _leading(passing, readers, engines) - _leading(passing, writers, loads)
    return tuple(name for name in task if name in engines | before)


def _leading(passing: set[str], neighbours: Mapping[str, set[str]], ends: set[str]) -> set[str]:
    """Of those `passing` on tokens the ones all of whose neighbours are such, or `ends`."""
    found = set(passing)
    while out := {name for name in found if not neighbours[name] <= found | ends}:
        found -= out
    return found
