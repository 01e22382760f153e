"""The machine of `compiler.simulator.timing.network`, stepped cycle by cycle: slow, and meant to be plainly right.

What the module's text leaves open is decided here as hardware has it:

* an event is an entry, a leaving or a step of a stalling process, also one that takes in and lets out nothing;
* a run that is stopped ends at the limit; one that could not go on there is a deadlock;
* `iterations` are those that entered; `end` is 0 where none has left;
* `peak` counts a token that is read still in the cycle of its read: its slot is free in the next one; it is never less
  than the initial tokens;
* a FIFO's `full` and `empty` count only where the iteration, or step, in question uses it.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from compiler.graph.program import Access, LoopNest, Program, Repeat
from compiler.simulator.timing.network import Fifo, FifoRun, Network, Outcome, Process, ProcessRun


@dataclass
class _FifoState:
    """`stored` does not change within a cycle: writes and reads of the cycle wait in `pushing` and `popping`."""

    fifo: Fifo
    stored: int
    pushing: int = 0
    popping: int = 0
    pushed: int = 0
    popped: int = 0
    peak: int = 0
    empty: int = 0
    full: int = 0

    @classmethod
    def of(cls, fifo: Fifo) -> "_FifoState":
        return cls(fifo, stored=fifo.initial, peak=fifo.initial)

    @property
    def has_token(self) -> bool:
        return self.stored >= 1

    @property
    def has_room(self) -> bool:
        return self.fifo.depth is None or self.stored < self.fifo.depth

    def end_cycle(self) -> None:
        if not self.pushing and not self.popping:
            return
        self.peak = max(self.peak, self.stored + self.pushing)  # a slot that is read in this cycle is free in the next
        self.stored += self.pushing - self.popping
        self.pushed += self.pushing
        self.popped += self.popping
        self.pushing = self.popping = 0

    def result(self) -> FifoRun:
        return FifoRun(self.fifo.name, self.pushed, self.popped, self.peak, self.empty, self.full)


_Fifos = dict[str, _FifoState]


@dataclass
class _Iteration:
    """The FIFOs that it uses, whether a run ends with it, and how many runs of none are before it."""

    reads: list[_FifoState]
    writes: list[_FifoState]
    ends_run: bool = False
    empty_runs: int = 0


def _iterations(program: Program, fifos: _Fifos) -> list[_Iteration]:
    """Those of all nests, in their order."""
    found: list[_Iteration] = []
    empty_runs = 0
    for nest, indices in _runs(program):
        if not indices:
            empty_runs += 1
            continue
        run = [_Iteration(_used(nest.reads, index, fifos), _used(nest.writes, index, fifos)) for index in indices]
        run[0].empty_runs, empty_runs = empty_runs, 0
        run[-1].ends_run = True
        found += run
    return found


def _runs(program: Program) -> Iterator[tuple[LoopNest, list[tuple[int, ...]]]]:
    """Each run of the pipeline: the indices of the loops in each of its iterations."""
    for part in program:
        if isinstance(part, Repeat):
            for _ in range(part.times):
                yield from _runs(part.body)
            continue
        ranges = [range(trip) for trip in part.trips]
        for outer in product(*ranges[: part.restarts]):
            yield part, [(*outer, *inner) for inner in product(*ranges[part.restarts :])]


def _used(accesses: tuple[Access, ...], index: tuple[int, ...], fifos: _Fifos) -> list[_FifoState]:
    return [fifos[a.stream] for a in accesses if all(gate.low <= index[gate.loop] < gate.high for gate in a.gates)]


class _State:
    """What both styles have: where the process stands and what it counts."""

    def __init__(self, process: Process, fifos: _Fifos) -> None:
        self.process = process
        self.all = _iterations(process.program, fifos)
        self.entered = self.left = 0
        self.start, self.end = -1, 0
        self.empty = self.full = 0

    @property
    def first_gap(self) -> int:
        """What runs of no iterations at the very start cost."""
        return self.all[0].empty_runs * self.process.gap if self.all else 0

    def gap_before(self, iteration: int) -> int:
        """From the run before to the one that begins with an iteration."""
        return (1 + self.all[iteration].empty_runs) * self.process.gap

    @property
    def is_finished(self) -> bool:
        return self.left == len(self.all)

    def take_in(self, cycle: int) -> None:
        for fifo in self.all[self.entered].reads:
            fifo.popping += 1
        self.entered += 1
        if self.start < 0:
            self.start = cycle

    def let_out(self, cycle: int) -> None:
        for fifo in self.all[self.left].writes:
            fifo.pushing += 1
        self.left += 1
        self.end = cycle + 1

    def result(self) -> ProcessRun:
        return ProcessRun(self.process.name, self.entered, self.start, self.end, self.empty, self.full)


class _Flushable(_State):
    def __init__(self, process: Process, fifos: _Fifos) -> None:
        super().__init__(process, fifos)
        self.inside: deque[int] = deque()  # the cycles in which the iterations inside entered, the oldest first
        self.turn = self.first_gap  # of the next iteration, in 1/per cycles
        self.is_draining = False  # the next iteration waits for all inside to leave

    def can_ever_go_on(self) -> bool:
        """Whether time alone lets it enter or leave."""
        if self.inside and all(fifo.has_room for fifo in self.all[self.left].writes):
            return True
        if self.entered == len(self.all) or self.is_draining or len(self.inside) == self.process.slots:
            return False
        return all(fifo.has_token for fifo in self.all[self.entered].reads)

    def do_cycle(self, cycle: int) -> None:
        self._leave(cycle)
        self._enter(cycle)

    def _leave(self, cycle: int) -> None:
        if not self.inside or cycle - self.inside[0] < self.process.latency - 1:
            return
        without_room = [fifo for fifo in self.all[self.left].writes if not fifo.has_room]
        for fifo in without_room:
            fifo.full += 1
        if without_room:
            return
        self.let_out(cycle)
        self.inside.popleft()
        if self.is_draining and not self.inside:
            self.is_draining = False
            self.turn = max(self.turn, (cycle + 1) * self.process.per + self.gap_before(self.entered))

    def _enter(self, cycle: int) -> None:
        first_cycle = -(-self.turn // self.process.per)
        if self.entered == len(self.all) or self.is_draining or cycle < first_cycle:
            return
        without_token = [fifo for fifo in self.all[self.entered].reads if not fifo.has_token]
        for fifo in without_token:
            fifo.empty += 1
        if without_token:
            self.empty += 1
        elif len(self.inside) == self.process.slots:
            self.full += 1
        else:
            self.take_in(cycle)
            self.inside.append(cycle)
            self.turn = (self.turn if cycle == first_cycle else cycle * self.process.per) + self.process.ii
            self._end_run()

    def _end_run(self) -> None:
        if not self.all[self.entered - 1].ends_run or self.entered == len(self.all):
            return
        if self.process.drains:
            self.is_draining = True
        else:
            self.turn += self.gap_before(self.entered)


class _Stalling(_State):
    def __init__(self, process: Process, fifos: _Fifos) -> None:
        super().__init__(process, fifos)
        self.step = 0  # the next one of this run
        self.first_cycle = self.first_gap  # of this run
        self.is_all_in = False  # of this run
        self.stages: deque[bool] = deque([False] * (process.latency - 1))  # the shift register, the newest first

    @property
    def _takes_in(self) -> bool:
        return self.step % self.process.ii == 0 and not self.is_all_in

    @property
    def _lets_out(self) -> bool:
        return self.stages[-1] if self.stages else self._takes_in

    def _without_token(self) -> list[_FifoState]:
        return [fifo for fifo in self.all[self.entered].reads if not fifo.has_token] if self._takes_in else []

    def _without_room(self) -> list[_FifoState]:
        return [fifo for fifo in self.all[self.left].writes if not fifo.has_room] if self._lets_out else []

    def can_ever_go_on(self) -> bool:
        return not self.is_finished and not self._without_token() and not self._without_room()

    def do_cycle(self, cycle: int) -> None:
        if self.is_finished or cycle < self.first_cycle:
            return
        without_token, without_room = self._without_token(), self._without_room()
        for fifo in without_token:
            fifo.empty += 1
        for fifo in without_room:
            fifo.full += 1
        if without_token:
            self.empty += 1
        elif without_room:
            self.full += 1
        else:
            self._do_step(cycle)

    def _do_step(self, cycle: int) -> None:
        takes_in, lets_out = self._takes_in, self._lets_out
        if takes_in:
            self.take_in(cycle)
            self.is_all_in = self.all[self.entered - 1].ends_run
        if lets_out:
            self.let_out(cycle)
        self.stages.appendleft(takes_in)
        self.stages.pop()
        self.step += 1
        if lets_out and self.all[self.left - 1].ends_run and not self.is_finished:
            self.step, self.is_all_in = 0, False
            self.first_cycle = cycle + 1 + self.gap_before(self.left)


def run_reference(network: Network, limit: int | None = None) -> Outcome:
    """Step the network until it is finished, can not go on, or `limit` cycles are over."""
    fifos = {fifo.name: _FifoState.of(fifo) for fifo in network.fifos}
    states = [(_Stalling if p.style == "stp" else _Flushable)(p, fifos) for p in network.processes]
    cycle, is_finished, is_dead = 0, False, False
    while True:
        is_finished = all(state.is_finished for state in states)
        is_dead = not is_finished and not any(state.can_ever_go_on() for state in states)
        if is_finished or is_dead or cycle == limit:
            break
        for state in states:
            state.do_cycle(cycle)
        for fifo in fifos.values():
            fifo.end_cycle()
        cycle += 1
    return Outcome(
        cycles=cycle,
        deadlocked=is_dead,
        stopped=not is_finished and not is_dead,
        processes=tuple(state.result() for state in states),
        fifos=tuple(fifo.result() for fifo in fifos.values()),
    )
