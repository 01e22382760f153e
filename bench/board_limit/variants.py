"""A planned design as if the board, or its pipelines, were others: what is simulated instead of it."""

from collections.abc import Callable
from dataclasses import replace

from compiler.graph.task_graph import TimingSpec
from compiler.simulator.timing.simulate import StoredDesign

Change = Callable[[StoredDesign], StoredDesign]

_ROOM = 1 << 20
"""Tokens of a FIFO that is never full: no task is so far ahead of another within a token."""
_FAST_GB_S = 1e6


def at_clock(mhz: float) -> Change:
    """At this clock; memory is as fast as before, so that a cycle brings more or fewer of its bytes."""
    return lambda stored: replace(stored, clock_mhz=mhz)


def at_bandwidth(share: float) -> Change:
    """With this share of each channel's bandwidth, in sequence and at random addresses."""

    def changed(stored: StoredDesign) -> StoredDesign:
        hbm = stored.platform.hbm
        random, spread = (
            tuple((size, share * speed) for size, speed in curve) for curve in (hbm.random_gb_s, hbm.spread_gb_s)
        )
        slower = replace(hbm, channel_gb_s=share * hbm.channel_gb_s, random_gb_s=random, spread_gb_s=spread)
        return replace(stored, platform=replace(stored.platform, hbm=slower))

    return changed


def with_depth(times: float) -> Change:
    """Pipelines so many times as deep; 0: as short as they can be, so that nothing fills or drains."""

    def deeper(timing: TimingSpec) -> TimingSpec:
        return replace(timing, depth=max(1, round(times * timing.depth)))

    return lambda stored: replace(
        stored, design=stored.design.with_timing({t.name: deeper(t.timing) for t in stored.design.tasks})
    )


def never_full(stored: StoredDesign) -> StoredDesign:
    """No task waits for room in a FIFO."""
    streams = tuple(s if s.feedback else replace(s, depth=max(s.depth, _ROOM)) for s in stored.design.streams)
    return replace(stored, design=replace(stored.design, streams=streams))


def memory_at_once(stored: StoredDesign) -> StoredDesign:
    """Memory answers in the cycle in which it is asked, at whatever address, at its bandwidth in sequence."""
    hbm = stored.platform.hbm
    flat = tuple((size, hbm.channel_gb_s) for size, _ in hbm.random_gb_s)
    fast = replace(hbm, read_latency_cycles=0, write_response_cycles=0, random_gb_s=flat, spread_gb_s=flat)
    waits = hbm.read_latency_cycles  # a load's depth holds them
    loads = (task for task in stored.design.tasks if task.kind == "load")
    sooner = {t.name: replace(t.timing, depth=max(1, t.timing.depth - waits)) for t in loads}
    design = stored.design.with_timing(sooner)
    return replace(stored, design=design, platform=replace(stored.platform, hbm=fast))


def memory_without_end(stored: StoredDesign) -> StoredDesign:
    """Each port moves a word a cycle."""
    hbm = stored.platform.hbm
    flat = tuple((size, _FAST_GB_S) for size, _ in hbm.random_gb_s)
    fast = replace(hbm, channel_gb_s=_FAST_GB_S, random_gb_s=flat, spread_gb_s=flat)
    return replace(stored, platform=replace(stored.platform, hbm=fast))


SENSITIVITY: dict[str, Change] = {
    **{f"{mhz} MHz": at_clock(mhz) for mhz in (250, 225, 200, 175)},
    **{f"HBM at {share} %": at_bandwidth(share / 100) for share in (90, 80, 70)},
    **{f"pipelines {times} times as deep": with_depth(times) for times in (1.5, 2)},
}

WATERFALL: tuple[tuple[str, Change], ...] = (
    ("waiting for room in FIFOs", never_full),
    ("filling and draining pipelines", with_depth(0)),
    ("memory's latency and jumps", memory_at_once),
    ("memory's bandwidth", memory_without_end),
)
"""What is taken away, one after the other; what remains is the chain of operations."""
