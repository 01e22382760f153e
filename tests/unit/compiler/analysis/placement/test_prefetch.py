"""Weights that load before their task starts: only as deep as it helps, within the budget, and it does help."""

from dataclasses import replace

import pytest
from layered_networks import with_outside
from small_graphs import mlp

from compiler.analysis.estimate import estimate
from compiler.analysis.fifo import BRIDGE_DEPTH
from compiler.analysis.memory_steps import free_depth
from compiler.analysis.placement.prefetch import behind_loads, prefetch_depths
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate

U55C = load_platform("u55c")


def late_reader() -> TaskGraph:
    """The second product is fast and starts late; its weights take longer to load than it reads them."""
    overrides = (
        TaskOverride("up", tile=512, unroll=1),
        TaskOverride("act", unroll=16),
        TaskOverride("down", tile=64, unroll=256),
    )
    knobs = Knobs(default_tile_size=64, overall_unroll=1024, stream_width=2048, overrides=overrides)
    return planned_tasks(mlp(rows=2, hidden=64, inner=512), knobs, U55C)


def with_depths(tasks: TaskGraph, depths: dict[str, int]) -> TaskGraph:
    return replace(tasks, streams=tuple(s._replace(depth=depths.get(s.name, s.depth)) for s in tasks.streams))


def test_what_loads_ahead_shortens_the_design() -> None:
    tasks = late_reader()
    depths = prefetch_depths(tasks, U55C, 1 << 30)
    assert any(tasks.stream[name].target == "down" for name in depths)
    assert estimate(with_depths(tasks, depths), U55C).latency_us < estimate(tasks, U55C).latency_us


def test_deeper_than_the_need_gains_nothing() -> None:
    tasks = late_reader()
    enough = prefetch_depths(tasks, U55C, 1 << 30)
    whole = {s.name: s.tokens for s in tasks.streams if s.name in enough}
    latency = estimate(with_depths(tasks, enough), U55C).latency_us
    assert latency == pytest.approx(estimate(with_depths(tasks, whole), U55C).latency_us, rel=0.01)


def test_weights_that_are_read_as_slowly_as_they_load_need_no_more() -> None:
    overrides = (TaskOverride("up", tile=512, unroll=1), TaskOverride("down", unroll=1))
    knobs = Knobs(default_tile_size=64, overall_unroll=1024, stream_width=2048, overrides=overrides)
    tasks = planned_tasks(mlp(rows=2, hidden=64, inner=512), knobs, U55C)
    assert not any(tasks.stream[name].target == "down" for name in prefetch_depths(tasks, U55C, 1 << 30))


@pytest.mark.parametrize("bits", [0, 100, 5_000, 50_000])
def test_the_budget_bounds_what_is_added(bits: int) -> None:
    tasks = late_reader()
    depths = prefetch_depths(tasks, U55C, bits)
    added = [(tasks.stream[name].width, depth - tasks.stream[name].depth) for name, depth in depths.items()]
    assert sum(width * tokens for width, tokens in added) <= bits
    assert all(tokens > 0 for _, tokens in added)
    assert all(depth <= tasks.stream[name].tokens for name, depth in depths.items())


def layers() -> LinalgGraph:
    """Of one row, so that weights take longest."""
    graph = folded(with_outside(4, rows=1, hidden=256, inner=256))
    assert graph is not None
    return graph


@pytest.mark.parametrize(
    ("overrides", "most", "off"),
    [
        ((TaskOverride("h0.proj", order=(0, 1, 2)),), 0.6, 0.025),  # one product after the other
        ((), 0.75, 0.06),  # both at once rest less, and first sums that come together count as evenly spread
    ],
    ids=["in turn", "at once"],
)
def test_in_layers_a_load_goes_on_while_its_reader_rests(
    overrides: tuple[TaskOverride, ...], most: float, off: float
) -> None:
    """Lanes take a layer's weights faster than they load: those of the next come while others work."""
    knobs = Knobs(default_tile_size=64, overall_unroll=512, stream_width=2048, overrides=overrides)
    tasks = planned_tasks(layers(), knobs, U55C)
    depths = prefetch_depths(tasks, U55C, 1 << 30)
    assert depths.keys() == {"h0_fc_in1", "h0_proj_in1"}
    deep = with_depths(tasks, depths)
    estimates = [{m.name: m.value for m in estimate(found, U55C).metrics} for found in (tasks, deep)]
    simulated = [
        simulate(found, U55C, clock_mhz=known["clock"], buckets=0)
        for found, known in zip((tasks, deep), estimates, strict=True)
    ]
    assert simulated[1].cycles < most * simulated[0].cycles
    for found, known in zip(simulated, estimates, strict=True):
        assert known["cycles"] == pytest.approx(found.cycles, rel=off)


def test_a_load_that_never_rests_needs_no_more() -> None:
    knobs = Knobs(default_tile_size=64, overall_unroll=512, engines="shared", loads="joint", stream_width=1024)
    assert not prefetch_depths(planned_tasks(layers(), knobs, U55C), U55C, 1 << 30)


def dealt(prefetch_kib: int = 0) -> TaskGraph:
    """An engine of two slices that serves layers and what is behind them."""
    lanes = {"h0.fc": 256, "h0.proj": 256, "h0.act": 1, "h0.out": 1}
    knobs = Knobs(
        default_tile_size=512,
        overall_unroll=8192,
        engines="shared",
        loads="joint",
        stream_width=2048,
        hbm_channels=8,
        slices=2,
        prefetch_kib=prefetch_kib,
        overrides=tuple(TaskOverride(op, unroll=n) for op, n in lanes.items()),
    )
    graph = folded(with_outside(4, rows=1, hidden=512, inner=1024, vocabulary=512))
    assert graph is not None
    return planned_tasks(graph, knobs, U55C)


def test_parts_of_dealt_tokens_wait_beside_their_slices() -> None:
    """A load that hardly rests goes on while its engine waits for what comes between its turns."""
    tasks = dealt()
    depths = prefetch_depths(tasks, U55C, 1 << 30)
    assert depths["engine0_slice0_in1"] == depths["engine0_slice1_in1"]
    assert "engine0_in1" not in depths
    before, after = (simulate(found, U55C, buckets=0) for found in (tasks, with_depths(tasks, depths)))
    assert after.cycles < before.cycles


def test_what_is_loaded_waits_no_longer_than_it_is_loaded_ahead() -> None:
    """However long the reader's last turn, behind layers, has to wait for what these make."""
    ahead = prefetch_depths(dealt(), U55C, 1 << 30)
    assert ahead
    for prefetch_kib, depths in ((0, {}), (4096, ahead)):
        for stream, _ in behind_loads(dealt(prefetch_kib=prefetch_kib)):
            filled = free_depth(stream.width, depths.get(stream.name, BRIDGE_DEPTH), U55C.memories)
            assert stream.depth <= filled
            assert stream.name not in depths or stream.depth == min(filled, stream.tokens)


def test_only_streams_behind_hbm_are_named() -> None:
    tasks = late_reader()
    for name in prefetch_depths(tasks, U55C, 1 << 30):
        assert tasks.task[tasks.stream[name].source].kind == "load"
