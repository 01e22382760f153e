"""Timing out of a report of our own tasks: `mlp_k0_csynth.xml`, and reports made by hand."""

from dataclasses import replace

import pytest
from fixtures import synthetic_fixture
from small_graphs import mlp
from tasks_by_hand import compute, load

from compiler.errors import ReportError
from compiler.graph.itensor import ITensor
from compiler.graph.itensor import Loop as Walk
from compiler.graph.task_graph import Dma, Task, TaskGraph, TimingSpec
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Loop, Module, Span
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.csynth_xml import parse_csynth_xml
from compiler.toolchain.source import Source
from compiler.toolchain.timing_spec import replace_timing

PLANNED = 99  # a depth that no report has


def task(name: str, *trips: int, kernel: int = 0) -> Task:
    return compute(name, TimingSpec(trips, 1, PLANNED, "frp"), kernel=kernel)


def transfer(name: str, *trips: int, dma: Dma) -> Task:
    return load(name, TimingSpec(trips, 1, PLANNED, "frp"), "s", dma)


def graph(*tasks: Task) -> TaskGraph:
    return TaskGraph("mlp", 1 + max(t.kernel for t in tasks), tasks, ())


def loop(name: str, trips: int | None, ii: int | None, iteration: int, *inside: Loop, calls: str = "") -> Loop:
    span = Span(trips, trips)
    return Loop(name, span, Span(), Span(iteration, iteration), ii, ii is not None, None, inside, tuple(calls.split()))


def module(name: str, *loops: Loop, calls: str = "", latency: int | None = None, depth: int | None = None) -> Module:
    span = Span(latency, latency)
    return Module(name, "no", span, Span(), Area(), depth=depth, loops=loops, calls=tuple(calls.split()))


def report(*modules: Module, top: str = "mlp_k0") -> CsynthReport:
    if all(m.name != top for m in modules):
        modules = (*modules, module(top, calls=" ".join(m.name for m in modules)))
    return CsynthReport("2023.2", "xcu55c-fsvh2892-2L-e", top, "vitis", Clock(), Area(), modules)


def ours(trips_of_store: str = "4", iteration: str = "20 ~ 24") -> CsynthReport:
    text = synthetic_fixture("csynth/mlp_k0_csynth.xml").read_text()
    text = text.replace("<TripCount>undef", f"<TripCount>{trips_of_store}")
    return parse_csynth_xml(Source("mlp_k0_csynth.xml", text.replace("20 ~ 24", iteration)))


OURS = (task("load_x", 8, 8), task("op_up", 4, 32, 8), task("store_h", 4, 16))


def test_the_flattened_nests_of_our_report() -> None:
    replaced = replace_timing(graph(*OURS), ours())
    assert replaced.task["load_x"].timing == TimingSpec((8, 8), 2, 6, "frp")
    assert replaced.task["op_up"].timing == TimingSpec((4, 32, 8), 4, 12, "frp")


def test_a_loop_that_was_not_flattened_restarts_the_pipeline() -> None:
    timing = replace_timing(graph(*OURS), ours()).task["store_h"].timing
    # 16 iterations, one a cycle, 2 deep: 17 cycles; an iteration of the loop outside takes 24 in the worst case.
    assert timing == TimingSpec((4, 16), 1, 2, "frp", restarts=1, gap=7)
    assert timing.latency == 4 * 17 + 3 * 7


def test_an_unknown_tripcount_does_not_fit() -> None:
    with pytest.raises(ReportError, match=r"store_h do not fit .* runs 64 times.*VITIS_LOOP_51_1 x \? > VITIS_LOOP_52"):
        replace_timing(graph(*OURS), ours("undef"))


def test_another_tripcount_does_not_fit() -> None:
    with pytest.raises(ReportError, match=r"op_up do not fit .* runs 512 times .* x 1024, II 4"):
        replace_timing(graph(OURS[0], task("op_up", 4, 32, 4), OURS[2]), ours())


def test_outer_loops_that_are_no_prefix_of_the_nest_do_not_fit() -> None:
    with pytest.raises(ReportError, match="store_h do not fit"):
        replace_timing(graph(*OURS[:2], task("store_h", 8, 8)), ours())


def test_a_loop_that_is_not_pipelined_does_not_fit() -> None:
    with pytest.raises(ReportError, match="not pipelined"):
        replace_timing(graph(task("a", 8)), report(module("a", loop("L", 8, None, 3))))


def test_a_report_without_one_of_our_tasks() -> None:
    with pytest.raises(ReportError, match=r"mlp_k0 has no module of a task of mlp; give the csynth\.xml"):
        replace_timing(graph(task("other", 8)), ours())


