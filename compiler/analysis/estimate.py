"""Latency, area, power and energy of a TaskGraph, without simulating it. Fidelity `estimate`.

Latency walks the tasks in topological order. A task starts with its first tokens, runs at its own initiation interval,
and can not push a token before the tokens it depends on arrived; arrivals between a stream's first and last push are
interpolated. FIFOs between tasks are taken as deep enough; those behind HBM are not: what does not fit them is loaded
while it is read. HBM bounds the result from below.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from compiler.analysis.memory_kinds import fit_board
from compiler.analysis.ports import port_count
from compiler.analysis.resources import (
    Resources,
    kernel_resources,
    on_chip_bits,
    stream_resources,
    task_resources,
    total,
)
from compiler.errors import Violation
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import Platform

DIE_RESOURCES = ("lut", "ff", "dsp", "bram36", "uram")
# Every bound that an estimate checks, by the name that its violation has.
BOUNDS = (*DIE_RESOURCES, "hbm_ports", *(f"slr_{resource}" for resource in DIE_RESOURCES), "hbm_channel_bytes")


class Arrival(NamedTuple):
    """Cycles at which the first and the last token of a stream are pushed."""

    first: float
    last: float


class TaskTime(NamedTuple):
    """Cycles at which a task reads its first token and ends, and for how many of them it computes."""

    start: float
    end: float
    busy: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Objectives of a design, its metrics and the budgets it exceeds."""

    latency_us: float
    energy_uj: float
    metrics: tuple[Metric, ...]
    violations: tuple[Violation, ...]

    @property
    def feasible(self) -> bool:
        return not self.violations


def _arrival_of(arrival: Arrival, count: int, tokens: int) -> float:
    """When token number `count` (from 1) of a stream arrives."""
    if tokens <= 1 or count >= tokens:
        return arrival.last
    return arrival.first + (arrival.last - arrival.first) * max(0, count - 1) / (tokens - 1)


def _push(task: Task, iteration: int, start: float, arrivals: dict[str, Arrival]) -> float:
    """Cycle at which `task` pushes what it makes in `iteration`."""
    timing = task.timing
    ready = start + iteration * timing.ii
    for read in task.reads:
        arrival, behind = arrivals[read.stream], iteration - timing.last(read)
        if behind >= 0:
            ready = max(ready, arrival.last + behind * timing.ii)
        elif count := timing.tokens_until(read, iteration):
            ready = max(ready, _arrival_of(arrival, count, timing.tokens(read)))
    return ready + timing.depth


def _words(task: Task) -> int:
    """Words of `channels` x 512 bits that a load or store moves in one run, re-reads included."""
    assert task.dma is not None
    return ceil(task.timing.iterations / task.dma.tokens_per_word)


def transfer_cycles(task: Task, platform: Platform) -> float:
    """Cycles of a load or store that nothing blocks: the port's or its HBM channels', the slower."""
    hbm = _words(task) * (platform.hbm.port_bits / 8) / platform.channel_bytes_per_cycle
    return max(float(task.timing.iterations * task.timing.ii), hbm)


def _throttled(arrival: Arrival, stream: Stream, span: float, first_read: float) -> Arrival:
    """Arrivals of a load's stream of `span` cycles that is read from `first_read` on: by then the load has filled the
    FIFO and waits; the other tokens come at its own rate.
    """
    late = span * max(0.0, 1.0 - stream.depth / stream.tokens)
    first = max(arrival.first, first_read)
    return Arrival(first, max(arrival.last, first + late))


