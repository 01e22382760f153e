"""A launch of folded layers: the loop closes, every task ends a layer before the next, the model of time takes it."""

from dataclasses import replace

import pytest
from layered_networks import folded_layers, products, with_op, with_outside
from small_graphs import matmul

from compiler.analysis.build import task_graph
from compiler.analysis.estimate import estimate
from compiler.errors import VerificationError
from compiler.graph.design import Design, Engine
from compiler.graph.itensor import ITensor
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import Value
from compiler.graph.program import LoopNest, Repeat, single_runs
from compiler.graph.task_graph import DmaTask, LoadTask, TaskGraph
from compiler.ir.checks import verify_engines
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import as_given, size

U55C = load_platform("u55c")
LAYERS = 4
KNOBS, SHARED = Knobs(), Knobs(engines="shared")
AGAIN = Knobs(order="reduction-outer", stream_width=32, overall_unroll=16)


def tasks_of(knobs: Knobs = KNOBS, layers: int = LAYERS) -> TaskGraph:
    tasks = planned_tasks(folded_layers(layers), knobs, U55C)
    tasks.verify()
    return tasks


@pytest.mark.parametrize("knobs", [Knobs(), SHARED], ids=["own lanes", "an engine"])
def test_every_task_runs_once_for_each_layer(knobs: Knobs) -> None:
    tasks = tasks_of(knobs)
    assert tasks.kernels == 1
    assert any(task.kind == "engine" for task in tasks.tasks) == (knobs is SHARED)
    for task in tasks.tasks:
        if isinstance(task, DmaTask) or task.name in ("enter_x", "leave_h0_out"):
            continue  # a load runs ahead of its readers
        (part,) = single_runs(task.program)
        assert isinstance(part, Repeat)
        assert part.times == LAYERS


def test_the_first_layer_reads_what_is_loaded_the_others_what_the_one_before_made() -> None:
    tasks = tasks_of()
    enter, leave = tasks.task["enter_x"], tasks.task["leave_h0_out"]
    first, others = enter.program
    assert isinstance(first, LoopNest)
    assert isinstance(others, Repeat)
    assert [a.stream for a in first.reads] == ["enter_x_in"]
    (again,) = others.body
    assert isinstance(again, LoopNest)
    assert (others.times, [a.stream for a in again.reads]) == (LAYERS - 1, ["enter_x_back"])
    assert [a.stream for a in leave.writes] == ["enter_x_back", "store_h0_out_in"]
    assert [stream.name for stream in tasks.streams if stream.feedback] == ["enter_x_back"]


def test_weights_of_all_layers_are_one_image_and_what_layers_share_is_read_again() -> None:
    moved = {task.dma.value: task for task in tasks_of().transfers}
    weights, mask, x = (moved[name] for name in ("h0.up", "mask", "x"))
    assert weights.dma.layout.shape == (LAYERS, 16, 32)
    assert (mask.dma.layout.shape, mask.streamed.loops[0].dim) == ((16,), None)
    assert x.dma.layout.shape == (4, 16)
    assert all(isinstance(task, LoadTask) and task.timing.restarts == 0 for task in (weights, mask, x))
    assert moved["h0.act"].dma.layout.shape == (LAYERS, 4, 32)
    assert moved["h0.out.last"].dma.layout.shape == (4, 16)


@pytest.mark.parametrize("knobs", [Knobs(), SHARED, Knobs(fifo="whole")], ids=["own lanes", "an engine", "whole"])
def test_a_launch_ends_and_takes_as_long_as_is_estimated(knobs: Knobs) -> None:
    tasks = tasks_of(knobs)
    simulated = simulate(tasks, U55C)
    assert simulated.deadlock is None
    estimated = next(m.value for m in estimate(tasks, U55C).metrics if m.name == "cycles")
    assert estimated == pytest.approx(sum(simulated.kernels), rel=0.05)


def test_each_layer_more_takes_as_long_as_the_one_before() -> None:
    two, four, six = (simulate(tasks_of(layers=n), U55C).latency_us for n in (2, 4, 6))
    assert six - four == pytest.approx(four - two, rel=0.02)


def test_certified_depths_leave_no_token_to_spare_where_the_loop_would_stand_still() -> None:
    """A row waits for its residual while a product reads all of it: of that FIFO a token less is a deadlock, and the
    simulator names it.
    """
    graph = folded_layers(LAYERS, rows=1, hidden=64, inner=64)
    knobs = Knobs(overall_unroll=16, stream_width=128)
    sized = size(planned_tasks(graph, knobs, U55C), "conservative", U55C).tasks
    assert as_given(sized, U55C).tasks.streams
    named = list[str]()
    for stream in sized.streams:
        if stream.depth < 3:
            continue
        shorter = (s._replace(depth=s.depth - 1) if s.name == stream.name else s for s in sized.streams)
        deadlock = simulate(replace(sized, streams=tuple(shorter)), U55C, buckets=0).deadlock
        if deadlock is not None:
            assert stream.name in deadlock.text
            named.append(stream.name)
    assert named


def test_an_engine_may_make_what_is_carried() -> None:
    tasks = planned_tasks(products(), SHARED, U55C)
    tasks.verify()
    assert [task.name for task in tasks.tasks if task.kind == "engine"] == ["engine0"]
    assert simulate(tasks, U55C).deadlock is None


