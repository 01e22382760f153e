"""The estimate of small designs, against what can be counted by hand."""

from dataclasses import replace
from math import prod
from statistics import fmean

import pytest
from small_graphs import mlp, quantised
from stepping_networks import SLOTS, replying, stepping

from compiler.analysis.estimate import estimate
from compiler.analysis.resources import task_resources
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import adapter_tokens, hbm_bytes, hbm_cycles, kernel_hbm_bytes, transfer_cycles
from compiler.assumed import KERNEL_START_US
from compiler.graph.layers import folded
from compiler.graph.task_graph import ComputeTask, LoadTask, StoreTask, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.clock import ClockCoefficients, ClockModel
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import timed_design
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.simulate import simulate, simulate_design
from compiler.whole_token import Lengths

U55C = load_platform("u55c")
WIDE = Knobs(default_tile_size=64, overall_unroll=1024, stream_width=2048)


def with_depth(tasks: TaskGraph, stream: str, depth: int) -> TaskGraph:
    streams = tuple(s._replace(depth=depth) if s.name == stream else s for s in tasks.streams)
    return replace(tasks, streams=streams)


def test_a_task_that_starts_late_still_waits_for_what_its_fifo_could_not_hold():
    slow_first = (
        TaskOverride("up", tile=512, unroll=1),
        TaskOverride("act", unroll=16),
        TaskOverride("down", tile=64, unroll=256),
    )
    tasks = planned_tasks(mlp(rows=2, hidden=64, inner=512), replace(WIDE, overrides=slow_first), U55C)
    load = tasks.task["load_down_weight"]
    assert isinstance(load, LoadTask)
    (stream,) = (s for s in tasks.streams if s.source == load.name)
    shallow, _ = schedule(with_depth(tasks, stream.name, 2), U55C)
    deep, _ = schedule(with_depth(tasks, stream.name, stream.tokens), U55C)
    reader = stream.target
    loading = transfer_cycles(tasks.tasks, U55C)[load.name]
    assert deep[reader].start > loading, "the case needs a reader that starts after the load could end"
    rest = (1 - (2 + adapter_tokens(load, U55C)) / stream.tokens) * loading
    assert rest > 100
    assert shallow[reader].end >= shallow[reader].start + rest
    assert deep[reader].end < shallow[reader].end


def test_a_load_is_never_faster_than_its_hbm_channel():
    tasks = planned_tasks(mlp(), WIDE, U55C)
    for load in (t for t in tasks.transfers if isinstance(t, LoadTask)):
        assert transfer_cycles(tasks.tasks, U55C)[load.name] >= 64 * load.dma.words / U55C.channel_bytes_per_cycle


def test_traffic_counts_whole_words():
    tasks = planned_tasks(mlp(), Knobs(default_tile_size=1, overall_unroll=1), U55C)
    assert hbm_bytes(tasks) % 64 == 0
    assert hbm_bytes(tasks) >= sum(64 * t.dma.words * t.dma.channels for t in tasks.transfers)


@pytest.mark.parametrize("lanes", [1, 64])
def test_accumulators_that_a_loop_chooses_live_in_memory(lanes: int):
    tasks = planned_tasks(quantised(), Knobs(default_tile_size=8, overall_unroll=lanes), U55C)
    task = tasks.task["product"]
    assert isinstance(task, ComputeTask)
    (buffer,) = task.buffers
    assert buffer.depth == task.nest.accumulators(task.op.iterators) > 1
    assert buffer.banks == prod(task.nest.unroll[dim] for dim in task.op.outputs[0].dims)


def test_one_vector_of_accumulators_costs_flip_flops():
    tasks = planned_tasks(quantised(rows=1, columns=4), Knobs(default_tile_size=4, overall_unroll=64), U55C)
    task = tasks.task["product"]
    assert isinstance(task, ComputeTask)
    assert not task.buffers
    lanes = prod(task.nest.unroll[:2])
    assert lanes > 1
    assert task_resources(task, tasks, U55C).ff >= 32 * lanes


