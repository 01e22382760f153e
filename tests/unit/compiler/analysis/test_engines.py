"""Operations that take turns: their lanes, the tasks that stand for them, which streams lead back, what it costs."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from networks import Network, body
from plans import U55C, plans
from sliced_engines import sliced
from small_graphs import chain, mlp

from compiler.analysis import growth
from compiler.analysis.build import task_graph
from compiler.analysis.feedback import with_feedback
from compiler.analysis.resources import task_resources
from compiler.analysis.tiling import plan_nests
from compiler.graph.engine import Role, layout, unroll_by_role
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Reduction
from compiler.graph.task_graph import EngineTask, ForkTask, LanesTask, RouteTask, Stream, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.simulator.timing.simulate import simulate

KNOBS = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", fifo="whole")


def built(graph: LinalgGraph, knobs: Knobs = KNOBS) -> TaskGraph:
    tasks = task_graph(plans(graph, knobs)["materialize-dmas"])
    tasks.verify()
    return tasks


def test_an_engine_has_lanes_once_and_all_operations_the_same():
    graph = chain(16, 32, 24, 16)
    shared, own = (plan_nests(graph, replace(KNOBS, engines=e), U55C) for e in ("shared", "own"))
    layouts = {layout(graph.op[name], nest.unroll) for name, nest in shared.items()}
    assert len(layouts) == 1
    assert len({layout(graph.op[name], nest.unroll) for name, nest in own.items()}) > 1
    assert shared["m1"].lanes == 64  # of 64 that all operations may have together
    assert sum(nest.lanes for nest in own.values()) < 2 * 64


def test_an_override_of_the_largest_counts_for_the_engine():
    nests = plan_nests(chain(16, 32, 24), replace(KNOBS, overrides=(TaskOverride("m2", unroll=8),)), U55C)
    assert [nest.lanes for nest in nests.values()] == [8, 8]


def test_steps_that_no_tile_divides_into_are_not_tried(monkeypatch: pytest.MonkeyPatch):
    """Rows of many dimensions have tiles of millions of points together: they grow by what divides these."""
    tried: list[int] = []

    def counted(op: LinalgOp, tile: Sequence[int], lanes: dict[Role, int]) -> tuple[int, ...] | None:
        tried.append(max(lanes.values()))
        return unroll_by_role(op, tile, lanes)

    monkeypatch.setattr(growth, "unroll_by_role", counted)
    rows, product = (256, 256, 256), body(["f32", "f32"], ("arith.mulf", (0, 1)))
    network = Network("rows")
    network.tensor("x", np.broadcast_to(np.float32(0), (*rows, 32)), role="input")
    for name, columns in (("p", 8), ("q", 16)):
        network.tensor(f"w{name}", np.zeros((32, columns), np.float32))
        network.generic(
            name, (*rows, columns, 32), [("x", "abce"), (f"w{name}", "ed")], "abcd", product, Reduction("add", 0.0)
        )
    nests = plan_nests(network.graph(), replace(KNOBS, default_tile_size=256), U55C)
    assert nests["op_p"].unroll == nests["op_q"].unroll
    assert len(tried) < 200


def test_tasks_of_an_engine():
    tasks = built(chain(16, 32, 24, 16))
    engine = tasks.task["engine0"]
    assert isinstance(engine, EngineTask)
    assert [op.name for op, _ in engine.served] == ["m1", "m2", "m3"]
    assert len(engine.turns) == 3
    routes = [task for task in tasks.tasks if isinstance(task, RouteTask)]
    assert [(len(t.reads), len(t.writes)) for t in routes] == [(3, 1), (3, 1), (1, 3)]
    assert not {"m1", "m2", "m3"} & tasks.task.keys()
    assert [s.name for s in tasks.streams if s.feedback] == ["m2_in0", "m3_in0"]
    order = [task.name for task in tasks.tasks]
    assert order.index("engine0_route0") < order.index("engine0") < order.index("engine0_results")


def test_an_engine_has_the_operators_of_one_operation_and_memory_for_the_largest():
    graph = chain(16, 32, 24, 16)
    tasks = built(graph)
    engine = tasks.task["engine0"]
    nests = plan_nests(graph, KNOBS, U55C)
    assert isinstance(engine, EngineTask)
    assert dict(engine.operators) == {"fmul": nests["m1"].lanes, "fadd": nests["m1"].lanes}
    kept = max(nest.accumulators(graph.op[name].iterators) for name, nest in nests.items())
    (buffer,) = engine.buffers
    assert (buffer.depth, buffer.banks) == (kept, prod(nests["m1"].unroll[d] for d in (0, 1)))


def test_an_engine_takes_the_area_of_one_operation():
    graph, lanes = chain(16, 32, 32), (TaskOverride("m1", unroll=32), TaskOverride("m2", unroll=32))
    knobs = replace(KNOBS, default_tile_size=32, overrides=lanes)  # so large that sums wait for no addition
    alone, shared = (built(graph, replace(knobs, engines=e)) for e in ("own", "shared"))
    one, both = task_resources(alone.task["m1"], alone, U55C), task_resources(shared.task["engine0"], shared, U55C)
    assert (both.dsp, both.bram36, both.uram) == (one.dsp, one.bram36, one.uram)
    assert one.lut < both.lut < 1.01 * one.lut  # a counter of turns


@pytest.mark.parametrize("slices", [2, 3, 24])
def test_slices_are_equal_and_each_input_reaches_all_of_them(slices: int):
    _, tasks = sliced(slices)
    engines = [task for task in tasks.tasks if isinstance(task, EngineTask)]
    assert sorted(task.number for task in engines) == list(range(slices))
    assert len({replace(e, name="", number=0, reads=(), writes=(), turns=()) for e in engines}) == 1
    assert {task_resources(task, tasks, U55C) for task in engines} == {task_resources(engines[0], tasks, U55C)}
    chain_of = [task for task in tasks.tasks if isinstance(task, ForkTask)]
    assert [len(task.writes) for task in chain_of] == [2] * (slices - 1)  # never one register for all
    dealt = [(len(t.reads), len(t.writes)) for t in tasks.tasks if isinstance(t, LanesTask)]
    assert dealt == [(1, slices), (slices, 1)]
    found = simulate(tasks, U55C, buckets=0)
    assert found.deadlock is None


def test_a_route_costs_a_multiplexer():
    tasks = built(chain(16, 32, 24, 16))
    two = built(chain(16, 32, 24))
    luts = [task_resources(t.task["engine0_route1"], t, U55C).lut for t in (two, tasks)]
    assert luts[1] > luts[0]
    assert isinstance(tasks.task["engine0_results"], RouteTask)


def test_other_operations_keep_tasks_of_their_own():
    tasks = built(mlp(inner=32))
    assert {"act", "add"} <= tasks.task.keys()
    assert [s.name for s in tasks.streams if s.feedback] == ["down_in0"]


def stream(source: str, target: str) -> Stream:
    return Stream(f"{source}_{target}", source, target, ITensor((1,), "f32", (Loop(4, 1, 0),)))


@pytest.mark.parametrize("called", ["engine0", "engine0.route0", "engine0_results"])
def test_an_operation_that_is_called_as_an_engine_would_be_keeps_its_name(called: str):
    graph = mlp()
    ops = tuple(replace(op, name=called) if op.name == "act" else op for op in graph.ops)
    design = plans(replace(graph, ops=ops), KNOBS)["share-engines"]
    assert list(design.engines) == ["engine1"]
    tasks = task_graph(plans(replace(graph, ops=ops), KNOBS)["size-fifos"])
    tasks.verify()
    assert simulate(tasks, U55C).deadlock is None


@pytest.mark.parametrize(
    ("ends", "position", "back"),
    [
        (("load route", "results act", "act route"), {"act": 1}, ["act_route"]),
        (("results convert", "convert route"), {}, ["convert_route"]),  # an adapter stands where its writer stands
        (("results act", "act other", "other route"), {"act": 1, "other": 2}, ["other_route"]),
        (("late route", "results act"), {"late": 5, "act": 6}, []),  # comes later, but closes no cycle
        (("early route", "results early"), {"early": -2}, ["results_early"]),
    ],
)
def test_what_leads_back_closes_a_cycle_and_comes_from_later(
    ends: tuple[str, ...], position: dict[str, int], back: list[str]
):
    inner = [stream("route", "engine"), stream("engine", "results")]
    place = {"route": 0, "engine": 0, "results": 0, **position}
    marked = with_feedback([stream(*pair.split()) for pair in ends], inner, place)
    assert [s.name for s in marked if s.feedback] == back
