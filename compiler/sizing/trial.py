"""Running one kernel with other FIFO depths, many times: what certification and tightening ask of the simulator.

Depths must do twice. They must not deadlock whatever the pipelines hold: what is inside them depends on latencies that
only synthesis knows, and C simulation has none. So the kernel is also run with tasks that hold one iteration. And they
must keep the pace with the latencies as they are estimated.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import free_depth, is_free, price
from compiler.analysis.relays import writer
from compiler.graph.program import COUNT, LOAD, all_launches
from compiler.graph.task_graph import LoadTask, Stream, TaskGraph
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Network, Outcome
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.grow import deadlock_free

Depths = dict[str, int]
SLACK = 0.005  # of a kernel's cycles with unbounded FIFOs: what smaller FIFOs may cost in all
TOGETHER = 2  # runs at once: the core lets go of the interpreter


@dataclass
class Trial:
    """One kernel. `loads` are its streams from HBM: there depth is prefetch, which the design's budget decides.

    `planned` depths say which FIFOs are going to be deep. `base` ran with unbounded FIFOs, those of `loads` as they
    are; `limit` is what a run may take. Depths that are nowhere under `floor` deadlock in no order of execution.
    `work` is that of the simulator in all (`Outcome.work`), which does not depend on the machine: it stops a search
    that takes too long.
    """

    network: Network
    streams: Mapping[str, Stream]
    loads: frozenset[str]
    memories: Memories
    planned: Mapping[str, int] = field(default_factory=dict[str, int])
    plan: Plan = field(init=False)
    sequential: Plan = field(init=False)
    base: Outcome = field(init=False)
    limit: int = field(init=False)
    floor: Depths = field(init=False)
    runs: int = 0
    work: int = 0

    def __post_init__(self) -> None:
        self.plan, self.sequential = Plan(self.network), Plan(one_at_a_time(self.network))
        with ThreadPoolExecutor(TOGETHER) as pool:
            floor = pool.submit(self._floor)
            base = pool.submit(self.plan.run, {name: None for name in self.streams if name not in self.loads})
            self.floor, progress = floor.result()
        self.base = self._counted(base.result())
        self.work += progress.work
        self.limit = int(self.base.cycles * (1 + SLACK))

    def _floor(self) -> tuple[Depths, Outcome]:
        width = {name: stream.width for name, stream in self.streams.items()}
        shallow = {name: self.free_depth(name, MIN_DEPTH) for name in width}
        return deadlock_free(self.sequential, shallow, width, self.memories, self.planned)

    def run(self, depths: Mapping[str, int | None], limit: int | None = None) -> Outcome:
        return self._counted(self.plan.run(depths, limit=limit))

    def try_all(self, choices: Sequence[Depths]) -> list[Outcome]:
        """Tries, `TOGETHER` at once: a deadlock, or else a run within the limit, stopped where it is over that."""
        with ThreadPoolExecutor(TOGETHER) as pool:
            return [self._counted(*outcomes) for outcomes in pool.map(self._tried, choices)]

    def _tried(self, depths: Depths) -> list[Outcome]:
        """The outcomes of a try, the last one counts."""
        outcomes: list[Outcome] = []
        if not self.is_above_floor(depths):
            outcomes.append(self.sequential.far(depths))
        if not any(outcome.deadlocked for outcome in outcomes):
            outcomes.append(self.plan.run(depths, limit=self.limit + 1))
        return outcomes

    def is_above_floor(self, depths: Mapping[str, int]) -> bool:
        return all(depth >= self.floor[name] for name, depth in depths.items())

    def holds(self, outcome: Outcome) -> bool:
        """Whether a run came to its end in time."""
        return not outcome.deadlocked and not outcome.stopped and outcome.cycles <= self.limit

    def width(self, name: str) -> int:
        return self.streams[name].width

    def price(self, depths: Mapping[str, int]) -> float:
        """Of all FIFOs, in LUTs of equal share of the part (`compiler.analysis.memory_steps`)."""
        return sum(self.price_of(name, depth) for name, depth in depths.items())

    def price_of(self, name: str, depth: int) -> float:
        return price(self.width(name), depth, self.memories)

    def free_depth(self, name: str, depth: int) -> int:
        """As deep as its memory is at `depth`."""
        return free_depth(self.width(name), depth, self.memories)

    def is_free(self, name: str, depth: int) -> bool:
        """Whether it has no memory of its own."""
        return is_free(self.width(name), depth, self.memories)

    def bits(self, depths: Mapping[str, int]) -> int:
        return sum(self.width(name) * depth for name, depth in depths.items())

    def filled(self, depths: Mapping[str, int]) -> Depths:
        """As deep as each FIFO's memory is for nothing."""
        return {name: self.free_depth(name, depth) for name, depth in depths.items()}

    def trimmed(self, depths: Mapping[str, int], outcome: Outcome) -> Depths:
        """As deep as the FIFOs ever were in the run with `depths`, so that it takes the same course; no less than
        `floor`, which is no less than what costs nothing. Depths under it stay: they were tried all together.
        """
        if not self.is_above_floor(depths):
            return dict(depths)
        peak = peaks(outcome)
        return {name: min(depth, max(peak[name], self.floor[name])) for name, depth in depths.items()}

    def costly(self, depths: Mapping[str, int]) -> list[str]:
        """FIFOs whose memory is not free, the dearest first."""
        names = [name for name, depth in depths.items() if not self.is_free(name, depth)]
        return sorted(names, key=lambda name: (-self.price_of(name, depths[name]), name))

    def _counted(self, *outcomes: Outcome) -> Outcome:
        self.runs += len(outcomes)
        self.work += sum(outcome.work for outcome in outcomes)
        return outcomes[-1]


def peaks(outcome: Outcome) -> Depths:
    """Most tokens that each FIFO held."""
    return {fifo.name: fifo.peak for fifo in outcome.fifos}


def one_at_a_time(network: Network) -> Network:
    """The network with flushable processes that hold one iteration. If it does not deadlock, no order of execution does
    with the same depths, and none with more inside: blocking reads and writes are confluent. Stalling ones hold back
    what is inside, so they stay as they are.
    """
    processes = (
        p if p.style == "stp" else replace(p, latency=2, ii=1, per=1, gap=0, drains=False) for p in network.processes
    )
    return replace(network, processes=tuple(processes))


def trials_of(tasks: TaskGraph, platform: Platform, planned: Mapping[str, int] | None = None) -> Iterable[Trial]:
    """A trial of each kernel, for every value of its arguments; `planned` depths of its FIFOs. A launch of fewer inputs
    does the first part of one of all, so that is tried alone: FIFOs need not hold what one loads for the next. What
    fills memories is done before all else, and is not to be made faster by FIFOs.
    """
    others = [argument for argument in tasks.arguments if argument.name not in (COUNT, LOAD)]
    working = tasks.steady.stream
    for network in networks_of(tasks, platform, launches=all_launches(others)):
        streams = {f.name: working[f.name] for f in network.fifos if f.name in working}
        loads = frozenset(name for name in streams if isinstance(writer(tasks, name), LoadTask))
        yield Trial(network, streams, loads, platform.memories, planned or {})
