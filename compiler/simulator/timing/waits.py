"""Who waits on which FIFO in a network that can not go on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from compiler.graph.program import iteration_of, run_at, streams
from compiler.simulator.timing.network import Network, Outcome, Process, ProcessRun


@dataclass(frozen=True, slots=True)
class Wait:
    """`task` waits on `fifo` for a token (`empty`) or for room (`full`) from the process `other`."""

    task: str
    fifo: str
    because: Literal["empty", "full"]
    other: str


@dataclass(frozen=True, slots=True)
class _State:
    """A FIFO at the end of the run."""

    pushed: int
    popped: int
    initial: int
    depth: int | None

    @property
    def held(self) -> int:
        return self.initial + self.pushed - self.popped

    @property
    def is_empty(self) -> bool:
        return self.held == 0

    @property
    def is_full(self) -> bool:
        return self.depth is not None and self.held >= self.depth


def waits_of(
    network: Network, outcome: Outcome, depths: Mapping[str, int | None] | None = None
) -> dict[str, tuple[Wait, ...]]:
    """What each process that has not ended waits on, when the run of `network` is deadlocked. `depths` are those of the
    run where they are not the network's own.
    """
    chosen = {f.name: f.depth for f in network.fifos} | dict(depths or {})
    initial = {f.name: f.initial for f in network.fifos}
    state = {r.name: _State(r.pushed, r.popped, initial[r.name], chosen[r.name]) for r in outcome.fifos}
    ends = {f.name: (f.source, f.target) for f in network.fifos}
    found = (_waits(p, run, state, ends) for p, run in zip(network.processes, outcome.processes, strict=True))
    return {waits[0].task: waits for waits in map(tuple, found) if waits}


def causes_of(waits: Mapping[str, tuple[Wait, ...]]) -> tuple[Wait, ...]:
    """Tasks that wait for one another; where there are none, the wait for a task that has ended."""
    path: dict[str, Wait] = {}
    task = next(iter(waits), "")
    while task in waits and task not in path:
        path[task] = waits[task][0]
        task = path[task].other
    names = list(path)
    return tuple(path[name] for name in (names[names.index(task) :] if task in path else names[-1:]))


def is_cycle(causes: tuple[Wait, ...]) -> bool:
    """Whether the last one waits for the first."""
    return bool(causes) and causes[-1].other == causes[0].task


def _waits(
    process: Process, run: ProcessRun, state: Mapping[str, _State], ends: Mapping[str, tuple[str, str]]
) -> Iterator[Wait]:
    entered, program = run.iterations, process.program
    writing = {f: iteration_of(program, "writes", f, state[f].pushed) for f in streams(program, "writes")}
    head = min((i for i in writing.values() if i is not None), default=inf)  # has something to write and leaves next
    reads, writes = (_stalling if process.style == "stp" else _flushable)(process, entered, head)
    if writes:
        for fifo in (f for f, iteration in writing.items() if iteration == head and state[f].is_full):
            yield Wait(process.name, fifo, "full", ends[fifo][1])
    if reads:
        for fifo in streams(program, "reads"):
            is_wanted = iteration_of(program, "reads", fifo, state[fifo].popped) == entered
            if is_wanted and state[fifo].is_empty:
                yield Wait(process.name, fifo, "empty", ends[fifo][0])


def _flushable(process: Process, entered: int, head: float) -> tuple[bool, bool]:
    """Whether it waits to read, and to write."""
    writes, is_more = head < entered, entered < process.iterations
    drains = is_more and writes and process.drains and run_at(process.program, entered)[0] == entered
    reads = is_more and not drains and (not writes or entered - head < process.slots)
    return reads, writes


def _stalling(process: Process, entered: int, head: float) -> tuple[bool, bool]:
    """The step that is due takes in iteration `entered`, lets out iteration `head`, or both."""
    oldest = int(min(head, entered))
    if oldest == process.iterations:
        return False, False
    begin, end = run_at(process.program, oldest)
    lets_out = (head - begin) * process.ii + process.latency - 1 if head <= entered else inf
    if head == entered and process.latency > 1:
        lets_out = inf
    takes_in = (entered - begin) * process.ii if entered < end else inf
    return takes_in <= lets_out and takes_in < inf, lets_out <= takes_in and lets_out < inf