def test_hbm_bounds_each_kernel_by_the_ports_that_it_has():
    tasks = planned_tasks(mlp(), replace(WIDE, fusion_budget=0), U55C)
    assert tasks.kernels > 1
    bounds = hbm_cycles(tasks, U55C)
    assert sum(kernel_hbm_bytes(tasks)) == hbm_bytes(tasks)
    for kernel, (moved, bound) in enumerate(zip(kernel_hbm_bytes(tasks), bounds, strict=True)):
        ports = sum(t.dma.channels for t in tasks.transfers if t.kernel == kernel)
        assert 0 < ports < U55C.hbm.channels
        assert bound == pytest.approx(moved / (ports * U55C.channel_bytes_per_cycle))
    cycles = next(m.value for m in estimate(tasks, U55C).metrics if m.name == "cycles")
    assert cycles >= sum(bounds)


def test_a_store_is_never_faster_than_its_hbm_channel():
    slow = replace(U55C, hbm=replace(U55C.hbm, channel_gb_s=0.1))
    tasks = planned_tasks(mlp(), WIDE, slow)
    times, lengths = schedule(tasks, slow)
    for store in (t for t in tasks.transfers if isinstance(t, StoreTask)):
        assert times[store.name].end - times[store.name].start >= store.dma.words * 64 / slow.channel_bytes_per_cycle
        assert lengths[store.kernel] >= times[store.name].end


def test_an_image_that_no_channel_holds_and_a_task_that_no_die_holds_are_violations():
    small = replace(
        U55C,
        hbm=replace(U55C.hbm, channel_bytes=64),
        dies=replace(U55C.dies, slrs=tuple(replace(slr, dsp=1) for slr in U55C.dies.slrs)),
    )
    tasks = planned_tasks(mlp(), WIDE, small)
    found = {v.resource: v for v in estimate(tasks, small).violations}
    assert found["hbm_channel_bytes"].demand > 64
    assert found["slr_dsp"].bound == small.dies.fill
    assert estimate(tasks, U55C).feasible


def test_a_board_too_small_is_exceeded_in_all_that_it_bounds():
    tiny = replace(
        U55C,
        budget=replace(U55C.budget, lut=1, ff=1, dsp=1, bram36=1, uram=0, hbm_ports=1),
        hbm=replace(U55C.hbm, channel_bytes=64),
        dies=replace(U55C.dies, slrs=tuple(replace(s, lut=1, ff=1, dsp=1, bram36=1) for s in U55C.dies.slrs)),
    )
    found = {v.resource for v in estimate(planned_tasks(mlp(), WIDE, tiny), tiny).violations}
    assert {"lut", "ff", "dsp", "bram36", "hbm_ports", "hbm_channel_bytes"} <= found
    assert any(name.startswith("slr_") for name in found)


def test_area_is_the_largest_share_of_what_a_design_may_use():
    tasks, board = planned_tasks(mlp(), Knobs(), load_platform("u55c")), load_platform("u55c")
    for scarce, bound in (("lut", 1_000_000), ("uram", 0), ("dsp", 100)):
        small = replace(board, budget=replace(board.budget, **{scarce: bound}))
        found = {metric.name: metric.value for metric in estimate(tasks, small).metrics}
        shares = [
            found[name] / small.limit(name) for name in ("lut", "ff", "dsp", "bram36", "uram") if small.limit(name)
        ]
        assert found["area"] == 100 * max(shares)
        board = small


def test_time_is_cycles_at_the_clock_that_the_shape_allows():
    """Area and the energy of what switches do not depend on it, nor do cycles where memory does not have to be waited
    for: at a lower clock it brings more in each.
    """
    slow = replace(U55C, clock=ClockModel(ClockCoefficients(base=10.0)))
    tasks = planned_tasks(mlp(), Knobs(), U55C)
    at, at_100 = ({m.name: m.value for m in estimate(tasks, board).metrics} for board in (U55C, slow))
    assert at_100["clock"] == 100
    assert at["clock"] == pytest.approx(1e3 / U55C.clock.coefficients.base)
    for found in (at, at_100):
        assert found["latency"] == pytest.approx(found["cycles"] / found["clock"])
        assert found["hbm_bandwidth"] == pytest.approx(found["hbm_traffic"] / found["latency"] * 1e-3)
    assert at_100["cycles"] < at["cycles"]  # parameters take longest
    same = {"lut", "ff", "dsp", "bram36", "uram"}
    assert {name: at[name] for name in same} == pytest.approx({name: at_100[name] for name in same})
    assert at_100["energy_with_idle"] > at["energy_with_idle"]


