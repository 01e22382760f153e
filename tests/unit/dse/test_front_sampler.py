"""The sampler passes Optuna's own tests of samplers; what it is for has tests of its own."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Literal

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase
from optuna.trial import create_trial

from dse.archive import Entry
from dse.front_moves import CHANGES, room_of
from dse.front_sampler import FrontSampler

Direction = Literal["minimize", "maximize"]
SPACE: dict[str, BaseDistribution] = {
    **{f"x{i}": IntDistribution(0, 9) for i in range(8)},
    "kind": CategoricalDistribution(("a", "b", "c")),
}
MIDDLE: dict[str, Any] = {name: "b" if name == "kind" else 5 for name in SPACE}


class TestByOptuna(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return FrontSampler


def study_of(
    *known: tuple[dict[str, Any], Sequence[float], float], directions: Sequence[Direction] = ("minimize", "minimize")
) -> optuna.Study:
    """With finished trials: parameters, values, and what they exceed of a bound."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(directions=[*directions], sampler=FrontSampler(0))
    for params, values, excess in known:
        study.add_trial(create_trial(params=params, distributions=SPACE, values=values, constraints={"lut": excess}))
    return study


def changed(params: dict[str, Any], known: dict[str, Any]) -> list[str]:
    return [name for name in SPACE if params[name] != known[name]]


def asked(study: optuna.Study, count: int) -> list[dict[str, Any]]:
    return [study.ask(SPACE).params for _ in range(count)]


def test_proposals_are_new_and_near_the_front() -> None:
    worse = MIDDLE | {"x0": 0, "x1": 0, "x2": 0, "x3": 0}
    found = asked(study_of((MIDDLE, (1, 1), 0), (worse, (2, 2), 0), (worse, (0, 0), 0.5)), 40)
    counts = Counter(len(changed(params, MIDDLE)) for params in found)
    assert set(counts) <= set(range(len(CHANGES) + 1))
    assert counts[1] > counts[2] > counts[3] > 0
    assert len({tuple(params.values()) for params in found}) == 40
    assert any(abs(int(str(p[name])) - 5) > 1 for p in found for name in changed(p, MIDDLE) if name != "kind")


def test_two_of_the_front_have_children() -> None:
    low, high = MIDDLE | dict.fromkeys(["x0", "x1", "x2"], 0), MIDDLE | dict.fromkeys(["x0", "x1", "x2"], 9)
    found = asked(study_of((low, (1, 2), 0), (high, (2, 1), 0)), 200)
    mixed = [p for p in found if {0, 9} <= {p["x0"], p["x1"], p["x2"]}]
    assert len(mixed) > 10


def vain_moves(study: optuna.Study, sign: int, enqueued: int) -> int:
    """Of 100 proposals after 100: how many move more than the two of nine parameters that trade one objective for the
    other; the rest make all worse. Before each, so many trials are enqueued with a value that is always bad.
    """
    vain: list[bool] = []
    for _ in range(200):
        for _ in range(enqueued):
            study.enqueue_trial({"kind": "a"})
            study.tell(study.ask(SPACE), (sign * 900, 900))
        trial = study.ask(SPACE)
        vain.append(any(trial.params[name] != MIDDLE[name] for name in SPACE if name not in ("x0", "x1")))
        step = trial.params["x0"] + 10 * trial.params["x1"] - 55
        study.tell(trial, (sign * (100 + step + 500 * vain[-1]), 100 - step + 500 * vain[-1]))
    return sum(vain[100:])


@pytest.mark.parametrize("directions", [("minimize", "minimize"), ("maximize", "minimize")])
@pytest.mark.parametrize("enqueued", [0, 1])
def test_parameters_that_led_to_the_front_are_moved_more(
    directions: tuple[Direction, Direction], enqueued: int
) -> None:
    """A trial that was enqueued with a value of its own says nothing of what was proposed for it, which is not lost."""
    sign = -1 if directions[0] == "maximize" else 1
    study = study_of((MIDDLE, (sign * 100, 100), 0), directions=directions)
    assert vain_moves(study, sign, enqueued) < 82  # 64 to 76 by seed; 86 to 91 were all moved as often


def test_while_nothing_fits_what_exceeds_least_is_moved() -> None:
    far = MIDDLE | dict.fromkeys(["x0", "x1", "x2", "x3", "x4"], 0)
    study = study_of((far, (1, 1), 3.0), (MIDDLE, (9, 9), 0.5), (far, (1, 1), 2.0))
    assert all(len(changed(params, MIDDLE)) <= len(CHANGES) for params in asked(study, 30))
    study.add_trial(create_trial(params=far, distributions=SPACE, values=(20, 20), constraints={"lut": 0}))
    assert all(len(changed(params, far)) <= len(CHANGES) for params in asked(study, 30)), "what fits is worth more"


def test_values_that_are_no_numbers_and_trials_that_failed_are_no_parents() -> None:
    study = study_of((MIDDLE, (1, 1), 0))
    far = MIDDLE | dict.fromkeys(["x0", "x1", "x2", "x3", "x4"], 0)
    study.add_trial(create_trial(params=far, distributions=SPACE, values=(-inf, 0)))
    study.add_trial(create_trial(params=far, distributions=SPACE, state=optuna.trial.TrialState.FAIL))
    assert all(len(changed(params, MIDDLE)) <= len(CHANGES) for params in asked(study, 30))


def test_trials_that_end_late_are_learnt_then() -> None:
    study = study_of((MIDDLE, (5, 5), 0))
    first, second = study.ask(SPACE), study.ask(SPACE)
    study.tell(second, (6, 6))
    asked(study, 1)
    study.tell(first, (1, 1))
    assert all(len(changed(params, first.params)) <= len(CHANGES) for params in asked(study, 30))


def test_the_room_of_a_design_is_between_its_neighbours() -> None:
    """On logarithmic axes: a step is the same ratio everywhere."""
    front = [Entry(str(k), (2.0**k, 2.0**-k)) for k in (0, 1, 2, 4)]
    assert room_of(front) == pytest.approx([2 * 2 / 4, 2 * 2 / 4, 2 * 3 / 4, 2 * 2 * 2 / 4])
    assert room_of([Entry("one", (3.0, 0.0))]) == [0]
    negative = [Entry(str(k), (float(k), -float(k))) for k in (-2, 0, 2)]
    assert room_of(negative) == pytest.approx([2, 2, 2])


@pytest.mark.parametrize(
    ("values", "excess", "moved"),
    [
        ((1.02, 1.02), 0.0, True),  # beaten by little
        ((1.1, 1.1), 0.0, False),
        ((0.5, 2.0), 0.2, True),  # too large by little, and would be of the front
        ((0.5, 2.0), 0.5, False),
        ((1.02, 1.02), 0.2, False),
    ],
)
def test_what_is_near_the_front_is_moved_too(values: Sequence[float], excess: float, *, moved: bool) -> None:
    far = MIDDLE | dict.fromkeys([f"x{i}" for i in range(8)], 0)
    found = asked(study_of((MIDDLE, (1, 1), 0), (far, values, excess)), 40)
    assert any(len(changed(params, far)) <= len(CHANGES) for params in found) == moved


def test_what_is_no_longer_near_is_not_moved() -> None:
    far = MIDDLE | dict.fromkeys([f"x{i}" for i in range(8)], 0)
    study = study_of((MIDDLE, (1, 1), 0), (far, (1.02, 1.02), 0))
    study.add_trial(create_trial(params=MIDDLE | {"kind": "a"}, distributions=SPACE, values=(0.5, 0.5)))
    assert all(len(changed(params, far)) > len(CHANGES) for params in asked(study, 40))
