"""The coordinator of one search: ask a batch, evaluate it on all cores, store it, tell the strategy (design 5).

What the strategy learnt lives in memory; the sink's designs are the record. An interrupted search is run again with
them: it asks for the same designs in the same order, and what is recorded is not evaluated again. An exploration may be
several searches (`dse.islands`).
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Protocol

from compiler.errors import InvalidInputError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from dse.archive import ParetoArchive, knee
from dse.at_most import amounts, bounded
from dse.evaluate import Evaluation, Evaluator, evaluate, judged
from dse.objectives import DEFAULT, check_objectives
from dse.pool import Pool, default_jobs, open_pool
from dse.space import DesignSpace
from dse.strategies import SAMPLERS, Asked, Strategy
from dse.turns import BATCH, MAX_ISLANDS, Turn

# A start from variants of good designs helped: most even draws from the whole space override a heavy operation badly.
FIRST_VARIANTS, MAX_CHANGES = 20, 3
MAX_BUDGET = 1_000_000
MAX_BATCH = 256
# A sampler that proposes a known design is asked again this often; then its proposal is changed at random until it is
# new, one parameter at first, one more after each so many tries, until nothing of it is left.
SAMPLER_RETRIES = 3
TRIES_PER_CHANGE = 50
_ISLAND_SEEDS = 104_729
"""Between the seeds of two islands: more than there are explorations of one workload whose seeds follow one another."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """`budget` designs in all, those of the history included; `batch` of them asked at once; `jobs` None: all cores.
    `objectives` are two or three of `dse.objectives.OBJECTIVES`; fronts are sorted by the first. What has more than
    `at_most` (`dse.at_most.BOUNDED`) is as what exceeds the board. `islands` searches share the budget (`dse.islands`).
    """

    budget: int = 200
    seed: int = 0
    sampler: str = "front"
    batch: int = BATCH
    jobs: int | None = None
    at_most: Mapping[str, float] = field(default_factory=dict[str, float])
    objectives: tuple[str, ...] = DEFAULT
    islands: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.islands <= MAX_ISLANDS:
            raise InvalidInputError(f"islands is {self.islands}; it must be between 1 and {MAX_ISLANDS}")
        if not 1 <= self.budget <= MAX_BUDGET:
            raise InvalidInputError(f"budget is {self.budget}; it must be between 1 and {MAX_BUDGET}")
        if not 1 <= self.batch <= MAX_BATCH:
            raise InvalidInputError(f"batch is {self.batch}; it must be between 1 and {MAX_BATCH}")
        if not 0 <= self.seed < 1 << 31:
            raise InvalidInputError(f"seed is {self.seed}; it must be between 0 and {(1 << 31) - 1}")
        if self.sampler not in SAMPLERS:
            raise InvalidInputError(f"unknown sampler {self.sampler!r}; known are {', '.join(SAMPLERS)}")
        check_objectives(self.objectives)


@dataclass(frozen=True, slots=True)
class EvaluatedDesign:
    """A design of an exploration: its number from 0, the digest of its knobs, and what was found."""

    number: int
    knobs: Knobs
    evaluation: Evaluation
    key: str


class Sink(Protocol):
    """Where a search puts its designs."""

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        """Store a batch. Called once for each, after its evaluation and before the next is asked; also of what the
        search was given as recorded.
        """
        ...

    def should_stop(self) -> bool:
        """Asked before each batch; True ends the search, which may be resumed."""
        ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A finished or stopped search.

    `front` by its first objective; `knee` its best compromise, None for an empty front. `repeats` were proposals of a
    design that is known, by its knobs or by the accelerator that they give: they are none of `designs`. `exhausted`: no
    new design was found any more, so that there are fewer than the budget.
    """

    designs: tuple[EvaluatedDesign, ...]
    front: tuple[EvaluatedDesign, ...]
    knee: EvaluatedDesign | None
    repeats: int
    stopped: bool
    exhausted: bool
    sampler_seconds: float
    evaluation_seconds: float


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A design to evaluate and what to tell of it."""

    asked: Asked
    knobs: Knobs
    key: str


@dataclass
class _Proposer:
    """Asks for designs that are not known yet, those of `first` first, and tells what became of them."""

    strategy: Strategy
    space: DesignSpace
    rng: random.Random
    seen: set[str]
    first: deque[Knobs]
    objectives: tuple[str, ...]
    repeats: int = field(default=0, init=False)

    @property
    def most_tries(self) -> int:
        """Until nothing of a design is left (`TRIES_PER_CHANGE`)."""
        return TRIES_PER_CHANGE * len(self.space.parameters)

    def ask(self, count: int) -> list[_Proposal]:
        """Up to `count` new designs; fewer only where none were found any more."""
        proposals: list[_Proposal] = []
        while len(proposals) < count and (proposal := self._ask_new()) is not None:
            self.seen.add(proposal.key)
            proposals.append(proposal)
        return proposals

    def _ask_new(self) -> _Proposal | None:
        while self.first:
            knobs = self.first.popleft()
            if (key := self.space.key(knobs)) not in self.seen:
                return self._ask_for(knobs, key)
        proposal, retries = self._ask(), 0
        while proposal.key in self.seen and retries < SAMPLER_RETRIES:
            self._drop(proposal)
            proposal, retries = self._ask(), retries + 1
        if proposal.key not in self.seen:
            return proposal
        self._drop(proposal)
        return self._ask_near(proposal.knobs)

    def _ask(self) -> _Proposal:
        asked = self.strategy.ask()
        knobs = self.space.at(asked.indices)
        return _Proposal(asked, knobs, self.space.key(knobs))

    def _drop(self, proposal: _Proposal) -> None:
        """Of knobs that are known."""
        self.repeats += 1
        self.strategy.fail(proposal.asked)

    def _ask_near(self, known: Knobs) -> _Proposal | None:
        """A new design with parameters of `known` drawn anew, as few as it takes; None where none is found."""
        for attempt in range(self.most_tries):
            changes = min(1 + attempt // TRIES_PER_CHANGE, len(self.space.parameters))
            knobs = self.space.vary(known, changes, self.rng)
            if (key := self.space.key(knobs)) not in self.seen:
                return self._ask_for(knobs, key)
        return None

    def _ask_for(self, knobs: Knobs, key: str) -> _Proposal:
        params = self.space.params_of(knobs)
        assert params is not None  # ours, so of this space
        return _Proposal(self.strategy.ask_for(self.space.indices(params)), knobs, key)

    def tell(self, proposal: _Proposal, evaluation: Evaluation) -> None:
        if not evaluation.priced:
            self.strategy.fail(proposal.asked)
            return
        self.strategy.tell(proposal.asked, evaluation.objectives(self.objectives), _excess(evaluation))

    def tell_known(self, proposal: _Proposal, known: Evaluation) -> None:
        """That other knobs gave its accelerator before, of which this is known."""
        self.repeats += 1
        self.strategy.repeat(proposal.asked, known.objectives(self.objectives), _excess(known))

    def add_finished(self, design: EvaluatedDesign) -> None:
        """Teach the strategy a design of the history. One from outside the space is only never asked again."""
        params = self.space.params_of(design.knobs)
        if params is None or not design.evaluation.priced:
            return
        values = design.evaluation.objectives(self.objectives)
        self.strategy.add(self.space.indices(params), values, _excess(design.evaluation))


def _excess(evaluation: Evaluation) -> float:
    """Over all bounds together, relative: samplers prefer less."""
    return sum(violation.excess for violation in evaluation.violations)


def _first_designs(space: DesignSpace, objectives: Sequence[str], turn: Turn, rng: random.Random) -> tuple[Knobs, ...]:
    """Where a search starts: its island's share of the good designs, then variants of all of them."""
    seeds = space.default_knobs(objectives)
    most = min(MAX_CHANGES, len(space.parameters))
    variants = (space.vary(seeds[i % len(seeds)], rng.randint(1, most), rng) for i in range(FIRST_VARIANTS))
    return (*seeds[turn.island :: turn.islands], *variants)


