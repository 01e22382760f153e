"""FIFO depths that the simulator vouches for: no deadlock, no loss against unbounded ones, none to spare (design 3.5).

It starts from the linear program's depths, for both equalisations, less what a run that grows FIFOs only where it
deadlocks does without (`grow`), and from those that the design has. The cheapest start that keeps the pace is
tightened; where none does, those FIFOs grow in front of which somebody waits. Where a loop closes within one nest, of
which the program knows nothing, it starts from what unbounded FIFOs hold.

Trip counts that follow an argument are certified for all of its values: the kernel is run with one after the other, in
which a deadlock of any of them shows, since no task can be ahead of one that is stuck by more than its FIFOs hold; then
with each alone, which must be as quick as with unbounded FIFOs. Chunks of a prompt come last (`prompt_rows`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.prompt_rows import chunk_depths
from compiler.errors import UnsupportedError, VerificationError
from compiler.graph.program import LOAD, all_launches
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.options import Equalisation, FifoEffort, FifoStrategy
from compiler.platforms.platform import Platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.simulate import simulate
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.lp import lp_depths
from compiler.sizing.prompt_rows import HELD, for_chunks
from compiler.sizing.tighten import Tightening
from compiler.sizing.trial import SLACK, Depths, Trial, peaks, trials_of

# Work of the simulator for one kernel, after which no FIFO is tried smaller (4 M are about a second of a core). What is
# promised of the depths does not depend on it.
WORK: Mapping[FifoEffort, int] = {"quick": 12_000_000, "full": 2_000_000_000}
WHOLE = "by rule: holds the whole stream where two paths meet"
PLANNED = "by rule: as planned for the pace, as no two paths meet behind it"
ONE_VALUE = "one value of an argument takes longer with less"
NOT_TRIED = "not tried smaller: the simulator's effort was spent"


@dataclass(frozen=True, slots=True)
class KernelSizing:
    """How the FIFOs of one kernel were sized.

    `cycles` with the depths, `unbounded` with FIFOs of any depth except those behind HBM. Prices are in LUTs of equal
    share of the part, of FIFOs as deep as they ever get when unbounded (`peak`), as the linear program says (`lp`), and
    as sized. `work` of the simulator in `runs`. `proven`: each FIFO was tried one step smaller in vain, or is free.
    """

    cycles: int
    unbounded: int
    price: float
    lp_price: float
    peak_price: float
    bits: int
    lp_bits: int
    peak_bits: int
    runs: int
    work: int
    proven: bool


@dataclass(frozen=True)
class Sizing:
    """A design with the depths of its FIFOs and their reasons, and how each kernel's were found; none where they are by
    rule.
    """

    tasks: TaskGraph
    kernels: tuple[KernelSizing, ...] = ()

    def summary_json(self) -> list[dict[str, Any]]:
        """As in `design.json`."""
        return [asdict(kernel) for kernel in self.kernels]


def size(tasks: TaskGraph, strategy: FifoStrategy, platform: Platform, effort: FifoEffort = "quick") -> Sizing:
    """Certified depths, unless `strategy` asks for FIFOs that hold whole streams: those are for comparison."""
    if strategy == "whole":
        streams = (s._replace(reason=WHOLE if s.depth >= s.tokens else PLANNED) for s in tasks.streams)
        return Sizing(replace(tasks, streams=tuple(streams)))
    return certify(tasks, platform, WORK[effort])


def as_given(tasks: TaskGraph, platform: Platform) -> Sizing:
    """The depths that the design has, with which it must run. Raises VerificationError where it deadlocks."""
    found = simulate(tasks, platform, buckets=0).deadlock
    if found is not None:
        raise VerificationError(f"the design does not run with the FIFO depths that it is given: {found.text}")
    return Sizing(tasks)


def certify(tasks: TaskGraph, platform: Platform, effort: int = WORK["full"]) -> Sizing:
    """`tasks` with the depth of every FIFO certified by simulation; those behind HBM get no more memory than they have.

    Deterministic: `effort` bounds the simulator's work, not its time, after which no FIFO is tried smaller; what was
    not tried by then says so.
    """
    planned = _planned(tasks, platform)
    sized: dict[str, Stream] = {}
    kernels: list[KernelSizing] = []
    for number, trial in enumerate(trials_of(tasks, platform, planned.get("conservative"))):
        kernel = _Kernel(trial, [_within(trial, d) for d in planned.values()] or [_held(trial)], effort)
        depths, sizing = kernel.size()
        kernels.append(sizing)
        least = chunk_depths(tasks)
        held = {name: max(depth, least.get(name, 0)) for name, depth in depths.items()}
        alone = _for_each_value(tasks, platform, number, trial, held)
        deeper = for_chunks(tasks, platform, trial, alone)
        for name, stream in trial.streams.items():
            deep, found = deeper[name], depths[name]
            reason = HELD if deep > alone[name] or found < deep == held[name] else ONE_VALUE
            reason = kernel.reason(name, found) if deep == found else reason
            sized[name] = stream._replace(depth=deeper[name], reason=reason)
    return Sizing(replace(tasks, streams=tuple(sized.get(s.name, s) for s in tasks.streams)), tuple(kernels))


def _planned(tasks: TaskGraph, platform: Platform) -> dict[Equalisation, dict[str, int]]:
    """Depths by the program; none where it has no schedule."""
    try:
        return {e: lp_depths(tasks, e, platform.memories) for e in ("normal", "conservative")}
    except UnsupportedError:
        return {}


def _within(trial: Trial, depths: Mapping[str, int]) -> Depths:
    """Planned depths of one kernel; prefetch is not for the program to plan."""
    return {name: s.depth if name in trial.loads else depths[name] for name, s in trial.streams.items()}


def _held(trial: Trial) -> Depths:
    """What FIFOs hold that are unbounded, but for those behind loads."""
    peak = peaks(trial.base)
    return {name: s.depth if name in trial.loads else max(MIN_DEPTH, peak[name]) for name, s in trial.streams.items()}


def _for_each_value(tasks: TaskGraph, platform: Platform, kernel: int, trial: Trial, depths: Depths) -> Depths:
    """`depths`, deeper where the kernel would be slow for some value of an argument. Raises VerificationError."""
    others = tasks.steady.arguments
    if others != tasks.arguments:  # one that loads memories may take longer, but must end
        filling = Plan(networks_of(tasks, platform, launches=({LOAD: 1},))[kernel])
        if filling.run(depths).deadlocked:
            raise VerificationError("no FIFO depths were found with which the kernel runs that loads its memories")
    for values in all_launches(others) if others else ():
        plan = Plan(networks_of(tasks, platform, launches=(values,))[kernel])
        base = plan.run({name: None for name in trial.streams if name not in trial.loads})
        most = peaks(base)
        most_cycles = base.cycles * (1 + SLACK)
        while (outcome := plan.run(depths)).cycles > most_cycles:
            full = [f.name for f in outcome.fifos if f.full and f.name in depths and f.name not in trial.loads]
            wanted = {name: max(depths[name], min(2 * depths[name], most[name])) for name in full}
            grown = depths | trial.filled(wanted)
            if grown == depths:
                break
            depths = grown
        if outcome.deadlocked:  # it does not, after a run of all
            raise VerificationError(f"no FIFO depths were found with which the kernel runs for {dict(values)}")
    return depths


def _less(trial: Trial, depths: Depths) -> Depths:
    """`depths`, but no more than the floor where a FIFO is deep for progress: what the program gives it beyond that
    serves an even pace, which the others around it do not keep. A FIFO that progress does not need serves the pace.
    """
    return {
        name: depth if trial.is_free(name, trial.floor[name]) else trial.floor[name] for name, depth in depths.items()
    }


def _with_free_loads(trial: Trial, depths: Depths) -> Depths:
    """FIFOs behind HBM without memory of their own: most do with that."""
    return depths | {name: trial.free_depth(name, MIN_DEPTH) for name in trial.loads}


def _above(depths: Depths, floor: Depths) -> Depths:
    return {name: max(depth, floor[name]) for name, depth in depths.items()}


class _Kernel:
    def __init__(self, trial: Trial, planned: list[Depths], effort: int) -> None:
        self.trial = trial
        self.lp = min(planned, key=trial.price)
        plans = [trial.filled(depths) for depths in planned]
        given = {name: stream.depth for name, stream in trial.streams.items()}
        starts = [*(_less(trial, depths) for depths in plans), *plans, trial.filled(given)]
        self.loaded_ahead = starts
        self.starts = [each for depths in starts for each in (_with_free_loads(trial, depths), depths)]
        self.tightening = Tightening(trial, {}, effort)

    def size(self) -> tuple[Depths, KernelSizing]:
        trial = self.trial
        self.tightening.depths, outcome = self._start()
        final = self.tightening.run(outcome)
        if final.deadlocked:  # a stalling pipeline may, which holds back what is inside
            raise VerificationError(
                f"no FIFO depths were found with which the kernel runs on after {final.cycles:,} cycles"
            )
        depths = self.tightening.depths
        most = {name: max(2, peak) for name, peak in peaks(trial.base).items() if name in trial.streams}
        return depths, KernelSizing(
            cycles=final.cycles,
            unbounded=trial.base.cycles,
            price=trial.price(depths),
            lp_price=trial.price(self.lp),
            peak_price=trial.price(most),
            bits=trial.bits(depths),
            lp_bits=trial.bits(self.lp),
            peak_bits=trial.bits(most),
            runs=trial.runs,
            work=trial.work,
            proven=all(map(self.tightening.is_needed, trial.costly(depths))),
        )

    def _start(self) -> tuple[Depths, Outcome]:
        """The cheapest start that keeps the pace, else the cheapest of those that load ahead, grown until it does."""
        tried: list[Depths] = []
        for depths in sorted(self.starts, key=self.trial.price):
            if depths in tried:
                continue
            tried.append(depths)
            (outcome,) = self.trial.try_all([depths])
            if self.trial.holds(outcome):
                return self.trial.trimmed(depths, outcome), outcome
        return self._grown(_above(min(self.loaded_ahead, key=self.trial.price), self.trial.floor))

    def _grown(self, depths: Depths) -> tuple[Depths, Outcome]:
        """Every FIFO that somebody found full gets twice as deep, up to what it holds when it is unbounded: there
        nobody waits, so this ends. `depths` do not deadlock.
        """
        most = peaks(self.trial.base)
        while True:
            outcome = self.trial.run(depths)
            if self.trial.holds(outcome):
                return self.trial.trimmed(depths, outcome), outcome
            full = {f.name for f in outcome.fifos if f.full and f.name in depths and f.name not in self.trial.loads}
            wanted = {name: max(depths[name], min(2 * depths[name], most[name])) for name in full}
            grown = depths | self.trial.filled(wanted)
            if grown == depths:  # the FIFOs behind HBM alone are left, and they stay
                return depths, outcome
            depths = grown

    def reason(self, name: str, depth: int) -> str:
        """Why the FIFO is no smaller."""
        if self.trial.is_free(name, depth):
            return f"no memory of its own up to {self.trial.free_depth(name, MIN_DEPTH)} tokens"
        if name not in self.tightening.failed or not self.tightening.is_needed(name):
            return NOT_TRIED
        tried, outcome = self.tightening.failed[name]
        if outcome.deadlocked:
            return f"at {tried} tokens it can deadlock"
        return f"at {tried} tokens the kernel takes more than {100 * SLACK:g} % longer"
