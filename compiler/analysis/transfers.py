"""HBM traffic of a design: how much each load and store moves, and how long that takes when nothing blocks it.

The rates are those that boards were measured to reach (`Hbm` of the platform); the timing simulator takes its own from
the same figures by the same functions.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import prod

from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.graph.task_graph import DmaTask, Task, TaskGraph
from compiler.platforms.platform import Platform

_ALONE = Fraction(1)


def run_of(loops: Sequence[tuple[int, bool]], words_per_token: int) -> int | None:
    """Iterations between two jumps of the address of a transfer whose stream has `loops`, as (trip, re-reads): those
    inside the innermost loop that re-reads.

    Where a loop outside that one advances, the address goes on in order, but the loop nest still starts a new burst.
    """
    again = [k for k, (trip, rereads) in enumerate(loops) if rereads and trip > 1]
    if not again:
        return None
    return prod(trip for trip, _ in loops[again[-1] + 1 :]) * words_per_token


def burst_ns(measured: Sequence[tuple[int, float]], size: int, sequential_gb_s: float) -> float:
    """Nanoseconds of one burst of `size` bytes at a random address: between two measured sizes linear in time, beyond
    the largest its time and that of the rest at the sequential rate.
    """
    points = [(float(b), b / gb_s) for b, gb_s in measured]
    for (low, low_ns), (high, high_ns) in pairwise(points):
        if size <= high:
            return low_ns + (high_ns - low_ns) * (max(size, low) - low) / (high - low)
    last, last_ns = points[-1]
    return last_ns * min(1.0, size / last) + max(0.0, size - last) / sequential_gb_s


def slowdowns(words: Mapping[str, int], channels: Mapping[str, Sequence[int]]) -> dict[str, Fraction]:
    """How many times longer each transfer of one kernel takes because others use its channels: `words` that each of its
    ports moves, `channels` that its ports lie on. Of several channels the most crowded counts.
    """
    users: dict[int, list[int]] = {}
    for task, moved in words.items():
        for channel in channels.get(task, ()):
            users.setdefault(channel, []).append(moved)
    return {
        task: max((_share(moved, users[c]) for c in channels.get(task, ())), default=_ALONE)
        for task, moved in words.items()
    }


def _share(words: int, users: Sequence[int]) -> Fraction:
    return Fraction(sum(min(words, other) for other in users), words) if len(users) > 1 else _ALONE


def adapter_tokens(load: DmaTask, platform: Platform) -> int:
    """Tokens that the adapter of a load's ports asks for ahead of it, at least one."""
    words = OUTSTANDING_BURSTS * platform.hbm.burst_words
    return max(1, words * load.dma.tokens_per_word // load.dma.words_per_token)


def transfer_cycles(tasks: Sequence[Task], platform: Platform) -> Mapping[str, float]:
    """Cycles of each load and store, by name, when nothing but HBM blocks it: at its own pace or its channels', which
    other ports of its kernel may share, whichever is slower.
    """
    return _cycles(tuple([task for task in tasks if isinstance(task, DmaTask)]), platform)


@lru_cache(maxsize=64)  # several schedules are made of a design
def _cycles(moving: tuple[DmaTask, ...], platform: Platform) -> Mapping[str, float]:
    channels = assign_channels(moving, platform)
    words: dict[int, dict[str, int]] = {}
    for task in moving:
        words.setdefault(task.kernel, {})[task.name] = task.words
    slower = {name: float(factor) for moved in words.values() for name, factor in slowdowns(moved, channels).items()}
    return {
        t.name: max(float(t.iterations * t.timing.ii), _memory_cycles(t, platform) * slower[t.name]) for t in moving
    }


def run_length(task: DmaTask) -> int | None:
    """Iterations from one jump of the address to the next; None where it never jumps."""
    return run_of([(loop.trip, loop.dim is None) for loop in task.streamed.loops], task.dma.words_per_token)


def _memory_cycles(task: DmaTask, platform: Platform) -> float:
    """Cycles that a channel needs for each of a transfer's ports: one burst for each run between two jumps."""
    hbm, iterations = platform.hbm, task.iterations
    size = hbm.port_bits / 8 / task.dma.tokens_per_word
    sequential = task.words * hbm.port_bits / 8 / platform.channel_bytes_per_cycle
    if task.streamed.rereads == 1:
        return sequential
    run = run_length(task)
    if run is None or run >= iterations:
        return sequential
    burst = burst_ns(hbm.random_gb_s, round(run * size), hbm.channel_gb_s) * platform.clock_mhz * 1e-3
    return max(sequential, iterations / run * burst)


def kernel_hbm_bytes(tasks: TaskGraph) -> tuple[float, ...]:
    """Bytes that cross the HBM ports in one run of each kernel, re-reads included, that finds its memories filled."""
    traffic = [0.0] * tasks.kernels
    for task in tasks.steady.transfers:
        traffic[task.kernel] += task.words * task.dma.word_bits // 8
    return tuple(traffic)


def hbm_bytes(tasks: TaskGraph) -> float:
    """Bytes that cross the HBM ports in one run of all kernels, re-reads included."""
    return sum(kernel_hbm_bytes(tasks))


def hbm_cycles(tasks: TaskGraph, platform: Platform) -> tuple[float, ...]:
    """Cycles that each kernel's traffic takes at least: its ports have a channel each while there are channels."""
    ports = [0] * tasks.kernels
    for task in tasks.transfers:
        ports[task.kernel] += task.dma.channels
    channels = [max(1, min(count, platform.hbm.channels)) for count in ports]
    bytes_per_cycle = platform.channel_bytes_per_cycle
    return tuple(b / (n * bytes_per_cycle) for b, n in zip(kernel_hbm_bytes(tasks), channels, strict=True))
