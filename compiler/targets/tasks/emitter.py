"""Tasks as C++ functions: each is one pipelined nest over the task's timing spec, or several in turn.

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
    LanesTask,
    LoadTask,
    RomTask,
    RouteTask,
    StoreTask,
    Task,
    TaskGraph,
    WindowTask,
)
from compiler.targets.tasks.compute import emit_compute
from compiler.targets.tasks.converter import emit_converter
from compiler.targets.tasks.engine import emit_engine
from compiler.targets.tasks.frame import Frame
from compiler.targets.tasks.memory import emit_load, emit_store
from compiler.targets.tasks.rom import emit_rom
from compiler.targets.tasks.routing import emit_routing
from compiler.targets.tasks.window import emit_window
from compiler.targets.writer import CppWriter

TURNING = (EngineTask, ForkTask, LanesTask, LoadTask, RomTask, RouteTask, WindowTask)


class TaskEmitter:
    """Writes the functions of a design's tasks."""

    def __init__(self, tasks: TaskGraph, out: CppWriter):
        self._tasks = tasks
        self._out = out

    def emit(self, task: Task, name: str) -> None:
        """Write `task` as the function `name`. Raises UnsupportedError that names the task and what has no C++."""
        try:
            self._emit(Frame(self._tasks, self._out, name), task)
        except UnsupportedError as error:
            raise UnsupportedError(f"task {task.name}: {error}") from error

    def _emit(self, frame: Frame, task: Task) -> None:
        if task.turns and not isinstance(task, TURNING):
            raise UnsupportedError(f"there is no C++ for a {task.kind} that takes turns")
        match task:
            case ComputeTask():
                emit_compute(frame, task)
            case EngineTask():
                emit_engine(frame, task)
            case ForkTask() | LanesTask() | RouteTask() | ChunkTask() | ConcatTask():
                emit_routing(frame, task)
            case ConverterTask():
                emit_converter(frame, task)
            case WindowTask():
                emit_window(frame, task)
            case RomTask():
                emit_rom(frame, task)
            case LoadTask():
                emit_load(frame, task)
            case StoreTask():
                emit_store(frame, task)
            case _:
                raise UnsupportedError(f"there is no C++ for a {task.kind}")
