"""The Python side of the native core: its library, its errors, runs side by side, runs that go on, the timeline."""

import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from looped_pipelines import reply, walks
from random_programs import again, program_network
from random_timing import random_network, repeated

from compiler.errors import ToolError, VerificationError
from compiler.graph.program import Access, Gate, LoopNest, Repeat
from compiler.simulator.timing import core
from compiler.simulator.timing.core import MAX_ACCESSES, Plan, Run, run
from compiler.simulator.timing.network import Fifo, Network, Outcome, Process
from compiler.sizing.trial import one_at_a_time


def chain(depth: int | None = 2, tokens: int = 100) -> Network:
    first = Process.of_nest("a", (tokens,), 1, 3, (), (Access("s"),))
    second = Process.of_nest("b", (tokens,), 3, 5, (Access("s"),), ())
    return Network((first, second), (Fifo("s", "a", "b", depth),))


def around_a_sum(row: int | None = 8, total: int | None = 2) -> Network:
    """`b` reads the total of eight tokens before the first of them."""
    last, first = (Gate(0, 7, 8),), (Gate(0, 0, 1),)
    a = Process.of_nest("a", (8,), 1, 3, (), (Access("row"), Access("total", last)))
    b = Process.of_nest("b", (8,), 1, 3, (Access("row"), Access("total", first)), ())
    return Network((a, b), (Fifo("row", "a", "b", row), Fifo("total", "a", "b", total)))


# ---- the library ----


@pytest.mark.slow
def test_a_fresh_library_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = tmp_path / "timing" / "core"
    shutil.copytree(core.SOURCE, source)
    monkeypatch.setattr(core, "SOURCE", source)
    core._library.cache_clear()
    try:
        assert run(chain()).cycles > 300
    finally:
        core._library.cache_clear()
    assert len(list((source.parent / "_build").glob("core-*.so"))) == 1


# ---- plans ----


def wide(streams: int) -> Network:
    names = [f"s{n}" for n in range(streams)]
    writer = Process.of_nest("w", (3,), 1, 2, (), tuple(map(Access, names)))
    reader = Process.of_nest("r", (3,), 1, 2, tuple(map(Access, names)), ())
    return Network((writer, reader), tuple(Fifo(name, "w", "r", 2) for name in names))


def test_a_process_has_at_most_so_many_streams():
    assert run(wide(MAX_ACCESSES)).tokens == 3 * MAX_ACCESSES
    with pytest.raises(ToolError, match=f"w has {MAX_ACCESSES + 1} streams.*{MAX_ACCESSES}"):
        run(wide(MAX_ACCESSES + 1))


def test_a_plan_runs_with_the_depths_it_is_given_and_its_own_otherwise():
    plan = Plan(around_a_sum(row=8))
    assert not plan.run().deadlocked
    assert plan.run({"row": 3}).deadlocked
    assert plan.run() == run(around_a_sum(row=8))
    assert plan.run({"row": None}) == run(around_a_sum(row=None))
    for row in (2, 7, 9, None):
        assert plan.run({"row": row}) == run(around_a_sum(row=row))


def test_a_fifo_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        Plan(chain()).run({"t": 2})


def test_a_limit_stops_a_run():
    whole = run(chain())
    assert not run(chain(), limit=whole.cycles + 1).stopped
    stopped = run(chain(), limit=50)
    assert (stopped.stopped, stopped.cycles) == (True, 50)


def test_runs_of_one_plan_side_by_side_are_those_of_each_alone():
    network = repeated(random_network(2003), 400)
    plan = Plan(network)
    choices: list[Mapping[str, int | None]] = [
        {fifo.name: Random(f"{n} {fifo.name}").choice((1, 2, 5, 60, None)) for fifo in network.fifos} for n in range(24)
    ]
    alone = [plan.run(choice) for choice in choices]
    assert len({outcome.cycles for outcome in alone}) > 3
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(plan.run, choices)) == alone


def test_runs_let_go_of_the_interpreter():
    """While one runs, other threads of Python do. (Whether two take half the time, the machine decides.)"""
    plan, ticks = Plan(chain(tokens=10**8)), 0
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(plan.run, {}, limit=3 * 10**7, fast_forward=False)
        while not running.done():
            time.sleep(0.001)
            ticks += 1
    assert running.result().stopped
    assert ticks > 10


