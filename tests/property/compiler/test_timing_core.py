"""The native core against the cycle-by-cycle reference, on 1,000 random networks: every number of every result.

A seed that fails is printed with the smallest network on which they still differ.
"""

from random import Random

import pytest
from cycle_reference import run_reference
from random_programs import again, program_network
from random_timing import long_network, random_network, repeated
from shrink_timing import shrink

from compiler.graph.program import Program, Repeat, nests
from compiler.graph.task_graph import TimingSpec
from compiler.simulator.timing.core import Plan, run
from compiler.simulator.timing.network import Network, Outcome

NETWORKS, BATCH = 1000, 200  # 10,000 with `python -m bench.random_timing`
LONGEST = 1_000_000  # cycles of a run whose length is nobody's choice
FIRST, *REST = (range(start, start + BATCH) for start in range(0, NETWORKS, BATCH))
FEW = 50  # of the first: the reference takes seconds for 200


def differs(network: Network) -> bool:
    expected = run_reference(network)
    return any(run(network, fast_forward=fast_forward) != expected for fast_forward in (False, True))


def compare(seeds: range) -> None:
    failing = [seed for seed in seeds if differs(random_network(seed))]
    if failing:
        pytest.fail(f"seeds {failing} differ; {explain(shrink(random_network(failing[0]), differs))}")


def compare_programs(seeds: range) -> None:
    failing = [seed for seed in seeds if differs(program_network(seed))]
    if failing:
        pytest.fail(f"programs {failing} differ; {explain(shrink(program_network(failing[0]), differs))}")


def explain(network: Network) -> str:
    lines = ["of the first, the smallest network that does:", *map(str, network.processes), *map(str, network.fifos)]
    lines += ["reference:", str(run_reference(network))]
    for fast_forward in (False, True):
        lines += [f"core, fast_forward={fast_forward}:", str(run(network, fast_forward=fast_forward))]
    return "\n".join(lines)


def test_the_first_networks():
    compare(FIRST[:FEW])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [FIRST[FEW:], *REST], ids=str)
def test_the_other_networks(seeds: range):
    compare(seeds)


# ---- programs, cycles, initial tokens ----

PROGRAMS = 1000  # as many there


def test_the_first_programs():
    compare_programs(range(FEW * 4))


@pytest.mark.slow
def test_the_other_programs():
    compare_programs(range(FEW * 4, PROGRAMS))


def test_a_program_that_is_stopped_stands_where_the_reference_stands():
    for seed in range(150):
        network = program_network(seed)
        limit = Random(seed).randint(1, run(network).cycles + 1)
        expected = run_reference(network, limit)
        for fast_forward in (False, True):
            assert run(network, limit=limit, fast_forward=fast_forward) == expected, f"seed {seed}, limit {limit}"


@pytest.mark.parametrize("seeds", [range(400), pytest.param(range(400, 3000), marks=pytest.mark.slow)], ids=str)
def test_programs_that_repeat_change_nothing(seeds: range):
    skipped = 0
    for seed in seeds:
        plan, rng = Plan(again(program_network(seed), 200)), Random(seed)
        expected = plan.run(limit=LONGEST, fast_forward=False)
        outcome = plan.run(limit=LONGEST)
        assert outcome == expected, f"seed {seed}"
        skipped += skips(outcome)
        limit = rng.randint(1, expected.cycles + 1)
        assert plan.run(limit=limit) == plan.run(limit=limit, fast_forward=False), f"seed {seed}, limit {limit}"
    assert skipped > len(seeds) // 4


def _parts(program: Program) -> list[object]:
    return [part for p in program for part in ((p, *_parts(p.body)) if isinstance(p, Repeat) else (p,))]


def test_the_programs_are_of_all_kinds():
    networks = [program_network(seed) for seed in range(500)]
    outcomes = list(map(run, networks))
    programs = [process.program for network in networks for process in network.processes]
    fifos = [(network, fifo) for network in networks for fifo in network.fifos]
    assert 100 < sum(outcome.deadlocked for outcome in outcomes) < 250
    assert sum(any(isinstance(part, Repeat) for part in _parts(p)) for p in programs) > 400
    assert sum(any(n.iterations == 0 for n in nests(p)) and any(n.iterations for n in nests(p)) for p in programs) > 200
    assert sum(len(list(nests(p))) > 2 for p in programs) > 200
    assert sum(fifo.source == fifo.target for _, fifo in fifos) > 50
    assert sum(fifo.initial > 0 for _, fifo in fifos) > 150
    assert sum(both_ways(network) for network in networks) > 100
    assert sum(p.style == "stp" for network in networks for p in network.processes) > 200
    assert sum(p.gap > 0 and not p.drains for network in networks for p in network.processes) > 100


