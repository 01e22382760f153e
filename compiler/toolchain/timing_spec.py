"""Timing of our tasks out of a csynth report, in place of the planned one (design section 3.4).

We emit a perfect nest per task. Vitis HLS flattens it into one loop, named after its loops joined by `_`, with the
product of their tripcounts; that loop stands in the module of the task's function, or in `<module>_Pipeline_<loop>`
below it. Loops that were not flattened stay outside: the pipeline drains in each of their iterations
(`TimingSpec.restarts`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from compiler.errors import ReportError
from compiler.graph.task_graph import DmaTask, Task, TaskGraph, TimingSpec
from compiler.toolchain.hls.csynth import CsynthReport, Loop, Module

_LEAST_DEPTH = 2  # a token is read in one cycle and written in another
_GIVE = "give the csynth.xml of a kernel of this very design"


Modules = Mapping[str, Sequence[str]]
"""What HLS may call the module of a task, the likeliest first; one that is not in it is called like the task."""


def replace_timing(tasks: TaskGraph, report: CsynthReport, names: Modules | None = None) -> TaskGraph:
    """`tasks` with the timing of those that `report` knows: usually those of one kernel, the others stay as planned.
    `names` are those of their modules.

    Raises ReportError where the report knows none of them, lacks one of its own kernel, or has other loops.
    """
    kernel = re.fullmatch(r".*_k(\d+)", report.top)
    asked = [t for t in tasks.tasks if kernel is None or t.kernel == int(kernel[1])]
    modules = {t.name: module for t in asked if (module := _module(t, report, names or {})) is not None}
    if not modules:
        raise ReportError(f"the report of {report.top} has no module of a task of {tasks.name}; {_GIVE}")
    kernels = {tasks.task[name].kernel for name in modules}
    absent = [t.name for t in tasks.tasks if t.kernel in kernels and t.name not in modules]
    if absent and report.top not in modules:
        raise ReportError(f"the report of {report.top} lacks the task {absent[0]}, which is in the kernel; {_GIVE}")
    return replace(
        tasks,
        tasks=tuple(
            replace(task, timing=timing_of(task, modules[task.name], report)) if task.name in modules else task
            for task in tasks.tasks
        ),
    )


def timing_of(task: Task, module: Module, report: CsynthReport) -> TimingSpec:
    """Timing of `task` as `module` of `report` has it. Raises ReportError where the loops are not the task's."""
    paths = tuple(_paths(module, report))
    if task.turns or task.timing.bounds:
        return _of_turns(task, module, [path.leaf for path in paths])
    if not paths and _emitted(task, 0) == 1:
        return replace(task.timing, ii=1, depth=max(_LEAST_DEPTH, _function_depth(module)), restarts=0, gap=0)
    found = [spec for path in paths if (spec := _spec(task, path)) is not None]
    if len(found) != 1:
        loops = "; ".join(str(path) for path in paths) or "none"
        raise ReportError(
            f"the loops of {module.name} do not fit the task {task.name}, whose nest runs {_emitted(task, 0)} times "
            f"and is pipelined; the report has: {loops}; {_GIVE}"
        )
    return found[0]


def _of_turns(task: Task, module: Module, loops: Sequence[Loop]) -> TimingSpec:
    """Of a task whose one pipelined loop makes other numbers of iterations from turn to turn: the longest, beside loops
    that fill and drain FIFOs. What lies between two turns stays as planned.
    """
    pipelined = [loop for loop in loops if loop.pipelined and loop.ii is not None and loop.iteration.worst is not None]
    if not pipelined:
        raise ReportError(f"{module.name} has no pipelined loop, which task {task.name} runs its turns in; {_GIVE}")
    longest = max(pipelined, key=lambda loop: loop.trips.worst or 0)
    assert longest.ii is not None
    assert longest.iteration.worst is not None
    return replace(task.timing, ii=longest.ii, depth=max(_LEAST_DEPTH, longest.iteration.worst))


@dataclass(frozen=True, slots=True)
class _Path:
    """A loop without loops inside, and those around it, outermost first."""

    outer: tuple[Loop, ...]
    leaf: Loop

    def __str__(self) -> str:
        pace = "not pipelined" if self.leaf.ii is None else f"II {self.leaf.ii}"
        loops = [f"{loop.name} x {loop.trips.exact or '?'}" for loop in (*self.outer, self.leaf)]
        return f"{' > '.join(loops)}, {pace}"


