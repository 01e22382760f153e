"""When tasks run: counted by hand, and against the simulator where an even pace of tokens would be wrong."""

from dataclasses import replace

import pytest
from small_graphs import mlp, quantised
from tasks_by_hand import compute
from tasks_by_hand import load as load_by_hand

from compiler.analysis.relays import relayed, relays
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import Dma, LoadTask, Stream, Task, TaskGraph, TimingSpec
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate

U55C = load_platform("u55c")
TOKEN = (16,)  # f32: 512 bits, a word of a port each


def stream(name: str, source: str, target: str, tokens: int, depth: int | None = None) -> Stream:
    itensor = ITensor(TOKEN, "f32", (Loop(tokens, TOKEN[0], 0),))
    return Stream(name, source, target, itensor, tokens if depth is None else depth)


def task(name: str, trips: tuple[int, ...], reads: tuple[Access, ...], writes: tuple[Access, ...], ii: int = 1) -> Task:
    return compute(name, TimingSpec(trips, ii, 4), reads, writes)


def load(name: str, write: str, tokens: int) -> LoadTask:
    layout = ITensor(TOKEN, "f32", (Loop(tokens, TOKEN[0], 0),))
    timing = TimingSpec((tokens,), 1, U55C.hbm.read_latency_cycles + 2)
    return load_by_hand(name, timing, write, Dma(name, layout, 1, 1, 1, 512))


def error(tasks: TaskGraph) -> float:
    """Of the schedule, against the simulator."""
    tasks.verify()
    _, lengths = schedule(tasks, U55C)
    return sum(lengths) / simulate(tasks, U55C, buckets=0).cycles - 1


def converter_that_fills_before_it_drains(consumer_ii: int) -> TaskGraph:
    """256 tokens come slowly; the converter passes on half of them once it has that half, then the other."""
    slow = task("slow", (256,), (Access("in"),), (Access("slow_out"),), ii=16)
    fill = (Gate(0, 0, 2), Gate(1, 0, 128))
    drain = (Gate(0, 1, 3), Gate(1, 0, 128))
    converter = task("converter", (3, 128), (Access("slow_out", fill),), (Access("out", drain),))
    consumer = task("consumer", (256,), (Access("out"),), (Access("end"),), ii=consumer_ii)
    last = task("last", (256,), (Access("end"),), ())
    streams = (
        stream("in", "load", "slow", 256),
        stream("slow_out", "slow", "converter", 256),
        stream("out", "converter", "consumer", 256),
        stream("end", "consumer", "last", 256),
    )
    return TaskGraph("fills", 1, (load("load", "in", 256), slow, converter, consumer, last), streams)


@pytest.mark.parametrize("ii", [1, 8, 16, 40])
def test_a_converter_holds_up_what_comes_after_its_fill(ii: int):
    assert error(converter_that_fills_before_it_drains(ii)) == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize(("tiles", "burst"), [(4, 64), (8, 32), (2, 128), (16, 16)])
def test_the_last_burst_of_a_product_is_still_to_be_passed_on(tiles: int, burst: int):
    """A product writes in the last of 16 rounds over each tile; its reader takes 12 cycles a token."""
    results = Access("sums", (Gate(1, 15, 16),))
    product = task("product", (tiles, 16, burst), (Access("in"),), (results,))
    reader = task("reader", (tiles * burst,), (Access("sums"),), (), ii=12)
    tokens = tiles * burst
    streams = (stream("in", "load", "product", 16 * tokens), stream("sums", "product", "reader", tokens))
    tasks = TaskGraph("bursts", 1, (load("load", "in", 16 * tokens), product, reader), streams)
    assert error(tasks) == pytest.approx(0.0, abs=0.03)


def test_what_a_task_reads_late_does_not_keep_it_from_starting():
    """As a cache: 63 rows of 32 tokens are there at once, the last comes late."""
    early, late = Access("rows", (Gate(0, 0, 63),)), Access("row", (Gate(0, 63, 64),))
    slow = task("slow", (32,), (Access("in"),), (Access("row"),), ii=200)
    cache = task("cache", (64, 32), (early, late), (Access("out"),))
    reader = task("reader", (2048,), (Access("out"),), (), ii=3)
    streams = (
        stream("in", "load", "slow", 32),
        stream("rows", "past", "cache", 2016, 2),
        stream("row", "slow", "cache", 32),
        stream("out", "cache", "reader", 2048),
    )
    tasks = TaskGraph("cache", 1, (load("load", "in", 32), slow, load("past", "rows", 2016), cache, reader), streams)
    times, _ = schedule(tasks, U55C)
    assert times["cache"].start < 200
    assert times["cache"].end > 6000
    assert error(tasks) == pytest.approx(0.0, abs=0.02)


