"""Trip counts that follow the position of a launch: which tasks', how far, and that they agree at every position."""

from dataclasses import replace

import pytest
from stepping_networks import SLOTS, WIDTH, stepping

from compiler.analysis.build import task_graph
from compiler.errors import VerificationError
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import NestLoop
from compiler.graph.task_graph import LoadTask, TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate

U55C = load_platform("u55c")
TILE, ROW_BITS = 4, 32 * WIDTH
FOLLOWING = {"load_h0_k_past", "load_seen", "h0_join", "convert_h0_keys_to_h0_sum_in0", "h0_sum"}


def tasks_of(network: LinalgGraph | None = None, **knobs: object) -> TaskGraph:
    graph = folded(network or stepping())
    assert graph is not None
    usual = {"default_tile_size": TILE, "order": "reduction-outer", "stream_width": ROW_BITS}
    return planned_tasks(graph, Knobs.from_json({**usual, **knobs}), U55C)


def test_tasks_over_rows_make_the_tiles_that_a_position_begins() -> None:
    tasks = tasks_of()
    assert {task.name for task in tasks.tasks if task.timing.bounds} == FOLLOWING
    for position in range(SLOTS):
        now = tasks.at({"position": position})
        assert now.task["h0_join"].timing.trips[1] == (position // TILE + 1) * TILE
    tasks.verify()


def test_every_position_runs_and_takes_no_longer_than_the_next() -> None:
    tasks = tasks_of()
    runs = [simulate(tasks, U55C, launches=({"position": position},), buckets=0) for position in range(SLOTS)]
    assert not any(run.deadlock for run in runs)
    cycles = [run.cycles for run in runs]
    assert cycles == sorted(cycles)
    assert len(set(cycles)) == (SLOTS + 1) // TILE
    constant = replace(tasks, tasks=tuple(task.at({}) for task in tasks.tasks))
    assert cycles[-1] == simulate(constant, U55C, buckets=0).cycles


@pytest.mark.parametrize("name", sorted(FOLLOWING))
def test_a_task_that_does_not_follow_is_named(name: str) -> None:
    tasks = tasks_of()
    flawed = tuple(task.at({}) if task.name == name else task for task in tasks.tasks)
    with pytest.raises(VerificationError, match=name):
        replace(tasks, tasks=flawed).verify()


def test_rows_that_stay_are_walked_outermost_whatever_reductions_do() -> None:
    assert tasks_of(order="reduction-inner") == tasks_of()


def test_where_rows_are_walked_inside_others_all_are_walked() -> None:
    assert not tasks_of(overrides=[{"op": "h0.sum", "order": [0, 1]}]).arguments


def test_no_word_is_of_two_tiles_whatever_fits_into_one() -> None:
    """4 tokens of the table would, of 4 rows each: of 36 rows no tile could follow."""
    tasks = tasks_of(stepping(slots=35))
    assert [argument.tile for argument in tasks.arguments] == [TILE]
    load = tasks.task["load_seen"]
    assert isinstance(load, LoadTask)
    assert load.dma.tokens_per_word == 1


def test_what_two_readers_walk_in_loops_of_their_own_follows() -> None:
    """One of them takes two tiles at a time, which are as many tokens in the same order."""
    graph = folded(stepping(twice=True))
    assert graph is not None
    design = planned(graph, Knobs(default_tile_size=TILE, order="reduction-outer", stream_width=ROW_BITS), U55C)
    rows, *others = design.nests["h0.more"].loops
    inside = (NestLoop(rows.dim, rows.trip // 2, 2 * rows.step), NestLoop(rows.dim, 2, rows.step), *others)
    nest = replace(design.nests["h0.more"], loops=inside)
    again = {("h0.more", i): nest.read_itensor(read.dims, "f32") for i, read in enumerate(graph.op["h0.more"].inputs)}
    tasks = task_graph(replace(design, nests={**design.nests, "h0.more": nest}, reads={**design.reads, **again}))
    assert [argument.tile for argument in tasks.arguments] == [2 * TILE]
    assert tasks.at({"position": 0}).task["fork_h0_keys_to_h0_sum_in0"].timing.trips == (2, 2, 8)
    tasks.verify()


def test_what_is_read_again_within_a_tile_follows() -> None:
    tasks = tasks_of(default_tile_size=16, stream_width=64)
    assert tasks.task["load_seen"].timing.trips == (2, 4, 2, 8)
    assert tasks.at({"position": 16}).task["load_seen"].timing.trips == (2, 2, 2, 8)


def test_a_number_of_rows_that_no_tile_divides_is_walked_whole() -> None:
    """As tiles of a row each it would be walked but for the last, which no launch adds."""
    assert tasks_of(stepping(slots=63, wide=True), default_tile_size=32).arguments
    assert not tasks_of(stepping(slots=60, wide=True), default_tile_size=32).arguments
