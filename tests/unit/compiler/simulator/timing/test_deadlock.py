"""Why a design hangs: who waits for whom, and the least depth that breaks it."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import pytest
from cycle_reference import run_reference
from looped_pipelines import LOOPS, begun
from random_programs import program_network
from random_timing import random_network, with_nests
from timed_designs import residual

from compiler.graph.program import Access, Gate, LoopNest
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.deadlock import Deadlock, explain
from compiler.simulator.timing.network import Fifo, Network, Process
from compiler.simulator.timing.simulate import simulate_design
from compiler.simulator.timing.translate import networks_of_design
from compiler.simulator.timing.waits import Wait, waits_of

U55C = load_platform("u55c")


def explained(network: Network) -> Deadlock | None:
    plan = Plan(network)
    outcome = plan.run(fast_forward=False)
    return explain(network, outcome, partial(plan.run, fast_forward=False)) if outcome.deadlocked else None


def test_a_row_that_does_not_fit_beside_its_sum() -> None:
    (network,) = networks_of_design(residual(4), U55C)
    found = explained(network)
    assert found is not None
    assert found.cycle == (
        Wait("copy", "bypass", "full", "divide"),
        Wait("divide", "sum", "empty", "total"),
        Wait("total", "row", "empty", "copy"),
    )
    assert (found.fifo, found.depth) == ("bypass", 4)
    assert found.depth_needed == 8  # the whole row: its last token enters both FIFOs at once
    assert "copy waits until divide reads (bypass is full with 4)" in found.text
    assert "divide waits for a token of total (sum is empty)" in found.text
    assert "It runs to its end with bypass at least 8 deep instead of 4." in found.text


@pytest.mark.parametrize(("depth", "hangs"), [(7, True), (8, False)])
def test_the_depth_that_is_told_is_the_least(depth: int, hangs: bool) -> None:
    assert (simulate_design(residual(depth), U55C).deadlock is not None) == hangs


def reorders(first: int, second: int) -> Network:
    """One task writes 8 tokens to `a`, then 8 to `b`, the other reads 8 of `c` first: a - relay - c, b direct."""
    a, b = Access("a", (Gate(0, 0, 1),)), Access("b", (Gate(0, 1, 2),))
    last, start = Access("b", (Gate(0, 0, 1),)), Access("a", (Gate(0, 1, 2),))
    source = Process.of_nest("source", (2, 8), 1, 2, (), (a, b))
    sink = Process.of_nest("sink", (2, 8), 1, 2, (last, start), ())
    return Network((source, sink), (Fifo("a", "source", "sink", first), Fifo("b", "source", "sink", second)))


def test_tokens_that_are_read_in_another_order() -> None:
    found = explained(reorders(4, 4))
    assert found is not None
    assert (found.fifo, found.depth_needed) == ("a", 8)
    assert len(found.cycle) == 2


def both(depth: int) -> Network:
    """Two independent pairs that both need depth: no single FIFO is enough."""
    one = reorders(depth, 2)

    def renamed(name: str) -> Network:
        def access(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
            return tuple(Access(name + x.stream, x.gates) for x in accesses)

        def nest(nest: LoopNest) -> LoopNest:
            return replace(nest, reads=access(nest.reads), writes=access(nest.writes))

        return Network(
            tuple(replace(with_nests(p, nest), name=name + p.name) for p in one.processes),
            tuple(Fifo(name + f.name, name + f.source, name + f.target, f.depth) for f in one.fifos),
        )

    first, second = renamed("p_"), renamed("q_")
    return Network((*first.processes, *second.processes), (*first.fifos, *second.fifos))


def test_several_fifos_are_named_where_one_is_not_enough() -> None:
    found = explained(both(3))
    assert found is not None
    assert found.needed == {"p_a": 8, "q_a": 8}
    assert "No single FIFO is enough" in found.text


def test_a_reader_that_wants_more_than_is_written_is_a_defect() -> None:
    source = Process.of_nest("source", (4,), 1, 2, (), (Access("s"),))
    sink = Process.of_nest("sink", (5,), 1, 2, (Access("s"),), ())
    found = explained(Network((source, sink), (Fifo("s", "source", "sink", 2),)))
    assert found is not None
    assert (found.cycle, found.fifo, found.depth_needed) == ((), None, None)
    assert "sink waits for a token of source (s is empty), which has ended" in found.text
    assert "No depth of any FIFO helps" in found.text


@pytest.mark.parametrize("name", LOOPS)
def test_the_fifo_that_makes_a_circle_is_named(name: str) -> None:
    make, kept = LOOPS[name]
    found = explained(make(kept - 1))
    assert found is not None
    assert any(wait.fifo == "kept" and wait.because == "full" for wait in found.cycle)
    assert (found.fifo, found.depth, found.depth_needed) == ("kept", kept - 1, kept)


def test_a_circle_without_a_token_to_begin_with() -> None:
    found = explained(begun(3, initial=0))
    assert found is not None
    assert found.cycle == (Wait("first", "back", "empty", "third"), Wait("third", "kept", "empty", "first"))
    assert (found.fifo, found.depth_needed) == (None, None)
    assert "one of these tasks must write before it reads, or a FIFO begin with tokens" in found.text


def test_a_fifo_from_a_process_to_itself() -> None:
    """It hands on a sum: each iteration reads what the one before wrote, and a token is there before the first."""
    handed = (Access("sum"),)

    def network(initial: int) -> Network:
        return Network((Process.of_nest("a", (5,), 1, 4, handed, handed),), (Fifo("sum", "a", "a", 2, initial),))

    assert Plan(network(1)).run().cycles == 4 * 4 + 4  # each enters the cycle after the one before left
    found = explained(network(0))
    assert found is not None
    assert found.cycle == (Wait("a", "sum", "empty", "a"),)


def check_random(networks: Iterable[Network]) -> int:
    """How many of the networks hang; what is told of them must be true."""
    hanging = 0
    for seed, network in enumerate(networks):
        plan = Plan(network)
        outcome = plan.run(fast_forward=False)
        if not outcome.deadlocked:
            continue
        hanging += 1
        runs = zip(network.processes, outcome.processes, strict=True)
        unfinished = {process.name for process, run in runs if process.iterations and run.end == 0}
        waits = waits_of(network, outcome)
        assert unfinished <= set(waits), seed
        found = explained(network)
        assert found is not None
        if not found.needed:  # no depth helps
            assert plan.run({f.name: None for f in network.fifos}, fast_forward=False).deadlocked, seed
            continue
        assert all(a.other == b.task for a, b in zip(found.cycle, found.cycle[1:] + found.cycle[:1], strict=True))
        assert not plan.run(found.needed, fast_forward=False).deadlocked, seed
        for fifo, depth in found.needed.items():
            assert plan.run({**found.needed, fifo: depth - 1}, fast_forward=False).deadlocked, (seed, fifo)
    return hanging


def test_what_is_told_of_random_networks_is_true() -> None:
    assert check_random(map(random_network, range(150))) > 20


def test_what_is_told_of_random_programs_is_true() -> None:
    assert check_random(map(program_network, range(300))) > 80


@pytest.mark.slow
def test_what_is_told_of_many_random_networks_is_true() -> None:
    assert check_random(map(random_network, range(150, 1500))) > 250
    assert check_random(map(program_network, range(300, 2000))) > 500


def test_the_reference_hangs_where_the_core_does() -> None:
    (network,) = networks_of_design(residual(7), U55C)
    assert run_reference(network).deadlocked
    (network,) = networks_of_design(residual(8), U55C)
    assert not run_reference(network).deadlocked
