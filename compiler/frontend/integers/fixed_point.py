"""Bodies in fixed point: int8 of sums of int8 and int32, by multiplication, shift and rounding.

A number y of the network is an integer q of scale s, y = q * s. So of inputs q_i, of scales s_i, the output is

    q = clamp((sum of q_i * m_i  +  c  +  2^(shift - 1)) >> shift, low, high),    m_i = round(k_i * s_i / s * 2^shift)

where y is the sum of k_i * y_i and a constant, which is c by then: halves go up. The shift is the largest with which
multipliers have 18 bits, so that one DSP multiplies by them what has 27, where all q_i do and rounding the multipliers
moves no result by more than a 64th of a step; else it is the largest with which they have 32. Sums are of 64 bits, of
which 52 are used, that double precision holds what is compared with them. A bound of the result, such as ReLU's, is
one of the clamp's; those inside are compared at the same step of 2^-shift.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from compiler.frontend.integers.affine import Affine, Array, Bounded
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import Body

LARGEST = 127  # of an int8: symmetric
_SUM_BITS = 52
_WORD, _SUM = "i32", "i64"


class _Factors(NamedTuple):
    """Bits of numbers and of multipliers, with signs."""

    number: int
    multiplier: int


_OF_A_DSP, _OF_WORDS = _Factors(27, 18), _Factors(32, 32)
_LEAST_BITS = 10  # of the multipliers of each term
_MOST_OFF = 2.0**-6  # steps


@dataclass(frozen=True)
class FixedPoint:
    """A body, whose first arguments are the network's, and the int32 numbers that the others read, over the loops."""

    body: Body
    arguments: tuple[int, ...]
    numbers: tuple[Array, ...]


def fixed_point(made: Affine, dtypes: Mapping[int, str], reach: Mapping[int, Array], scale: float) -> FixedPoint | None:
    """`made` of integers, argument i no larger than `reach[i]`, in steps of `scale`; None where 64 bits are too few.

    Coefficients are those of the integers: with their scales.
    """
    low, high = -float(LARGEST), float(LARGEST)
    made = made.times(np.asarray(1 / scale))
    while (bounds := _outermost(made)) is not None:
        made, (least, most) = bounds
        low, high = min(max(low, _rounded(least)), high), max(min(high, _rounded(most)), low)
    total = _reach(made, reach)
    multipliers = [float(np.max(np.abs(c))) for c in _multipliers(made, np.ones(()))]
    if not multipliers or min(multipliers) == 0 or not 0 < total < 2.0**30:
        return None
    factors, shift = _OF_A_DSP, _shift(_OF_A_DSP, multipliers, total)
    if not _is_narrow(made, reach) or _off(made, reach, shift) > _MOST_OFF:
        factors, shift = _OF_WORDS, _shift(_OF_WORDS, multipliers, total)
        if min(multipliers) * 2.0**shift < 2**_LEAST_BITS:
            return None
    if shift < 1:
        return None
    writer = _Writer(shift, factors, dtypes)
    summed = writer.sum(made, 1 << (shift - 1))
    if summed is None:
        return None
    return writer.finish(summed, int(low), int(high))


def _shift(factors: _Factors, multipliers: Sequence[float], total: float) -> int:
    """The largest with which multipliers, and sums of no more than `total`, have bits enough."""
    largest = 2 ** (factors.multiplier - 1) - 1
    return min(
        math.floor(math.log2(largest / max(multipliers))), math.floor(_SUM_BITS - 1 - math.log2(total + 1)), _SUM_BITS
    )


def _is_narrow(made: Affine, reach: Mapping[int, Array]) -> bool:
    most = 2.0 ** (_OF_A_DSP.number - 1)
    return all(float(np.max(reach[argument])) < most for argument in _arguments(made))


def _off(made: Affine, reach: Mapping[int, Array], shift: int) -> float:
    """By how much multipliers that are rounded may move a result that is not clamped, in steps: half a step of theirs
    for each of a number that is multiplied, which is no larger than all else that is added leaves of the clamp.
    """
    terms = [(reach[a], np.abs(m)) for a, m in zip(_arguments(made), _multipliers(made, np.ones(())), strict=True)]
    whole = sum(most * m for most, m in terms) + sum(_constants(made, np.ones(())))

    def numbers(most: Array, multipliers: Array) -> Array:
        clamped = LARGEST + whole - most * multipliers
        known = multipliers > 0
        return np.where(known, np.minimum(most, clamped / np.where(known, multipliers, 1)), 0)

    return float(np.max(sum(numbers(*term) for term in terms))) * 2.0 ** -(shift + 1)


def _outermost(made: Affine) -> tuple[Affine, tuple[float, float]] | None:
    """What is bounded last of all, and by what."""
    match list(made.terms.items()):
        case [(Bounded() as bounded, factor)] if factor.size == 1 and factor.flat[0] > 0 and not made.constant.any():
            by = float(factor.flat[0])
            return bounded.inner.times(factor.reshape(())), (bounded.low * by, bounded.high * by)
        case _:
            return None


def _rounded(number: float) -> float:
    return math.floor(number + 0.5) if math.isfinite(number) else number


def _reach(made: Affine, reach: Mapping[int, Array]) -> float:
    """The largest magnitude of any sum on the way."""

    def of(term: int | Bounded) -> Array:
        if not isinstance(term, Bounded):
            return reach[term]
        ends = [abs(end) for end in (term.low, term.high) if math.isfinite(end)]
        return np.asarray(max(_reach(term.inner, reach), *ends, 0.0))

    summed = sum((np.abs(c) * of(term) for term, c in made.terms.items()), np.abs(made.constant))
    return float(np.max(summed))


