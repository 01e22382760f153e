"""Equal tasks are calls of one function, and its name is no other's."""

from dataclasses import replace

import pytest
from looped_pipelines import nest, network, process
from networks import NETWORKS
from route_designs import routes
from tasks_by_hand import compute

from compiler.errors import UnsupportedError
from compiler.graph.program import Argument, BoundLoop, LoopNest
from compiler.graph.task_graph import ForkTask, TaskGraph, TimingSpec
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets import hls_code
from compiler.targets.functions import call_names, modules, plan_functions
from compiler.targets.interface import plan_interface

U55C = load_platform("u55c")


def chain(*lengths: int) -> TaskGraph:
    """Tasks `a_0`, `a_1`, ... in a row that pass on so many tokens each; the first has no input."""
    tasks = [process(f"a_{n}", nest(length, f"s{n - 1}" if n else "", f"s{n}")) for n, length in enumerate(lengths)]
    return routes({"n": network(*tasks, process("end", nest(lengths[-1], f"s{len(lengths) - 1}")), kept=2)})


def test_tasks_that_differ_by_names_alone_are_one_function():
    functions = plan_functions(chain(4, 4, 4, 4))
    assert [f.members for f in functions] == [("n_a_0",), ("n_a_1", "n_a_2", "n_a_3"), ("n_end",)]
    assert functions[1].name == "n_a_float"
    assert modules(chain(4, 4, 4, 4))["n_a_3"] == ("n_a_float_2", "n_a_float")


def test_a_name_is_not_that_of_another_task_or_of_a_call_of_another_function():
    graph = chain(4, 4, 4)
    taken = {"n_a_0": "n_a_float_1", "n_s0": "n_a_float_x4"}

    def called(name: str) -> str:
        return taken.get(name, name)

    tasks = tuple(replace(t, name=called(t.name)) for t in graph.tasks)
    renamed = replace(graph, tasks=tasks)
    names = [f.name for f in plan_functions(renamed)]
    assert names == ["n_a_float_1", "n_a_float_x4", "n_end"]


def test_what_differs_is_another_function():
    graph = chain(4, 4, 4)
    for change in ({"style": "stp"}, {"ii": 2}):
        tasks = list(graph.tasks)
        tasks[2] = replace(tasks[2], timing=replace(tasks[2].timing, **change))
        assert len(plan_functions(replace(graph, tasks=tuple(tasks)))) == 4
    streams = tuple(s._replace(initial=1) if s.name == "n_s2" else s for s in graph.streams)
    assert len(plan_functions(replace(graph, streams=streams))) == 4


def test_calls_have_the_names_of_the_tool():
    assert list(call_names(["f", "g", "f", "f", "g"])) == ["f", "g", "f_1", "f_2", "g_1"]


def test_operations_that_are_equal_but_for_their_values_are_one_function():
    """Their parameters are called alike."""
    graph = NETWORKS["attention"]().graph()
    tasks = planned_tasks(graph, Knobs(), U55C)
    interface = plan_interface(tasks, graph)
    shared = [f for f in interface.functions if len(f.members) > 1 and f.task.kind == "compute"]
    text = hls_code.tasks_source(tasks, interface)
    for function in shared:
        assert text.count(f"void {function.name}(") == 1
        assert f"// For {', '.join(function.members)}" in text
    assert len(interface.functions) < len(tasks.tasks)


def test_what_has_no_code_is_refused_by_name():
    turning = compute("adds", TimingSpec((), 1, 3), turns=(LoopNest((4,), (), ()),))
    with pytest.raises(UnsupportedError, match="task adds: there is no C\\+\\+ for a compute that takes turns"):
        plan_functions(TaskGraph("small", 1, (turning,), ()))


def test_a_fork_may_follow_an_argument():
    graph = chain(4, 4)
    fork = graph.tasks[1]
    following = TimingSpec((4,), 1, 3, bounds=(BoundLoop(0, Argument("length", 4)),))
    made = ForkTask(fork.name, 0, following, fork.reads, fork.writes)
    found = replace(graph, tasks=(graph.tasks[0], made, graph.tasks[2]))
    text = hls_code.tasks_source(found, plan_interface(found, NETWORKS["mlp"]().graph()))
    assert "const int trip0 = length;" in text
    assert "#pragma HLS loop_tripcount min=0 max=4 avg=4" in text
