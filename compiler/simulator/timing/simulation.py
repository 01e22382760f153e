"""What a simulation of a design found: `simulation.json`, metrics of fidelity `simulate`. Times are in cycles."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from compiler.graph.memory_order import Hazard
from compiler.metrics import Fidelity, Metric
from compiler.simulator.timing.deadlock import Deadlock


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task did, in cycles since the first kernel's start; -1 and 0 where it has not started or ended.

    `empty` and `full` count the cycles in which a FIFO without a token, or without room, kept it from going on; that a
    load or store waits for HBM is not counted. `busy` are those that its iterations take at its own pace.
    """

    name: str
    kernel: int
    iterations: int
    start: int
    end: int
    empty: int
    full: int
    busy: int


@dataclass(frozen=True, slots=True)
class FifoResult:
    """What passed a FIFO: most tokens in it, all that went in, cycles in which it kept its reader or writer waiting."""

    name: str
    source: str
    target: str
    depth: int
    peak: int
    pushed: int
    empty: int
    full: int
    reason: str


@dataclass(frozen=True, slots=True)
class HbmResult:
    """What a load or store moved through its `channels` ports, while it did, and what they allow (1e9 bytes/s)."""

    task: str
    channels: int
    bytes: int
    gb_s: float
    bound_gb_s: float


@dataclass(frozen=True, slots=True)
class TaskTimeline:
    """Shares 0..1 of each bucket; what is missing to 1 the task had not begun or was done."""

    name: str
    busy: tuple[float, ...]
    empty: tuple[float, ...]
    full: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DesignTimeline:
    """All kernels one after the other, in equal parts of `bucket_cycles`."""

    bucket_cycles: int
    tasks: tuple[TaskTimeline, ...]


@dataclass(frozen=True, slots=True)
class StallingRun:
    """Whether a design ends, too, when each of its pipelines stalls (stp), which HLS may make of any other style.

    `ends` is None where that took too long to find out. `cycles` up to the end or the deadlock, which `deadlock` tells;
    `fifo` is one of it that is full, None where none is.
    """

    ends: bool | None
    cycles: int | None = None
    fifo: str | None = None
    deadlock: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As in `design.json` and `simulation.json`."""
        return {**asdict(self), "fidelity": str(Fidelity.SIMULATE)}


@dataclass(frozen=True)
class Simulation:
    """One run of a design, its kernels one after the other; `kernels` are their cycles, up to a deadlock if there is
    one. `estimate_cycles` is what the estimator said, if that is known; `stalling` None where it was not tried. With
    `hazards` a board may compute something else than the design says. `first_cycles` are those of a launch that fills
    memories, where there are any: the others find them filled.
    """

    clock_mhz: float
    kernels: tuple[int, ...]
    tasks: tuple[TaskResult, ...]
    fifos: tuple[FifoResult, ...]
    hbm: tuple[HbmResult, ...]
    timeline: DesignTimeline
    deadlock: Deadlock | None = None
    estimate_cycles: float | None = None
    stalling: StallingRun | None = None
    hazards: tuple[Hazard, ...] = ()
    first_cycles: int | None = None

    @cached_property
    def cycles(self) -> int:
        return sum(self.kernels)

    @property
    def latency_us(self) -> float:
        return self.cycles / self.clock_mhz

    @property
    def estimate_error(self) -> float | None:
        """By how much of the simulated cycles the estimate is off; None where there is nothing to compare."""
        if self.estimate_cycles is None or self.deadlock is not None or self.cycles == 0:
            return None
        return self.estimate_cycles / self.cycles - 1.0

    def busy_share(self, task: TaskResult) -> float:
        """Share of its kernel's cycles in which a task works."""
        cycles = self.kernels[task.kernel] if task.kernel < len(self.kernels) else 0
        return task.busy / cycles if cycles else 0.0

    @cached_property
    def bottleneck(self) -> TaskResult | None:
        """The busiest task of the longest kernel: the others wait for it."""
        if not self.kernels:
            return None
        longest = max(range(len(self.kernels)), key=lambda k: self.kernels[k])
        return max((t for t in self.tasks if t.kernel == longest), key=self.busy_share, default=None)

    @cached_property
    def blocking(self) -> tuple[FifoResult, ...]:
        """FIFOs that kept a task waiting for room, the worst first. Not those of loads: they wait for their reader
        unless they limit the design themselves.
        """
        loads = {h.task for h in self.hbm}
        return tuple(sorted((f for f in self.fifos if f.full and f.source not in loads), key=lambda f: -f.full))

    def metrics(self) -> tuple[Metric, ...]:
        """Metrics of the run; none of a deadlock. `hbm_bandwidth` is over the whole run."""
        if self.deadlock is not None or self.cycles == 0:
            return ()
        moved = sum(h.bytes for h in self.hbm)
        numbers = {
            "latency": (self.latency_us, "us"),
            "cycles": (float(self.cycles), "cycles"),
            "hbm_bandwidth": (moved / self.latency_us * 1e-3, "GB/s"),
        }
        if self.first_cycles is not None:
            numbers["first_latency"] = (self.first_cycles / self.clock_mhz, "us")
        return tuple(Metric(name, value, unit, Fidelity.SIMULATE) for name, (value, unit) in numbers.items())

    def to_json(self) -> dict[str, Any]:
        """The content of `simulation.json`."""
        return {
            "cycles": self.cycles,
            "latency_us": self.latency_us,
            "clock_mhz": self.clock_mhz,
            **({} if self.first_cycles is None else {"first_cycles": self.first_cycles}),
            "estimate_cycles": self.estimate_cycles,
            "deadlock": None if self.deadlock is None else self.deadlock.to_json(),
            "stalling": None if self.stalling is None else self.stalling.to_json(),
            **({"hazards": [asdict(h) | {"text": str(h)} for h in self.hazards]} if self.hazards else {}),
            "kernels": [{"cycles": cycles} for cycles in self.kernels],
            "tasks": [asdict(t) for t in self.tasks],
            "fifos": [asdict(f) for f in self.fifos],
            "hbm": [asdict(h) for h in self.hbm],
            "timeline": asdict(self.timeline),
        }
