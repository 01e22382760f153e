"""Tasks and streams as processes and FIFOs; loads and stores with the memory behind them."""

from dataclasses import replace

import pytest
from small_graphs import ALL
from through_memory import credited, through_memory
from timed_designs import design, load, store, task

from compiler.analysis.credits import with_credits
from compiler.analysis.transfers import run_of
from compiler.graph.program import Access, Gate, LoopNest, Repeat
from compiler.graph.task_graph import StoreTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.core import run
from compiler.simulator.timing.design import TimedDesign, TimedTask, Transfer
from compiler.simulator.timing.network import Network, Process
from compiler.simulator.timing.simulate import simulate
from compiler.simulator.timing.translate import memory_name, networks_of, networks_of_design

U55C = load_platform("u55c")
FAST = replace(U55C, hbm=replace(U55C.hbm, channel_gb_s=16.0))  # a word a cycle at 250 MHz


def processes(network: Network) -> dict[str, Process]:
    return {p.name: p for p in network.processes}


def nest(process: Process) -> LoopNest:
    (found,) = process.program
    assert isinstance(found, LoopNest)
    return found


def one(found: TimedDesign) -> Network:
    (network,) = networks_of_design(found, U55C)
    return network


@pytest.mark.parametrize("name", ALL)
def test_every_design_runs_to_its_end_and_moves_all_tokens(name: str) -> None:
    tasks = planned_tasks(ALL[name](), Knobs(default_tile_size=4, overall_unroll=8), U55C)
    networks = networks_of(tasks, U55C)
    assert len(networks) == tasks.kernels
    pushed: dict[str, int] = {}
    for network in networks:
        outcome = run(network)
        assert not outcome.deadlocked
        assert all(r.iterations == p.iterations for p, r in zip(network.processes, outcome.processes, strict=True))
        pushed |= {fifo.name: fifo.pushed for fifo in outcome.fifos}
    assert {s.name: s.tokens for s in tasks.streams}.items() <= pushed.items()
    words = {memory_name(t.name): t.dma.words for t in tasks.transfers if isinstance(t, StoreTask)}
    assert words.items() <= pushed.items()


def test_a_task_keeps_its_nest_and_a_stream_its_name() -> None:
    found = one(design((task("a", (3, 4), (), ("s",), ii=2, depth=9), task("b", (12,), ("s",), depth=1)), {"s": 7}))
    first, second = found.processes
    assert (nest(first).trips, first.ii, first.latency, nest(first).writes) == ((3, 4), 2, 9, (Access("s"),))
    assert second.latency == 2  # a flushable pipeline reads in one cycle and writes in another
    assert [(f.name, f.source, f.target, f.depth) for f in found.fifos] == [("s", "a", "b", 7)]


def loaded(tokens: int, per_word: int, run_length: int | None = None) -> TimedDesign:
    transfer = Transfer(1, per_word, 1, run_length)
    return design((load("l", tokens, "s", transfer), task("t", (tokens,), ("s",))))


def test_the_first_token_of_a_load_comes_after_its_depth() -> None:
    outcome = run(one(loaded(4, 1)))
    assert next(p.start for p in outcome.processes if p.name == "t") == 66


def test_a_word_is_read_every_so_many_tokens() -> None:
    found = processes(one(loaded(64, 16)))
    assert found["l@hbm"].iterations == 4
    assert nest(found["l"]).trips == (4, 16)
    assert nest(found["l"]).reads == (Access("l@hbm", (Gate(1, 0, 1),)),)
    assert nest(found["l"]).writes == (Access("s"),)


def test_a_store_hands_over_a_word_with_its_last_token() -> None:
    found = processes(one(design((task("t", (64,), (), ("s",)), store("o", 64, "s", Transfer(1, 16, 1, None))))))
    assert nest(found["o"]).writes == (Access("o@hbm", (Gate(1, 15, 16),)),)
    assert nest(found["o@hbm"]).reads == (Access("o@hbm"),)
    assert found["o@hbm"].iterations == 4


