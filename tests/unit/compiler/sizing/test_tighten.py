"""The search for smaller FIFOs: it ends, every FIFO that is left was tried, and it stops when its effort is spent."""

from collections import Counter

import pytest
from certificate import BOARD, trial_of
from sizable_graphs import BY_HAND, choice, depth_four, loaded, racing, residual, softmax_rows, stream, task
from sizable_graphs import graph as made

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import is_free, next_smaller
from compiler.graph.task_graph import TaskGraph
from compiler.simulator.timing.network import Outcome
from compiler.sizing.tighten import Tightening
from compiler.sizing.trial import TOGETHER

MEMORIES = BOARD.memories

PLENTY = 1_000_000_000  # of work: nothing here comes near it


def tightened(graph: TaskGraph, depth: int, effort: int = PLENTY) -> tuple[Tightening, Outcome]:
    """From `depth` tokens in every FIFO, its memory filled."""
    trial = trial_of(graph)
    found = Tightening(trial, trial.filled(dict.fromkeys(trial.streams, depth)), effort)
    start = trial.run(found.depths)
    assert trial.holds(start)
    return found, found.run(start)


@pytest.mark.parametrize("depth", [4, 64, 1000])
def test_it_ends_where_the_step_below_is_the_shallowest_fifo(depth: int):
    """512 bits, four tokens: one step smaller was tried over and over."""
    found, _ = tightened(depth_four(), max(depth, 5))
    assert found.trial.work < PLENTY
    assert found.depths["around"] in (4, 5)
    assert found.failed["around"][0] == MIN_DEPTH


def test_four_tokens_of_512_bits():
    trial = trial_of(depth_four())
    found = Tightening(trial, dict.fromkeys(trial.streams, MIN_DEPTH) | {"around": 4}, PLENTY)
    found.run(trial.run(found.depths))
    assert trial.work < PLENTY
    assert found.is_needed("around")


@pytest.mark.parametrize("depth", [100, 500, 5000])
@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_left_is_needed(name: str, depth: int):
    found, outcome = tightened(BY_HAND[name](), depth)
    trial = found.trial
    assert trial.work < PLENTY
    assert trial.holds(outcome)
    again = trial.run(found.depths)
    assert (again.cycles, again.processes) == (outcome.cycles, outcome.processes)
    for fifo in trial.costly(found.depths):
        smaller = next_smaller(trial.width(fifo), found.depths[fifo], MEMORIES)
        assert smaller is not None
        assert found.is_needed(fifo)
        assert found.failed[fifo][0] == smaller
        assert not any(map(trial.holds, trial.try_all([{**found.depths, fifo: smaller}])))


def test_some_fifo_needs_memory():
    for name in BY_HAND:
        found, _ = tightened(BY_HAND[name](), 500)
        assert found.trial.costly(found.depths), name


def test_the_failed_run_is_kept():
    found, _ = tightened(softmax_rows(), 500)
    for fifo, (depth, outcome) in found.failed.items():
        assert not found.trial.holds(outcome)
        assert depth < found.depths[fifo]


def test_by_halves_and_not_further_than_what_did():
    """500 tokens are inside `slow` at three cycles each; block RAM for 512 tokens is the step that holds them."""
    found, _ = tightened(racing(), 3000)
    trial = found.trial
    assert "around" in found.succeeded
    assert found.failed["around"][0] == next_smaller(1024, found.depths["around"], MEMORIES)
    assert 480 <= found.depths["around"] <= 512
    assert trial.runs < 20


def test_no_step_between_what_did_and_what_did_not_is_left_out():
    """1,900 tokens of 32 bits: block RAM has a step at 2,048, between many others."""
    found, _ = tightened(racing(tokens=9000, slow=5700, lanes=1), 8900)
    trial = found.trial
    smaller = next_smaller(32, found.depths["around"], MEMORIES)
    assert found.failed["around"][0] == smaller
    assert 1850 < found.depths["around"] <= 2048
    assert 1024 <= (smaller or 0) < 1900
    assert trial.runs < 20


