"""Tasks as C++ functions: each is one perfect pipelined nest over the task's timing spec.

Reads and writes happen under the conditions of the task's gates.
"""

from collections.abc import Callable

from compiler.errors import UnsupportedError
from compiler.graph.task_graph import Task, TaskGraph
from compiler.targets.interface import Interface, Parameter
from compiler.targets.tasks.compute import emit_compute
from compiler.targets.tasks.converter import emit_converter
from compiler.targets.tasks.frame import Frame
from compiler.targets.tasks.memory import emit_load, emit_store
from compiler.targets.tasks.routing import emit_chunk, emit_concat, emit_fork
from compiler.targets.writer import CppWriter

EMIT: dict[str, Callable[[Frame, Task], None]] = {
    "compute": emit_compute,
    "fork": emit_fork,
    "chunk": emit_chunk,
    "concat": emit_concat,
    "converter": emit_converter,
    "load": emit_load,
    "store": emit_store,
}


class TaskEmitter:
    """Writes the functions of a design's tasks."""

    def __init__(self, tasks: TaskGraph, interface: Interface, out: CppWriter):
        self._frame = Frame(tasks, interface, out)

    def emit(self, task: Task) -> None:
        """Write `task`. Raises UnsupportedError that names the task and what has no C++."""
        if task.kind not in EMIT:
            raise UnsupportedError(f"no C++ for task {task.name} of kind {task.kind}")
        try:
            EMIT[task.kind](self._frame, task)
        except UnsupportedError as error:
            raise UnsupportedError(f"task {task.name}: {error}") from error

    def parameters(self, task: Task) -> tuple[Parameter, ...]:
        return self._frame.parameters(task)