def _propose(space: DesignSpace, options: SearchOptions, history: Sequence[EvaluatedDesign], turn: Turn) -> _Proposer:
    # Neither what goes on from a history nor another island may repeat the random start of the first.
    seed = (options.seed + len(history) + _ISLAND_SEEDS * turn.island) % (1 << 31)
    objectives, rng = options.objectives, random.Random(seed)
    strategy = SAMPLERS[options.sampler](space, len(objectives), options.budget, seed)
    first = space.default_knobs(objectives) if history else _first_designs(space, objectives, turn, rng)
    known = {design.key for design in history}
    proposer = _Proposer(strategy, space, rng, known, deque(first), objectives)
    for design in history:
        proposer.add_finished(design)
    return proposer


@dataclass
class _Search:
    """The state of a running search."""

    proposer: _Proposer
    pool: Pool
    sink: Sink
    bound: Callable[[Evaluation], Evaluation]
    judge: Callable[[Evaluation], Evaluation]
    accelerators: dict[str, Evaluation]
    archive: ParetoArchive
    recorded: Mapping[str, Evaluation]
    next: int  # the number of the next design
    designs: list[EvaluatedDesign] = field(default_factory=list[EvaluatedDesign])
    by_key: dict[str, EvaluatedDesign] = field(default_factory=dict[str, EvaluatedDesign])
    barren: int = 0
    stopped: bool = False
    exhausted: bool = False
    sampler_seconds: float = 0.0
    evaluation_seconds: float = 0.0

    def run(self, batch: int, count: int, history: Sequence[EvaluatedDesign]) -> None:
        """`count` designs more than the history."""
        for design in history:
            self._add(design)
        while not self.exhausted and (missing := len(history) + count - len(self.designs)) > 0:
            self.stopped = self.sink.should_stop()
            if self.stopped:
                return
            self._step(min(batch, missing))

    def _step(self, count: int) -> None:
        start = perf_counter()
        proposals = self.proposer.ask(count)
        asked = perf_counter()
        found = list(zip(proposals, self._evaluated(proposals), strict=True))
        first = [self._is_new(evaluation) for _, evaluation in found]
        new = [(p, self._judged(evaluation)) for (p, evaluation), is_new in zip(found, first, strict=True) if is_new]
        evaluated = perf_counter()
        batch = [EvaluatedDesign(self.next + i, p.knobs, evaluation, p.key) for i, (p, evaluation) in enumerate(new)]
        self.next += len(batch)
        if batch:
            self.sink.write(batch)
        stored = perf_counter()
        for proposal, evaluation in new:
            self.proposer.tell(proposal, evaluation)
            if evaluation.accelerator is not None:
                self.accelerators[evaluation.accelerator] = evaluation
        for (proposal, evaluation), is_new in zip(found, first, strict=True):
            if not is_new and evaluation.accelerator is not None:
                self.proposer.tell_known(proposal, self.accelerators[evaluation.accelerator])
        for design in batch:
            self._add(design)
        self.barren = 0 if new else self.barren + len(proposals)
        self.exhausted = len(proposals) < count or self.barren >= self.proposer.most_tries
        self.sampler_seconds += asked - start + perf_counter() - stored
        self.evaluation_seconds += evaluated - asked

    def _evaluated(self, proposals: Sequence[_Proposal]) -> list[Evaluation]:
        missing = [p.knobs for p in proposals if p.key not in self.recorded]
        found = iter(self.pool.map(missing))
        return [self.recorded[p.key] if p.key in self.recorded else next(found) for p in proposals]

    def _is_new(self, found: Evaluation) -> bool:
        """Whether no other knobs gave its accelerator. What can not be built has none, and is new."""
        return found.accelerator is None or self.accelerators.setdefault(found.accelerator, found) is found

    def _judged(self, found: Evaluation) -> Evaluation:
        """With what it exceeds of the search's own bounds, and placed exactly where it would enter the front and
        nothing else has placed it.
        """
        found = self.bound(found)
        if found.placed or not found.feasible or not self.archive.admits(self._objectives(found)):
            return found
        return self.judge(found)

    def _objectives(self, found: Evaluation) -> tuple[float, ...]:
        return found.objectives(self.proposer.objectives)

    def _add(self, design: EvaluatedDesign) -> None:
        self.designs.append(design)
        self.by_key[design.key] = design
        if design.evaluation.feasible:
            self.archive.add(design.key, self._objectives(design.evaluation))

    def result(self) -> SearchResult:
        entries = self.archive.front()
        front = tuple(self.by_key[entry.key] for entry in entries)
        return SearchResult(
            tuple(self.designs),
            front,
            front[knee(entries)] if front else None,
            self.proposer.repeats,
            self.stopped,
            self.exhausted,
            self.sampler_seconds,
            self.evaluation_seconds,
        )


