"""Fixed point against fractions: every result is the number rounded, halves up, or its neighbour at a boundary."""

import math
from fractions import Fraction

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.frontend.integers.affine import Affine, Bounded
from compiler.frontend.integers.fixed_point import LARGEST, FixedPoint, fixed_point
from compiler.frontend.interpret import evaluate_body
from compiler.graph.linalg_graph import NARROW

CHANNELS = 3
NEAR = {18: Fraction(1, 1 << 5), 32: Fraction(1, 1 << 8)}  # of a boundary, in steps: what multipliers may be off


def value_of(made: Affine, arguments: list[int], channel: int) -> Fraction:
    def at(numbers: np.ndarray) -> Fraction:
        return Fraction(float(numbers.flat[channel if numbers.size > 1 else 0]))

    summed = at(made.constant)
    for term, factor in made.terms.items():
        if isinstance(term, Bounded):
            inner = value_of(term.inner, arguments, channel)
            inner = max(inner, Fraction(term.low)) if math.isfinite(term.low) else inner
            summed += at(factor) * (min(inner, Fraction(term.high)) if math.isfinite(term.high) else inner)
        else:
            summed += at(factor) * arguments[term]
    return summed


def computed(fixed: FixedPoint, arguments: list[int]) -> list[int]:
    given = [np.full(CHANNELS, arguments[i], np.int32) for i in fixed.arguments]
    return np.broadcast_to(evaluate_body(fixed.body, [*given, *fixed.numbers]), (CHANNELS,)).tolist()


def multiplier_bits(fixed: FixedPoint) -> int:
    return 18 if any(op.name == NARROW for op in fixed.body.ops) else 32


@st.composite
def bodies(draw: st.DrawFn) -> tuple[Affine, dict[int, int], float]:
    """Sums of an int32 and an int8, of channels with scales of their own, with bias and bounds inside and outside."""
    spread = st.floats(0.05, 1)
    of_sum = np.array([draw(spread) for _ in range(CHANNELS)]) * 2.0 ** draw(st.integers(-18, -6))
    bias = np.array([draw(st.floats(-3, 3)) for _ in range(CHANNELS)])
    made = Affine({0: of_sum}, bias)
    if draw(st.booleans()):
        made = Affine({Bounded(made, 0.0, draw(st.sampled_from([6.0, math.inf]))): np.ones(())}, np.zeros(()))
    if draw(st.booleans()):
        made = made.plus(Affine({1: np.asarray(draw(st.floats(0.001, 1)))}, np.zeros(())))
    if draw(st.booleans()):
        made = Affine({Bounded(made, draw(st.sampled_from([0.0, -1.0]))): np.ones(())}, np.zeros(()))
    return made, {0: draw(st.sampled_from([127 * 127, 127 * 127 * 576])), 1: LARGEST}, draw(st.floats(0.005, 0.5))


@settings(max_examples=examples(200), deadline=None)
@given(bodies(), st.data())
def test_it_is_the_number_rounded(body: tuple[Affine, dict[int, int], float], data: st.DataObject) -> None:
    made, reach, scale = body
    fixed = fixed_point(made, {0: "i32", 1: "i8"}, {i: np.asarray(float(r)) for i, r in reach.items()}, scale)
    assert fixed is not None
    near = NEAR[multiplier_bits(fixed)]
    for _ in range(5):
        arguments = [data.draw(st.integers(-r, r)) for r in reach.values()]
        for channel, got in enumerate(computed(fixed, arguments)):
            exact = value_of(made, arguments, channel) / Fraction(scale)
            clamped = max(min(exact, Fraction(LARGEST)), Fraction(-LARGEST))
            nearest = {math.floor(clamped + Fraction(1, 2) + off) for off in (-near, near)}
            assert got in nearest


def test_halves_go_up_and_ends_are_clamped() -> None:
    made = Affine({0: np.asarray(0.5)}, np.zeros(()))
    fixed = fixed_point(made, {0: "i32"}, {0: np.asarray(1000.0)}, 1.0)
    assert fixed is not None
    assert [computed(fixed, [q])[0] for q in (1, 3, -1, -3, 1000, -1000)] == [1, 2, 0, -1, 127, -127]


@pytest.mark.parametrize(
    ("coefficient", "reach"),
    [(1e9, 1e6), (0.0, 1.0)],  # beyond what a word holds when it is rounded; nothing to multiply
)
def test_what_does_not_fit_is_left(coefficient: float, reach: float) -> None:
    assert (
        fixed_point(Affine({0: np.asarray(coefficient)}, np.zeros(())), {0: "i32"}, {0: np.asarray(reach)}, 1) is None
    )


def test_coefficients_too_far_apart_are_left() -> None:
    made = Affine({0: np.asarray(1e-9), 1: np.asarray(1.0)}, np.zeros(()))
    assert fixed_point(made, {0: "i32", 1: "i8"}, {0: np.asarray(2.0**30), 1: np.asarray(127.0)}, 0.01) is None


@pytest.mark.parametrize(
    ("spread", "reach", "bits"),
    [
        (31, 2**26 - 1, 18),  # 127 times half a step of 4,228
        (33, 2**26 - 1, 32),
        (1, 2**26, 32),  # 27 bits and a sign
        (31, 1000, 18),
    ],
)
def test_one_dsp_multiplies_where_numbers_are_narrow(spread: float, reach: int, bits: int) -> None:
    """Of multipliers that are `spread` times as large as the least, the largest with all of its bits in use, of numbers
    that go far beyond the clamps.
    """
    largest = (2**17 - 1) / 2**17 * 2.0 ** (7 - math.floor(math.log2(reach / LARGEST)))
    coefficients = np.asarray([largest, largest / spread, largest])
    made = Affine({0: coefficients}, np.zeros(()))
    fixed = fixed_point(made, {0: "i32"}, {0: np.asarray(float(reach))}, 1.0)
    assert fixed is not None
    assert multiplier_bits(fixed) == bits
    assert max((int(np.abs(numbers).max()) for numbers in fixed.numbers), default=0) < 2 ** (bits - 1)
    for number in (reach, -reach, int(100 / largest), int(100 * spread / largest)):
        wanted = [math.floor(number * float(c) + 0.5) for c in coefficients]
        assert computed(fixed, [number]) == [max(min(w, LARGEST), -LARGEST) for w in wanted]
