"""The sampler that varies what is near the front: Optuna's own tests of samplers, and what is ours."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase
from optuna.trial import create_trial

from dse.front_sampler import MOST_KEPT, FrontSampler, Island, Known

WORDS = tuple("abcdefgh")
SPACE: dict[str, optuna.distributions.BaseDistribution] = {
    **{f"n{i}": IntDistribution(0, 9) for i in range(4)},
    **{f"c{i}": CategoricalDistribution(WORDS) for i in range(4)},
}


class TestAsOptunaTestsSamplers(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: FrontSampler(100, seed=0)


def study_of(sampler: BaseSampler, directions: Sequence[str] = ("minimize", "minimize")) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(directions=[StudyDirection[d.upper()] for d in directions], sampler=sampler)


def objectives(params: dict[str, Any]) -> tuple[float, float]:
    """A front between fast and small, with a trap: words that are wrong cost both."""
    wrong = sum(WORDS.index(params[f"c{i}"]) != i for i in range(4))
    size = sum(params[f"n{i}"] for i in range(4))
    return (100.0 / (1 + size)) * 1.5**wrong, (1 + size) * 1.5**wrong


def optimised(sampler: BaseSampler, count: int = 300) -> optuna.Study:
    study = study_of(sampler)
    for _ in range(count):
        trial = study.ask(SPACE)
        study.tell(trial, objectives(trial.params))
    return study


def missed(study: optuna.Study) -> float:
    """How much dearer than possible the best product of both objectives is."""
    return min(t.values[0] * t.values[1] for t in study.trials) / 100


def test_the_same_seed_gives_the_same_proposals() -> None:
    first, again, other = (optimised(FrontSampler(300, seed)) for seed in (3, 3, 4))
    assert [t.params for t in first.trials] == [t.params for t in again.trials]
    assert [t.params for t in first.trials] != [t.params for t in other.trials]


@pytest.mark.parametrize("seed", range(3))
def test_it_comes_where_random_draws_do_not(seed: int) -> None:
    assert missed(optimised(FrontSampler(300, seed))) < 1.1
    assert missed(optimised(RandomSampler(seed))) > 2


def test_nothing_is_proposed_twice() -> None:
    trials = optimised(FrontSampler(300, 0)).trials
    proposed = [tuple(t.params.values()) for t in trials[1:]]  # the first is drawn before there is anything to vary
    assert len(set(proposed)) == len(proposed)


def known(word: str, values: tuple[float, float], excess: float = 0.0) -> optuna.trial.FrozenTrial:
    """A design that is told apart by all its words."""
    params = {name: 0 if name.startswith("n") else word for name in SPACE}
    return create_trial(params=params, distributions=SPACE, values=list(values), constraints={"lut": excess})


def parents_of(designs: Sequence[optuna.trial.FrozenTrial], directions: Sequence[str] = ("minimize",) * 2) -> set[str]:
    """The words of a hundred proposals, each of which has most of one parent's."""
    study = study_of(FrontSampler(100, 0), directions)
    study.add_trials(designs)
    found: Counter[str] = Counter()
    for _ in range(100):
        words = Counter(v for v in study.ask(SPACE).params.values() if isinstance(v, str))
        found.update(word for word, count in words.items() if count >= 3)
    return {word for word, count in found.items() if count > 3}  # fewer are luck


FRONT = known("a", (10.0, 10.0))


def test_parents_are_on_the_front_or_near_it() -> None:
    near, far = known("b", (10.1, 10.1)), known("c", (13.0, 13.0))
    assert parents_of([FRONT, near, far]) == {"a", "b"}


def test_parents_may_be_a_little_over_the_board() -> None:
    nearly, never = known("b", (8.0, 10.0), 0.1), known("c", (2.0, 10.0), 2.0)
    assert parents_of([FRONT, nearly, never]) == {"a", "b"}


def test_what_is_over_the_board_puts_nothing_behind() -> None:
    assert "b" in parents_of([known("a", (2.0, 2.0), 0.2), known("b", (10.0, 10.0))])


def test_what_is_maximised_is_far_where_it_is_small() -> None:
    near, far, dear = known("b", (9.9, 10.1)), known("c", (2.0, 10.0)), known("d", (10.0, 50.0))
    assert parents_of([FRONT, near, far, dear], ("maximize", "minimize")) == {"a", "b"}


def test_islands_breed_apart_until_half_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    bred: list[Island] = []
    parent = Island.parent

    def seen(self: Island, rng: random.Random) -> Known:
        bred.append(self)
        return parent(self, rng)

    monkeypatch.setattr(Island, "parent", seen)
    study = study_of(FrontSampler(800, 0))
    study.add_trial(FRONT)
    homes: list[set[int]] = []
    for _ in range(500):
        bred.clear()
        trial = study.ask(SPACE)
        study.tell(trial, objectives(trial.params))
        homes.append({id(island) for island in bred})
    apart, united = homes[:390], homes[410:]
    assert all(len(home) == 1 for home in homes)
    assert [len(set.union(*(home for home in some))) for some in (apart, united)] == [4, 1]


def test_many_trials_cost_no_more_each_and_leave_no_more_behind() -> None:
    sampler = FrontSampler(10_000, 0)
    study = study_of(sampler)
    study.add_trials([known("abcdefgh"[i % 8], (1.0 + i % 997, 1.0 + (i * 7) % 991)) for i in range(5_000)])
    assert len({tuple(study.ask(SPACE).params.values()) for _ in range(50)}) == 50
    assert max(len(island.known) for island in sampler.islands) <= 2 * MOST_KEPT