def test_a_task_of_the_kernel_that_is_missing() -> None:
    with pytest.raises(ReportError, match="lacks the task extra"):
        replace_timing(graph(*OURS, task("extra", 8)), ours())


def test_tasks_of_other_kernels_stay_as_planned() -> None:
    replaced = replace_timing(graph(*OURS, task("late", 8, kernel=1)), ours())
    assert replaced.task["late"].timing == TimingSpec((8,), 1, PLANNED, "frp")


def test_a_report_of_one_task_alone() -> None:
    alone = report(module("op_up", loop("L", 1024, 3, 20)), top="op_up")
    replaced = replace_timing(graph(*OURS), alone)
    assert [t.timing.depth for t in replaced.tasks] == [PLANNED, 20, PLANNED]


def test_a_pipeline_in_a_module_of_its_own() -> None:
    made = report(module("a", calls="a_Pipeline_L"), module("a_Pipeline_L", loop("L", 12, 2, 5)))
    assert replace_timing(graph(task("a", 3, 4)), made).task["a"].timing == TimingSpec((3, 4), 2, 5, "frp")


def test_a_template_instance() -> None:
    made = report(module("a_s", calls="a_Pipeline_L"), module("a_Pipeline_L", loop("L", 12, 2, 5)))
    assert replace_timing(graph(task("a", 3, 4)), made).task["a"].timing.ii == 2


def test_other_loops_beside_the_nest_are_not_taken_for_it() -> None:
    made = report(module("a", loop("clear", 5, 1, 1), loop("nest", 12, 2, 5)))
    assert replace_timing(graph(task("a", 3, 4)), made).task["a"].timing.depth == 5


def test_two_loops_that_fit_are_no_answer() -> None:
    made = report(module("a", loop("one", 12, 1, 4), loop("two", 12, 2, 5)))
    with pytest.raises(ReportError, match="one x 12, II 1; two x 12, II 2"):
        replace_timing(graph(task("a", 3, 4)), made)


def test_two_loops_outside_share_one_gap() -> None:
    # An outer iteration takes 40: 3 runs of (4 - 1) * 1 + 5 = 8 cycles, hence ceil(40 / 3) - 8 between two.
    nest = loop("A", 2, None, 40, loop("B", 3, None, 12, loop("C", 4, 1, 5)))
    timing = replace_timing(graph(task("a", 2, 3, 4)), report(module("a", nest))).task["a"].timing
    assert (timing.restarts, timing.gap) == (2, 6)


def test_a_function_without_a_loop() -> None:
    made = report(module("a", latency=6), module("b", latency=2, depth=4))
    replaced = replace_timing(graph(task("a", 1), task("b")), made)
    assert [t.timing.depth for t in replaced.tasks] == [7, 4]


def test_a_depth_is_at_least_a_read_and_a_write() -> None:
    made = report(module("a", loop("L", 8, 1, 1)))
    assert replace_timing(graph(task("a", 8)), made).task["a"].timing.depth == 2


def test_a_transfer_advances_by_words_of_several_tokens() -> None:
    layout = ITensor((1, 16), "f32", (Walk(25, 1, 0),))
    made = report(module("a", loop("L", 7, 4, 70)))
    timing = replace_timing(graph(transfer("a", 25, dma=Dma("x", layout, 1, 4, 1, 512))), made).task["a"].timing
    # 7 words of 4 tokens; of the tokens of a word, the last enters 3 cycles after the first.
    assert (timing.trips, timing.ii, timing.depth) == ((25,), 1, 67)


def test_a_transfer_of_several_words_a_token() -> None:
    layout = ITensor((1, 64), "f32", (Walk(25, 1, 0),))
    made = report(module("a", loop("L", 100, 1, 70)))
    timing = replace_timing(graph(transfer("a", 25, 4, dma=Dma("x", layout, 1, 1, 4, 512))), made).task["a"].timing
    assert (timing.trips, timing.ii, timing.depth) == ((25, 4), 1, 70)


def test_a_whole_graph_as_it_was_planned() -> None:
    tasks = planned_tasks(mlp(), Knobs(), load_platform("u55c"))
    made = report(*(module(t.name, loop("L", t.timing.iterations, t.timing.ii, t.timing.depth)) for t in tasks.tasks))
    replaced = replace_timing(tasks, made)
    assert replaced.tasks == tasks.tasks
    slower = replace(made, modules=tuple(
        replace(m, loops=tuple(replace(x, ii=(x.ii or 0) + 1) for x in m.loops)) for m in made.modules
    ))  # fmt: skip
    replaced = replace_timing(tasks, slower)
    assert [t.timing.ii for t in replaced.tasks] == [t.timing.ii + 1 for t in tasks.tasks]
    replaced.verify()
