"""No FIFO could be smaller: each is tried one step of memory smaller, until that costs time or deadlocks (design 3.5).

With a smaller FIFO nothing happens earlier: when a process goes on is the maximum of all that it waits for. (A turn of
a memory port is rounded up to a whole cycle; it may come one cycle earlier after a late one.) So what failed once fails
for ever, also when other FIFOs have become smaller since, and the failed try is the proof that the FIFO is needed.

Those that are deep for the pace come first, for what progress needs is needed as a rule. Of them the small ones are
tried all at once, and by halves where that fails: most can be smaller, and a run takes as long for one as for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import deepest_within, next_smaller
from compiler.simulator.timing.network import Outcome
from compiler.sizing.trial import TOGETHER, Depths, Trial

SMALL = 0.02  # of the price of all FIFOs at first
Group = tuple[str, ...]  # FIFOs that are tried smaller in one run


@dataclass
class Tightening:
    """The depths of one kernel while they shrink; `failed` holds the deepest depth that did not do, with its run.

    `effort`: the work of the simulator, all of the trial's counted, beyond which nothing more is tried; a try is taken
    to need what the last run that did needed.
    """

    trial: Trial
    depths: Depths
    effort: int
    failed: dict[str, tuple[int, Outcome]] = field(default_factory=dict[str, tuple[int, Outcome]])
    succeeded: set[str] = field(default_factory=set[str])
    _groups: list[Group] = field(default_factory=list[Group])
    _small: float = 0.0  # price under which a FIFO is small

    def run(self, outcome: Outcome) -> Outcome:
        """Shrink until no FIFO can be, or until the effort is spent. `outcome` is that of the depths so far; returns
        that of the depths in the end.
        """
        self._small = SMALL * self.trial.price(self.depths)
        while self.trial.work + TOGETHER * outcome.work < self.effort and (groups := self._next()):
            smaller = [{name: self._candidate(name) for name in group} for group in groups]
            outcomes = self.trial.try_all([self.depths | each for each in smaller])
            for each, tried in zip(smaller, outcomes, strict=True):
                if not self.trial.holds(tried):
                    self._give_up(each, tried)
            outcome = self._take(smaller, outcomes) or outcome
        return outcome

    def _next(self) -> list[Group]:
        """What is tried next, at once."""
        open_ = set(self._open())
        left = [tuple(name for name in group if name in open_) for group in self._groups]
        self._groups = [group for group in left if group] or self._grouped()
        chosen, self._groups = self._groups[:TOGETHER], self._groups[TOGETHER:]
        return chosen

    def _grouped(self) -> list[Group]:
        """All FIFOs that may yet be smaller, in the order in which they are tried."""
        open_ = self._open()
        spare = [name for name in open_ if self._is_spare(name)]
        small = tuple(name for name in spare if name not in self.failed and self._is_small(name))
        pace = [name for name in spare if name not in small]
        rest = [name for name in open_ if name not in spare]
        return [*([small] if small else []), *((name,) for name in (*pace, *rest))]

    def _is_spare(self, name: str) -> bool:
        """Whether it is deeper than progress needs."""
        return self.depths[name] > self.trial.floor[name]

    def _is_small(self, name: str) -> bool:
        return self.trial.price_of(name, self.depths[name]) < self._small

    def _give_up(self, tried: Mapping[str, int], outcome: Outcome) -> None:
        """What a failed try says: of one FIFO that it is needed, of several that some of them is."""
        names = tuple(tried)
        if len(names) == 1:
            self.failed[names[0]] = (tried[names[0]], outcome)
            return
        half = len(names) // 2
        self._groups[:0] = [names[:half], names[half:]]

    def _take(self, tried: list[dict[str, int]], outcomes: list[Outcome]) -> Outcome | None:
        """Of several successes the first counts, for they were not tried together; the others are tried again."""
        held = [n for n, outcome in enumerate(outcomes) if self.trial.holds(outcome)]
        if not held:
            return None
        first, *others = held
        self._groups[:0] = [tuple(tried[n]) for n in others]
        self.succeeded.update(tried[first])
        self.depths = self.trial.trimmed(self.depths | tried[first], outcomes[first])
        return outcomes[first]

    def _open(self) -> list[str]:
        return [name for name in self.trial.costly(self.depths) if not self.is_needed(name)]

    def is_needed(self, name: str) -> bool:
        """Whether one step smaller was tried in vain."""
        smaller = self._smaller(name)
        return smaller is None or (name in self.failed and self.failed[name][0] >= smaller)

    def _candidate(self, name: str) -> int:
        """One step smaller at first, for most deep FIFOs are as deep as they must be. One that need not be, and a small
        one at once, is tried with what progress needs, or else without memory of its own; then by halves of the price
        between what did and what did not. The memory is filled each time.
        """
        trial, depth, smaller = self.trial, self.depths[name], self._smaller(name)
        assert smaller is not None  # its memory is not free
        if name not in self.failed:
            if name not in self.succeeded and not self._is_small(name):
                return smaller
            return trial.floor[name] if self._is_spare(name) else trial.free_depth(name, MIN_DEPTH)
        failed = self.failed[name][0]
        middle = (trial.price_of(name, depth) + trial.price_of(name, failed)) / 2
        within = deepest_within(trial.width(name), middle, depth, trial.memories)
        return min(smaller, trial.free_depth(name, max(failed + 1, within)))

    def _smaller(self, name: str) -> int | None:
        return next_smaller(self.trial.width(name), self.depths[name], self.trial.memories)