def search(
    graph: LinalgGraph,
    platform: Platform,
    options: SearchOptions,
    sink: Sink,
    history: Sequence[EvaluatedDesign] = (),
    evaluator: Evaluator = evaluate,
    space: DesignSpace | None = None,
    *,
    turn: Turn | None = None,
    recorded: Iterable[EvaluatedDesign] = (),
) -> SearchResult:
    """Explore designs of `graph` on `platform`, of `space` where it is given: those of `turn`, without one until
    `options.budget` of them are known, the history included.

    No two designs are the same accelerator, but for those of a history that does not know theirs; knobs that give one
    that is known cost no budget. The designs depend on history, turn, seed and batch size alone: not on the number of
    jobs, nor on what an interrupted run of this search has `recorded`, which is not evaluated again. `evaluator` must
    be importable by name where several jobs run. Exceptions of the evaluator, the sink and KeyboardInterrupt pass
    through when the worker processes have ended; what the sink has stored by then is what to go on from.
    """
    if turn is None:
        turn = Turn(1 + max((d.number for d in history), default=-1), max(0, options.budget - len(history)))
    space = space or DesignSpace(graph, platform, objectives=options.objectives)
    proposer = _propose(space, options, history, turn)
    bound = partial(bounded, most=amounts(options.at_most, platform))
    known = {d.evaluation.accelerator: d.evaluation for d in history if d.evaluation.accelerator is not None}
    answers = {d.key: d.evaluation for d in recorded}
    missing = turn.count - len(answers)
    jobs = options.jobs if options.jobs is not None else min(default_jobs(), options.batch, max(1, missing))
    with open_pool(evaluator, graph, platform, jobs, known) as pool:
        judge = partial(judged, graph=graph, platform=platform)
        archive = ParetoArchive(len(options.objectives))
        running = _Search(proposer, pool, sink, bound, judge, known, archive, answers, turn.first)
        running.run(options.batch, turn.count, history)
    return running.result()