def schedule(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """When each task runs, in cycles since its kernel started, and the length of each kernel. O(streams x loops)."""
    arrivals: dict[str, Arrival] = {}
    times: dict[str, TaskTime] = {}
    lengths = [0.0] * tasks.kernels
    for task in tasks.tasks:
        timing = task.timing
        if task.kind == "load":
            span = transfer_cycles(task, platform)
            first = float(timing.depth)
            arrivals[task.writes[0].stream] = Arrival(first, first + span)
            times[task.name] = TaskTime(0.0, first + span, span)
            lengths[task.kernel] = max(lengths[task.kernel], first + span)
            continue
        start = max((arrivals[r.stream].first - timing.first(r) * timing.ii for r in task.reads), default=0.0)
        start = max(0.0, start)
        for read in task.reads:
            stream = tasks.stream[read.stream]
            if tasks.task[stream.source].kind == "load":
                source, first_read = times[stream.source], start + timing.first(read) * timing.ii
                arrivals[stream.name] = _throttled(arrivals[stream.name], stream, source.busy, first_read)
                times[stream.source] = source._replace(end=arrivals[stream.name].last)
        busy = timing.iterations * timing.ii if task.dma is None else transfer_cycles(task, platform)
        end = start + max(timing.latency, busy)
        for read in task.reads:
            tail = (timing.iterations - 1 - timing.last(read)) * timing.ii + timing.depth
            end = max(end, arrivals[read.stream].last + tail)
        for write in task.writes:
            first = _push(task, timing.first(write), start, arrivals)
            last = max(first, _push(task, timing.last(write), start, arrivals))
            arrivals[write.stream] = Arrival(first, last)
        times[task.name] = TaskTime(start, end, busy)
        lengths[task.kernel] = max(lengths[task.kernel], end)
    return times, tuple(lengths)


def kernel_hbm_bytes(tasks: TaskGraph) -> tuple[float, ...]:
    """Bytes that cross the HBM ports in one run of each kernel, re-reads included."""
    traffic = [0.0] * tasks.kernels
    for task in tasks.tasks:
        if task.dma is not None:
            traffic[task.kernel] += _words(task) * task.dma.channels * 64
    return tuple(traffic)


def hbm_bytes(tasks: TaskGraph) -> float:
    """Bytes that cross the HBM ports in one run of all kernels, re-reads included."""
    return sum(kernel_hbm_bytes(tasks))


def hbm_cycles(tasks: TaskGraph, platform: Platform) -> tuple[float, ...]:
    """Cycles that each kernel's traffic takes at least: its ports have a channel each while there are channels."""
    ports = [0] * tasks.kernels
    for task in tasks.tasks:
        ports[task.kernel] += task.dma.channels if task.dma is not None else 0
    channels = [max(1, min(count, platform.hbm.channels)) for count in ports]
    bytes_per_cycle = platform.channel_bytes_per_cycle
    return tuple(b / (n * bytes_per_cycle) for b, n in zip(kernel_hbm_bytes(tasks), channels, strict=True))


def _dynamic_watts(area: Resources, platform: Platform) -> float:
    power = platform.power
    return (
        area.dsp * power.dsp_mw * 1e-3
        + area.bram36 * power.bram36_mw * 1e-3
        + area.uram * power.uram_mw * 1e-3
        + (area.lut * power.lut_uw + area.ff * power.ff_uw) * 1e-6
    ) * (platform.clock_mhz / 250.0)


def _active_watts(
    times: Mapping[str, TaskTime],
    areas: Mapping[str, Resources],
    fifo_area: Resources,
    cycles: float,
    platform: Platform,
) -> float:
    """Power of the design's logic and memories: a task's area while it computes, `waiting_share` of that while not."""
    waiting = platform.power.waiting_share
    watts = _dynamic_watts(fifo_area, platform) * waiting
    for name, time in times.items():
        active = min(1.0, time.busy / cycles)
        watts += _dynamic_watts(areas[name], platform) * (waiting + (1.0 - waiting) * active)
    return watts


def violations_of(
    area: Resources, areas: Collection[Resources], tasks: TaskGraph, platform: Platform
) -> tuple[Violation, ...]:
    """Budgets that the design exceeds: the board's by `area`, a die's by single `areas` of tasks (a task is not divided
    between dies), an HBM channel's by memory images. That all tasks together can be placed is for
    `compiler.analysis.placement` to say.
    """
    budget = platform.budget
    demands = [(name, getattr(area, name), getattr(budget, name)) for name in (*DIE_RESOURCES, "hbm_ports")]
    for name in DIE_RESOURCES:
        largest = max(getattr(slr, name) for slr in platform.dies.slrs)
        demands.append((f"slr_{name}", max((getattr(a, name) for a in areas), default=0), largest))
    image = max((t.dma.words * 64 for t in tasks.tasks if t.dma is not None), default=0)
    demands.append(("hbm_channel_bytes", image, platform.hbm.channel_bytes))
    return tuple(Violation(name, float(demand), float(bound)) for name, demand, bound in demands if demand > bound)


def _areas(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, Resources], Resources]:
    """Area of each task, and of all FIFOs together."""
    areas = {t.name: task_resources(t, tasks, platform) for t in tasks.tasks}
    return areas, total(stream_resources(s, platform) for s in tasks.streams)


def estimate(tasks: TaskGraph, platform: Platform) -> Estimate:
    """Latency (us) and energy (uJ) of one run of all kernels in sequence, area, and violations of the board's budget.

    Energy is power times time with the idle board subtracted, as it is measured on a board (design section 4): each
    task's area while it computes, `waiting_share` of that while it waits, HBM by the byte. `energy_with_idle` adds the
    board at rest.
    """
    times, lengths = schedule(tasks, platform)
    traffic = hbm_bytes(tasks)
    cycles = sum(map(max, lengths, hbm_cycles(tasks, platform)))
    seconds = cycles / (platform.clock_mhz * 1e6)
    areas, fifo_area = _areas(tasks, platform)
    control = kernel_resources(tasks, platform)
    area = total(areas.values()) + fifo_area + control
    fitted = fit_board(tasks, area, platform)
    if fitted is not tasks:
        areas, fifo_area = _areas(fitted, platform)
        area = total(areas.values()) + fifo_area + control
    area = replace(area, hbm_ports=port_count(tasks))
    watts = _active_watts(times, areas, fifo_area, cycles, platform)
    watts += traffic * platform.power.hbm_pj_per_byte * 1e-12 / seconds
    total_watts = watts + platform.power.static_w
    numbers = {
        "latency": (seconds * 1e6, "us"),
        "cycles": (cycles, "cycles"),
        "energy": (watts * seconds * 1e6, "uJ"),
        "energy_with_idle": (total_watts * seconds * 1e6, "uJ"),
        "power": (total_watts, "W"),
        "lut": (area.lut, "LUT"),
        "ff": (area.ff, "FF"),
        "dsp": (area.dsp, "DSP"),
        "bram36": (area.bram36, "BRAM36"),
        "uram": (area.uram, "URAM"),
        "hbm_ports": (area.hbm_ports, "ports"),
        "hbm_traffic": (traffic, "bytes"),
        "hbm_bandwidth": (traffic / seconds / 1e9, "GB/s"),
        "on_chip_memory": (on_chip_bits(tasks) / 8, "bytes"),
        "slowest_ii": (float(max(t.timing.ii for t in tasks.tasks)), "cycles"),
        "kernels": (float(tasks.kernels), "kernels"),
        "tasks": (float(len(tasks.tasks)), "tasks"),
        "padding_share": (100 * tasks.padding_share, "%"),
        "converters": (float(sum(t.kind == "converter" for t in tasks.tasks)), "converters"),
    }
    metrics = tuple(Metric(name, float(value), unit, Fidelity.ESTIMATE) for name, (value, unit) in numbers.items())
    return Estimate(seconds * 1e6, watts * seconds * 1e6, metrics, violations_of(area, areas.values(), tasks, platform))
