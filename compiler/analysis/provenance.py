"""What the area and power figures of a design rest on, in words: a calibration or none, and guessed operators."""

from functools import lru_cache

from compiler.analysis.area import operator_logic
from compiler.graph.task_graph import ComputeTask, EngineTask, TaskGraph
from compiler.platforms.platform import Platform


def guessed_operators(tasks: TaskGraph, platform: Platform) -> tuple[str, ...]:
    """Operator cores of the design whose area is in no report, sorted by name."""
    used = {core for task in tasks.tasks if isinstance(task, ComputeTask | EngineTask) for core, _ in task.operators}
    return tuple(sorted(core for core in used if platform.operators[core].guess))


def guessed_luts(tasks: TaskGraph, platform: Platform) -> float:
    """LUTs of those operator cores, after lanes have shared them."""
    return sum(_guessed(task, platform) for task in tasks.tasks if isinstance(task, ComputeTask | EngineTask))


@lru_cache(maxsize=16384)
def _guessed(task: ComputeTask | EngineTask, platform: Platform) -> float:
    cores = ((platform.operators[core], count) for core, count in task.operators)
    return operator_logic(((core, count) for core, count in cores if core.guess), task.timing.ii)[0]


def calibration_note(tasks: TaskGraph, platform: Platform) -> str:
    """The platform's calibration, and what of this design it does not cover."""
    guesses = guessed_operators(tasks, platform)
    if not guesses:
        return platform.calibration
    luts = guessed_luts(tasks, platform)
    return f"{platform.calibration}; {luts:,.0f} LUTs rest on the guessed area of {', '.join(guesses)}"
