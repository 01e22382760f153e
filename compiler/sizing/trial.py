"""Running one kernel with other FIFO depths, many times: what certification and tightening ask of the simulator."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from compiler.graph.task_graph import Stream, TaskGraph
from compiler.platforms.platform import Platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.steps import free_depth, is_free, price

Depths = dict[str, int]
SLACK = 0.005  # of a kernel's cycles with unbounded FIFOs: what smaller FIFOs may cost in all
TOGETHER = 2  # runs at once: the core lets go of the interpreter


@dataclass
class Trial:
    """One kernel. `loads` are its streams from HBM: there depth is prefetch, which the design's budget decides.

    `base` ran with unbounded FIFOs, those of `loads` as they are; `limit` is what a run may take. `windows` counts the
    work of the simulator, which does not depend on the machine: it stops a search that takes too long.
    """

    plan: Plan
    streams: Mapping[str, Stream]
    loads: frozenset[str]
    base: Outcome = field(init=False)
    limit: int = field(init=False)
    runs: int = 0
    windows: int = 0

    def __post_init__(self) -> None:
        self.base = self.run({name: None for name in self.streams if name not in self.loads})
        self.limit = int(self.base.cycles * (1 + SLACK))

    def run(self, depths: Mapping[str, int | None], limit: int | None = None) -> Outcome:
        return self._counted(self.plan.run(depths, limit=limit))

    def run_all(self, choices: Sequence[Mapping[str, int | None]]) -> list[Outcome]:
        """Runs within the limit, `TOGETHER` at once; one over the limit is stopped there."""
        with ThreadPoolExecutor(TOGETHER) as pool:
            started = [pool.submit(self.plan.run, depths, limit=self.limit + 1) for depths in choices]
            return [self._counted(run.result()) for run in started]

    def holds(self, outcome: Outcome) -> bool:
        """Whether a run came to its end in time."""
        return not outcome.deadlocked and not outcome.stopped and outcome.cycles <= self.limit

    def width(self, name: str) -> int:
        return self.streams[name].width

    def price(self, depths: Mapping[str, int]) -> float:
        """Of all FIFOs, in LUTs of equal share of the part (`compiler.sizing.steps`)."""
        return sum(price(self.width(name), depth) for name, depth in depths.items())

    def bits(self, depths: Mapping[str, int]) -> int:
        return sum(self.width(name) * depth for name, depth in depths.items())

    def filled(self, depths: Mapping[str, int]) -> Depths:
        """As deep as each FIFO's memory is for nothing."""
        return {name: free_depth(self.width(name), depth) for name, depth in depths.items()}

    def trimmed(self, depths: Mapping[str, int], outcome: Outcome) -> Depths:
        """As deep as the FIFOs ever were in the run with `depths`, so that it takes the same course, and no less than
        what costs nothing.
        """
        peak = peaks(outcome)
        return {
            name: max(min(depth, max(peak[name], 2)), min(depth, free_depth(self.width(name), 2)))
            for name, depth in depths.items()
        }

    def costly(self, depths: Mapping[str, int]) -> list[str]:
        """FIFOs whose memory is not free, the dearest first."""
        names = [name for name, depth in depths.items() if not is_free(self.width(name), depth)]
        return sorted(names, key=lambda name: (-price(self.width(name), depths[name]), name))

    def _counted(self, outcome: Outcome) -> Outcome:
        self.runs += 1
        self.windows += outcome.windows
        return outcome


def peaks(outcome: Outcome) -> Depths:
    """Most tokens that each FIFO held."""
    return {fifo.name: fifo.peak for fifo in outcome.fifos}


def trials_of(tasks: TaskGraph, platform: Platform) -> Iterable[Trial]:
    """A trial of each kernel."""
    for network in networks_of(tasks, platform):
        streams = {f.name: tasks.stream[f.name] for f in network.fifos if f.name in tasks.stream}
        loads = frozenset(name for name, s in streams.items() if tasks.task[s.source].kind == "load")
        yield Trial(Plan(network), streams, loads)
