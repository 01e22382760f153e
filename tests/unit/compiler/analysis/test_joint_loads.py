"""Weights of an engine that come through the same ports: which can, in what order they lie, that designs run."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from layered_networks import folded_layers, folded_whole, with_outside
from plans import U55C
from small_graphs import chain

from compiler.analysis.fifo import BRIDGE_DEPTH
from compiler.analysis.ports import kernel_ports
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph, Operand
from compiler.graph.program import iterations
from compiler.graph.task_graph import LoadTask, TaskGraph
from compiler.options import FifoStrategy, Knobs, TaskOverride
from compiler.passes.design_passes import planned, planned_tasks
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import certify
from compiler.targets.images import join, tensor_to_tokens

KNOBS = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")


def built(graph: LinalgGraph, knobs: Knobs = KNOBS) -> TaskGraph:
    tasks = planned_tasks(graph, knobs, U55C)
    tasks.verify()
    return tasks


def loads(tasks: TaskGraph) -> dict[str, LoadTask]:
    return {task.name: task for task in tasks.tasks if isinstance(task, LoadTask)}


@pytest.mark.parametrize(
    ("make", "values", "rounds"),
    [
        (lambda: chain(1, 32, 24, 8), ("w1", "w2", "w3"), 1),
        (lambda: folded_layers(3), ("h0.up", "h0.down"), 3),
    ],
    ids=["products", "layers"],
)
def test_one_load_reads_the_weights_in_the_order_of_turns(
    make: Callable[[], LinalgGraph], values: tuple[str, ...], rounds: int
) -> None:
    own, joint = built(make(), replace(KNOBS, loads="own")), built(make())
    load = loads(joint)["load_engine0_in1"]
    assert load.dma.joint is not None
    assert (load.dma.values, load.dma.joint.rounds) == (values, rounds)
    assert loads(own).keys() - loads(joint).keys() == {f"load_{value.replace('.', '_')}" for value in values}
    before = [task for name, task in loads(own).items() if name not in loads(joint)]
    assert load.dma.words == sum(task.dma.words for task in before)
    assert [part.layout for part in load.dma.joint.parts] == [
        task.streamed for value in values for task in before if task.dma.value == value
    ]
    assert sum(kernel_ports(own)) - sum(kernel_ports(joint)) == len(values) - 1
    assert "engine0_route1" in own.task
    assert "engine0_route1" not in joint.task
    assert joint.stream["engine0_in1"].depth == BRIDGE_DEPTH  # as of other loads, not as inside of an engine


def twice() -> LinalgGraph:
    """Both products with one weight."""
    graph = chain(8, 8, 8)
    first, second = graph.ops
    second = replace(second, inputs=(second.inputs[0], first.inputs[1]))
    values = tuple(value for value in graph.values if value.name != "w2")
    return replace(graph, values=values, ops=(first, second))


def given() -> LinalgGraph:
    """The second weight comes anew with each launch."""
    graph = chain(8, 8, 8)
    return replace(graph, values=tuple(replace(v, role="input") if v.name == "w2" else v for v in graph.values))


@pytest.mark.parametrize(
    ("make", "knobs"),
    [
        (twice, KNOBS),
        (given, KNOBS),
        (lambda: chain(8, 8, 8), replace(KNOBS, default_tile_size=2)),
        (lambda: chain(8, 8, 8), replace(KNOBS, engines="own")),
    ],
    ids=["one for two products", "no parameter", "read again for other rows", "no engine"],
)
def test_loads_that_can_not_be_one_stay(make: Callable[[], LinalgGraph], knobs: Knobs) -> None:
    assert built(make(), knobs) == built(make(), replace(knobs, loads="own"))
    assert bool(planned(make(), knobs, U55C).engines) == (knobs.engines == "shared")


def test_what_is_behind_layers_lies_behind_them_in_the_same_image() -> None:
    own, joint = built(folded_whole(3), replace(KNOBS, loads="own")), built(folded_whole(3))
    load, folded_ = loads(joint)["load_engine0_in1"], planned(folded_whole(3), KNOBS, U55C)
    assert folded_.engines["engine0"].turns == ("h0.fc", "h0.proj", "scores")
    assert load.dma.joint is not None
    assert load.dma.values == ("h0.up", "h0.down", "head")
    assert [part.value for part in load.dma.joint.behind] == ["head"]
    assert [access.stream for access in load.writes] == ["engine0_in1"]
    before = [task for name, task in loads(own).items() if name not in loads(joint)]
    assert load.dma.words == sum(task.dma.words for task in before)
    assert sum(kernel_ports(own)) - sum(kernel_ports(joint)) == 2
    assert "load_head" not in joint.task
    *_, last = load.turns
    assert iterations((last,)) == folded_.edges["scores_in1"].itensor.tokens


def test_an_image_has_all_layers_and_then_the_head() -> None:
    """Token by token: in each layer what its turns use there, then once what the last turn does."""
    layers, rng = 3, np.random.default_rng(0)
    joint = loads(built(folded_whole(layers)))["load_engine0_in1"].dma.joint
    assert joint is not None
    parts = [part.layout for part in (*joint.parts, *joint.behind)]
    weights = [rng.normal(size=layout.shape).astype(np.float32) for layout in parts]
    up, down, head = (tensor_to_tokens(w, layout) for w, layout in zip(weights, parts, strict=True))
    of_layers = [np.split(part, layers)[n].reshape(-1) for n in range(layers) for part in (up, down)]
    np.testing.assert_array_equal(join(weights, joint), np.concatenate([*of_layers, head.reshape(-1)]))


def with_turned_head(layers: int = 3) -> LinalgGraph:
    """Layers of one row, behind which the weights of a product lie the other way around: another engine's lanes."""
    graph = with_outside(layers, rows=1, hidden=64, inner=128, vocabulary=64)
    values = tuple(replace(v, shape=v.shape[::-1]) if v.name == "head" else v for v in graph.values)
    scores = graph.op["scores"]
    turned = replace(scores, inputs=(scores.inputs[0], Operand("head", scores.inputs[1].dims[::-1])))
    ops = tuple(turned if op.name == "scores" else op for op in graph.ops)
    found = folded(replace(graph, values=values, ops=ops))
    assert found is not None
    return found