def test_of_two_that_can_be_smaller_but_not_both_one_gets_smaller():
    """A row of 14 tokens fits one of them, with what is inside between."""
    found, outcome = tightened(choice(columns=14, wide=16, narrow=16), 16)
    trial = found.trial
    assert not trial.run(found.depths).deadlocked
    assert trial.holds(outcome)
    assert len(trial.costly(found.depths)) == 1


def test_few_runs_find_it():
    """By halves of the price, not step by step: from 5,000 tokens to 45 there are many."""
    found, _ = tightened(softmax_rows(), 5000)
    assert found.trial.runs < 40


@pytest.mark.parametrize("rounds", [0, 1])
def test_it_stops_where_another_round_would_not_fit(rounds: int):
    start = trial_of(softmax_rows())
    each = TOGETHER * start.run(start.filled(dict.fromkeys(start.streams, 5000))).work
    effort = start.work + rounds * each + 1
    found, outcome = tightened(softmax_rows(), 5000, effort)
    trial = found.trial
    assert trial.runs - start.runs == rounds * TOGETHER
    assert trial.work <= effort
    assert any(not found.is_needed(fifo) for fifo in trial.costly(found.depths))
    assert trial.run(found.depths).cycles == outcome.cycles


def test_nothing_is_tried_twice():
    found, _ = tightened(softmax_rows(), 500)
    tried: Counter[str] = Counter()
    trial = trial_of(softmax_rows())
    again = Tightening(trial, trial.filled(dict.fromkeys(trial.streams, 500)), PLENTY)
    try_all = trial.try_all

    def watched(choices: list[dict[str, int]]) -> list[Outcome]:
        tried.update(str(sorted(choice.items())) for choice in choices)
        return try_all(choices)

    trial.try_all = watched  # pyright: ignore[reportAttributeAccessIssue]
    again.run(trial.run(again.depths))
    assert again.depths == found.depths
    assert tried
    assert set(tried.values()) == {1}


def test_fifos_behind_hbm_stay_where_they_are_needed():
    trial = trial_of(loaded(prefetch=50))
    depths = trial.filled({name: s.depth if name in trial.loads else 5000 for name, s in trial.streams.items()})
    found = Tightening(trial, depths, PLENTY)
    assert trial.holds(found.run(trial.run(depths)))
    assert any(not is_free(trial.width(name), found.depths[name], MEMORIES) for name in trial.loads)


def test_a_residual_is_as_deep_as_the_way_beside_it_is_long():
    found, _ = tightened(residual(rows=200, slow=50), 190)
    assert 50 <= found.depths["around"] <= 64


def hasty_pairs(pairs: int) -> TaskGraph:
    """Writers at twice the pace of their readers: FIFOs that fill, and need not."""
    tasks = [
        each
        for n in range(pairs)
        for each in (task(f"write{n}", (500,), (), (f"s{n}",)), task(f"read{n}", (500,), (f"s{n}",), ii=2))
    ]
    return made(tasks, [stream(f"s{n}", f"write{n}", f"read{n}", 500) for n in range(pairs)])


def test_small_ones_are_tried_all_at_once():
    graph = hasty_pairs(150)
    found, _ = tightened(graph, 500)
    assert len(trial_of(graph).costly(trial_of(graph).filled(dict.fromkeys(trial_of(graph).streams, 500)))) == 150
    assert not found.trial.costly(found.depths)
    assert found.trial.runs <= 4


def test_of_several_small_ones_those_that_are_needed_are_found():
    hasty, slow = hasty_pairs(150), residual(rows=1000, slow=100)
    both = made([*hasty.tasks, *slow.tasks], [*hasty.streams, *slow.streams])
    found, _ = tightened(both, 500)
    (needed,) = found.trial.costly(found.depths)
    assert needed == "around"
    assert found.is_needed("around")
    assert found.trial.runs < 40
