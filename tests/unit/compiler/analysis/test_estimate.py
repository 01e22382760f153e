"""The estimate of small designs, against what can be counted by hand."""

from dataclasses import replace
from math import prod

import pytest
from small_graphs import mlp, quantised

from compiler.analysis.build import build_task_graph
from compiler.analysis.estimate import hbm_bytes, load_cycles, schedule
from compiler.analysis.resources import task_resources
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
WIDE = Knobs(default_tile_size=64, overall_unroll=1024, stream_width=2048)


def with_depth(tasks: TaskGraph, stream: str, depth: int) -> TaskGraph:
    streams = tuple(replace(s, depth=depth) if s.name == stream else s for s in tasks.streams)
    return replace(tasks, streams=streams)


def test_a_task_that_starts_late_still_waits_for_what_its_fifo_could_not_hold():
    slow_first = (TaskOverride("up", unroll=1, order=(2, 0, 1)), TaskOverride("down", tile=64, unroll=256))
    tasks = build_task_graph(mlp(), replace(WIDE, overrides=slow_first), U55C)
    load = tasks.task["load_down_weight"]
    (stream,) = (s for s in tasks.streams if s.source == load.name)
    shallow, _ = schedule(with_depth(tasks, stream.name, 2), U55C)
    deep, _ = schedule(with_depth(tasks, stream.name, stream.tokens), U55C)
    reader = stream.target
    assert deep[reader].start > load_cycles(load, U55C), "the case needs a reader that starts after the load could end"
    rest = (1 - 2 / stream.tokens) * load_cycles(load, U55C)
    assert shallow[reader].end >= shallow[reader].start + rest
    assert deep[reader].end < shallow[reader].end


def test_a_load_is_never_faster_than_its_hbm_channel():
    tasks = build_task_graph(mlp(), WIDE, U55C)
    for load in (t for t in tasks.tasks if t.dma is not None and t.kind == "load"):
        assert load.dma is not None
        channel_bytes = load.dma.image_bytes / load.dma.channels
        assert load_cycles(load, U55C) >= channel_bytes / U55C.channel_bytes_per_cycle


def test_traffic_counts_whole_words():
    tasks = build_task_graph(mlp(), Knobs(default_tile_size=1, overall_unroll=1), U55C)
    assert hbm_bytes(tasks) % 64 == 0
    assert hbm_bytes(tasks) >= sum(t.dma.image_bytes for t in tasks.tasks if t.dma is not None)


@pytest.mark.parametrize("lanes", [1, 64])
def test_accumulators_that_a_loop_chooses_live_in_memory(lanes: int):
    tasks = build_task_graph(quantised(), Knobs(default_tile_size=8, overall_unroll=lanes), U55C)
    task = tasks.task["product"]
    assert task.nest is not None
    assert task.op is not None
    (buffer,) = task.buffers
    assert buffer.depth == task.nest.accumulators(task.op.iterators) > 1
    assert buffer.banks == prod(task.nest.unroll[dim] for dim in task.op.outputs[0].dims)


def test_one_vector_of_accumulators_costs_flip_flops():
    tasks = build_task_graph(quantised(rows=1, columns=4), Knobs(default_tile_size=4, overall_unroll=64), U55C)
    task = tasks.task["product"]
    assert task.nest is not None
    assert not task.buffers
    lanes = prod(task.nest.unroll[:2])
    assert lanes > 1
    assert task_resources(task, tasks, U55C).ff >= 32 * lanes