def _constants(made: Affine, factor: Array) -> Iterator[Array]:
    """Magnitudes of what is added that is no multiple of a number, and of bounds, which may stand in its place."""
    yield np.abs(made.constant * factor)
    for term, coefficient in made.terms.items():
        if isinstance(term, Bounded):
            yield from (np.abs(end * coefficient * factor) for end in (term.low, term.high) if math.isfinite(end))
            yield from _constants(term.inner, coefficient * factor)


def _arguments(made: Affine) -> Iterator[int]:
    for term in made.terms:
        if isinstance(term, Bounded):
            yield from _arguments(term.inner)
        else:
            yield term


def _multipliers(made: Affine, factor: Array) -> Iterator[Array]:
    for term, coefficient in made.terms.items():
        if isinstance(term, Bounded):
            yield from _multipliers(term.inner, coefficient * factor)
        else:
            yield coefficient * factor


@dataclass
class _Writer:
    shift: int
    factors: _Factors
    dtypes: Mapping[int, str]
    builder: BodyBuilder = field(default_factory=BodyBuilder)
    numbers: dict[int, Array] = field(default_factory=dict[int, Array])
    arguments: dict[int, int] = field(default_factory=dict[int, int])

    def sum(self, made: Affine, offset: int = 0) -> int | None:
        """The number of the 64-bit sum; None where bounds are not the same in all loops."""
        parts = [self._constant(made.constant, offset)]
        for term, coefficient in made.terms.items():
            parts.append(self._bounded(term, coefficient) if isinstance(term, Bounded) else self._of(term, coefficient))
        if any(part is None for part in parts[1:]):
            return None
        present = [part for part in (*parts[1:], parts[0]) if part is not None]
        summed = present[0]
        for part in present[1:]:
            summed = self.builder.emit("arith.addi", (summed, part), _SUM)
        return summed

    def finish(self, summed: int, low: int, high: int) -> FixedPoint:
        emit, constant = self.builder.emit, self.builder.constant
        shifted = emit("arith.shrsi", (summed, constant(self.shift, _SUM)), _SUM)
        word = emit("arith.trunci", (shifted,), _WORD)
        # Both bounds at once, where a maximum and then a minimum would take a cycle each.
        bounds = ((constant(low, _WORD), "slt"), (constant(high, _WORD), "sgt"))
        beyond = [(emit("arith.cmpi", (word, bound), "i1", relation), bound) for bound, relation in bounds]
        for is_beyond, bound in beyond:
            word = emit("arith.select", (is_beyond, bound, word), _WORD)
        body, used = self.builder.finish(emit("arith.trunci", (word,), "i8"))
        given = {number: argument for argument, number in self.arguments.items()}
        order = sorted(used, key=lambda number: number not in given)  # the network's first
        return FixedPoint(
            _reordered(body, [used.index(number) for number in order]),
            tuple(given[number] for number in order if number in given),
            tuple(self.numbers[number] for number in order if number not in given),
        )

    def _of(self, argument: int, coefficient: Array) -> int:
        dtype = self.dtypes[argument]
        if argument not in self.arguments:
            self.arguments[argument] = self.builder.arg(dtype)
        wide = self._wide(self.arguments[argument], self.factors.number)
        factor = self._numbers(np.rint(coefficient * 2.0**self.shift), self.factors.multiplier)
        return self.builder.emit("arith.muli", (wide, factor), _SUM)

    def _constant(self, values: Array, offset: int) -> int | None:
        steps = np.rint(values * 2.0**self.shift) + offset
        if not steps.any():
            return None
        if steps.size == 1:
            return self.builder.constant(int(steps.flat[0]), _SUM)
        spare = max(0, math.ceil(math.log2(float(np.max(np.abs(steps))) + 1)) - 31)
        number = self._numbers(np.clip(np.rint(steps / 2.0**spare), -(2.0**31), 2.0**31 - 1))
        return self.builder.emit("arith.shli", (number, self.builder.constant(spare, _SUM)), _SUM) if spare else number

    def _bounded(self, bounded: Bounded, coefficient: Array) -> int | None:
        if coefficient.size != 1 or coefficient.flat[0] <= 0:
            return None
        by = float(coefficient.flat[0])
        made = self.sum(bounded.inner.times(np.asarray(by)))
        for name, bound in (("arith.maxsi", bounded.low), ("arith.minsi", bounded.high)):
            if made is not None and math.isfinite(bound):
                step = self.builder.constant(round(bound * by * 2.0**self.shift), _SUM)
                made = self.builder.emit(name, (made, step), _SUM)
        return made

    def _wide(self, number: int, bits: int) -> int:
        """A number that needs no more than so many bits, in 64."""
        is_word = self.builder.dtype(number) == _WORD
        narrow = self.builder.narrow(number, bits) if is_word and bits < 32 else number
        return self.builder.emit("arith.extsi", (narrow,), _SUM)

    def _numbers(self, values: Array, bits: int = 32) -> int:
        """Integers of so many bits, in 64: a constant where they are all the same, else what an argument reads."""
        if np.all(values == values.flat[0]):
            return self.builder.constant(int(values.flat[0]), _SUM)
        argument = self.builder.arg(_WORD)
        self.numbers[argument] = values.astype(np.int32)
        return self._wide(argument, bits)


def _reordered(body: Body, order: list[int]) -> Body:
    """The body with its arguments in that order."""
    place = {old: new for new, old in enumerate(order)}
    builder = BodyBuilder()
    arguments = [builder.arg(body.arg_dtypes[old]) for old in order]
    made, _ = builder.finish(builder.replay(body, [arguments[place[i]] for i in range(len(order))]))
    return made
