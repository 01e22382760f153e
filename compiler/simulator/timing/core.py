"""The native core: executes a `Network` (see network.py for what that means) in C++, compiled with g++ once.

A planned network runs any number of times with other FIFO depths, from several threads at once.
"""

import ctypes
from array import array
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from compiler.errors import ToolError, VerificationError
from compiler.graph.program import Access, LoopNest, Program
from compiler.native import built
from compiler.simulator.timing.network import FifoRun, Network, Outcome, Process, ProcessRun, Timeline

SOURCE = Path(__file__).with_name("core")
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-shared", "-fno-exceptions")
_NEVER = 1 << 60
MAX_ACCESSES = 64  # reads, or writes, of one nest: a mask has that many bits
MOVES = 32  # of many tokens at once, take as long as a cycle of a network
_TOTALS, _PER_PROCESS, _PER_FIFO = 7, 5, 5


class Plan:
    """A network made ready to run; its own FIFO depths hold where a run names no others.

    Raises ToolError where g++ is missing, or where a nest has more streams, or gates, than the core takes.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._core = _library()
        self._number = {fifo.name: n for n, fifo in enumerate(network.fifos)}
        words = array("q", _words(network, self._number))
        self._depths = array("q", (fifo.depth or 0 for fifo in network.fifos))
        plan = self._core.millrace_plan(_pointer(words))
        if plan is None:
            raise ToolError("the gates of the accesses make more different iterations than the simulator takes")
        self._plan = ctypes.c_void_p(plan)

    def __del__(self) -> None:
        if getattr(self, "_plan", None) is not None:
            self._core.millrace_free(self._plan)

    def run(
        self,
        depths: Mapping[str, int | None] | None = None,
        *,
        limit: int | None = None,
        fast_forward: bool = True,
        buckets: int = 0,
    ) -> Outcome:
        """One run with `depths` of some FIFOs (None: any number of tokens), stopped after `limit` cycles.

        `buckets`: how many equal parts of time the timeline has at most, 0 for none. Without `fast_forward` every
        token is moved, with the same result.
        """
        return Run(self, depths or {}, buckets).go(limit, fast_forward)

    def growing_run(
        self, depths: Mapping[str, int], grow: Callable[[Outcome, Mapping[str, int]], Mapping[str, int]]
    ) -> tuple[dict[str, int], Outcome]:
        """Depths with which the network comes to its end, at least `depths`, and how it did: a run (as `far`) in which,
        where it deadlocks, the FIFOs that `grow` names get deeper and it goes on (Parks, 1995). `grow` is given the
        outcome so far and the depths; the run ends where it names none.
        """
        chosen, run = dict(depths), self._far(depths)
        while (outcome := run.go()).deadlocked and (more := grow(outcome, chosen)):
            chosen |= more
            for name, depth in more.items():
                run.deepen(name, depth)
        return chosen, outcome

    def far(self, depths: Mapping[str, int | None]) -> Outcome:
        """How far the network gets, to its end or to a deadlock, in no particular time: cycles and waiting are 0 where
        that could be found without them, which is many times faster.
        """
        return self._far(depths).go()

    def _far(self, depths: Mapping[str, int | None]) -> "Run | Progress":
        return Progress(self, depths) if self._core.millrace_confluent(self._plan) else Run(self, depths, 0)

    def number(self, fifo: str) -> int:
        """Of a FIFO, in the core."""
        return self._number[fifo]

    def start(self, depths: Mapping[str, int | None], buckets: int) -> ctypes.c_void_p:
        """A run in the core; it must end before the plan does."""
        chosen = self._all_depths(depths)  # held until the core has read it
        return ctypes.c_void_p(self._core.millrace_start(self._plan, _pointer(chosen), buckets))

    def start_progress(self, depths: Mapping[str, int | None]) -> ctypes.c_void_p:
        """Progress in the core; it must end before the plan does."""
        chosen = self._all_depths(depths)
        return ctypes.c_void_p(self._core.millrace_progress(self._plan, _pointer(chosen)))

    def _all_depths(self, depths: Mapping[str, int | None]) -> "array[int]":
        chosen = array("q", self._depths)
        for name, depth in depths.items():
            fifo = self.network.fifos[self._number[name]]
            if depth is not None and depth < fifo.initial:
                raise VerificationError(f"FIFO {name} holds {depth} tokens; it can not begin with {fifo.initial}")
            chosen[self._number[name]] = depth or 0
        return chosen


class Run:
    """A run of a plan that can be gone on with."""

    def __init__(self, plan: Plan, depths: Mapping[str, int | None], buckets: int) -> None:
        self._core, self._plan, self._buckets = _library(), plan, buckets
        self._run = plan.start(depths, buckets)

    def __del__(self) -> None:
        if getattr(self, "_run", None) is not None:
            self._core.millrace_end(self._run)

    def go(self, limit: int | None = None, fast_forward: bool = True) -> Outcome:
        """On to the end, a deadlock, or the limit; all that happened since the start."""
        network, buckets = self._plan.network, self._buckets
        self._core.millrace_go(self._run, _NEVER if limit is None else min(limit, _NEVER), int(fast_forward))
        processes = len(network.processes)
        results = array("q", bytes(8 * (_TOTALS + _PER_PROCESS * processes + _PER_FIFO * len(network.fifos))))
        shares = array("d", bytes(16 * processes * buckets or 8))
        self._core.millrace_results(self._run, _pointer(results), _pointer(shares))
        return _outcome(network, results, shares, buckets)

    def deepen(self, fifo: str, depth: int) -> None:
        """After a deadlock: the FIFO holds `depth` tokens from here on."""
        self._core.millrace_deepen(self._run, self._plan.number(fifo), depth)


class Progress:
    """A run of a plan in which time does not count (core/progress.h), that can be gone on with."""

    def __init__(self, plan: Plan, depths: Mapping[str, int | None]) -> None:
        self._core, self._plan = _library(), plan
        self._progress = plan.start_progress(depths)

    def __del__(self) -> None:
        if getattr(self, "_progress", None) is not None:
            self._core.millrace_stop(self._progress)

    def go(self) -> Outcome:
        """On to the end or a deadlock; all that happened since the start."""
        network = self._plan.network
        results = array("q", bytes(8 * (2 + len(network.processes) + 2 * len(network.fifos))))
        self._core.millrace_proceed(self._progress, _pointer(results))
        deadlocked, moves, *counts = results
        numbers = iter(counts)
        processes = tuple(ProcessRun(p.name, next(numbers), 0, 0, 0, 0) for p in network.processes)
        fifos = tuple(FifoRun(f.name, next(numbers), next(numbers), 0, 0, 0) for f in network.fifos)
        return Outcome(0, bool(deadlocked), False, processes, fifos, work=moves // MOVES)

    def deepen(self, fifo: str, depth: int) -> None:
        """After a deadlock: the FIFO holds `depth` tokens from here on."""
        self._core.millrace_widen(self._progress, self._plan.number(fifo), depth)


def run(network: Network, *, limit: int | None = None, fast_forward: bool = True, buckets: int = 0) -> Outcome:
    """Run a network once. See `Plan.run`."""
    return Plan(network).run(limit=limit, fast_forward=fast_forward, buckets=buckets)


def _outcome(network: Network, results: "array[int]", shares: "array[float]", buckets: int) -> Outcome:
    cycles, deadlocked, stopped, tokens, windows, skipped, width = results[:_TOTALS]
    numbers = iter(results[_TOTALS:])
    processes = tuple(ProcessRun(p.name, *(next(numbers) for _ in range(_PER_PROCESS))) for p in network.processes)
    fifos = tuple(FifoRun(f.name, *(next(numbers) for _ in range(_PER_FIFO))) for f in network.fifos)
    timeline = None if buckets == 0 else _timeline(shares, len(processes), buckets, width)
    done = (cycles, bool(deadlocked), bool(stopped), processes, fifos)
    return Outcome(*done, tokens, windows, skipped, cycles - skipped, timeline)


def _timeline(shares: "array[float]", processes: int, buckets: int, width: int) -> Timeline:
    rows = [tuple(shares[n * buckets : (n + 1) * buckets]) for n in range(2 * processes)]
    return Timeline(width, tuple(rows[:processes]), tuple(rows[processes:]))


def _pointer(values: "array[Any]") -> ctypes.c_void_p:
    return ctypes.c_void_p(values.buffer_info()[0])


def _words(network: Network, number: Mapping[str, int]) -> Iterator[int]:
    """The description of a network that the core reads."""
    yield len(network.processes)
    yield len(network.fifos)
    yield from (fifo.initial for fifo in network.fifos)
    for process in network.processes:
        yield from (process.style == "stp", process.drains, process.ii, process.per, process.latency, process.gap)
        yield from _program(process, process.program, number)


_NEST = -1  # in the place of a number of times


def _program(process: Process, program: Program, number: Mapping[str, int]) -> Iterator[int]:
    yield len(program)
    for part in program:
        if isinstance(part, LoopNest):
            yield from (_NEST, part.restarts, len(part.trips), *part.trips)
            for side in (part.reads, part.writes):
                yield from _accesses(process, part, side, number)
        else:
            yield part.times
            yield from _program(process, part.body, number)


def _accesses(
    process: Process, nest: LoopNest, accesses: tuple[Access, ...], number: Mapping[str, int]
) -> Iterator[int]:
    if len(accesses) > MAX_ACCESSES:
        raise ToolError(f"{process.name} has {len(accesses)} streams on one side; the simulator takes {MAX_ACCESSES}")
    yield len(accesses)
    for access in accesses:
        gates = [g for g in access.gates if g.low > 0 or g.high < nest.trips[g.loop]]
        yield from (number[access.stream], len(gates))
        for gate in gates:
            yield from (gate.loop, gate.low, gate.high)


@cache
def _library() -> ctypes.CDLL:
    core = ctypes.CDLL(str(_built()))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    core.millrace_plan.restype = core.millrace_start.restype = pointer
    core.millrace_plan.argtypes = core.millrace_free.argtypes = core.millrace_end.argtypes = [pointer]
    core.millrace_start.argtypes = [pointer, pointer, number]
    core.millrace_go.argtypes = core.millrace_deepen.argtypes = [pointer, number, number]
    core.millrace_confluent.restype, core.millrace_progress.restype = number, pointer
    core.millrace_confluent.argtypes = core.millrace_stop.argtypes = [pointer]
    core.millrace_progress.argtypes = core.millrace_proceed.argtypes = [pointer, pointer]
    core.millrace_widen.argtypes = [pointer, number, number]
    core.millrace_results.argtypes = [pointer, pointer, pointer]
    return core


def _built() -> Path:
    return built(SOURCE / "core.cpp", "core.so", FLAGS)