def weights_behind(depth: int) -> TaskGraph:
    """A task whose first operand comes late and whose second, from HBM, has a FIFO of `depth`."""
    slow = task("slow", (1, 1), (Access("in"),), (Access("ready"),), ii=1)
    wait = task("wait", (4000,), (Access("ready", (Gate(0, 0, 1),)),), (Access("go", (Gate(0, 3999, 4000),)),))
    product = task("product", (4096,), (Access("go", (Gate(0, 0, 1),)), Access("weights")), ())
    streams = (
        stream("in", "load", "slow", 1),
        stream("ready", "slow", "wait", 1),
        stream("go", "wait", "product", 1),
        stream("weights", "params", "product", 4096, depth),
    )
    return TaskGraph("late", 1, (load("load", "in", 1), slow, wait, load("params", "weights", 4096), product), streams)


@pytest.mark.parametrize("depth", [2, 512, 2048, 4096])
def test_a_load_waits_for_a_late_reader_with_what_fifo_and_adapter_hold(depth: int):
    tasks = weights_behind(depth)
    assert [adapter_tokens(load, U55C) for load in tasks.transfers] == [256, 256]
    times, _ = schedule(tasks, U55C)
    rest = (4096 - depth - 256) * 64 / U55C.channel_bytes_per_cycle
    assert times["product"].end == pytest.approx(times["product"].start + max(4096, rest), abs=64)
    assert error(tasks) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("depth", [2, 512, 4096])
@pytest.mark.parametrize("borders", [1, 2])
def test_a_load_waits_for_a_late_reader_beyond_a_border_too(borders: int, depth: int):
    tasks = weights_behind(depth)
    beyond = relayed(tasks, {task.name: 0 if task.name == "params" else borders for task in tasks.tasks}).tasks
    carriers = ["params", *(task.name for task in beyond.tasks if relays(task))]
    assert len(carriers) == 1 + borders
    times, _ = schedule(beyond, U55C)
    assert times["product"].end == pytest.approx(schedule(tasks, U55C)[0]["product"].end, abs=16)
    simulated = {task.name: task.end for task in simulate(beyond, U55C, buckets=0).tasks}
    assert [times[name].end for name in carriers] == pytest.approx([simulated[name] for name in carriers], rel=0.07)
    assert error(beyond) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(("before", "after"), [(2, 4096), (4096, 2)])
def test_what_is_kept_of_a_schedule_is_not_that_of_other_fifos(before: int, after: int):
    first = weights_behind(before)
    then = replace(first, streams=weights_behind(after).streams)  # the same tasks
    found = [schedule(tasks, U55C) for tasks in (first, then, first)]
    assert found[1] == schedule(weights_behind(after), U55C)
    assert found[0] == found[2] != found[1]


def test_ports_that_share_a_channel_share_its_rate():
    alone = weights_behind(2)
    narrow = replace(U55C, hbm=replace(U55C.hbm, channels=1))
    cycles = transfer_cycles(alone.tasks, U55C)["params"]
    # The other load moves a single word.
    assert transfer_cycles(alone.tasks, narrow)["params"] == pytest.approx(cycles * 4097 / 4096)
    assert transfer_cycles(alone.tasks, narrow)["load"] == pytest.approx(transfer_cycles(alone.tasks, U55C)["load"] * 2)


def test_bursts_at_random_addresses_take_as_long_as_measured():
    loops = (Loop(64, 1, None), Loop(2, TOKEN[0], 0))  # two words again and again
    alone, streamed = weights_behind(2), ITensor(TOKEN, "f32", loops)
    streams = tuple(s._replace(itensor=streamed) if s.name == "weights" else s for s in alone.streams)
    again = tuple(
        replace(t, timing=replace(t.timing, trips=(64, 2)), streamed=streamed)
        if isinstance(t, LoadTask) and t.name == "params"
        else t
        for t in alone.tasks
    )
    tasks = replace(alone, tasks=again, streams=streams)
    nanoseconds = 64 * 128 / 9.6  # 64 bursts of 128 bytes
    assert transfer_cycles(tasks.tasks, U55C)["params"] == pytest.approx(nanoseconds * U55C.clock_mhz * 1e-3)


@pytest.mark.parametrize("unroll", [1, 16, 256])
@pytest.mark.parametrize(
    ("graph", "overrides", "off"),
    [
        (mlp(hidden=64, inner=128), (TaskOverride("down", order=(0, 1, 2)),), 0.05),
        # The first sums of a tile come together, which a schedule of few knees takes as evenly spread.
        (mlp(hidden=64, inner=128), (), 0.055),
        (quantised(), (), 0.05),
    ],
    ids=["mlp, in turn", "mlp, at once", "quantised"],
)
def test_small_designs_take_as_long_as_simulated(
    graph: LinalgGraph, overrides: tuple[TaskOverride, ...], off: float, unroll: int
):
    tasks = planned_tasks(graph, Knobs(default_tile_size=8, overall_unroll=unroll, overrides=overrides), U55C)
    deep = replace(
        tasks,
        streams=tuple(
            s if tasks.task[s.source].kind == "load" else s._replace(depth=max(2, s.tokens)) for s in tasks.streams
        ),
    )
    assert error(deep) == pytest.approx(0.0, abs=off)
