"""What points promise, by what is known of others."""

import random
from collections.abc import Mapping

import numpy as np
import pytest

from dse.forecast import LEAST, NEWS, Forecast

ORDERED = {**{f"x{i}": True for i in range(6)}, "kind": False}
Params = Mapping[str, int | str]


def drawn(rng: random.Random) -> dict[str, int | str]:
    return {**{f"x{i}": rng.randrange(8) for i in range(6)}, "kind": rng.choice(("a", "b", "c"))}


def values_of(params: Params) -> tuple[float, float]:
    """`x0` is good for all, `x1` trades one for the other, `kind` b is bad; all else changes nothing."""
    all_of_it = 2.0 ** (8 - int(params["x0"])) * (16 if params["kind"] == "b" else 1)
    return all_of_it * 2.0 ** int(params["x1"]), all_of_it * 2.0 ** (8 - int(params["x1"]))


def learnt(
    count: int, *, excess_of: str = "", excess: float = 0.4, sign: int = 1
) -> tuple[Forecast, list[tuple[float, ...]]]:
    """With points that are drawn but have no best `x0`, and their front; `kind` that exceeds a bound."""
    forecast, rng, front = Forecast(), random.Random(7), list[tuple[float, ...]]()
    for _ in range(count):
        params = drawn(rng) | {"x0": rng.randrange(6)}
        over = excess if params["kind"] == excess_of else 0.0
        values = values_of(params) if sign > 0 else tuple(-1 / value for value in values_of(params))
        forecast.learn(params, values, over)
        front += [values] if not over else []
    return forecast, front


MIDDLE: dict[str, int | str] = {**{f"x{i}": 4 for i in range(6)}, "kind": "a"}


@pytest.mark.parametrize("sign", [1, -1])
def test_what_was_good_promises_to_be_better(sign: int) -> None:
    """With a value that is not known yet, too; and what is negative has no logarithm."""
    forecast, front = learnt(120, sign=sign)
    points = [MIDDLE | {"x0": 7}, MIDDLE, MIDDLE | {"x0": 1}, MIDDLE | {"x0": 7, "kind": "b"}]
    best, same, worse, bad = forecast.promises(points, ORDERED, front, 0) or []
    assert best > same > worse
    assert best > bad


def test_what_changes_nothing_promises_nothing_else() -> None:
    forecast, front = learnt(120)
    one, other, better = forecast.promises([MIDDLE, MIDDLE | {"x4": 1}, MIDDLE | {"x0": 6}], ORDERED, front, 0) or []
    assert abs(one - other) < abs(better - one) / 2


def test_what_exceeds_a_bound_promises_less() -> None:
    forecast, front = learnt(120, excess_of="c")
    fits, exceeds = forecast.promises([MIDDLE | {"x0": 7}, MIDDLE | {"x0": 7, "kind": "c"}], ORDERED, front, 0) or []
    assert exceeds < fits / 2


def test_what_exceeds_a_bound_by_little_may_be_mended() -> None:
    """It promises something, unless one such as good is known."""
    forecast, front = learnt(120, excess_of="c", excess=0.15)
    point = MIDDLE | {"x0": 7, "kind": "c"}
    [[fits], [exceeds], [known]] = [
        forecast.promises([point | kind], ORDERED, front, 0, over) or []
        for kind, over in (({"kind": "a"}, []), ({}, []), ({}, [values_of(MIDDLE | {"x0": 8})]))
    ]
    assert fits / 2 > exceeds > fits / 10 > known


def test_of_too_few_nothing_is_said() -> None:
    forecast, front = learnt(LEAST - 1)
    assert forecast.promises([MIDDLE], ORDERED, front, 0) is None


def test_the_same_says_the_same() -> None:
    found = [learnt(60)[0].promises([MIDDLE, MIDDLE | {"x0": 6}], ORDERED, learnt(60)[1], 3) for _ in range(2)]
    assert found[0] == found[1] is not None


def test_what_is_new_counts_with_what_it_looked_at_before() -> None:
    """Also values that are new, of which there are no features yet."""
    forecast, front = learnt(120)
    point = MIDDLE | {"x0": 7, "kind": "d"}
    [before] = forecast.promises([point], ORDERED, front, 0) or []
    for x5 in range(NEWS - 1):
        forecast.learn(point | {"x5": x5}, (1e6, 1e6), 0.0)
    assert forecast.waits
    assert forecast.promises([point], ORDERED, front, 0) == [before]
    forecast.learn(point | {"x5": NEWS}, (1e6, 1e6), 0.0)
    assert not forecast.waits
    [after] = forecast.promises([point], ORDERED, front, 0) or []
    assert after < before / 2


def test_what_is_added_says_what_all_together_say() -> None:
    """Points one after the other give the process that all at once give, of the same weights."""
    rng, forecast = random.Random(3), Forecast()
    points = [drawn(rng) for _ in range(LEAST + NEWS)]
    for params in points[:LEAST]:
        forecast.learn(params, values_of(params), 0.0)
    front = [values_of(params) for params in points]
    forecast.promises(points, ORDERED, front, 0)
    for params in points[LEAST:]:
        forecast.learn(params, values_of(params), 0.0)
    forecast.promises(points, ORDERED, front, 0)
    fitted = forecast._fitted
    assert fitted is not None
    squares = ((fitted.rows[:, None] - fitted.rows) ** 2).sum(axis=2)
    kernel = np.exp(-squares) + np.exp(fitted.logs[-1]) * np.eye(len(points))
    assert np.allclose(fitted.inverse @ kernel, np.eye(len(points)), atol=1e-6)


def test_parameters_may_become_fewer() -> None:
    """As in a study whose trials do not have all."""
    forecast, front = learnt(60)
    assert forecast.promises([MIDDLE], ORDERED, front, 0)
    assert forecast.promises([MIDDLE], {"x0": True, "kind": False}, front, 0)


def test_what_is_bad_for_one_value_is_not_forgotten() -> None:
    """Far from the front, and followed by more points than it looks at, none of which has that value."""
    forecast, rng = Forecast(), random.Random(5)
    for n in range(400):
        params = drawn(rng) | {"kind": "b" if n < 8 else rng.choice(("a", "c")), "x0": 6}
        forecast.learn(params, values_of(params), 0.0)
    front = [values_of(MIDDLE | {"x0": 6, "x1": trade}) for trade in range(8)]
    points = [MIDDLE | {"x0": 6, "kind": kind} for kind in ("a", "b", "d")]
    same, worse, other = forecast.promises(points, ORDERED, front, 0) or []
    assert worse < min(same, other)
