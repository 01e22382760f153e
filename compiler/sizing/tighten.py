"""No FIFO could be smaller: each is tried one step of memory smaller, until that costs time or deadlocks (design 3.5).

With a smaller FIFO nothing happens earlier: when a process goes on is the maximum of all that it waits for. (A turn of
a memory port is rounded up to a whole cycle; it may come one cycle earlier after a late one.) So what failed once fails
for ever, also when other FIFOs have become smaller since, and the failed try is the proof that the FIFO is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.simulator.timing.network import Outcome
from compiler.sizing.steps import deepest_within, free_depth, next_smaller, price
from compiler.sizing.trial import TOGETHER, Depths, Trial

SMALL = 0.01  # of the price of all FIFOs


@dataclass
class Tightening:
    """The depths of one kernel while they shrink; `failed` holds the deepest depth that did not do, with its run."""

    trial: Trial
    depths: Depths
    effort: int
    failed: dict[str, tuple[int, Outcome]] = field(default_factory=dict[str, tuple[int, Outcome]])
    succeeded: set[str] = field(default_factory=set[str])

    def run(self, outcome: Outcome) -> Outcome:
        """Shrink until no FIFO can be, or until the simulator has done `effort` windows of work. `outcome` is that of
        the depths so far; returns that of the depths in the end.
        """
        outcome = self._shorten_loads() or outcome
        while (open_ := self._open()) and self.trial.windows < self.effort:
            batch = {name: self._candidate(name) for name in open_[:TOGETHER]}
            outcomes = self.trial.try_all([{**self.depths, name: depth} for name, depth in batch.items()])
            outcome = self._take(dict(zip(batch.items(), outcomes, strict=True))) or outcome
        return outcome

    def _shorten_loads(self) -> Outcome | None:
        """All FIFOs behind HBM without memory of their own, if that does: the usual case, in one run."""
        loads = [name for name in self._open() if name in self.trial.loads]
        free = {name: free_depth(self.trial.width(name), MIN_DEPTH) for name in loads}
        if not free:
            return None
        (outcome,) = self.trial.try_all([{**self.depths, **free}])
        if not self.trial.holds(outcome):
            return None
        self.depths = self.trial.trimmed({**self.depths, **free}, outcome)
        return outcome

    def _take(self, outcomes: Mapping[tuple[str, int], Outcome]) -> Outcome | None:
        """Failures count at once; of several successes the first does, for they were not tried together."""
        taken: Outcome | None = None
        for (name, depth), outcome in outcomes.items():
            if not self.trial.holds(outcome):
                self.failed[name] = (depth, outcome)
            elif taken is None:
                taken = outcome
                self.succeeded.add(name)
                self.depths = self.trial.trimmed({**self.depths, name: depth}, outcome)
        return taken

    def _open(self) -> list[str]:
        return [name for name in self.trial.costly(self.depths) if not self.is_needed(name)]

    def is_needed(self, name: str) -> bool:
        """Whether one step smaller was tried in vain."""
        smaller = next_smaller(self.trial.width(name), self.depths[name])
        return smaller is None or (name in self.failed and self.failed[name][0] >= smaller)

    def _candidate(self, name: str) -> int:
        """One step smaller at first, for most deep FIFOs are as deep as they must be. One that need not be, and a small
        one at once, is tried without memory of its own; then by halves of the price between what did and what did not.
        The memory is filled each time.
        """
        width, depth = self.trial.width(name), self.depths[name]
        smaller = next_smaller(width, depth)
        assert smaller is not None  # its memory is not free
        if name not in self.failed:
            is_small = price(width, depth) < SMALL * self.trial.price(self.depths)
            return free_depth(width, MIN_DEPTH) if is_small or name in self.succeeded else smaller
        failed = self.failed[name][0]
        middle = (price(width, depth) + price(width, failed)) / 2
        return min(smaller, free_depth(width, max(failed + 1, deepest_within(width, middle, depth))))
