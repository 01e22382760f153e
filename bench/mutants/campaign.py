"""Mutants of every kind, until as many as asked for were real mistakes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random

from bench.mutants.designs import Built
from bench.mutants.draw import Emitted, Mutant, mutants, offers
from bench.mutants.trial import Judged, Unreal, judge
from compiler.proof.runs import Trial


@dataclass
class _Lane:
    """The mutants of one kind of one design, in the order in which they are drawn."""

    kind: str
    built: Built
    drawn: Iterator[Mutant]
    more: bool = True

    def next(self) -> Mutant | None:
        mutant = next(self.drawn, None)
        self.more = mutant is not None
        return mutant


@dataclass
class Campaign:
    """`count` mutants of each kind, spread over the designs that offer a place for it. Which ones are made depends on
    the seed only, whatever runs side by side: one that turns out to be no real change is replaced by the next of its
    design, and where a design has no more, all are waited for before others step in.
    """

    designs: Mapping[str, tuple[Built, Emitted]]
    kinds: Sequence[str]
    count: int
    seed: int
    trials: Sequence[Trial]
    pool: Executor
    judged: list[Judged] = field(default_factory=list[Judged])
    unreal: int = 0
    _pending: dict[Future[Judged | Unreal], _Lane] = field(default_factory=dict[Future[Judged | Unreal], _Lane])

    def run(self, progressed: Callable[[], None]) -> None:
        lanes = {kind: self._lanes(kind) for kind in self.kinds}
        missing = dict.fromkeys(self.kinds, self.count)
        while wanted := [lane for kind in self.kinds for lane in _shared(lanes[kind], missing[kind])]:
            missing = dict.fromkeys(self.kinds, 0)
            for lane in self._round(wanted, progressed):
                missing[lane.kind] += 1

    def _lanes(self, kind: str) -> list[_Lane]:
        offering = [pair for pair in self.designs.values() if offers(pair[1], kind)]
        Random(f"{self.seed} {kind}").shuffle(offering)
        return [_Lane(kind, built, mutants(emitted, kind, self.seed)) for built, emitted in offering]

    def _round(self, wanted: Sequence[_Lane], progressed: Callable[[], None]) -> list[_Lane]:
        """A real mutant of each lane; returns those that had none."""
        short = [lane for lane in wanted if not self._start(lane)]
        while self._pending:
            done, _ = wait(self._pending, return_when=FIRST_COMPLETED)
            for future in done:
                lane, outcome = self._pending.pop(future), future.result()
                if isinstance(outcome, Judged):
                    self.judged.append(outcome)
                    progressed()
                    continue
                self.unreal += 1
                if not self._start(lane):
                    short.append(lane)
        return short

    def _start(self, lane: _Lane) -> bool:
        mutant = lane.next()
        if mutant is None:
            return False
        self._pending[self.pool.submit(judge, mutant, lane.built, self.trials)] = lane
        return True


def _shared(lanes: Sequence[_Lane], number: int) -> Iterator[_Lane]:
    """The lanes in turn, those that have more."""
    return islice(cycle([lane for lane in lanes if lane.more]), number)
