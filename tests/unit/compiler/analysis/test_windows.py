"""Windows in a plan: few lines wait, and memory, time and area follow from how they are walked."""

from dataclasses import replace

from window_networks import greatest, larger

from compiler.analysis.memory import buffer_memory
from compiler.analysis.resources import task_resources
from compiler.analysis.tiling import plan_nests
from compiler.graph.task_graph import WindowTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def windows(knobs: Knobs, size: int = 8, **shape: int) -> list[WindowTask]:
    tasks = planned_tasks(greatest(size, 4, **shape), knobs, U55C).tasks
    return [task for task in tasks if isinstance(task, WindowTask)]


def test_what_reads_windows_walks_line_by_line() -> None:
    nests = plan_nests(greatest(32, 4, kernel=3, padding=1), Knobs(), U55C)
    tiles = {loop.dim: loop.step for loop in reversed(nests["most"].loops)}
    assert tiles[0] == 1  # rows
    assert tiles[1] == 16  # pixels of a row
    assert [loop.dim for loop in nests["rows"].loops][:2] == [0, 1]


def test_kernel_less_one_lines_wait_and_as_many_pixels_of_them() -> None:
    rows, pixels = windows(Knobs(overall_unroll=1), kernel=3, padding=1)
    assert [(b.banks, b.depth, b.width) for b in rows.buffers] == [(2, 8 * 4, 32)]
    assert [(b.banks, b.depth, b.width) for b in pixels.buffers] == [(2, 4 * 3, 32)]
    assert (rows.timing.trips, pixels.timing.trips) == ((9, 8, 4, 3), (8 * 8 + 1, 4, 3, 3))
    assert rows.timing.tokens(rows.reads[0]) == 8 * 8 * 4
    assert pixels.timing.tokens(pixels.reads[0]) == rows.timing.tokens(rows.writes[0]) == 8 * 8 * 4 * 3
    assert pixels.timing.tokens(pixels.writes[0]) == 8 * 8 * 4 * 9


def test_a_stride_has_phases() -> None:
    rows, pixels = windows(Knobs(overall_unroll=1), kernel=3, padding=1, stride=2)
    assert (rows.timing.trips, pixels.timing.trips) == ((4, 2, 8, 4, 3), (4, 4, 2, 4, 3, 3))
    assert rows.timing.tokens(rows.reads[0]) == 8 * 8 * 4
    assert pixels.timing.tokens(pixels.writes[0]) == 4 * 4 * 4 * 9


def test_no_line_waits_for_windows_of_one() -> None:
    rows, pixels = windows(Knobs(), kernel=1, stride=2)
    assert rows.buffers == pixels.buffers == ()


def test_one_line_waits_where_lines_repeat_and_one_pixel() -> None:
    tasks = planned_tasks(larger(8, 4, 2), Knobs(overall_unroll=1), U55C).tasks
    rows, pixels = (task for task in tasks if isinstance(task, WindowTask))
    assert [(b.banks, b.depth) for b in (*rows.buffers, *pixels.buffers)] == [(1, 8 * 4), (1, 4)]
    assert (rows.timing.trips, pixels.timing.trips) == ((8, 2, 8, 4), (16, 8, 2, 4))
    assert rows.timing.tokens(rows.reads[0]) == 8 * 8 * 4
    assert pixels.timing.tokens(pixels.reads[0]) == rows.timing.tokens(rows.writes[0]) == 16 * 8 * 4
    assert pixels.timing.tokens(pixels.writes[0]) == 16 * 16 * 4


def test_lines_and_columns_count_among_what_a_design_takes() -> None:
    tasks = planned_tasks(greatest(64, 64, kernel=3, padding=1), Knobs(overall_unroll=1), U55C)
    rows = next(task for task in tasks.tasks if isinstance(task, WindowTask))
    area, bare = (task_resources(task, tasks, U55C) for task in (rows, replace(rows, buffers=())))
    (buffer,) = rows.buffers
    memory = buffer_memory(buffer, U55C.memories)
    assert (area.bram36 - bare.bram36, area.uram - bare.uram) == (memory.bram36, memory.uram) != (0, 0)
    wide = task_resources(replace(rows, walk=rows.walk._replace(kernel=5)), tasks, U55C)
    assert wide.lut > area.lut
    assert wide.ff >= area.ff + 2 * 32