def test_a_last_word_that_is_not_full_neither_loses_nor_adds_tokens() -> None:
    outcome = run(one(loaded(10, 4)))
    assert not outcome.deadlocked
    assert {f.name: f.pushed for f in outcome.fifos} == {"l@hbm": 5, "s": 10}  # halves of words


def test_the_adapter_asks_ahead_for_what_it_has_room_for() -> None:
    """256 words are outstanding or there when nothing is read; after that the reader gets them at a word a cycle."""
    words = 400
    wait = task("gate", (1,), (), ("go",), depth=1000)
    late = task("t", (words,), (Access("go", (Gate(0, 0, 1),)), "s"))
    (network,) = networks_of_design(design((load("l", words, "s"), wait, late)), U55C)
    memory = next(p for p in network.processes if p.name == "l@hbm")
    adapter = next(f for f in network.fifos if f.name == "l@hbm")
    assert (adapter.depth or 0) + memory.slots == 256
    before = run(network, limit=1000)
    assert next(p.iterations for p in before.processes if p.name == "l@hbm") == 256 + 2 + 1  # FIFO, and the load itself


def test_short_bursts_prefetch_less() -> None:
    (network,) = networks_of_design(loaded(64, 1, run_length=4), FAST)
    memory = next(p for p in network.processes if p.name == "l@hbm")
    assert (nest(memory).trips, nest(memory).restarts, memory.drains) == ((16, 4), 1, False)
    assert memory.gap > 0
    assert next(f.depth for f in network.fifos if f.name == "l@hbm") == max(2, 16 * 4 - memory.slots)


def test_runs_end_at_the_innermost_loop_that_reads_again() -> None:
    assert run_of([(8, False), (4, False)], 1) is None
    assert run_of([(8, True), (4, False), (2, False)], 1) == 8
    assert run_of([(8, True), (4, False), (2, True), (3, False)], 2) == 6
    assert run_of([(8, True), (4, False), (1, True)], 1) == 4
    assert run_of([(4, False), (8, True)], 1) == 1


def test_a_wide_token_is_read_in_several_words() -> None:
    gate = (Gate(1, 2, 3),)
    wide = TimedTask(
        "l", "load", 0, task("", (5, 3), depth=66).timing, (), (Access("s", gate),), Transfer(1, 1, 3, None)
    )
    outcome = run(one(design((wide, task("t", (5,), ("s",))))))
    assert {f.name: f.pushed for f in outcome.fifos} == {"l@hbm": 15, "s": 5}


def test_a_store_waits_for_the_answer_before_it_sends_a_credit_and_a_load_asks_behind_one() -> None:
    (network,) = networks_of(credited(), U55C)
    found, run_of_store = processes(network), LoopNest((4,), (Access("store_k_in"),), (Access("store_k@hbm"),))
    sends = LoopNest((1,), (Access("store_k@answer"),), (Access("load_k_credit"),))
    assert found["store_k"].program == (Repeat(2, (run_of_store, sends)),)
    answered = Access("store_k@answer", (Gate(0, 3, 4),))
    assert found["store_k@hbm"].program == (Repeat(2, (LoopNest((4,), (Access("store_k@hbm"),), (answered,)),)),)
    assert found["store_k@hbm"].latency == U55C.hbm.write_response_cycles
    asks = LoopNest((1,), (Access("load_k_credit"),), (Access("load_k@request"),))
    run_of_load = LoopNest((4,), (Access("load_k@hbm"),), (Access("op_y_in0"),))
    assert found["load_k"].program == (Repeat(2, (asks, run_of_load)),)
    asked = Access("load_k@request", (Gate(0, 0, 1),))
    assert found["load_k@hbm"].program == (Repeat(2, (LoopNest((4,), (asked,), (Access("load_k@hbm"),)),)),)


def test_a_response_that_takes_longer_holds_up_each_run() -> None:
    slow = replace(U55C, hbm=replace(U55C.hbm, write_response_cycles=164))
    late = simulate(with_credits(through_memory(), "k", slow, 1), slow).cycles - simulate(credited(), U55C).cycles
    assert late == 2 * 100 + 100  # the last store's words are in memory later, too
