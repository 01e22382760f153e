"""Tasks as C++ functions: each is one perfect pipelined nest over the task's timing spec.

Reads and writes happen under the conditions of the task's gates.
"""

from compiler.errors import UnsupportedError
from compiler.graph.task_graph import (
    ChunkTask,
    ComputeTask,
    ConcatTask,
    ConverterTask,
    EngineTask,
    ForkTask,
    LoadTask,
    StoreTask,
    Task,
    TaskGraph,
)
from compiler.targets.interface import Interface, Parameter
from compiler.targets.tasks.compute import emit_compute
from compiler.targets.tasks.converter import emit_converter
from compiler.targets.tasks.engine import emit_engine
from compiler.targets.tasks.frame import Frame
from compiler.targets.tasks.memory import emit_load, emit_store
from compiler.targets.tasks.routing import emit_chunk, emit_concat, emit_fork
from compiler.targets.writer import CppWriter


class TaskEmitter:
    """Writes the functions of a design's tasks."""

    def __init__(self, tasks: TaskGraph, interface: Interface, out: CppWriter):
        self._frame = Frame(tasks, interface, out)

    def emit(self, task: Task) -> None:
        """Write `task`. Raises UnsupportedError that names the task and what has no C++."""
        try:
            self._emit(task)
        except UnsupportedError as error:
            raise UnsupportedError(f"task {task.name}: {error}") from error

    def _emit(self, task: Task) -> None:
        match task:
            case ComputeTask():
                emit_compute(self._frame, task)
            case EngineTask():
                emit_engine(self._frame, task)
            case ForkTask():
                emit_fork(self._frame, task)
            case ChunkTask():
                emit_chunk(self._frame, task)
            case ConcatTask():
                emit_concat(self._frame, task)
            case ConverterTask():
                emit_converter(self._frame, task)
            case LoadTask():
                emit_load(self._frame, task)
            case StoreTask():
                emit_store(self._frame, task)
            case _:
                raise UnsupportedError(f"there is no C++ for a {task.kind}")

    def parameters(self, task: Task) -> tuple[Parameter, ...]:
        return self._frame.parameters(task)
