"""Runs of one kernel with other depths: what is compared with what, and what is counted."""

from random import Random

import pytest
from certificate import BOARD, trial_of
from random_tasks import runs_to_the_end
from sizable_graphs import BY_HAND, choice, depth_four, loaded, reconvergent, residual, stream, task
from sizable_graphs import graph as made

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import is_free, price
from compiler.graph.task_graph import TaskGraph
from compiler.sizing.trial import SLACK, peaks, trials_of


def long_residual() -> TaskGraph:
    return residual(rows=2000, slow=60)


def test_the_base_has_unbounded_fifos_but_those_behind_hbm():
    trial = trial_of(loaded())
    assert trial.loads
    assert trial.loads < set(trial.streams)
    given = {name: stream.depth for name, stream in trial.streams.items()}
    as_given = {name: depth if name in trial.loads else None for name, depth in given.items()}
    assert trial.base == trial.plan.run(as_given)
    assert trial.base.cycles > trial.plan.run(dict.fromkeys(given)).cycles
    assert trial.limit == int(trial.base.cycles * (1 + SLACK))


def test_what_is_between_a_store_or_load_and_hbm_is_not_for_sizing():
    trial = trial_of(loaded())
    adapters = {fifo.name for fifo in trial.plan.network.fifos} - set(trial.streams)
    assert adapters
    assert all(name.endswith("@hbm") for name in adapters)


def test_a_run_holds_up_to_the_limit_and_no_further():
    trial = trial_of(long_residual())
    given = dict.fromkeys(trial.streams, 2)
    outcome = trial.run(given)
    assert outcome.cycles > trial.limit
    assert not trial.holds(outcome)
    trial.limit = outcome.cycles - 1
    assert not trial.holds(outcome)
    assert [trial.holds(o) for o in trial.try_all([given])] == [False]
    trial.limit = outcome.cycles
    assert trial.holds(outcome)
    assert [trial.holds(o) for o in trial.try_all([given])] == [True]


def test_a_run_that_deadlocks_or_was_stopped_does_not_hold():
    deadlocked = trial_of(BY_HAND["quiet_deadlock"]())
    outcome = deadlocked.run({})
    assert outcome.deadlocked
    assert outcome.cycles <= deadlocked.limit
    assert not deadlocked.holds(outcome)
    slow = trial_of(long_residual())
    assert not slow.holds(slow.run({}, limit=10))


def test_several_tries_are_those_of_each_in_their_order():
    trial = trial_of(long_residual())
    choices = [{**dict.fromkeys(trial.streams, MIN_DEPTH), "around": depth} for depth in (50, 7, 100, 61, MIN_DEPTH)]
    alone = [trial.plan.run(choice, limit=trial.limit + 1) for choice in choices]
    assert len({str(outcome) for outcome in alone}) > 3
    runs, work = trial.runs, trial.work
    assert trial.try_all(choices) == alone
    assert trial.runs - runs == len(choices)
    assert trial.work - work == sum(outcome.work for outcome in alone)


def test_a_try_under_the_floor_must_also_do_with_one_iteration_in_each_task():
    """24 tokens wait for the sum of all; three of them may be inside `shrink` meanwhile, in its pipeline."""
    trial = trial_of(choice())
    choices = [{**trial.floor, "wide": 4, "narrow": depth} for depth in range(2, 40)]
    inside = next(c["narrow"] for c in choices if not trial.plan.run(c).deadlocked)
    enough = next(c["narrow"] for c in choices if not trial.sequential.run(c).deadlocked)
    assert inside < enough
    for each in choices:
        runs = trial.runs
        (outcome,) = trial.try_all([each])
        assert outcome.deadlocked == (each["narrow"] < enough)
        assert trial.runs - runs == (1 if outcome.deadlocked else 2)


@pytest.mark.parametrize("name", BY_HAND)
def test_the_floor_deadlocks_in_no_order_of_execution(name: str):
    graph = BY_HAND[name]()
    trial = trial_of(graph)
    streams = [s._replace(depth=trial.floor[s.name]) for s in graph.streams]
    for seed in range(5):
        assert runs_to_the_end(graph.tasks, streams, Random(seed))


def test_the_floor_of_what_no_other_waits_for_is_the_shallowest():
    trial = trial_of(loaded(prefetch=50))
    assert all(is_free(trial.width(name), trial.floor[name], BOARD.memories) for name in trial.loads)


def test_one_over_the_limit_is_stopped_there():
    trial = trial_of(long_residual())
    (outcome,) = trial.try_all([dict.fromkeys(trial.streams, 2)])
    assert outcome.stopped
    assert outcome.cycles == trial.limit + 1


@pytest.mark.parametrize("name", BY_HAND)
def test_trimmed_depths_take_the_same_course(name: str):
    trial = trial_of(BY_HAND[name]())
    depths = dict.fromkeys(trial.streams, 5000)
    outcome = trial.run(depths)
    trimmed = trial.trimmed(depths, outcome)
    again = trial.run(trimmed)
    assert (again.processes, peaks(again)) == (outcome.processes, peaks(outcome))
    assert all(trial.floor[stream] <= trimmed[stream] <= depth for stream, depth in depths.items())
    assert trial.price(trimmed) < trial.price(depths)


def test_trimming_leaves_what_costs_nothing_and_what_is_under_the_floor():
    trial = trial_of(reconvergent())
    outcome = trial.run(trial.floor)
    assert peaks(outcome)["total"] < 32
    assert trial.trimmed(trial.floor, outcome)["total"] == 32
    under = {**trial.floor, "a_join": 40, "mixed": 60}
    assert trial.trimmed(under, trial.run(under)) == under


def test_filled_depths_cost_as_much():
    trial = trial_of(reconvergent())
    depths = {"a_sum": 3, "a_join": 40, "a_mix": 3, "b_mix": 2, "total": 5, "mixed": 17}
    filled = trial.filled(depths)
    for name, depth in depths.items():
        width = trial.width(name)
        assert depth <= filled[name]
        assert (
            price(width, filled[name], BOARD.memories)
            == price(width, depth, BOARD.memories)
            < price(width, filled[name] + 1, BOARD.memories)
        )


def test_costly_ones_are_in_order_of_what_they_take():
    trial = trial_of(depth_four())
    assert trial.costly({"body": 4, "around": 600, "done": 4}) == ["around", "body", "done"]
    assert trial.costly({"body": 2, "around": 2, "done": 4}) == ["done"]


def test_every_kernel_has_a_trial_of_its_own():
    tasks = [
        t
        for k in range(3)
        for t in (task(f"a{k}", (8 + k,), (), (f"s{k}",), kernel=k), task(f"b{k}", (8 + k,), (f"s{k}",), kernel=k))
    ]
    graph = made(tasks, [stream(f"s{k}", f"a{k}", f"b{k}", 8 + k) for k in range(3)])
    assert [set(trial.streams) for trial in trials_of(graph, BOARD)] == [{"s0"}, {"s1"}, {"s2"}]
