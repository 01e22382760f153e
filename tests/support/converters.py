"""Converters of every realisation, alone in a design."""

from compiler.analysis.tasks import converter_task
from compiler.graph.converter import Converter, plan_converter
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.options import ConverterRule
from compiler.platforms.platform import load_platform
from compiler.targets.tasks.emitter import TaskEmitter
from compiler.targets.writer import CppWriter

U55C = load_platform("u55c")


def walk(element: tuple[int, ...], *loops: tuple[int, int, int | None]) -> ITensor:
    return ITensor(element, "i32", tuple(Loop(*loop) for loop in loops))


ROWS_THEN_COLUMNS = walk((1, 1), (6, 4, 0), (4, 1, 0), (8, 1, 1))
COLUMNS_FIRST = walk((1, 1), (6, 4, 0), (8, 1, 1), (4, 1, 0))
TILES = walk((2, 2), (6, 4, 0), (4, 2, 1), (2, 2, 0))
REREAD = walk((1, 1), (6, 4, 0), (128, 1, None), (4, 1, 0), (8, 1, 1))
WHOLE = walk((1, 1), (8, 1, 1), (24, 1, 0))
THREES = walk((3, 1), (5, 2, 1), (8, 3, 0), (2, 1, 1))
FOURS = walk((4, 2), (5, 2, 1), (2, 1, None), (6, 4, 0))
FOURS_FIRST = walk((4, 1), (5, 2, 1), (2, 1, 1), (6, 4, 0))
ODD = walk((3,), (3, 3, 0), (8, 9, 0))
EVEN = walk((4,), (18, 4, 0))
CASES: dict[str, tuple[ITensor, ITensor, ConverterRule, str]] = {
    "ping-pong of the paper": (ROWS_THEN_COLUMNS, COLUMNS_FIRST, "paper", "ping-pong"),
    "fill then drain": (ROWS_THEN_COLUMNS, WHOLE, "exact", "single"),
    "ring": (ROWS_THEN_COLUMNS, COLUMNS_FIRST, "exact", "circular"),
    "even pace": (COLUMNS_FIRST, REREAD, "exact", "ping-pong"),
    "refill with tiles": (TILES, ROWS_THEN_COLUMNS, "exact", "refill"),
    "refill for tiles": (ROWS_THEN_COLUMNS, TILES, "exact", "refill"),
    "banks apart in a ring": (THREES, FOURS, "exact", "circular"),
    "banks apart along one dimension": (THREES, FOURS_FIRST, "exact", "circular"),
    "banks apart in halves": (THREES, FOURS_FIRST, "paper", "ping-pong"),
    "banks divided": (ODD, EVEN, "exact", "single"),
    "turned in registers": (walk((4, 1), (8, 1, 1)), walk((1, 4), (2, 4, 1), (4, 1, 0)), "exact", "ping-pong"),
    "blocks turned in registers": (
        walk((4, 1, 2), (8, 1, 1)),
        walk((1, 4, 2), (2, 4, 1), (4, 1, 0)),
        "exact",
        "ping-pong",
    ),
    "one token a round": (walk((1, 6), (12, 1, 0)), walk((1, 1), (12, 1, 0), (6, 1, 1)), "exact", "ping-pong"),
}


def planned(case: str) -> Converter:
    source, target, rule, _ = CASES[case]
    return plan_converter(source, target, rule)


def task_of(case: str) -> tuple[Task, TaskGraph]:
    converter, name = planned(case), "".join(c if c.isalnum() else "_" for c in case)
    task = converter_task(name, 0, converter, f"{name}_in", f"{name}_out", U55C)
    streams = (
        Stream(f"{name}_in", "before", name, converter.source),
        Stream(f"{name}_out", name, "after", converter.target),
    )
    return task, TaskGraph("converters", 1, (task,), streams)


def code_of(case: str) -> str:
    task, tasks = task_of(case)
    out = CppWriter()
    TaskEmitter(tasks, out).emit(task, task.name)
    return out.text()