def test_a_design_whose_streams_cross_between_dies_pays_for_relays_not_with_its_clock():
    small = replace(U55C, dies=replace(U55C.dies, slrs=tuple(replace(slr, dsp=600) for slr in U55C.dies.slrs)))
    tasks = planned_tasks(mlp(), Knobs(), small)
    across, alone = ({m.name: m.value for m in estimate(tasks, board).metrics} for board in (small, U55C))
    assert across["clock"] == alone["clock"]
    assert across["tasks"] > alone["tasks"]
    assert across["lut"] > alone["lut"]
    assert 0 < across["cycles"] - alone["cycles"] < 0.05 * alone["cycles"]


def test_a_token_of_a_prompt_takes_its_share_of_a_chunk():
    """Which a simulation knows exactly; where no design takes chunks, a launch without a choice."""
    graph = folded(replying(4))
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=2, overall_unroll=8), U55C)
    (position,) = tasks.arguments
    prompt = Lengths.within(position.most + 1).prompt
    assert tasks.control is not None
    found = {}
    for rows in (1, tasks.control.rows):
        design = replace(tasks, control=tasks.control._replace(rows=rows))
        chunk = min(rows, prompt)
        middle = {position.name: (prompt - chunk) // 2, ROWS: chunk}
        run = simulate_design(timed_design(tasks, U55C), U55C, launches=(middle,), buckets=0)
        metrics = {metric.name: metric.value for metric in estimate(design, U55C).metrics}
        assert metrics["prompt_time"] == pytest.approx(run.cycles / chunk / metrics["clock"], rel=0.2)
        found[rows] = metrics["prompt_time"]
    assert found[tasks.control.rows] < 0.95 * found[1]


def test_a_reply_is_estimated_as_its_launches_are_simulated():
    """In chunks and then token by token, with one start of the kernel."""
    graph = folded(replying(4))
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    assert tasks.control is not None
    found = {metric.name: metric.value for metric in estimate(tasks, U55C, graph).metrics}
    design, rows, lengths = timed_design(tasks, U55C), tasks.control.rows, Lengths.within(SLOTS)

    def taken(position: int, rows: int = 1) -> float:
        """Simulated, in ms."""
        values = {"position": position, **({ROWS: rows} if rows > 1 else {})}
        return simulate_design(design, U55C, launches=(values,), buckets=0).cycles / found["clock"] / 1e3

    chunks = (taken(begin, min(rows, lengths.prompt - begin)) for begin in range(0, lengths.prompt, rows))
    assert found["first_token_time"] - KERNEL_START_US / 1e3 == pytest.approx(sum(chunks), rel=0.2)
    assert found["time_per_token"] == pytest.approx(fmean(map(taken, lengths.later)), rel=0.02)
    assert found["tokens_per_second"] == pytest.approx(1e3 / found["time_per_token"])
    assert not {metric.name for metric in estimate(tasks, U55C).metrics} & {"tokens_per_second", "hbm_share"}


def test_the_mean_is_that_of_all_positions():
    graph = folded(stepping())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, order="reduction-outer"), U55C)
    at = [estimate(tasks.at({"position": position}), U55C) for position in range(SLOTS)]
    found = {metric.name: metric.value for metric in estimate(tasks, U55C).metrics}
    assert found["mean_latency"] == pytest.approx(fmean(one.latency_us for one in at), rel=0.01)
    assert found["mean_energy"] == pytest.approx(fmean(one.energy_uj for one in at), rel=0.01)
    runs = [simulate(tasks, U55C, launches=({"position": position},), buckets=0).cycles for position in range(SLOTS)]
    assert found["mean_latency"] / found["latency"] == pytest.approx(fmean(runs) / runs[-1], rel=0.02)
    assert found["mean_latency"] < 0.8 * found["latency"]
    walked = {metric.name: metric.value for metric in estimate(replace(tasks, tasks=at[-1].tasks.tasks), U55C).metrics}
    assert walked.get("mean_latency", walked["latency"]) == walked["latency"]
