"""The functions of a design: tasks whose code is the same but for names are calls of one.

So it is written, compiled and read once, however many slices an engine has. Vitis HLS names the instances of what a
dataflow region calls, and modules of their own where it makes them, `f`, `f_1`, `f_2` in the order of the calls.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import NamedTuple

from compiler.graph.abreast import copy_name
from compiler.graph.task_graph import ComputeTask, DmaTask, StructuredTask, Task, TaskGraph
from compiler.targets.parameters import launch_arguments, scalars_of
from compiler.targets.tasks.emitter import TaskEmitter
from compiler.targets.tokens import token_type
from compiler.targets.writer import RESERVED, CppWriter, identifier


@dataclass(frozen=True)
class TaskFunction:
    """A function, the task as which it is written, and the tasks, by name, that are calls of it."""

    name: str
    task: Task
    members: tuple[str, ...]


def plan_functions(tasks: TaskGraph) -> tuple[TaskFunction, ...]:
    """In the order of their first tasks. O(tasks). Raises UnsupportedError that names a task without C++."""
    same: dict[str, list[_Calls]] = defaultdict(list)
    for calls in (calls for task in tasks.tasks for calls in _calls(task, tasks)):
        same[_code(calls.task, tasks)].append(calls)
    arguments = (a.name for a in launch_arguments(tasks.tasks))
    numbers = (identifier(name) for name in (*(s for t in tasks.tasks for s in scalars_of(t)), *arguments))
    copies = (copy for task in tasks.tasks for copy in called_names(task, tasks))
    taken = {*RESERVED, *copies, *tasks.stream, *numbers}
    functions: list[TaskFunction] = []
    for members in same.values():
        functions.append(_function(members, tasks, taken))
        taken |= set(_call_names(functions[-1]))
    return tuple(functions)


class _Calls(NamedTuple):
    """A task as some of its copies have it, and the names of these."""

    task: Task
    names: tuple[str, ...]


def _calls(task: Task, tasks: TaskGraph) -> Iterator[_Calls]:
    first, *others = called_names(task, tasks)
    rest = tasks.of_copy(task, 1)
    if rest is task:
        yield _Calls(task, (first, *others))
        return
    yield _Calls(task, (first,))
    if others:
        yield _Calls(rest, tuple(others))


def called_names(task: Task, tasks: TaskGraph) -> tuple[str, ...]:
    """The task, and its copies for other rows side by side: each is a call of its function."""
    return tuple(copy_name(task.name, copy) for copy in range(tasks.copies(task.name)))


def call_names(functions: Sequence[str]) -> Iterator[str]:
    """What Vitis HLS calls the calls of these functions, in their order."""
    calls: dict[str, int] = defaultdict(int)
    for function in functions:
        yield f"{function}_{calls[function]}" if calls[function] else function
        calls[function] += 1


def modules(tasks: TaskGraph) -> dict[str, tuple[str, str]]:
    """By task: the module of its own that Vitis HLS may make of its call, and that of its function."""
    function = {member: f.name for f in plan_functions(tasks) for member in f.members}
    kernels = (
        [name for t in tasks.tasks if t.kernel == kernel for name in called_names(t, tasks)]
        for kernel in range(tasks.kernels)
    )
    calls = (zip(k, call_names([function[task] for task in k]), strict=True) for k in kernels)
    return {task: (name, function[task]) for called in calls for task, name in called}


def _code(task: Task, tasks: TaskGraph) -> str:
    out = CppWriter()
    TaskEmitter(tasks, out).emit(_nameless(task, "equal"), "equal")
    return out.text()


def _function(members: Sequence[_Calls], tasks: TaskGraph, taken: set[str]) -> TaskFunction:
    names, first = tuple(name for member in members for name in member.names), members[0].task
    if len(names) == 1:
        return TaskFunction(names[0], first, names)
    found = (TaskFunction(name, _nameless(first, name), names) for name in _names(first, names, tasks))
    return next(f for f in found if not set(_call_names(f)) & (taken - set(names)))


def _call_names(function: TaskFunction) -> Iterator[str]:
    return call_names([function.name] * len(function.members))


def _names(first: Task, names: Sequence[str], tasks: TaskGraph) -> Iterator[str]:
    """What to call them all: by what their names have in common, and the more of what they do, the more it takes."""
    access = next(iter((*first.reads, *first.writes)), None)
    token = [] if access is None else [token_type(tasks.stream[access.stream].itensor)]
    words = (_in_common(names) or first.kind, *token, f"x{first.iterations}")
    for length in range(2, len(words) + 1):  # one word alone may be one of Verilog, as fork is
        yield identifier("_".join(words[:length]))
    for number in count():
        yield identifier("_".join((*words, f"n{number}")))


def _in_common(names: Sequence[str]) -> str:
    """The words that all begin with and those that they end with, or the letters that they begin with."""
    rows = [name.split("_") for name in names]
    words = _beginning(rows)
    words += reversed(_beginning([row[: len(words) - 1 : -1] if words else row[::-1] for row in rows]))
    return "_".join(words) or "".join(_beginning(names)).rstrip("0123456789")


def _beginning(rows: Sequence[Sequence[str]]) -> list[str]:
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))]


def _nameless(task: Task, function: str) -> Task:
    """The task with names in its code that say nothing of which of its kind it is."""
    match task:
        case StructuredTask(op=op):
            called = {o.value: f"in{n}" for n, o in reversed(list(enumerate(op.inputs)))}
            called |= {o.value: f"out{n}" for n, o in enumerate(op.outputs)}
            inputs, outputs = (tuple(replace(o, value=called[o.value]) for o in s) for s in (op.inputs, op.outputs))
            alike = replace(task, op=replace(op, name=function, inputs=inputs, outputs=outputs))
            if isinstance(alike, ComputeTask):
                return replace(alike, scalars=tuple(called[s] for s in alike.scalars))
            return alike
        case DmaTask():
            return replace(task, dma=replace(task.dma, value="a tensor", joint=None))
        case _:
            return task