def whole_of(knobs: Knobs, vocabulary: int = 32) -> Design:
    """A design of layers with what is in front of them and behind."""
    graph = folded(with_outside(LAYERS, vocabulary=vocabulary))
    assert graph is not None
    return planned(graph, knobs, U55C)


def test_an_engine_serves_what_is_behind_layers_once_behind_them() -> None:
    """A third product has the very loops of the first."""
    design = whole_of(SHARED)
    assert [engine.turns for engine in design.engines.values()] == [("h0.fc", "h0.proj", "scores")]
    assert design.nests["scores"] == design.nests["h0.fc"]
    engine = task_graph(design).task["engine0"]
    layers, last = engine.turns
    assert isinstance(layers, Repeat)
    assert isinstance(last, LoopNest)
    assert (layers.times, last) == (LAYERS, layers.body[0])


def test_what_is_in_front_of_layers_has_lanes_of_its_own() -> None:
    """A product like those of layers, of what the first one reads."""
    whole = with_outside(LAYERS, vocabulary=32)
    front = matmul("embed", 4, 16, 16, "token", "first", "x")
    values = (*(v for v in whole.values if v.name != "place"), Value("first", (16, 16), "f32", "param", "first"))
    graph = folded(with_op(replace(whole, values=values), "embed", **vars(front)))
    assert graph is not None
    assert graph.outside == ("embed", "scores", "best")
    assert graph.in_front == {"embed"}
    design = planned(graph, SHARED, U55C)
    assert [engine.turns for engine in design.engines.values()] == [("h0.fc", "h0.proj", "scores")]
    for last, turns in (
        ("best", ("embed", "h0.fc")),
        ("best", ("scores",)),
        ("h0.proj", ("h0.fc", "scores", "h0.proj")),
        ("embed", ("h0.fc", "embed")),
    ):
        ordered = replace(graph, ops=tuple(sorted(graph.ops, key=lambda op, last=last: op.name == last)))
        found = replace(design, graph=ordered, engines={"engine0": Engine(0, turns)})
        with pytest.raises(VerificationError, match="@engine0 must serve tasks of layers, then only what is behind"):
            verify_engines(found)


@pytest.mark.parametrize("knobs", [Knobs(), SHARED, Knobs(fifo="whole")], ids=["own lanes", "an engine", "whole"])
def test_what_is_outside_of_layers_runs_once_and_a_launch_ends(knobs: Knobs) -> None:
    tasks = task_graph(whole_of(knobs))
    tasks.verify()
    once = {"embed", "scores", "best", "fork_h0_out", "convert_h0_out_to_scores_in0"} & tasks.task.keys()
    assert len(once) == 5 - 2 * (knobs == SHARED)  # an engine makes the scores, in the order in which they are read
    assert all(tasks.task[name].timing.restarts == 0 for name in once)
    moved = {task.dma.value: task for task in tasks.transfers}
    assert (moved["head"].dma.layout.shape, moved["token"].dma.layout.shape) == ((16, 32), (5, 4, 16))
    assert moved["h0.up"].dma.layout.shape == (LAYERS, 16, 32)
    simulated = simulate(tasks, U55C)
    assert simulated.deadlock is None
    estimated = next(m.value for m in estimate(tasks, U55C).metrics if m.name == "cycles")
    assert estimated == pytest.approx(sum(simulated.kernels), rel=0.05)


def test_what_is_made_in_another_order_than_layers_hand_on_is_converted_in_front_of_the_first() -> None:
    tasks = task_graph(whole_of(Knobs(default_tile_size=4, overrides=(TaskOverride("embed", tile=16, unroll=1),))))
    converter = tasks.task["convert_x_to_enter_x_in"]
    assert [a.stream for a in converter.writes] == ["enter_x_in"]
    assert tasks.stream["enter_x_in"].itensor.same_stream(tasks.stream["store_h0_out_in"].itensor)
    assert simulate(tasks, U55C).deadlock is None


def test_what_a_layer_reads_again_is_loaded_once_as_the_layer_before_hands_it_on() -> None:
    """A product that takes its input once for each tile of its result: a converter repeats it, of every layer."""
    tasks = planned_tasks(products(rows=16, width=16), AGAIN, U55C)
    assert tasks.stream["enter_x_in"].tokens == tasks.stream["store_h0_b_in"].tokens
    assert simulate(tasks, U55C).deadlock is None


def test_a_value_that_leaves_a_layer_in_another_order_is_refused() -> None:
    design = planned(folded_layers(LAYERS), Knobs(overall_unroll=4), U55C)
    name = next(name for name, store in design.stores.items() if store.value == "h0.out")
    itensor = design.stores[name].itensor
    turned = ITensor(itensor.element, itensor.dtype, tuple(reversed(itensor.loops)))
    stores = {**design.stores, name: design.stores[name]._replace(itensor=turned)}
    with pytest.raises(VerificationError, match=r"h0\.out leaves a layer in another order than x enters one"):
        task_graph(replace(design, stores=stores))


def test_a_carried_value_that_is_not_loaded_is_refused() -> None:
    design = planned(folded_layers(LAYERS), Knobs(), U55C)
    without: Design = replace(design, stores={n: s for n, s in design.stores.items() if s.value != "h0.out"})
    with pytest.raises(VerificationError, match=r"h0\.out must be stored or read outside of layers, and x be loaded"):
        task_graph(without)