def test_gates_that_leave_nothing_alike_are_an_error_not_all_memory():
    """Forty loops of two iterations, each of which has an access of its own: no two iterations make the same ones."""
    names = [f"s{n}" for n in range(40)]
    accesses = tuple(Access(name, (Gate(n, 0, 1),)) for n, name in enumerate(names))
    nest = (2,) * 40
    network = Network(
        (Process.of_nest("w", nest, 1, 2, (), accesses), Process.of_nest("r", nest, 1, 2, accesses, ())),
        tuple(Fifo(name, "w", "r", 2) for name in names),
    )
    with pytest.raises(ToolError, match="more different iterations than the simulator takes"):
        Plan(network)


def test_an_engine_has_more_streams_over_its_nests_than_one_nest_takes():
    names = [f"s{n}" for n in range(3 * MAX_ACCESSES)]
    accesses = [tuple(map(Access, names[n::3])) for n in range(3)]
    writer = Process("w", tuple(LoopNest((5,), (), some) for some in accesses), 1, 2)
    reader = Process("r", tuple(LoopNest((5,), some, ()) for some in accesses), 1, 2)
    outcome = run(Network((writer, reader), tuple(Fifo(name, "w", "r", 2) for name in names)))
    assert [f.popped for f in outcome.fifos] == [5] * len(names)


def test_a_fifo_is_not_made_shallower_than_what_it_begins_with():
    network = Network((Process.of_nest("a", (4,), 1, 2, (Access("s"),), (Access("s"),)),), (Fifo("s", "a", "a", 4, 3),))
    assert Plan(network).run({"s": 3}).fifos[0].peak == 3
    with pytest.raises(VerificationError, match="FIFO s holds 2 tokens; it can not begin with 3"):
        Plan(network).run({"s": 2})


# ---- repetitions of programs ----


def same(network: Network) -> Outcome:
    plan = Plan(network)
    outcome = plan.run()
    assert outcome == plan.run(fast_forward=False)
    assert not outcome.deadlocked
    return outcome


def test_a_reply_of_tokens_that_are_alike_takes_as_long_as_a_layer():
    layer, token, all_of = same(reply(1, layers=2)), same(reply(1)), same(reply(128))
    assert token.windows < 4 * layer.windows
    assert all_of.windows < 10 * layer.windows
    assert all_of.cycles > 120 * token.cycles
    assert all_of.cycles - all_of.skipped < 8 * layer.cycles


def test_layers_are_skipped_in_each_token_where_every_one_is_longer_than_the_last():
    walked = tuple(walks(100 + n) for n in range(64))
    outcome = same(reply(walked))
    assert outcome.skipped > 0.75 * outcome.cycles
    assert outcome.windows < 64 * 24


def test_short_layers_are_skipped_too():
    walked = tuple(walks(n) for n in range(128))
    outcome = same(reply(walked, row=20))
    assert outcome.skipped > 0.5 * outcome.cycles


def test_progress_of_a_reply_is_found_at_once():
    plan = Plan(one_at_a_time(reply(1 << 20)))
    outcome = plan.far({})
    assert not outcome.deadlocked
    assert outcome.work < 10**6
    assert plan.far({"kept": 299}).deadlocked


# ---- runs that go on ----


