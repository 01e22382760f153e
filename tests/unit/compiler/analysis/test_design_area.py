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
from compiler.targets.tasks.control import control_streams

U55C = load_platform("u55c")


def test_what_starts_tasks_for_each_token_counts_with_every_fifo_that_is_emitted_for_it() -> None:
    graph = folded(replying())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    found, alone = (DesignArea.of(t, U55C) for t in (tasks, replace(tasks, control=None)))
    assert alone.kernel == kernel_resources(U55C)
    kinds = Counter(kind for kind, _ in control_streams(tasks))
    assert kinds == {"int": 9, "bool": 12, "float": 1}
    counting = task_logic(Shape(32, 1, 32, 0, 0), U55C.area)  # of positions, 32 bits
    lut, ff = counting.lut + U55C.area.process.lut, counting.ff + U55C.area.process.ff
    for kind, bits in {"int": 32, "bool": 1, "float": 64}.items():  # a token may have 64 bits
        one = fifo_logic(bound_fifo(None, bits, CONTROL_DEPTH, U55C.memories).kind, bits, CONTROL_DEPTH, U55C)
        lut, ff = lut + kinds[kind] * one.lut, ff + kinds[kind] * one.ff
    assert found.kernel.lut - alone.kernel.lut == pytest.approx(lut)
    assert found.kernel.ff - alone.kernel.ff == pytest.approx(ff)
