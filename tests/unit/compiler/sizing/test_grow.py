"""Depths that progress needs: they come to their end in a run of their own, and the cheapest FIFO of a circle grows."""

import pytest
from certificate import BOARD, trial_of
from sizable_graphs import BY_HAND, choice, residual
from small_graphs import ALL

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import free_depth, is_free
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.simulator.timing.core import Plan
from compiler.sizing.grow import deadlock_free
from compiler.sizing.trial import Trial, trials_of


def widths(trial: Trial) -> dict[str, int]:
    return {name: stream.width for name, stream in trial.streams.items()}


def shallow(trial: Trial) -> dict[str, int]:
    return {name: free_depth(width, MIN_DEPTH, BOARD.memories) for name, width in widths(trial).items()}


def grown(trial: Trial, plan: Plan | None = None) -> dict[str, int]:
    return deadlock_free(plan or trial.plan, shallow(trial), widths(trial), BOARD.memories)[0]


@pytest.mark.parametrize("name", BY_HAND)
def test_nothing_deadlocks_with_the_depths(name: str):
    trial = trial_of(BY_HAND[name]())
    for plan in (trial.plan, trial.sequential):
        depths = grown(trial, plan)
        assert not plan.run(depths).deadlocked
        assert all(shallow(trial)[fifo] <= depth for fifo, depth in depths.items())
        assert all(depth == free_depth(trial.width(fifo), depth, BOARD.memories) for fifo, depth in depths.items())


@pytest.mark.parametrize("name", ALL)
def test_nothing_of_a_design_deadlocks(name: str):
    for trial in trials_of(planned_tasks(ALL[name](), Knobs(default_tile_size=4, overall_unroll=64), BOARD), BOARD):
        assert not trial.plan.run(grown(trial)).deadlocked


@pytest.mark.parametrize("name", ["quiet_deadlock", "softmax_rows", "reconvergent", "choice"])
def test_some_kernels_need_depth_for_progress(name: str):
    trial = trial_of(BY_HAND[name]())
    assert trial.plan.run(shallow(trial)).deadlocked
    depths = grown(trial)
    assert any(not is_free(trial.width(fifo), depth, BOARD.memories) for fifo, depth in depths.items())


def test_at_least_what_it_starts_from():
    trial = trial_of(choice())
    more = {name: depth + 100 for name, depth in shallow(trial).items()}
    assert deadlock_free(trial.plan, more, widths(trial), BOARD.memories)[0] == more


def test_nothing_grows_where_only_pace_is_at_stake():
    trial = trial_of(residual())
    assert grown(trial) == shallow(trial)


def test_of_a_circle_the_fifo_grows_whose_step_costs_least():
    trial = trial_of(choice())
    depths = grown(trial)
    assert depths["wide"] == shallow(trial)["wide"]
    assert depths["row"] == shallow(trial)["row"]
    assert not is_free(4, depths["narrow"], BOARD.memories) or depths["narrow"] > 24
