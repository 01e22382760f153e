"""From the outcomes of a design's kernels to a `Simulation`: times since the first start, loads and stores as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from compiler.graph.program import iterations
from compiler.platforms.platform import Platform
from compiler.simulator.timing.design import TimedDesign, TimedStream, TimedTask
from compiler.simulator.timing.network import FifoRun, Network, Outcome, ProcessRun
from compiler.simulator.timing.simulation import (
    DesignTimeline,
    FifoResult,
    HbmResult,
    Simulation,
    TaskResult,
    TaskTimeline,
)
from compiler.simulator.timing.timeline import active, bucket_cycles, rebinned, shares
from compiler.simulator.timing.translate import memory_name, memory_paces


@dataclass(frozen=True, slots=True)
class KernelRun:
    """One kernel and what it did."""

    network: Network
    outcome: Outcome


def collect(design: TimedDesign, runs: Sequence[KernelRun], platform: Platform, buckets: int) -> Simulation:
    """What the `runs` of the first kernels of `design` mean for it at the clock of `platform`; kernels after a deadlock
    have none.
    """
    done = _Done(design, runs, platform)
    fifos = {fifo.name: fifo for run in runs for fifo in run.outcome.fifos}
    return Simulation(
        clock_mhz=platform.clock_mhz,
        kernels=tuple(run.outcome.cycles for run in runs),
        tasks=tuple(map(done.task, design.tasks)),
        fifos=tuple(_fifo(stream, fifos.get(stream.name)) for stream in design.streams),
        hbm=tuple(_hbm(t, done, platform) for t in design.tasks if t.transfer is not None and done.has(t)),
        timeline=done.timeline(design, buckets),
    )


class _Done:
    """What the processes of a design did, by name."""

    def __init__(self, design: TimedDesign, runs: Sequence[KernelRun], platform: Platform) -> None:
        self.outcomes = [run.outcome for run in runs]
        self.starts = list(accumulate((outcome.cycles for outcome in self.outcomes), initial=0))
        self.paces = memory_paces(design, platform)
        self.process = {process.name: process for outcome in self.outcomes for process in outcome.processes}
        self.number = {p.name: n for outcome in self.outcomes for n, p in enumerate(outcome.processes)}

    def has(self, task: TimedTask) -> bool:
        return task.name in self.process

    def task(self, task: TimedTask) -> TaskResult:
        if not self.has(task):
            return TaskResult(task.name, task.kernel, 0, -1, 0, 0, 0, 0)
        main, begin = self.process[task.name], self.starts[task.kernel]
        parts = [main] if task.transfer is None else [main, self.process[memory_name(task.name)]]
        entered = [begin + part.start for part in parts if part.start >= 0]
        left = max(part.end for part in parts)
        # A load or a store that waits for memory moves data as fast as it can: that is work.
        empty, full = 0 if task.kind == "load" else main.empty, 0 if task.kind == "store" else main.full
        going = (left or self.outcomes[task.kernel].cycles) - empty - full
        busy = max(0, min(going, self.work(task, main)))
        end = begin + left if left else 0
        return TaskResult(task.name, task.kernel, main.iterations, min(entered, default=-1), end, empty, full, busy)

    def work(self, task: TimedTask, run: ProcessRun) -> int:
        """Cycles that its iterations, or their words, take at its own pace."""
        pipelined = task.cycles * run.iterations // max(1, iterations(task.program))
        served = self.paces.get(task.name)
        if served is None:
            return pipelined
        units = self.process[memory_name(task.name)].iterations
        return max(pipelined, round(served.pace.cycles(units, served.run)))

    def timeline(self, design: TimedDesign, buckets: int) -> DesignTimeline:
        total = self.starts[-1]
        bucket = bucket_cycles(total, buckets)
        if buckets == 0:
            return DesignTimeline(bucket, ())
        return DesignTimeline(bucket, tuple(self._row(t, bucket, -(-total // bucket)) for t in design.tasks))

    def _row(self, task: TimedTask, bucket: int, buckets: int) -> TaskTimeline:
        nothing = (0.0,) * buckets
        timeline = self.outcomes[task.kernel].timeline if self.has(task) else None
        if timeline is None:
            return TaskTimeline(task.name, nothing, nothing, nothing)
        number, begin = self.number[task.name], self.starts[task.kernel]
        waited = () if task.kind == "load" else timeline.empty[number]
        blocked = () if task.kind == "store" else timeline.full[number]
        empty, full = (rebinned(row, timeline.width, begin, bucket, buckets) for row in (waited, blocked))
        end = self.task(task).end or self.starts[task.kernel + 1]
        busy = [a - e - f for a, e, f in zip(active(begin, end, bucket, buckets), empty, full, strict=True)]
        return TaskTimeline(task.name, shares(busy, bucket), shares(empty, bucket), shares(full, bucket))


def _fifo(stream: TimedStream, run: FifoRun | None) -> FifoResult:
    peak, pushed, empty, full = (run.peak, run.pushed, run.empty, run.full) if run is not None else (0, 0, 0, 0)
    named = (stream.name, stream.source, stream.target)
    return FifoResult(*named, stream.depth, peak, pushed, empty, full, stream.reason)


def _hbm(task: TimedTask, done: _Done, platform: Platform) -> HbmResult:
    assert task.transfer is not None
    served, memory = done.paces[task.name], done.process[memory_name(task.name)]
    unit = task.transfer.ports * platform.hbm.port_bits / 8 * served.size / task.transfer.tokens_per_word
    units = max(1, served.units)  # an argument may be 0
    bound = unit * units / served.pace.cycles(units, served.run)
    # From the first word to the last, without the latency that all have in common.
    latency = platform.hbm.read_latency_cycles if task.kind == "load" else platform.hbm.write_response_cycles
    took = max(1, memory.end - memory.start - latency + 1)
    moved = unit * memory.iterations
    scale = platform.clock_mhz * 1e-3
    ports = task.transfer.ports
    return HbmResult(task.name, ports, round(moved), min(moved / took, bound) * scale, bound * scale)
