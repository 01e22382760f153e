"""Inputs that follow each other in a plan: nothing ends between them, and the interval is that of the slowest task."""

from collections.abc import Mapping

import pytest
from networks import NETWORKS
from small_graphs import mlp
from window_networks import greatest

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.estimate import estimate
from compiler.analysis.memory_steps import free_depth
from compiler.graph.layers import of_inputs
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import LOAD, Argument, BoundLoop, nests
from compiler.graph.task_graph import ConverterTask, LoadTask, RomTask, TaskGraph, WindowTask
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import size

U55C = load_platform("u55c")
COUNT = 3
PICTURE, MLP = greatest(8, 4, kernel=3, padding=1), NETWORKS["mlp"]().graph()


def tasks_of(network: LinalgGraph, knobs: Knobs, count: int = COUNT) -> TaskGraph:
    tasks = planned_tasks(of_inputs(network, count), knobs, U55C)
    tasks.verify()
    return tasks


def cycles(tasks: TaskGraph, values: Mapping[str, int]) -> int:
    simulated = simulate(tasks, U55C, launches=(values,))
    assert simulated.deadlock is None
    return sum(simulated.kernels)


@pytest.mark.parametrize("network", [PICTURE, MLP], ids=["picture", "mlp"])
@pytest.mark.parametrize("knobs", [Knobs(), Knobs(weights="resident"), Knobs(converters="paper")], ids=str)
def test_three_in_flight_are_certified_and_follow_each_other_as_fast_as_the_slowest_task(
    network: LinalgGraph, knobs: Knobs
) -> None:
    tasks = size(tasks_of(network, knobs), "conservative", U55C, "quick").tasks
    assert not any(task.turns or task.timing.restarts for task in tasks.tasks)
    taken = [cycles(tasks, {"count": count}) for count in range(COUNT + 1)]
    of_two = {task.name: task.iterations for task in tasks.at({"count": COUNT - 1}).tasks}
    slowest = max((task.iterations - of_two[task.name]) * task.timing.ii for task in tasks.tasks)
    assert slowest <= taken[3] - taken[2] <= 1.05 * slowest
    assert taken[1] < taken[2] < taken[3]
    estimated = {metric.name: metric.value for metric in estimate(tasks, U55C).metrics}
    assert estimated["cycles"] == pytest.approx(taken[3], rel=0.1)
    assert estimated["input_interval"] * estimated["clock"] == pytest.approx(taken[3] - taken[2], rel=0.05)
    assert estimated["inputs_per_second"] == pytest.approx(1e6 * COUNT / estimated["latency"])


def test_every_task_makes_as_many_rounds_as_the_launch_says() -> None:
    tasks = tasks_of(PICTURE, Knobs())
    for task in tasks.tasks:
        (bound,) = task.timing.bounds
        assert bound.loop == 0
        assert (bound.argument.name, bound.argument.most) == ("count", COUNT)
        if isinstance(
            task, WindowTask
        ):  # 3 x 3: the first row of the next input comes with the last windows of this one
            assert bound == BoundLoop(0, bound.argument, 1, 8 * task.walks // COUNT)
        elif not isinstance(task, ConverterTask):
            assert bound == BoundLoop(0, bound.argument)


def test_a_memory_is_filled_once_and_read_for_every_input() -> None:
    tasks = tasks_of(mlp(4, 64, 512), Knobs(weights="resident"))
    (rom,) = (task for task in tasks.tasks if isinstance(task, RomTask) and task.value == "up.weight")
    fill, push = nests(rom.turns)
    assert [bound.argument for bound in fill.bounds] == [Argument(LOAD, 1)]
    assert fill.iterations == rom.streamed.without_rereads().tokens
    assert [(bound.argument.name, bound.most) for bound in push.bounds] == [("count", COUNT)]
    assert push.iterations == rom.streamed.tokens == COUNT * fill.iterations


def test_a_launch_that_finds_memories_filled_is_as_one_of_constants() -> None:
    """What fills them takes a cycle a word, for some of which the first product waits; later launches do not."""
    tasks = tasks_of(mlp(4, 64, 512), Knobs(weights="resident"))
    first, later = (cycles(tasks, values) for values in ({"load": 1}, {}))
    assert cycles(tasks, {"load": 0}) == later
    (loader,) = (task for task in tasks.tasks if isinstance(task, LoadTask) and task.dma.joint)
    assert loader.words / 4 < first - later < loader.words + 100
    (estimated,) = (m.value for m in estimate(tasks, U55C).metrics if m.name == "cycles")
    assert estimated == pytest.approx(later, rel=0.1)
    traffic = {m.name: m.value for m in estimate(tasks, U55C).metrics}["hbm_traffic"]
    assert traffic == COUNT * 4 * (4 * 64 + 4 * 64)


def test_a_text_of_it_reads_back() -> None:
    design = planned(of_inputs(PICTURE, COUNT), Knobs(), U55C)
    assert parse_design(design_text(design, "now"), U55C) == design


def test_fifos_are_not_deep_to_load_ahead_for_a_later_launch() -> None:
    tasks = size(tasks_of(mlp(4, 64, 512), Knobs(weights="resident")), "conservative", U55C).tasks
    for stream in (tasks.stream[name] for name in ("up_in1", "down_in1")):
        assert stream.depth == free_depth(stream.width, MIN_DEPTH, U55C.memories) < stream.tokens
