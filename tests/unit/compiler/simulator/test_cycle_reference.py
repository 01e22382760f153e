"""The cycle-by-cycle reference, and the native core, on pipelines worked out by hand."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from cycle_reference import run_reference
from small_pipelines import PIPELINES, chain, fork_join

from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import FifoRun, Network, Outcome, ProcessRun

# Cycles until the last event's is over, and whether the network is dead then.
EXPECTED = {
    "chain, depth 1": (12, False),  # writes in 1, 3, 5, 7, 9: a place is free two cycles after it was taken
    "chain, depth 2": (8, False),  # writes in 1 to 5; the last token is read in 6 and leaves in 7
    "chain, unbounded": (8, False),
    "a token in 5/2 cycles": (23, False),  # made in 0, 3, 5, 8, 10, 13; the last: written in 14, 20, leaves in 22
    "II 2, flushable": (28, False),  # the last is read in 2 + 9 x 2, written in 25, leaves in 27
    "II 2, stalling": (28, False),
    "slow source, flushable": (18, False),  # the second is written in 11, 15, leaves in 17
    "slow source, stalling": (18, False),
    "reduction": (20, False),  # the last of 12 is read in 13, its sum is written in 17
    "reuse": (20, False),  # the last use enters in 13
    "fork and join, flushable": (50, False),  # six cycles a token: written, w reads, + 3, joined, free: 1 + 7 x 6 ...
    "fork and join, stalling": (23, False),  # writes in 1 to 4, then three cycles each until 16; w's last step is 20
    "fork and join, stalling, dead": (5, True),  # w needs a fourth token to let the first out: its last step is 4
    "all of one first": (13, False),  # writes in 1 to 4, reads in 2 to 9
    "all of one first, dead": (7, True),  # two pairs are written, in 1 and 2; the second's first half leaves b in 6
    "restarts that drain": (32, False),  # runs begin in 0, in 11 = 7 + 1 + 3 and in 22, the last token leaves in 29
    "restarts that do not drain": (24, False),  # in 0, 7 and 14
    "restarts, stalling": (32, False),
}


def test_every_pipeline_is_worked_out():
    assert EXPECTED.keys() == PIPELINES.keys()


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("simulator", [run_reference, run], ids=["reference", "core"])
def test_cycles_and_verdict(simulator: Callable[[Network], Outcome], name: str):
    outcome = simulator(PIPELINES[name])
    assert (outcome.cycles, outcome.deadlocked, outcome.stopped) == (*EXPECTED[name], False)


def test_every_count_of_a_chain_of_depth_1():
    """The source's slot is taken while its token waits, in 2, 4 and 6; its tokens wait in 2, 4, 6 and 8."""
    processes = (ProcessRun("a", 5, 0, 10, 0, 3), ProcessRun("b", 5, 2, 12, 6, 0))
    assert run_reference(chain(1)) == Outcome(12, False, False, processes, (FifoRun("x", 5, 5, 1, 6, 4),))


def test_every_count_of_a_deadlock():
    """`w` waits for tokens only before the first; then it is `a` that waits, for room beside it, and `b` for `w`."""
    processes = (ProcessRun("a", 4, 0, 4, 0, 1), ProcessRun("w", 3, 2, 0, 2, 0), ProcessRun("b", 0, -1, 0, 5, 0))
    fifos = (FifoRun("x", 3, 3, 2, 2, 0), FifoRun("side", 3, 0, 3, 2, 1), FifoRun("y", 0, 0, 0, 5, 0))
    assert run_reference(fork_join("stp", 3)) == Outcome(5, True, False, processes, fifos)


def test_a_stalling_process_keeps_its_result_until_more_comes():
    assert run_reference(PIPELINES["slow source, flushable"]).processes[-1].start == 6
    assert run_reference(PIPELINES["slow source, stalling"]).processes[-1].start == 15


def test_a_stalling_process_of_latency_1_reads_and_writes_in_one_step():
    network = PIPELINES["II 2, stalling"]
    a, w, b = network.processes
    shortened = Network((a, replace(w, ii=1, latency=1), b), network.fifos)
    assert run_reference(shortened).cycles == 14  # written in 1 to 10, 2 to 11, read in 12, leaves in 13


def test_a_run_that_is_stopped_tells_how_far_it_came():
    outcome = run_reference(chain(1), limit=3)
    processes = (ProcessRun("a", 2, 0, 2, 0, 1), ProcessRun("b", 1, 2, 0, 2, 0))
    assert outcome == Outcome(3, False, True, processes, (FifoRun("x", 1, 1, 1, 2, 1),))