def both_ways(network: Network) -> bool:
    """Whether two processes write to one another."""
    ends = {(f.source, f.target) for f in network.fifos if f.source != f.target}
    return any((b, a) in ends for a, b in ends)


@pytest.mark.parametrize("seeds", [range(100)], ids=str)
def test_a_run_that_is_stopped_stands_where_the_reference_stands(seeds: range):
    for seed in seeds:
        network = random_network(seed)
        limit = Random(seed).randint(1, run(network).cycles + 1)
        expected = run_reference(network, limit)
        for fast_forward in (False, True):
            assert run(network, limit=limit, fast_forward=fast_forward) == expected, f"seed {seed}, limit {limit}"


@pytest.mark.parametrize("seeds", [range(2000, 2100)], ids=str)
def test_a_long_run_is_the_same_with_and_without_its_repetitions(seeds: range):
    """Longer than the reference can be: each network is run 300 times over."""
    skipped = 0
    for seed in seeds:
        network = repeated(random_network(seed), 300)
        outcome = run(network)
        assert outcome == run(network, fast_forward=False), f"seed {seed}"
        skipped += skips(outcome)
    assert skipped > len(seeds) // 3


def compare_repetitions(seeds: range) -> None:
    for seed in seeds:
        plan, rng = Plan(long_network(seed)), Random(seed)
        expected = plan.run(limit=LONGEST, fast_forward=False)
        assert plan.run(limit=LONGEST) == expected, f"seed {seed}"
        limit = rng.randint(1, expected.cycles + 1)
        assert plan.run(limit=limit) == plan.run(limit=limit, fast_forward=False), f"seed {seed}, limit {limit}"


def test_repetitions_of_any_kind_change_nothing():
    compare_repetitions(range(150))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(150, 1600), range(1600, 2600), range(2600, 3600)], ids=str)
def test_repetitions_of_many_more_change_nothing(seeds: range):
    compare_repetitions(seeds)


def test_the_networks_are_of_all_kinds():
    """Otherwise agreement would say little: each of these is met often enough among the first 200."""
    outcomes = [run(random_network(seed)) for seed in FIRST]
    processes = [process for seed in FIRST for process in random_network(seed).processes]
    assert 20 < sum(outcome.deadlocked for outcome in outcomes) < 100
    assert sum(any(f.full for f in outcome.fifos) for outcome in outcomes) > 60
    assert sum(outcome.cycles > 3000 for outcome in outcomes) >= 8
    assert sum(skips(outcome) for outcome in outcomes) >= 5
    assert sum(len(nest.reads) > 1 for process in processes for nest in nests(process.program)) > 200
    assert sum(process.style == "stp" for process in processes) > 200
    assert sum(process.per > 1 for process in processes) > 50
    assert sum(nest.restarts > 0 for process in processes for nest in nests(process.program)) > 100


def skips(outcome: Outcome) -> bool:
    """Whether repetitions were left out: fast-forward did something."""
    return outcome.skipped > 0


def test_both_ends_of_each_fifo_move_as_many_tokens():
    for seed in FIRST:
        network = random_network(seed)
        for fifo in network.fifos:
            ends = [p for p in network.processes if p.name in (fifo.source, fifo.target)]
            moved = [
                TimingSpec(nest.trips, 1, 1).tokens(a)
                for process in ends
                for nest in nests(process.program)
                for a in nest.reads + nest.writes
                if a.stream == fifo.name
            ]
            assert len(moved) == 2, f"seed {seed}, {fifo.name}"
            assert moved[0] == moved[1], f"seed {seed}, {fifo.name}"


def test_a_failure_is_shown_on_the_smallest_network():
    """Of the networks that lose cycles to a FIFO that is full, one with nothing else in it."""
    smallest = shrink(random_network(1), lambda network: any(fifo.full for fifo in run(network).fifos))
    assert (len(smallest.processes), len(smallest.fifos)) == (2, 1)
    assert "Process(name=" in explain(smallest)
