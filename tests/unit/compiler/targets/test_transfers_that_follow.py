"""Loads and stores of as many rows as an argument says, built and run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compiler.analysis.tasks import load_task, plan_packing, store_task
from compiler.errors import UnsupportedError
from compiler.graph.design import Transfer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, Value
from compiler.graph.program import Argument, BoundLoop
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.targets import hls_code
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import plan_interface

pytestmark = pytest.mark.slow

U55C = load_platform("u55c")
ROWS, TILE = 6, 4
LENGTH = Argument("length", ROWS * TILE - 1, TILE)
EACH = BoundLoop(1, LENGTH)
PAIRS = Argument("length", ROWS * TILE - 1, 2 * TILE)
"""Of which each tile begins two rows."""


def copies(
    columns: int, width: int, bound: BoundLoop = EACH, again: int = 1, blocks: int = 2
) -> tuple[TaskGraph, LinalgGraph]:
    """`x` of so many blocks of ROWS rows of tokens to `y`, each row `again` times; of each block as many rows as
    `bound` says. One block has no loop of its own, and none that reads again.
    """
    loops = Loop(blocks, 1, 0), Loop(ROWS, 1, 1), Loop(again, 1, None), Loop(columns, width, 2)
    layout = ITensor((1, 1, width), "f32", loops if blocks > 1 else (loops[1], loops[3]))
    packing = plan_packing(layout, 1, U55C.hbm.port_bits)
    made = [
        make(name, Transfer(value, 0, layout, packing), "s", U55C)
        for make, name, value in ((load_task, "load_x", "x"), (store_task, "store_y", "y"))
    ]
    tasks = tuple(replace(task, timing=replace(task.timing, bounds=(bound,))) for task in made)
    values = (
        Value("x", layout.shape, "f32", "input", "x"),
        Value("y", layout.shape, "f32", "intermediate"),
    )
    return TaskGraph("copy", 1, tasks, (Stream("s", "load_x", "store_y", layout),)), LinalgGraph("copy", values, (), ())


@pytest.mark.parametrize(
    ("columns", "width", "ii"),
    [(2, 16, 1), (2, 32, 1), (8, 4, 4)],
    ids=["words", "parts of tokens", "parts of words"],
)
def test_the_rows_of_every_value_are_moved_and_no_others(columns: int, width: int, ii: int, tmp_path: Path):
    rows_are_moved(copies(columns, width), LENGTH.trip, columns * width, ii, tmp_path)


@pytest.mark.parametrize("again", [1, 3])
def test_a_tile_of_several_rows_is_moved_as_often_as_it_is_asked_for(again: int, tmp_path: Path):
    bound = BoundLoop(1, PAIRS, 0, 2)
    rows_are_moved(copies(2, 16, bound, again), bound.trip, 32, 1, tmp_path)


def test_parts_of_tokens_in_one_run_are_counted(tmp_path: Path):
    rows_are_moved(copies(2, 48, BoundLoop(0, LENGTH), blocks=1), LENGTH.trip, 96, 1, tmp_path)
    assert "part = part ==" in (tmp_path / "hls" / "copy_tasks.cpp").read_text()


def rows_are_moved(
    made: tuple[TaskGraph, LinalgGraph], rows: Callable[[int], int], elements: int, ii: int, tmp_path: Path
):
    """Built and run with each value: `y` has so many rows of `x`, each of `elements`, and no others."""
    tasks, graph = made
    blocks = graph.values[0].shape[0]
    content = np.arange(blocks * ROWS * elements, dtype=np.float32).reshape(blocks, ROWS, elements) + 1
    emit_design(tasks, graph, U55C, NetworkData({"x": content}, {}, 0.0), tmp_path)
    name = plan_interface(tasks, graph).kernels[0].name
    main = tmp_path / "main.cpp"
    main.write_text(
        f'#include "memory_image.h"\n#include "copy_kernels.h"\n'
        f"int main(int argc, char** argv) {{\n"
        f'  MemoryImage x = read_image("{tmp_path}/tb/x.0.bin", {content.nbytes // 64}), y(x.size());\n'
        f'  {name}(x.data(), y.data(), launch_argument(argc, argv, "length", {LENGTH.most}));\n'
        f'  write_image("{tmp_path}/y.bin", y);\n}}\n'
    )
    assert (tmp_path / "hls" / "copy_tasks.cpp").read_text().count(f"pipeline II={ii} ") == 2
    program = build(tmp_path / "hls", tmp_path / "csim", calls_of(tmp_path), main=main)
    for value in range(LENGTH.most + 1):
        run(program, tmp_path, arguments=[f"length={value}"])
        got = np.fromfile(tmp_path / "y.bin", np.float32).reshape(content.shape)
        expected = content.copy()
        expected[:, rows(value) :] = 0
        assert np.array_equal(got, expected), value


def test_rows_that_end_within_a_word_are_refused():
    tasks, graph = copies(3, 4)
    with pytest.raises(UnsupportedError, match="task load_x: a loop that follows an argument ends within a word of 4"):
        hls_code.tasks_source(tasks, plan_interface(tasks, graph))
