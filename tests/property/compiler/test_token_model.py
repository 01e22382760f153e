"""The token model against counting, cycle by cycle, what is in the FIFO of two pipelines."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from token_model import TokenModel

from compiler.errors import VerificationError
from compiler.graph.program import Access, Gate
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Fifo, Network, Process

CASES = 10_000


def _peak(model: TokenModel) -> int:
    """Most tokens that take a place in a cycle: one that is read gives it back with the next."""
    written = read = cycle = peak = 0
    turn = model.delay
    while read < model.tokens:
        stored = written - read
        since = cycle - (model.initial_delay - 1)
        if written < model.tokens and since >= 0 and since % model.source_ii == 0:
            written += 1
        peak = max(peak, written - read)
        if cycle >= turn and stored >= 1:
            turn = cycle + model.target_ii
            read += 1
        cycle += 1
    return peak


def _random_case(random: Random) -> TokenModel:
    delay = random.randint(1, 20)
    wait = random.choice((0, 0, 1, random.randint(0, 12), random.randint(0, 120)))
    fastest = random.choice((1, 3, 12))
    source_ii, target_ii = random.randint(1, fastest), random.randint(1, fastest)
    return TokenModel(random.randint(1, 25), source_ii, delay, target_ii, delay + wait)


def test_counts_are_those_of_the_machine():
    random = Random(4)
    assert all(model.peak == _peak(model) for model in (_random_case(random) for _ in range(CASES)))


def _count_of_the_paper(model: TokenModel) -> int:
    if model.source_ii > model.target_ii:
        return min(model.tokens, -(-(model.delay - model.initial_delay) // model.source_ii))
    return min(model.tokens, model.tokens - (model.latency - model.delay) // model.target_ii)


def test_the_papers_counts_are_one_off_at_most_and_in_the_cases_that_are_named():
    random = Random(7)
    off = Counter[tuple[bool, int]]()
    for model in (_random_case(random) for _ in range(CASES)):
        slower, difference = model.source_ii > model.target_ii, _count_of_the_paper(model) - model.peak
        off[slower, difference] += 1
        if difference < 0:
            gap = model.delay - model.initial_delay
            assert (gap % model.source_ii == 0 or (gap + 1) % model.source_ii == 0) if slower else model.target_ii == 1
        if difference > 0:
            assert (model.latency - model.delay) % model.target_ii > 1
    assert set(off) == {(True, -1), (True, 0), (False, -1), (False, 0), (False, 1)}


def _networks(model: TokenModel) -> Network:
    """The two pipelines; a third writes the token that lets the target start, `delay` cycles after the source."""
    trips, once = (model.tokens,), (Gate(0, 0, 1),)
    source = Process.of_nest("source", trips, model.source_ii, model.initial_delay, (), (Access("tokens"),))
    late = Process.of_nest("late", (1,), 1, model.delay, (), (Access("go"),))
    target = Process.of_nest("target", trips, model.target_ii, 2, (Access("tokens"), Access("go", once)), ())
    fifos = (Fifo("tokens", "source", "target", None), Fifo("go", "late", "target", None))
    return Network((source, late, target), fifos)


def test_counts_are_those_of_the_simulator():
    random = Random(11)
    for model in (_random_case(random) for _ in range(300)):
        case = replace(model, initial_delay=model.initial_delay + 1, delay=model.delay + 1)  # flushable: 2 at least
        network = _networks(case)
        plan = Plan(network)
        unbounded = plan.run()
        assert unbounded.fifos[0].peak == case.peak, case
        assert plan.run({"tokens": case.peak}).fifos[0].full == 0, case
        assert case.peak == 1 or plan.run({"tokens": case.peak - 1}).fifos[0].full > 0, case


def test_the_papers_example():
    example = TokenModel(tokens=5, source_ii=1, initial_delay=3, target_ii=2, delay=3)
    assert (example.latency, example.peak) == (7, 3)


def test_equal_pipelines_need_two_places():
    assert TokenModel(tokens=9, source_ii=1, initial_delay=4, target_ii=1, delay=4).peak == 2
    assert TokenModel(tokens=9, source_ii=2, initial_delay=4, target_ii=2, delay=4).peak == 1


def test_one_token_takes_one_place():
    assert TokenModel(tokens=1, source_ii=7, initial_delay=4, target_ii=2, delay=100).peak == 1


def test_a_target_that_starts_before_its_data_is_refused():
    with pytest.raises(VerificationError, match=r"after 4; a delay must be at least that"):
        TokenModel(tokens=9, source_ii=1, initial_delay=4, target_ii=1, delay=3)
