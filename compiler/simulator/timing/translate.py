"""From a design to the networks that are simulated, one for each kernel.

A task becomes a process, a stream the FIFO of the same name. A load or store `t` becomes two processes with a FIFO
between them, `t@hbm` each: the memory, which serves words at its pace (`hbm`), and the task, which passes their tokens.
The FIFO is the adapter of the m_axi port: what it asks for ahead of the task, what it holds until the memory takes it.

A store that sends credits waits, behind each run of its pipeline that has one, for the memory's answer (`t@answer`),
and then writes them. A load that takes credits reads them before each such run, and then asks for it (`t@request`): its
memory serves nothing of the run earlier.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.analysis.transfers import slowdowns
from compiler.graph.program import (
    Access,
    Gate,
    LoopNest,
    Program,
    Repeat,
    Values,
    nests,
    single_runs,
    tokens,
    with_nests,
)
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
            found, between = _transfer(task, task.transfer, paces[task.name], platform)
            processes[task.kernel] += found
            fifos[task.kernel] += between
    for stream in design.streams:
        kernel = design.task[stream.source].kernel
        fifos[kernel].append(Fifo(stream.name, stream.source, stream.target, stream.depth, stream.initial))
    return tuple(Network(tuple(processes[k]), tuple(fifos[k])) for k in range(design.kernels))


def memory_name(task: str) -> str:
    """The process, and the FIFO, between a load or store and HBM."""
    return f"{task}@hbm"


def request_name(load: str) -> str:
    """The FIFO by which a load that takes credits asks for the words of a run."""
    return f"{load}@request"


def answer_name(store: str) -> str:
    """The FIFO by which memory answers a store that sends credits."""
    return f"{store}@answer"


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
    moved, data = task.moved, filter(task.is_data, nests(task.program))
    size = gcd(transfer.tokens_per_word, transfer.run or 0, *(nest.run for nest in data))
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
) -> tuple[tuple[Process, Process], tuple[Fifo, ...]]:
    name = memory_name(task.name)
    memory, mover = _memory(task, served, platform), _mover(task, served.size, platform)
    run_words = -(-(served.run or served.units) * served.size // transfer.tokens_per_word)
    words = OUTSTANDING_BURSTS * min(platform.hbm.burst_words, run_words)
    held = max(1, words * transfer.tokens_per_word // served.size)
    if task.kind != "load":
        answer = (Fifo(answer_name(task.name), name, task.name, 1),) if task.credits or task.done else ()
        return (mover, memory), (Fifo(name, task.name, name, held), *answer)
    request = (Fifo(request_name(task.name), task.name, name, 1),) if task.credits or task.go else ()
    # The adapter asks for a burst only when it has room for it: what is under way counts.
    return (memory, mover), (Fifo(name, name, task.name, max(2, held - memory.slots)), *request)


def _memory(task: TimedTask, served: MemoryPace, platform: Platform) -> Process:
    found, loads = served.pace, task.kind == "load"
    run = served.run if found.gap else None
    if task.credits or task.go:

        def served_by(nest: LoopNest) -> Program:
            return _bursts(nest.run // served.size, run, task, nest) if task.is_data(nest) else _answered(nest, task)

        program = _each_run(task.program, served_by)
    else:
        program = _bursts(served.units, run, task)
    latency = platform.hbm.read_latency_cycles if loads else platform.hbm.write_response_cycles
    gap, latency = found.gap if run else 0, max(SHORTEST_FLUSHABLE, latency)
    return Process(memory_name(task.name), program, found.ii, latency, per=found.per, gap=gap, drains=False)


def _answered(nest: LoopNest, task: TimedTask) -> Program:
    """What memory does with a word that starts a load, or to answer a store."""
    if task.kind == "load":
        return (LoopNest((1,), (Access(request_name(task.name)),), ()),)
    return (LoopNest((1,), (), (Access(answer_name(task.name)),)),) if nest.writes else ()


def _bursts(units: int, run: int | None, task: TimedTask, nest: LoopNest | None = None) -> Program:
    """So many units one after the other, in runs of `run` between two jumps of the address. Where they are those of
    `nest` and that takes credits, they are asked for; where it sends some, the last one is answered.
    """
    loads, unit = task.kind == "load", (Access(memory_name(task.name)),)
    shapes = [trips for trips in ((units // run, run), (units % run,)) if all(trips)] if run else [(units,)]
    credited = nest is not None and _moves_credits(nest, task)
    parts: list[LoopNest] = []
    for number, trips in enumerate(shapes):
        restarts, ends = len(trips) - 1, tuple[Access, ...]()
        if credited and loads and number == 0:
            ends = (Access(request_name(task.name), tuple(Gate(k, 0, 1) for k in range(len(trips)))),)
        elif credited and not loads and number == len(shapes) - 1:
            ends = (Access(answer_name(task.name), tuple(Gate(k, trip - 1, trip) for k, trip in enumerate(trips))),)
        parts.append(LoopNest(trips, ends, unit, restarts) if loads else LoopNest(trips, unit, ends, restarts))
    return tuple(parts)


def _moves_credits(nest: LoopNest, task: TimedTask) -> bool:
    side = "reads" if task.kind == "load" else "writes"
    return any(tokens((nest,), side, credit.stream) for credit in task.credits)


def _each_run(program: Program, made: Callable[[LoopNest], Program]) -> Program:
    """The program with something else for each run of its pipeline."""
    parts: list[LoopNest | Repeat] = []
    for part in single_runs(program):
        parts += made(part) if isinstance(part, LoopNest) else (Repeat(part.times, _each_run(part.body, made)),)
    return tuple(parts)


def _mover(task: TimedTask, size: int, platform: Platform) -> Process:
    """The task itself: a unit of `size` tokens is read in the first of its iterations, written in the last."""
    loads, memory = task.kind == "load", memory_name(task.name)

    def moving(nest: LoopNest) -> LoopNest:
        trips, gates = nest.trips, tuple[Gate, ...]()
        if size > 1:
            trips = (*trips[: nest.restarts], nest.run // size, size)
            slot = 0 if loads else size - 1
            gates = (Gate(len(trips) - 1, slot, slot + 1),)
        access = (Access(memory, gates),)
        reads, writes = (access, nest.writes) if loads else (nest.reads, access)
        return LoopNest(trips, reads, writes, nest.restarts)

    def with_credits(nest: LoopNest) -> Program:
        if not task.is_data(nest):
            if loads:
                return (replace(nest, writes=(Access(request_name(task.name)),)),)
            return (replace(nest, reads=(Access(answer_name(task.name)),)) if nest.writes else nest,)
        if not _moves_credits(nest, task):
            return (moving(nest),)
        if loads:
            asking = (Access(request_name(task.name)),)
            return LoopNest((1,), tuple(Access(a.stream) for a in nest.reads), asking), moving(nest)
        answered = (Access(answer_name(task.name)),)
        return moving(nest), LoopNest((1,), answered, tuple(Access(a.stream) for a in nest.writes))

    timing = task.timing
    answered = task.credits or task.done
    waits = platform.hbm.read_latency_cycles if loads else platform.hbm.write_response_cycles if answered else 0
    latency = max(SHORTEST_FLUSHABLE, timing.depth - waits)
    each = task.credits or task.go
    program = _each_run(task.program, with_credits) if each else with_nests(task.program, moving)
    return Process(task.name, program, timing.ii, latency, timing.style, gap=timing.gap)
