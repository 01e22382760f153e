"""What the area and power figures of a design rest on, in words: a calibration or none, and guessed operators."""

from compiler.graph.task_graph import ComputeTask, EngineTask, TaskGraph
from compiler.platforms.platform import Platform


def guessed_operators(tasks: TaskGraph, platform: Platform) -> tuple[str, ...]:
    """Operator cores of the design whose area is in no report, sorted by name."""
    used = {core for task in tasks.tasks if isinstance(task, ComputeTask | EngineTask) for core, _ in task.operators}
    return tuple(sorted(core for core in used if platform.operators[core].guess))


def calibration_note(tasks: TaskGraph, platform: Platform) -> str:
    """The platform's calibration, and what of this design it does not cover."""
    guesses = guessed_operators(tasks, platform)
    return f"{platform.calibration}; guessed area of {', '.join(guesses)}" if guesses else platform.calibration
