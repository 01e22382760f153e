"""What a design takes beside its tasks and FIFOs: control registers, and what starts its tasks for each token."""

from collections import Counter
from dataclasses import replace

import pytest
from stepping_networks import replying

from compiler.analysis.area import Shape, fifo_logic, task_logic
from compiler.analysis.design_area import DesignArea
from compiler.analysis.memory import bound_fifo
from compiler.analysis.resources import kernel_resources
from compiler.graph.layers import folded
from compiler.graph.task_graph import CONTROL_DEPTH
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.tasks.control import control_streams, row_streams

U55C = load_platform("u55c")


def test_what_starts_tasks_for_each_token_counts_with_every_fifo_that_is_emitted_for_it() -> None:
    graph = folded(replying())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    found, alone = (DesignArea.of(t, U55C) for t in (tasks, replace(tasks, control=None)))
    assert alone.kernel == kernel_resources(U55C)
    assert tasks.control is not None
    kinds = Counter(kind for kind, _ in (*control_streams(tasks), *row_streams(tasks)))
    assert kinds == {"int": 10, "unsigned char": 11, "bool": 2, "float": 1}
    bits = {"int": (32, CONTROL_DEPTH), "unsigned char": (8, CONTROL_DEPTH), "bool": (1, CONTROL_DEPTH)}
    bits |= {"float": (64, CONTROL_DEPTH)}  # a token may have 64 bits
    bits |= {"told": (32, tasks.control.rows)}  # what a task is told of the rows of a chunk
    kinds["told"] = kinds["int"] - 1  # but that in which the tokens of a chunk come
    counting = task_logic(Shape(32, 1, 32, 0, 0), U55C.area)  # of positions, 32 bits
    lut, ff = counting.lut + U55C.area.process.lut, counting.ff + U55C.area.process.ff
    for kind, (width, depth) in bits.items():
        one = fifo_logic(bound_fifo(None, width, depth, U55C.memories).kind, width, depth, U55C)
        lut, ff = lut + kinds[kind] * one.lut, ff + kinds[kind] * one.ff
    assert found.kernel.lut - alone.kernel.lut == pytest.approx(lut)
    assert found.kernel.ff - alone.kernel.ff == pytest.approx(ff)
