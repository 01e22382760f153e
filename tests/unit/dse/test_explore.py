from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import optuna
import pytest
from evaluations import evaluated
from optuna.trial import TrialState
from small_searches import MemorySink, toy

from compiler.errors import InvalidInputError, Violation
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, TaskOverride
from compiler.platforms.platform import Platform
from dse.archive import dominates
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, search
from dse.objectives import DEFAULT
from dse.space import DesignSpace
from dse.strategies import SAMPLERS, Asked, Strategy

# TPE takes a hundred times as long for a proposal.
EACH = [pytest.param(name, marks=pytest.mark.slow) if name == "tpe" else name for name in SAMPLERS]


class Counting:
    """The toy evaluator, and how often it met each design."""

    def __init__(self) -> None:
        self.met: list[Knobs] = []

    def __call__(self, graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
        self.met.append(knobs)
        return toy(graph, knobs, platform)


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> list[optuna.Study]:
    """The studies that searches create from now on."""
    created: list[optuna.Study] = []
    create = optuna.create_study

    def remember(**arguments: Any) -> optuna.Study:
        created.append(create(**arguments))
        return created[-1]

    monkeypatch.setattr("dse.strategies.optuna.create_study", remember)
    return created


def numbers_of(result: SearchResult) -> list[int]:
    return [design.number for design in result.designs]


@pytest.mark.parametrize("sampler", EACH)
def test_a_search_covers_its_budget(mlp: LinalgGraph, u55c: Platform, sampler: str):
    sink = MemorySink()
    result = search(mlp, u55c, SearchOptions(40, sampler=sampler, jobs=1), sink, evaluator=toy)
    assert [len(batch) for batch in sink.batches] == [16, 16, 8]
    assert numbers_of(result) == list(range(40))
    assert list(result.designs) == sink.designs
    assert len({design.key for design in result.designs}) == 40
    assert not result.stopped
    assert not result.exhausted


@pytest.mark.parametrize("names", [DEFAULT, ("area", "latency"), ("latency", "energy", "area")])
def test_the_front_is_what_no_feasible_design_dominates(mlp: LinalgGraph, u55c: Platform, names: tuple[str, ...]):
    options = SearchOptions(200, jobs=1, objectives=names)
    result = search(mlp, u55c, options, MemorySink(), evaluator=toy)
    found = [d.evaluation for d in result.designs]
    feasible = {e.objectives(names) for e in found if e.feasible}
    front = [d.evaluation.objectives(names) for d in result.front]
    assert {d.evaluation.feasible for d in result.designs} == {True, False}
    assert front == sorted(o for o in feasible if not any(dominates(q, o) for q in feasible))
    assert result.knee in result.front


def test_what_would_enter_the_front_unplaced_is_judged_before(
    mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch
):
    """Designs that nothing has placed: the judge refuses every wide one, and sees none that others beat."""
    judgements: list[Evaluation] = []

    def unplaced(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
        return replace(toy(graph, knobs, platform), placed=False)

    def judge(found: Evaluation, graph: LinalgGraph, platform: Platform) -> Evaluation:
        judgements.append(found)
        over = (Violation("sll", 2, 1),) if found.knobs.overall_unroll > 256 else ()
        return replace(found, violations=over, placed=not over)

    monkeypatch.setattr("dse.explore.judged", judge)
    sink = MemorySink()
    result = search(mlp, u55c, SearchOptions(120, jobs=1), sink, evaluator=unplaced)
    assert {d.evaluation.placed for d in result.front} == {True}
    assert max(d.knobs.overall_unroll for d in result.front) <= 256
    refused = [d for d in sink.designs if any(v.resource == "sll" for v in d.evaluation.violations)]
    assert refused, "what is stored is the verdict"
    assert len(judgements) < sum(d.evaluation.priced for d in result.designs) / 2
    assert {d.evaluation.placed for d in result.designs if d.evaluation.feasible} == {True, False}


def test_the_first_designs_are_the_good_seeds(mlp: LinalgGraph, u55c: Platform):
    sink = MemorySink()
    seeds = DesignSpace(mlp, u55c).default_knobs()
    search(mlp, u55c, SearchOptions(len(seeds), jobs=1), sink, evaluator=toy)
    assert tuple(design.knobs for design in sink.designs[: len(seeds)]) == seeds


@pytest.mark.parametrize("sampler", EACH)
def test_a_search_is_deterministic(mlp: LinalgGraph, u55c: Platform, sampler: str):
    options = SearchOptions(48, seed=3, sampler=sampler, jobs=1)
    runs = [search(mlp, u55c, options, MemorySink(), evaluator=toy).designs for _ in range(2)]
    other = search(mlp, u55c, replace(options, seed=4), MemorySink(), evaluator=toy).designs
    assert runs[0] == runs[1] != other


@pytest.mark.slow
def test_jobs_do_not_change_the_result(mlp: LinalgGraph, u55c: Platform):
    options = SearchOptions(64, jobs=1)
    alone = search(mlp, u55c, options, MemorySink())
    together = search(mlp, u55c, replace(options, jobs=2), MemorySink())
    assert alone.designs == together.designs
    assert alone.front == together.front


@pytest.mark.parametrize("sampler", EACH)
def test_an_interrupted_search_finds_what_it_would_have_found(mlp: LinalgGraph, u55c: Platform, sampler: str):
    """What is recorded is not evaluated again."""
    options = SearchOptions(100, sampler=sampler, jobs=1)
    whole = search(mlp, u55c, options, MemorySink(), evaluator=toy)
    evaluator = Counting()
    first = search(mlp, u55c, options, MemorySink(stop_after=4), evaluator=evaluator)
    assert first.stopped
    assert len(first.designs) == 64
    sink = MemorySink()
    second = search(mlp, u55c, options, sink, evaluator=evaluator, recorded=first.designs)
    assert second.designs == whole.designs == tuple(sink.designs)
    assert len(evaluator.met) == 100 == len({design.key for design in second.designs})


def test_what_is_recorded_may_lack_some_designs_and_have_others(mlp: LinalgGraph, u55c: Platform):
    options = SearchOptions(64, jobs=1)
    whole = search(mlp, u55c, options, MemorySink(), evaluator=toy)
    foreign = Knobs(overrides=(TaskOverride("elsewhere", tile=4),))
    recorded = [*whole.designs[1:40:3], EvaluatedDesign(0, foreign, evaluated(foreign, 1.0, 1.0), "foreign")]
    evaluator = Counting()
    second = search(mlp, u55c, options, MemorySink(), evaluator=evaluator, recorded=recorded)
    assert second.designs == whole.designs
    assert len(evaluator.met) == 64 - 13


def test_resuming_a_finished_search_evaluates_nothing(mlp: LinalgGraph, u55c: Platform):
    options = SearchOptions(32, jobs=1)
    first = search(mlp, u55c, options, MemorySink(), evaluator=toy)
    sink, evaluator = MemorySink(), Counting()
    second = search(mlp, u55c, options, sink, history=first.designs, evaluator=evaluator)
    assert evaluator.met == []
    assert sink.batches == []
    assert second.front == first.front


def test_history_is_what_a_resumed_search_moves(mlp: LinalgGraph, u55c: Platform):
    """It begins with neighbours of the front of the history instead of random designs."""
    first = search(mlp, u55c, SearchOptions(64, jobs=1), MemorySink(), evaluator=toy)
    second = search(mlp, u55c, SearchOptions(80, jobs=1), MemorySink(), history=first.designs, evaluator=toy)
    space = DesignSpace(mlp, u55c)
    front, asked = (
        [space.indices(params) for d in designs if (params := space.params_of(d.knobs)) is not None]
        for designs in (first.front, second.designs[64:])
    )
    assert len(asked) == 16
    for params in asked:
        assert min(sum(params[name] != known[name] for name in params) for known in front) < len(params) / 3


def test_our_own_search_has_no_study(mlp: LinalgGraph, u55c: Platform, studies: list[optuna.Study]):
    """One costs more time than all else beside the evaluations, and the more the longer it is."""
    search(mlp, u55c, SearchOptions(32, jobs=1), MemorySink(), evaluator=toy)
    assert studies == []


def test_history_from_outside_the_space_is_kept(mlp: LinalgGraph, u55c: Platform):
    space = DesignSpace(mlp, u55c)
    foreign = Knobs(overrides=(TaskOverride("elsewhere", tile=4),))
    history = [EvaluatedDesign(7, foreign, evaluated(foreign, 1.0, 1.0), space.key(foreign))]
    result = search(mlp, u55c, SearchOptions(17, jobs=1), MemorySink(), history=history, evaluator=toy)
    assert numbers_of(result) == [7, *range(8, 24)]
    assert result.front == (history[0],)


def test_repeats_are_asked_again_and_a_spent_space_ends_the_search(mlp: LinalgGraph, u55c: Platform):
    whole = DesignSpace(mlp, u55c)
    default = whole.params_of(Knobs())
    assert default is not None
    keep = {"tile", "fifo", "multiplier"}
    space = whole.narrowed({name: (value,) for name, value in default.items() if name not in keep})
    evaluator = Counting()
    result = search(mlp, u55c, SearchOptions(60, jobs=1), MemorySink(), evaluator=evaluator, space=space)
    assert result.exhausted
    assert result.repeats > 0
    assert len(evaluator.met) == len(set(evaluator.met)) == 7 * 2 * 3
    assert set(evaluator.met) == set(space.every())


class Accelerators(Counting):
    """Toys that two knobs alone tell apart: there are 10 x 4."""

    def __call__(self, graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
        accelerator = f"{knobs.overall_unroll} {knobs.hbm_channels}"
        if accelerator in known:
            return Evaluation(knobs, accelerator=accelerator)
        plain = Knobs(overall_unroll=knobs.overall_unroll, hbm_channels=knobs.hbm_channels)
        return replace(super().__call__(graph, plain, platform), knobs=knobs, accelerator=accelerator)


@pytest.mark.parametrize("sampler", EACH)
def test_knobs_that_build_what_is_known_cost_no_budget(mlp: LinalgGraph, u55c: Platform, sampler: str):
    many = 8 if sampler == "tpe" else 25  # of 40: it proposes one it knows a hundred times, slowly
    evaluator, sink, options = Accelerators(), MemorySink(stop_after=1), SearchOptions(many, sampler=sampler, jobs=1)
    first = search(mlp, u55c, options, sink, evaluator=evaluator)
    assert first.stopped
    sink.stop_after = None
    second = search(mlp, u55c, options, sink, history=first.designs, evaluator=evaluator)
    assert second.repeats > 0
    assert list(second.designs) == sink.designs
    assert numbers_of(second) == list(range(many))
    assert len({d.evaluation.accelerator for d in second.designs}) == many == len(evaluator.met), "none is priced twice"
    assert all(d.evaluation.priced for d in second.designs), "nothing unpriced is a design"


def test_what_a_known_accelerator_repeats_is_told(mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch):
    """So that our own search does not go on proposing it."""
    told: list[tuple[Asked, tuple[float, ...], float]] = []

    def remember(_self: Strategy, asked: Asked, values: Sequence[float], excess: float) -> None:
        told.append((asked, tuple(values), excess))

    monkeypatch.setattr("dse.strategies._OfMoves.repeat", remember)
    result = search(mlp, u55c, SearchOptions(30, jobs=1), MemorySink(), evaluator=Accelerators())
    known = {design.evaluation.accelerator: design.evaluation for design in result.designs}
    assert 0 < len(told) <= result.repeats
    for asked, values, excess in told:
        knobs = DesignSpace(mlp, u55c).at(asked.indices)
        evaluation = known[f"{knobs.overall_unroll} {knobs.hbm_channels}"]
        assert values == evaluation.objectives()
        assert excess == sum(violation.excess for violation in evaluation.violations)


def test_a_search_that_meets_known_accelerators_alone_ends(
    mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("dse.explore.TRIES_PER_CHANGE", 10)
    result = search(mlp, u55c, SearchOptions(70, sampler="random", jobs=1), MemorySink(), evaluator=Accelerators())
    assert result.exhausted
    assert len(result.designs) == len({d.evaluation.accelerator for d in result.designs}) == 60
    assert result.repeats > 10 * len(DesignSpace(mlp, u55c).parameters)


@pytest.mark.slow
def test_two_jobs_count_an_accelerator_once(mlp: LinalgGraph, u55c: Platform):
    """Both price it, for neither knows of the other."""
    result = search(mlp, u55c, SearchOptions(64, jobs=2), MemorySink())
    assert len({d.evaluation.accelerator for d in result.designs}) == 64 == len({d.key for d in result.designs})
    assert result.repeats > 0


def test_samplers_learn_how_far_a_design_is_over_budget(mlp: LinalgGraph, u55c: Platform, studies: list[optuna.Study]):
    result = search(mlp, u55c, SearchOptions(48, sampler="random", jobs=1), MemorySink(), evaluator=toy)
    trials = studies[0].trials
    for design, trial in zip(result.designs, trials, strict=True):
        if not design.evaluation.priced:
            assert trial.state == TrialState.FAIL
            continue
        assert tuple(trial.values) == design.evaluation.objectives()
        assert trial.constraints == {"excess": max(0.0, design.knobs.overall_unroll / 4096 - 1)}


def test_a_crash_is_not_swallowed_and_what_was_stored_stays(mlp: LinalgGraph, u55c: Platform):
    sink = MemorySink()

    def crash(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> Evaluation:
        if len(sink.batches) == 2:
            raise ZeroDivisionError
        return toy(graph, knobs, platform)

    with pytest.raises(ZeroDivisionError):
        search(mlp, u55c, SearchOptions(64, jobs=1), sink, evaluator=crash)
    assert len(sink.designs) == 32


@pytest.mark.parametrize(
    "options", [{"budget": 0}, {"budget": 1 << 40}, {"batch": 0}, {"seed": -1}, {"sampler": "magic"}, {"jobs": 0},
     {"objectives": ("latency",)}]
)  # fmt: skip
def test_bad_options_say_what_is_allowed(mlp: LinalgGraph, u55c: Platform, options: dict[str, Any]):
    with pytest.raises(InvalidInputError, match=r"must be|known are|there are"):
        search(mlp, u55c, SearchOptions(**options), MemorySink(), evaluator=toy)
