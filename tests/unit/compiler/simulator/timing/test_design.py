"""Tokens that follow each other in a launch: what starts the tasks of each needs the order of its waits, no depth."""

from dataclasses import replace

import pytest
from stepping_networks import replying

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.graph.layers import folded
from compiler.graph.program import LoopNest
from compiler.graph.task_graph import CONTROL, CONTROL_DEPTH
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import TimedDesign, timed_design
from compiler.simulator.timing.simulate import Simulation, simulate_design

U55C = load_platform("u55c")
POSITIONS = 0, 1, 15, 16, 62  # within a tile of positions, across its end, the last


@pytest.fixture(scope="module")
def reply() -> TimedDesign:
    graph = folded(replying())
    assert graph is not None
    return timed_design(planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C), U55C)


def simulated(design: TimedDesign) -> Simulation:
    launches = tuple({"position": position} for position in POSITIONS)
    return simulate_design(design, U55C, launches=launches, buckets=0)


def of_control(design: TimedDesign, depth: int) -> TimedDesign:
    """With FIFOs of words and answers so deep."""
    return replace(
        design,
        streams=tuple(replace(s, depth=depth) if CONTROL in (s.source, s.target) else s for s in design.streams),
    )


def test_words_and_answers_need_no_more_than_the_least_fifo(reply: TimedDesign) -> None:
    """A word is taken before the stores of its token can answer, so the next finds room; nor does more help."""
    found = simulated(reply)
    assert found.deadlock is None
    assert CONTROL_DEPTH == MIN_DEPTH
    assert {simulated(of_control(reply, depth)).cycles for depth in (1, 2, 16)} == {found.cycles}


def test_tokens_do_not_overlap(reply: TimedDesign) -> None:
    """Together they take at least what each takes by itself: the next begins when memory has answered."""
    alone = [simulate_design(reply, U55C, launches=({"position": p},), buckets=0).cycles for p in POSITIONS]
    assert simulated(reply).cycles >= sum(alone) - 2 * len(alone)


def test_waiting_before_the_words_deadlocks(reply: TimedDesign) -> None:
    control, *others = reply.tasks
    (words,) = (n for n, nest in enumerate(control.turns) if isinstance(nest, LoopNest) and nest.writes)
    turned = replace(control, turns=(*control.turns[words + 1 :], control.turns[words]))
    found = simulated(replace(reply, tasks=(turned, *others))).deadlock
    assert found is not None
    assert "control waits for a token of store_next (store_next_done is empty)" in found.text
