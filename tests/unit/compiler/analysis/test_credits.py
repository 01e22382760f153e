"""Credits that are put between a store and loads of its value."""

from dataclasses import replace

import pytest
from through_memory import KEPT, U55C, credited, through_memory, with_depth

from compiler.analysis.credits import with_credits
from compiler.analysis.schedule import schedule
from compiler.errors import VerificationError
from compiler.graph.program import tokens
from compiler.simulator.timing.simulate import simulate


@pytest.mark.parametrize(("outer", "sent"), [(0, 1), (1, 2), (2, 8)])
def test_there_is_one_for_each_run(outer: int, sent: int) -> None:
    tasks = credited(outer)
    assert tokens(tasks.task["store_k"].program, "writes", "load_k_credit") == sent
    assert tasks.task["store_k"].timing.depth == through_memory().task["store_k"].timing.depth + 64


def test_what_has_no_store_or_walks_otherwise_is_refused() -> None:
    tasks = through_memory()
    with pytest.raises(VerificationError, match="x has 0 stores"):
        with_credits(tasks, "x", U55C)
    load = tasks.task["load_k"]
    other = replace(load, timing=replace(load.timing, trips=(4, 2)))
    changed = replace(tasks, tasks=tuple(other if t is load else t for t in tasks.tasks))
    with pytest.raises(VerificationError, match="load_k walks other outer loops than store_k"):
        with_credits(changed, "k", U55C, 1)


@pytest.mark.parametrize("outer", [0, 1, 2])
def test_the_estimate_waits_for_memory_as_the_simulation_does(outer: int) -> None:
    """Rows of 256, 512 bits a token: memory holds up all of it."""
    tasks = with_depth(credited(outer, 16, 256), KEPT, 300)
    _, (estimated,) = schedule(tasks, U55C)
    simulated = simulate(tasks, U55C).cycles
    assert estimated == pytest.approx(simulated, rel=0.01)
    assert simulated > 1.3 * schedule(through_memory(16, 256), U55C)[1][0]