WIDE = Knobs(
    default_tile_size=64, overall_unroll=512, engines="shared", loads="joint", stream_width=2048, hbm_channels=8
)


def with_lanes(engine: int, head: int, slices: int = 1) -> Knobs:
    lanes = {"h0.fc": engine, "h0.proj": engine, "scores": head}
    return replace(WIDE, slices=slices, overrides=tuple(TaskOverride(op, unroll=n) for op, n in lanes.items()))


@pytest.mark.parametrize("head", [128, 64])
@pytest.mark.parametrize("slices", [1, 2])
def test_a_head_that_fits_no_engine_has_ports_of_its_own(head: int, slices: int) -> None:
    tasks = built(with_turned_head(), with_lanes(128, head, slices))
    assert loads(tasks)["load_engine0_in1"].dma.values == ("h0.up", "h0.down")
    assert "load_head" in loads(tasks)
    assert simulate(tasks, U55C, buckets=0).deadlock is None


STRATEGIES: tuple[FifoStrategy, ...] = ("conservative", "normal", "whole")


@pytest.mark.parametrize("make", [lambda: chain(1, 32, 24, 8), lambda: folded_whole(3)], ids=["products", "layers"])
def test_no_design_stops_and_none_is_much_slower(make: Callable[[], LinalgGraph]) -> None:
    for fifo, slices, channels, prefetch in product(STRATEGIES, (1, 2, 4), (1, 4), (0, 64)):
        knobs = replace(KNOBS, fifo=fifo, slices=slices, hbm_channels=channels, prefetch_kib=prefetch)
        own, joint = (
            simulate(built(make(), replace(knobs, loads=loads)), U55C, buckets=0) for loads in ("own", "joint")
        )
        assert joint.deadlock is None, knobs
        assert joint.cycles < 1.1 * own.cycles, knobs


def test_fifos_of_joint_loads_are_certified() -> None:
    tasks = built(folded_whole(3), replace(KNOBS, slices=2))
    sizing = certify(tasks, U55C)
    assert simulate(sizing.tasks, U55C, buckets=0).deadlock is None
    assert sizing.tasks.stream["engine0_in1"].depth <= tasks.stream["engine0_in1"].depth
