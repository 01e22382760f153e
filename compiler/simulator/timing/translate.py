"""From a design to the networks that are simulated, one for each kernel.

A task becomes a process, a stream the FIFO of the same name. A load or store `t` becomes two processes with a FIFO
between them, `t@hbm` each: the memory, which serves words at its pace (`hbm`), and the task, which passes their tokens.
The FIFO is the adapter of the m_axi port: what it asks for ahead of the task, what it holds until the memory takes it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.analysis.transfers import slowdowns
from compiler.graph.program import Access, Gate, LoopNest, Values, iterations, nests, with_nests
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform
from compiler.simulator.timing.design import TimedDesign, TimedTask, Transfer, timed_design
from compiler.simulator.timing.hbm import Pace, pace
from compiler.simulator.timing.network import Fifo, Network, Process

SHORTEST_FLUSHABLE = 2  # cycles: a flushable pipeline reads and writes in two


def networks_of(
    tasks: TaskGraph,
    platform: Platform,
    channels: Mapping[str, Sequence[int]] | None = None,
    launches: Sequence[Values] = ({},),
) -> tuple[Network, ...]:
    """The network of each kernel. `channels` of loads and stores, None: as the compiler assigns them; values of the
    arguments in `launches` one after the other. O(tasks x launches).
    """
    return networks_of_design(timed_design(tasks, platform, channels).at(launches), platform)


def networks_of_design(design: TimedDesign, platform: Platform) -> tuple[Network, ...]:
    """The network of each kernel of `design`."""
    paces = memory_paces(design, platform)
    processes: dict[int, list[Process]] = defaultdict(list)
    fifos: dict[int, list[Fifo]] = defaultdict(list)
    for task in design.tasks:
        if task.transfer is None:
            processes[task.kernel].append(_process(task))
        else:
            found, adapter = _transfer(task, task.transfer, paces[task.name], platform)
            processes[task.kernel] += found
            fifos[task.kernel].append(adapter)
    for stream in design.streams:
        kernel = design.task[stream.source].kernel
        fifos[kernel].append(Fifo(stream.name, stream.source, stream.target, stream.depth, stream.initial))
    return tuple(Network(tuple(processes[k]), tuple(fifos[k])) for k in range(design.kernels))


def memory_name(task: str) -> str:
    """The process, and the FIFO, between a load or store and HBM."""
    return f"{task}@hbm"


class MemoryPace(NamedTuple):
    """At which pace memory serves a transfer: `units` in runs of `run`, each of `size` iterations of its task."""

    pace: Pace
    units: int
    run: int | None
    size: int


def memory_paces(design: TimedDesign, platform: Platform) -> dict[str, MemoryPace]:
    """The pace of each load and store of `design`, by name, with what others of its kernel take of its channels."""
    words: dict[int, dict[str, int]] = defaultdict(dict)
    transfers = {t.name: t.transfer for t in design.tasks if t.transfer is not None}
    for name in transfers:
        words[design.task[name].kernel][name] = design.task[name].words
    channels = {name: transfer.channels for name, transfer in transfers.items()}
    slower = {name: factor for moved in words.values() for name, factor in slowdowns(moved, channels).items()}
    return {name: _memory_pace(design.task[name], t, platform, slower[name]) for name, t in transfers.items()}


def _memory_pace(task: TimedTask, transfer: Transfer, platform: Platform, slowdown: Fraction) -> MemoryPace:
    """Memory serves whole words; parts of them, one a turn, where a word is cut: the last one, or behind a jump."""
    moved = iterations(task.program)
    size = gcd(transfer.tokens_per_word, transfer.run or 0, *(nest.run for nest in nests(task.program)))
    run = None if transfer.run is None or transfer.run >= moved else transfer.run // size
    unit = Fraction(size, transfer.tokens_per_word)
    spread = len(transfer.channels) > transfer.ports
    return MemoryPace(pace(platform, run, unit=unit, spread=spread, slowdown=slowdown), moved // size, run, size)


def _process(task: TimedTask) -> Process:
    timing = task.timing
    latency = max(1 if timing.style == "stp" else SHORTEST_FLUSHABLE, timing.depth)
    return Process(task.name, task.program, timing.ii, latency, timing.style, gap=timing.gap)


def _transfer(
    task: TimedTask, transfer: Transfer, served: MemoryPace, platform: Platform
) -> tuple[tuple[Process, Process], Fifo]:
    name, loads = memory_name(task.name), task.kind == "load"
    memory = _memory(name, served, loads, platform)
    mover = _mover(task, name, served.size, loads, platform)
    run_words = -(-(served.run or served.units) * served.size // transfer.tokens_per_word)
    words = OUTSTANDING_BURSTS * min(platform.hbm.burst_words, run_words)
    held = max(1, words * transfer.tokens_per_word // served.size)
    if not loads:
        return (mover, memory), Fifo(name, task.name, name, held)
    # The adapter asks for a burst only when it has room for it: what is under way counts.
    return (memory, mover), Fifo(name, name, task.name, max(2, held - memory.slots))


def _memory(name: str, served: MemoryPace, loads: bool, platform: Platform) -> Process:
    found, units = served.pace, served.units
    run = served.run if found.gap else None
    reads, writes = ((), (Access(name),)) if loads else ((Access(name),), ())
    runs = LoopNest((units // run, run), reads, writes, 1) if run else LoopNest((units,), reads, writes)
    rest = (LoopNest((units % run,), reads, writes),) if run and units % run else ()
    latency = max(SHORTEST_FLUSHABLE, platform.hbm.read_latency_cycles)
    gap = found.gap if run else 0
    return Process(name, (runs, *rest), found.ii, latency, per=found.per, gap=gap, drains=False)


def _mover(task: TimedTask, memory: str, size: int, loads: bool, platform: Platform) -> Process:
    """The task itself: a unit of `size` tokens is read in the first of its iterations, written in the last."""

    def moving(nest: LoopNest) -> LoopNest:
        trips, gates = nest.trips, tuple[Gate, ...]()
        if size > 1:
            trips = (*trips[: nest.restarts], nest.run // size, size)
            slot = 0 if loads else size - 1
            gates = (Gate(len(trips) - 1, slot, slot + 1),)
        access = (Access(memory, gates),)
        reads, writes = (access, nest.writes) if loads else (nest.reads, access)
        return LoopNest(trips, reads, writes, nest.restarts)

    timing = task.timing
    latency = max(SHORTEST_FLUSHABLE, timing.depth - (platform.hbm.read_latency_cycles if loads else 0))
    program = with_nests(task.program, moving)
    return Process(task.name, program, timing.ii, latency, timing.style, gap=timing.gap)