@pytest.mark.parametrize("fast_forward", [False, True])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(fast_forward: bool):
    for seed in range(60):
        network = repeated(random_network(seed), 20)
        plan = Plan(network)
        whole = plan.run()
        going = Run(plan, {}, 0)
        for part in (3, 2, 1):
            going.go(whole.cycles // part, fast_forward)
        assert going.go(None, fast_forward) == whole, f"seed {seed}"


def test_a_deadlock_stays_one_until_a_fifo_gets_deeper():
    going = Run(Plan(around_a_sum(row=3)), {}, 0)
    first = going.go(None, True)
    assert first.deadlocked
    assert going.go(None, True) == first
    going.deepen("row", 8)
    second = going.go(None, True)
    assert not second.deadlocked
    assert [f.popped for f in second.fifos] == [8, 1]
    assert second.cycles >= run(around_a_sum(row=8)).cycles


def deadlocking(seeds: range) -> list[tuple[int, Network]]:
    """Networks that deadlock with two tokens of room everywhere, and do not without bounds."""
    found: list[tuple[int, Network]] = []
    for seed in seeds:
        network = repeated(random_network(seed), 10)
        plan = Plan(network)
        shallow = {fifo.name: 2 for fifo in network.fifos}
        if plan.run(shallow).deadlocked and not plan.run(dict.fromkeys(shallow)).deadlocked:
            found.append((seed, network))
    return found


def one_more(outcome: Outcome, depths: Mapping[str, int]) -> dict[str, int]:
    """Every FIFO that is full gets one deeper."""
    full = [f.name for f in outcome.fifos if f.pushed - f.popped >= depths[f.name]]
    return {name: depths[name] + 1 for name in full}


def test_depths_that_grew_are_enough_from_the_start():
    cases = deadlocking(range(300))
    assert len(cases) > 20
    for seed, network in cases:
        plan = Plan(network)
        shallow = {fifo.name: 2 for fifo in network.fifos}
        depths, _ = plan.growing_run(shallow, one_more)
        assert not plan.run(depths).deadlocked, f"seed {seed}"
        assert all(depths[name] >= 2 for name in shallow)
        assert depths != shallow


def test_a_run_that_grows_ends_where_nothing_is_to_grow():
    asked: list[dict[str, int]] = []

    def nothing(outcome: Outcome, depths: Mapping[str, int]) -> dict[str, int]:
        assert outcome.deadlocked
        asked.append(dict(depths))
        return {}

    assert Plan(around_a_sum()).growing_run({"row": 3, "total": 2}, nothing)[0] == {"row": 3, "total": 2}
    assert asked == [{"row": 3, "total": 2}]
    assert Plan(around_a_sum()).growing_run({"row": 8, "total": 2}, nothing)[0] == {"row": 8, "total": 2}
    assert len(asked) == 1


# ---- progress ----


def counts(outcome: Outcome) -> tuple[bool, list[int], list[tuple[int, int]]]:
    """All that no order of execution changes."""
    return outcome.deadlocked, [p.iterations for p in outcome.processes], [(f.pushed, f.popped) for f in outcome.fifos]


@pytest.mark.parametrize("times", [1, 30, 1000])
def test_without_time_a_network_gets_as_far(times: int):
    """What it repeats is not told apart from what it did, to the end or to the same deadlock."""
    ends: set[bool] = set()
    for seed in range(200):
        plan = Plan(one_at_a_time(repeated(random_network(seed), times)))
        for depth in (2, 3, 40):
            depths = {fifo.name: depth for fifo in plan.network.fifos}
            outcome = plan.far(depths)
            assert counts(outcome) == counts(plan.run(depths)), f"seed {seed}, depth {depth}"
            ends.add(outcome.deadlocked)
    assert ends == {False, True}


@pytest.mark.parametrize("times", [1, 100])
def test_without_time_a_program_gets_as_far(times: int):
    ends: set[bool] = set()
    for seed in range(300):
        plan = Plan(one_at_a_time(again(program_network(seed), times)))
        if any(p.style == "stp" for p in plan.network.processes):
            continue
        for extra in (0, 2, 40):
            depths = {fifo.name: fifo.initial + 1 + extra for fifo in plan.network.fifos}
            outcome = plan.far(depths)
            assert counts(outcome) == counts(plan.run(depths)), f"seed {seed}, depth {extra}"
            ends.add(outcome.deadlocked)
    assert ends == {False, True}


def test_progress_remembers_how_full_a_fifo_was_in_what_it_left_out():
    """`deep` takes a row and gives all but a token of it back, again and again, until a row finds no room."""
    writer = LoopNest((901,), (Access("done", (Gate(0, 0, 1),)),), (Access("deep"), Access("go", (Gate(0, 900, 901),))))
    reader = LoopNest((900,), (Access("deep"), Access("go", (Gate(0, 0, 1),))), (Access("done", (Gate(0, 899, 900),)),))
    processes = (Process("w", (Repeat(2000, (writer,)),), 1, 2), Process("r", (Repeat(2000, (reader,)),), 1, 2))
    fifos = (Fifo("deep", "w", "r", 1500), Fifo("go", "w", "r", 2), Fifo("done", "r", "w", 2, initial=1))
    plan = Plan(one_at_a_time(Network(processes, fifos)))
    for depth in (1500, 1501, 3000):
        outcome = plan.far({"deep": depth})
        assert counts(outcome) == counts(plan.run({"deep": depth}))
        assert outcome.deadlocked == (depth < 3000)
        assert outcome.work < 10_000


def test_progress_that_repeats_is_found_at_once():
    """A thousand million tokens, which fill and empty a FIFO by the way."""
    nest = (1000, 1000, 1000)
    ahead = Process.of_nest("ahead", nest, 1, 2, (), (Access("deep"), Access("shallow")))
    behind = Process.of_nest("behind", nest, 1, 2, (Access("deep"), Access("shallow")), ())
    network = Network((ahead, behind), (Fifo("deep", "ahead", "behind", 5000), Fifo("shallow", "ahead", "behind", 2)))
    outcome = Plan(network).far({})
    assert not outcome.deadlocked
    assert outcome.fifos[0].popped == 1000**3
    assert outcome.work < 100_000


def test_progress_goes_on_where_a_fifo_gets_deeper():
    for seed, network in deadlocking(range(300)):
        plan = Plan(one_at_a_time(network))
        depths, outcome = plan.growing_run({fifo.name: 2 for fifo in network.fifos}, one_more)
        assert counts(outcome) == counts(plan.run(depths)), f"seed {seed}"


# ---- the timeline ----


@pytest.mark.parametrize("fast_forward", [False, True])
@pytest.mark.parametrize("buckets", [1, 7, 64])
def test_the_timeline_adds_up_to_what_the_processes_waited(buckets: int, fast_forward: bool):
    for seed in range(80):
        network = repeated(random_network(seed), 1 if seed % 2 else 50)
        outcome = run(network, fast_forward=fast_forward, buckets=buckets)
        timeline = outcome.timeline
        assert timeline is not None
        assert outcome == run(network), f"seed {seed}"
        assert timeline.width * buckets >= outcome.cycles
        for n, process in enumerate(outcome.processes):
            assert len(timeline.empty[n]) == len(timeline.full[n]) == buckets
            assert sum(timeline.empty[n]) == pytest.approx(process.empty, abs=1e-6), f"seed {seed}"
            assert sum(timeline.full[n]) == pytest.approx(process.full, abs=1e-6), f"seed {seed}"


def test_no_part_of_time_has_more_waiting_than_cycles():
    for seed in range(80):
        timeline = run(repeated(random_network(seed), 20), buckets=32).timeline
        assert timeline is not None
        for empty, full in zip(timeline.empty, timeline.full, strict=True):
            assert all(0 <= e + f <= timeline.width + 1e-6 for e, f in zip(empty, full, strict=True)), f"seed {seed}"


def test_waiting_is_where_it_was():
    """`b` waits for the first token of a writer that is slow to start, then no more."""
    slow = Process.of_nest("a", (4000,), 1, 1000, (), (Access("s"),))
    network = Network((slow, Process.of_nest("b", (4000,), 1, 2, (Access("s"),), ())), (Fifo("s", "a", "b", 2),))
    outcome = run(network, buckets=10)
    timeline = outcome.timeline
    assert timeline is not None
    waited = outcome.processes[1].empty
    assert waited >= 999
    until = -(-waited // timeline.width)
    assert sum(timeline.empty[1][:until]) == pytest.approx(waited)
    assert sum(timeline.empty[1][until:]) == 0


def test_no_timeline_is_made_where_none_is_asked_for():
    assert run(chain()).timeline is None


def test_nothing_more_enters_at_the_end_of_a_nest_without_streams() -> None:
    """What goes on in its last iterations looks like what went on before, but for the end."""
    outcome = run(Network((Process.of_nest("p", (200, 140), 1, 98, (), ()),), ()))
    assert (outcome.processes[0].iterations, outcome.cycles) == (28_000, 28_097)


def test_a_deadlock_behind_a_repetition_is_timed_by_its_last_event() -> None:
    """`source` fills its FIFO slowly, while the two behind it have long been waiting for one another."""
    source = Process.of_nest("source", (100, 625), 17, 4, (), (Access("s", (Gate(1, 0, 1),)),), per=6, restarts=2)
    first = Process.of_nest(
        "first", (100, 419), 1, 2, (Access("s", (Gate(1, 418, 419),)),), (Access("late"), Access("soon"))
    )
    reads = (Access("late", (Gate(1, 80, 499),)), Access("soon", (Gate(1, 0, 419),)))
    second = Process.of_nest("second", (100, 536), 1, 2, reads, ())
    fifos = (
        Fifo("s", "source", "first", 40),
        Fifo("late", "first", "second", 40),
        Fifo("soon", "first", "second", None),
    )
    network = Network((source, first, second), fifos)
    outcome = run(network)
    assert outcome.deadlocked
    assert outcome.skipped > 0
    assert outcome == run(network, fast_forward=False)


def test_a_fifo_without_room_is_refused() -> None:
    """The core takes 0 for any number of tokens."""
    with pytest.raises(VerificationError, match="FIFO s holds 0 tokens"):
        chain(0)
