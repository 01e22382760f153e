"""Who waits on which FIFO in a network that can not go on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from compiler.graph.task_graph import Access
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
    depth: int | None

    @property
    def is_empty(self) -> bool:
        return self.pushed == self.popped

    @property
    def is_full(self) -> bool:
        return self.depth is not None and self.pushed - self.popped >= self.depth


def waits_of(
    network: Network, outcome: Outcome, depths: Mapping[str, int | None] | None = None
) -> dict[str, tuple[Wait, ...]]:
    """What each process that has not ended waits on, when the run of `network` is deadlocked. `depths` are those of the
    run where they are not the network's own.
    """
    chosen = {f.name: f.depth for f in network.fifos} | dict(depths or {})
    state = {run.name: _State(run.pushed, run.popped, chosen[run.name]) for run in outcome.fifos}
    ends = {f.name: (f.source, f.target) for f in network.fifos}
    found = (_waits(p, run, state, ends) for p, run in zip(network.processes, outcome.processes, strict=True))
    return {waits[0].task: waits for waits in map(tuple, found) if waits}


def cycle_of(waits: Mapping[str, tuple[Wait, ...]]) -> tuple[Wait, ...]:
    """Tasks that wait for one another; empty where one waits for a task that has ended."""
    path: dict[str, Wait] = {}
    task = next(iter(waits), "")
    while task in waits and task not in path:
        path[task] = waits[task][0]
        task = path[task].other
    names = list(path)
    return tuple(path[name] for name in names[names.index(task) :]) if task in path else ()


def _waits(
    process: Process, run: ProcessRun, state: Mapping[str, _State], ends: Mapping[str, tuple[str, str]]
) -> Iterator[Wait]:
    entered = run.iterations
    writing = {a: _iteration(process, a, state[a.stream].pushed) for a in process.writes}
    head = min(writing.values(), default=inf)  # the iteration that has something to write and leaves next
    reads, writes = (_stalling if process.style == "stp" else _flushable)(process, entered, head)
    if writes:
        for access in (a for a, iteration in writing.items() if iteration == head and state[a.stream].is_full):
            yield Wait(process.name, access.stream, "full", ends[access.stream][1])
    if reads:
        for access in _admitted(process, process.reads, entered, state):
            yield Wait(process.name, access.stream, "empty", ends[access.stream][0])


def _admitted(process: Process, reads: Iterable[Access], entered: int, state: Mapping[str, _State]) -> Iterator[Access]:
    for access in reads:
        fifo = state[access.stream]
        if fifo.is_empty and _iteration(process, access, fifo.popped) == entered:
            yield access


def _flushable(process: Process, entered: int, head: float) -> tuple[bool, bool]:
    """Whether it waits to read, and to write."""
    writes = head < entered
    drains = writes and process.drains and entered % process.run == 0
    reads = entered < process.iterations and not drains and (not writes or entered - head < process.slots)
    return reads, writes


def _stalling(process: Process, entered: int, head: float) -> tuple[bool, bool]:
    """The step that is due takes in iteration `entered`, lets out iteration `head`, or both."""
    base = min(head, entered) // process.run * process.run
    lets_out = (head - base) * process.ii + process.latency - 1 if head <= entered else inf
    if head == entered and process.latency > 1:
        lets_out = inf
    is_more = entered < min(process.iterations, base + process.run)
    takes_in = (entered - base) * process.ii if is_more else inf
    return takes_in <= lets_out and takes_in < inf, lets_out <= takes_in and lets_out < inf


def _iteration(process: Process, access: Access, token: int) -> float:
    """The iteration that moves token number `token` (from 0), infinity where there is none."""
    gates = {g.loop: (g.low, g.high) for g in access.gates}
    iteration, stride = 0, 1
    for k in range(len(process.trips) - 1, -1, -1):
        low, high = gates.get(k, (0, process.trips[k]))
        token, index = divmod(token, high - low)
        iteration += (low + index) * stride
        stride *= process.trips[k]
    return inf if token else iteration
