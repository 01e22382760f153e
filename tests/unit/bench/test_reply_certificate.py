"""Certificates of replies: a design that is right holds at every position, one that is wrong does not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from looped_pipelines import nest, network, process
from reply_pipelines import U55C, replying_design

from bench.reply_certificate import Certificate, certificate, ending_network, failure, fullest, replies
from compiler.simulator.timing.core import run
from compiler.simulator.timing.design import TimedDesign, TimedTask
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.sizing.trial import one_at_a_time

POSITIONS = 63


@pytest.fixture(scope="module")
def design() -> TimedDesign:
    return replying_design()


@pytest.fixture(scope="module")
def found(design: TimedDesign) -> Certificate:
    return certificate(design, U55C)


def test_every_position_is_run(design: TimedDesign) -> None:
    """Alone or behind the one before, and as the first of chunks of every length; to the last one."""
    assert design.control is not None
    rows, told = design.control.rows, list(replies(design))
    assert {(one[0]["position"], one[0].get(ROWS, 1)) for one in told} == {
        (position, count) for count in range(1, rows + 1) for position in range(POSITIONS - count + 1)
    }
    assert tuple({"position": position} for position in range(POSITIONS)) in told
    ends = [one[-1]["position"] + one[-1].get(ROWS, 1) for one in told]
    assert max(ends) == POSITIONS


def test_a_certified_design_holds(found: Certificate) -> None:
    assert found.holds
    assert found.wrong == ()
    assert found.stalls


def test_with_one_token_less_it_does_not(design: TimedDesign, found: Certificate) -> None:
    """Each of the FIFOs that are critical, what leads from layer to layer among them."""
    assert design.control is not None
    assert set(design.control.looped) < found.least.keys()
    for name, depth in found.least.items():
        assert not any(_failures(design, name, depth)), name
        assert "deadlock" in _failures(design, name, depth - 1), name


def _failures(design: TimedDesign, stream: str, depth: int) -> list[str]:
    streams = tuple(replace(s, depth=depth) if s.name == stream else s for s in design.streams)
    made = (ending_network(replace(design, streams=streams), U55C, launches) for launches in fullest(design))
    return [failure(run(each), each) for each in map(one_at_a_time, made)]


def _without_answer(task: TimedTask) -> TimedTask:
    return replace(task, turns=task.turns[:-1]) if task.done else task


def _without_credit(task: TimedTask) -> TimedTask:
    """Its store sends no credit behind a row of a chunk, for which its load waits."""
    return replace(task, credit="") if task.kind == "store" else task


@pytest.mark.parametrize("wrong", [_without_answer, _without_credit])
def test_what_is_wrong_does_not_hold(design: TimedDesign, wrong: Callable[[TimedTask], TimedTask]) -> None:
    flawed = replace(design, tasks=tuple(map(wrong, design.tasks)))
    networks = [ending_network(flawed, U55C, launches) for launches in fullest(flawed)]
    assert "deadlock" in [failure(run(each), each) for each in networks]


def test_what_is_left_in_a_fifo_is_told() -> None:
    some = network(process("writes", nest(4, "", "kept")), process("reads", nest(3, "kept")), kept=4)
    assert failure(run(some), some) == "tokens are left in kept"
    all_of = network(process("writes", nest(4, "", "kept")), process("reads", nest(4, "kept")), kept=4)
    assert failure(run(all_of), all_of) == ""