def _module(task: Task, report: CsynthReport, names: Modules) -> Module | None:
    """The module of the task's function; that of a template ends in `_s`."""
    called = [name for stem in (*names.get(task.name, ()), task.name) for name in (stem, f"{stem}_s")]
    return next((report.module[name] for name in called if name in report.module), None)


def _paths(module: Module, report: CsynthReport) -> Iterator[_Path]:
    for loop in module.loops:
        yield from _below(loop, (), module, report)
    in_loops = set(_called_in_loops(module.loops))
    for name in module.calls:
        if name not in in_loops:
            yield from _in_pipeline(name, (), module, report)


def _below(loop: Loop, outer: tuple[Loop, ...], module: Module, report: CsynthReport) -> Iterator[_Path]:
    """Paths through `loop`; without one inside, itself."""
    inside = [p for child in loop.loops for p in _below(child, (*outer, loop), module, report)]
    inside += [p for name in loop.calls for p in _in_pipeline(name, (*outer, loop), module, report)]
    yield from inside or [_Path(outer, loop)]


def _in_pipeline(name: str, outer: tuple[Loop, ...], module: Module, report: CsynthReport) -> Iterator[_Path]:
    """The loop that HLS put into a module of its own; such a module calls none of its kind."""
    pipeline = report.module.get(name)
    if pipeline is not None and name.startswith(f"{module.name.removesuffix('_s')}_Pipeline_"):
        yield from (_Path(outer, loop) for loop in pipeline.loops)


def _called_in_loops(loops: tuple[Loop, ...]) -> Iterator[str]:
    for loop in loops:
        yield from loop.calls
        yield from _called_in_loops(loop.loops)


def _spec(task: Task, path: _Path) -> TimingSpec | None:
    """The task's timing with the loops of `path`; None where they are not its loops."""
    counts = [loop.trips.exact for loop in (*path.outer, path.leaf)]
    runs = prod(n or 0 for n in counts[:-1])
    restarts = _prefix(task.timing.trips, runs)
    ii, depth = path.leaf.ii, path.leaf.iteration.worst
    if restarts is None or ii is None or depth is None or counts[-1] != _emitted(task, restarts):
        return None
    tokens = _tokens_an_iteration(task)
    gap = _gap(path, runs, (_emitted(task, restarts) - 1) * ii + depth) if restarts else 0
    return replace(
        task.timing,
        ii=-(-ii // tokens),
        # Of the tokens that pass in one iteration, the last enters last and leaves when the iteration does.
        depth=max(_LEAST_DEPTH, depth - (tokens - 1) * (ii // tokens)),
        restarts=restarts,
        gap=gap,
    )


def _prefix(trips: tuple[int, ...], runs: int) -> int | None:
    """How many outer loops make `runs` iterations; None where no number does."""
    for count in range(len(trips) + 1):
        if prod(trips[:count]) == runs:
            return count
    return None


def _emitted(task: Task, restarts: int) -> int:
    """Iterations of the emitted nest without its `restarts` outer loops; that of a DMA advances by words."""
    iterations = prod(task.timing.trips[restarts:])
    if not isinstance(task, DmaTask):
        return iterations
    tokens = iterations // task.dma.words_per_token
    return -(-tokens // task.dma.tokens_per_word) * task.dma.words_per_token


def _tokens_an_iteration(task: Task) -> int:
    return task.dma.tokens_per_word if isinstance(task, DmaTask) else 1


def _gap(path: _Path, runs: int, run: int) -> int:
    """Cycles from the end of one run of the pipeline to the next, the same between all runs.

    The latency of an iteration of the outermost loop holds the overhead of all loops inside.
    """
    outermost = path.outer[0]
    iteration, trips = outermost.iteration.worst, outermost.trips.exact
    if iteration is None or trips is None:
        return 0
    return max(0, -(-iteration * trips // runs) - run)


def _function_depth(module: Module) -> int:
    """Cycles of a function without a loop, from its first to its last, both included."""
    if module.depth is not None:
        return module.depth
    return 0 if module.latency.worst is None else module.latency.worst + 1
