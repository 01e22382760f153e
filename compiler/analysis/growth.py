"""How operations grow: their lanes step by step, alone or with those that share them, and the cycles of each step.

The path of a growth is the operation's own; how far it goes along it is `compiler.analysis.lanes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt, lcm, prod
from typing import NamedTuple

from compiler.analysis.core import address, numbers, words
from compiler.analysis.loop_order import Order
from compiler.analysis.operators import count_operators, run_cycles
from compiler.graph.engine import Role, adds_parts, layout, roles, unroll_by_role
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

_UNKNOWN = -1


class Walk(NamedTuple):
    """In which order an operation walks its tiles, and the points of one."""

    tile: tuple[int, ...]
    outer: Order
    inner: Order

    def in_parts(self, dim: int, step: int) -> "Walk":
        """The walk with a loop over parts of so many points along a dimension outermost, none of which a tile mixes."""
        tile = tuple(step if d == dim else extent for d, extent in enumerate(self.tile))
        return Walk(tile, (dim, *(d for d in self.outer if d != dim)), self.inner)


class Token(NamedTuple):
    """What passes an operation at once of an operand over `dims`: `most` elements, of which each takes about `lut`
    LUTs on its way there. Where it is known that it comes in blocks of other extents (`come`), along `dims`, a
    converter has a bank of `bank_lut` LUTs for each element of the smallest block that both divide.
    """

    dims: tuple[int, ...]
    most: int
    lut: int
    come: tuple[int, ...] = ()
    bank_lut: int = 0

    def luts(self, factor: Sequence[int]) -> int:
        """About how many, with these points side by side along each loop."""
        banks = prod(lcm(factor[d], extent) for d, extent in zip(self.dims, self.come, strict=False))
        return self.lut * prod(factor[d] for d in self.dims) + self.bank_lut * banks


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """An operation that is to grow, with the way that it walks, its tokens, what its products are made of, and how many
    times a launch runs it. Looked up by identity: one is made of the same (`compiler.analysis.tiling`).
    """

    op: LinalgOp
    walk: Walk
    tokens: tuple[Token, ...]
    multiplier: Multiplier
    runs: int = 1


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """In ascending order. O(square root)."""
    low = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return tuple(sorted({*low, *(number // d for d in low)}))


class Growth:
    """Steps of one operation from one lane on: unroll factors, points side by side, and what it is with them, which is
    found for steps that somebody comes to. `table`: where that is, as the core reads it (core/deal.h).
    """

    def __init__(
        self, part: Part, factors: Sequence[tuple[int, ...]], platform: Platform, *, shared: bool = False
    ) -> None:
        self.factors, self._shared = factors, shared
        self.lanes = words(prod(factor) for factor in factors)
        self.part, self._platform = part, platform
        self._last = 0, _nest(part.op.loops, part.walk, factors[0])
        self._cycles, self._leaving, self._bursts, self._sums = (words([_UNKNOWN]) * len(factors) for _ in range(4))
        self._shares = numbers([_UNKNOWN]) * len(factors)
        found = (self.lanes, self._cycles, self._leaving, self._bursts, self._sums, self._shares)
        self.table = words([len(factors), part.op.iterations, part.runs, *map(address, found)])

    def nest(self, step: int) -> Nest:
        """Of the operation."""
        last, nest = self._last  # several things are asked of one step
        if last != step:
            nest = _nest(self.part.op.loops, self.part.walk, self.factors[step])
            self._last = step, nest
        return nest

    def cycles(self, step: int) -> int:
        """Of the whole operation, in all its runs (the paper's heap counts iterations only)."""
        if (found := self._cycles[step]) == _UNKNOWN:
            op, nest = self.part.op, self.nest(step)
            if self._shared and op.is_contraction:  # until it slows down no other: `compiler.analysis.even_intervals`
                nest = _sums_outermost(op, nest)
            of_a_run = run_cycles(op, nest, self._platform)
            found = self._cycles[step] = of_a_run * self.part.runs
        return found

    def sums(self, step: int) -> int:
        """Parts of what it reduces over, one after the other."""
        if (found := self._sums[step]) == _UNKNOWN:
            factor, op = self.factors[step], self.part.op
            parts = (-(-op.loops[d] // factor[d]) for d, kind in enumerate(op.iterators) if kind == "reduction")
            found = self._sums[step] = prod(parts)
        return found

    def leaving(self, step: int) -> int:
        """Iterations from its first result to its last, in all its runs."""
        if (found := self._leaving[step]) == _UNKNOWN:
            nest = self.nest(step)
            outside = [prod(nest.trips[k + 1 :]) for k in range(len(nest.trips))]
            first = sum((nest.trips[k] - 1) * outside[k] for k in nest.reduction_loops(self.part.op.iterators))
            found = self._leaving[step] = (prod(nest.trips) - first) * self.part.runs
        return found

    def bursts(self, step: int) -> int:
        """In which its results come, in each run: one begins when it has been through all that it reduces."""
        if (found := self._bursts[step]) == _UNKNOWN:
            nest = self.nest(step)
            loops = nest.reduction_loops(self.part.op.iterators)
            found = self._bursts[step] = prod(nest.trips[: min(loops, default=len(nest.trips))])
        return found

    def share(self, step: int) -> float:
        """Of the board, about, as `share_of` counts it."""
        if (found := self._shares[step]) == _UNKNOWN:
            found = self._shares[step] = share_of(self.part, self.nest(step), self._platform)
        return found

    FOUND = (cycles, leaving, bursts, sums, share)
    """In the order in which the core asks for them."""


@lru_cache(maxsize=65536)
def share_of(part: Part, nest: Nest, platform: Platform) -> float:
    """Of the board, about: operators, and what brings and takes tokens."""
    counts = count_operators(part.op, nest, part.multiplier, nest.accumulators(part.op.iterators))
    cores = [(platform.operators[core], count) for core, count in counts]
    lut = sum(core.lut * count for core, count in cores)
    lut += _token_luts(part, nest.unroll)
    return lut / platform.limit("lut") + sum(core.dsp * count for core, count in cores) / platform.limit("dsp")


@lru_cache(maxsize=16384)
def _growth(part: Part, platform: Platform) -> Growth:
    order, factor = _growth_order(part.op), [1] * len(part.op.loops)
    factors = [tuple(factor)]
    while _grow(part, order, factor, platform):
        factors.append(tuple(factor))
    return Growth(part, factors, platform)


def _grow(part: Part, order: Sequence[int], factor: list[int], platform: Platform) -> bool:
    """Raise one dimension's factor to the next divisor of its tile; False when every one is at its limit.

    Where it is known in which blocks tokens come, lanes grow along these first: no converter has to turn them. Else
    contractions grow where a lane then costs least for what brings and takes tokens: lanes along what is summed make no
    results, those along rows no weights. What adds up their parts grows along results, as these come, until an
    accumulator would be updated too often. Other operations grow their innermost dimension, so that tokens stay vectors
    of neighbours.
    """
    tile, come = part.walk.tile, {d: n for t in part.tokens for d, n in zip(t.dims, t.come, strict=False)}
    found = list[tuple[bool, float, int, int, int]]()
    for place, dim in enumerate(order):
        old = factor[dim]
        new = next((n for n in range(old * 2, tile[dim] + 1, old) if tile[dim] % n == 0), old)
        factor[dim] = new
        if new > old and holds(part, factor):
            found.append((new > come.get(dim, 1), _cost(part, factor, platform), place, dim, new))
        factor[dim] = old
    if not found:
        return False
    *_, dim, new = min(found)
    factor[dim] = new
    return True


def _cost(part: Part, factor: Sequence[int], platform: Platform) -> float:
    """By which an operation chooses among dimensions to grow; 0 where it takes them in order."""
    if part.op.is_contraction:
        return _token_luts(part, factor) / prod(factor)
    if adds_parts(part.op):  # a lane's work, since steps of odd numbers are longer
        return run_cycles(part.op, _nest(part.op.loops, part.walk, tuple(factor)), platform) * prod(factor)
    return 0


def _token_luts(part: Part, factor: Sequence[int]) -> int:
    """About how many LUTs its tokens take on their way."""
    return sum([token.luts(factor) for token in part.tokens])


def holds(part: Part, factor: Sequence[int]) -> bool:
    """Whether no token is too wide."""
    return all(prod(factor[d] for d in token.dims) <= token.most for token in part.tokens)


@lru_cache(maxsize=4096)
def _joint_growth(parts: tuple[Part, ...], platform: Platform) -> tuple[Growth, ...]:
    """Steps of operations that take turns: all have as many lanes of each role, which count once. The role grows along
    which a lane costs least, as loops of one operation do.
    """
    first = parts[0].op
    of = roles(first)
    order = list(dict.fromkeys(of[d] for d in _growth_order(first)))
    lanes = dict.fromkeys(order, 1)
    steps = [tuple(tuple(1 for _ in part.op.loops) for part in parts)]
    while (step := _joint_step(parts, order, lanes, platform)) is not None:
        steps.append(step)
    whole = zip(parts, zip(*steps, strict=True), strict=True)
    return tuple(_of_an_engine(part, factors, platform) for part, factors in whole)


@lru_cache(maxsize=16384)  # where another operation of the engine is walked otherwise
def _of_an_engine(part: Part, factors: tuple[tuple[int, ...], ...], platform: Platform) -> Growth:
    return Growth(part, factors, platform, shared=True)


def _sums_outermost(op: LinalgOp, nest: Nest) -> Nest:
    return replace(nest, loops=tuple(sorted(nest.loops, key=lambda loop: op.iterators[loop.dim] == "parallel")))


def _joint_step(
    parts: Sequence[Part], order: Sequence[Role], lanes: dict[Role, int], platform: Platform
) -> tuple[tuple[int, ...], ...] | None:
    """Raise the lanes of one role to the next number that every operation can have; None where there is none."""
    found = list[tuple[float, int, int, tuple[tuple[int, ...], ...]]]()
    for place, role in enumerate(order):
        if (step := _next_of(role, parts, lanes)) is None:
            continue
        new, unrolls = step
        alike = parts if adds_parts(parts[0].op) else parts[:1]
        cost = sum(_cost(part, unroll, platform) for part, unroll in zip(alike, unrolls, strict=False))
        found.append((cost, place, new, unrolls))
    if not found:
        return None
    _, place, new, unrolls = min(found)
    lanes[order[place]] = new
    return unrolls


def _next_of(
    role: Role, parts: Sequence[Part], lanes: Mapping[Role, int]
) -> tuple[int, tuple[tuple[int, ...], ...]] | None:
    """The next lanes of a role that every operation can have, and the unroll factors of each with them."""
    first, old = parts[0], lanes[role]
    most = prod(first.walk.tile[d] for d, r in enumerate(roles(first.op)) if r == role)
    for new in (old * factor for factor in divisors(most // old)[1:]):  # what does not divide the tiles is refused
        wanted = tuple({**lanes, role: new}.items())
        unrolls = [_unrolled(part.op, part.walk.tile, wanted) for part in parts]
        step = tuple(unroll for unroll in unrolls if unroll is not None)
        if len(step) == len(parts) and _is_one_engine(parts, step):
            return new, step
    return None


@lru_cache(maxsize=65536)  # with one other knob most operations of an engine are the same
def _unrolled(op: LinalgOp, tile: tuple[int, ...], wanted: tuple[tuple[Role, int], ...]) -> tuple[int, ...] | None:
    return unroll_by_role(op, tile, dict(wanted))


def _is_one_engine(parts: Sequence[Part], unrolls: Sequence[tuple[int, ...]]) -> bool:
    """Whether tokens of all operations have one layout, and none is too wide."""
    first = layout(parts[0].op, unrolls[0])
    return all(
        layout(part.op, unroll) == first and holds(part, unroll) for part, unroll in zip(parts, unrolls, strict=True)
    )


class Unroll:
    """How far operations have grown that share their lanes: one, or those of an engine. They are at step `at`."""

    def __init__(self, parts: tuple[Part, ...], platform: Platform):
        self.at = 0
        self.ops = [part.op.name for part in parts]
        self.parts = parts
        first, *others = parts
        self.growths = _joint_growth(parts, platform) if others else (_growth(first, platform),)

    @property
    def lanes(self) -> int:
        return self.growths[0].lanes[self.at]

    @property
    def cycles(self) -> int:
        return self.cycles_at(self.at)

    @property
    def left(self) -> int:
        """Steps to the end."""
        return len(self.growths[0].lanes) - 1 - self.at

    @property
    def nests(self) -> dict[str, Nest]:
        """Of each operation."""
        return {
            part.op.name: nest_of(part.op.loops, part.walk, growth.factors[self.at])
            for part, growth in zip(self.parts, self.growths, strict=True)
        }

    def cycles_at(self, step: int) -> int:
        """Of all operations, one after the other."""
        return sum([growth.cycles(step) for growth in self.growths])

    def grow(self, steps: int = 1) -> bool:
        """So many steps further; False where there are not that many."""
        if self.left < steps:
            return False
        self.at += steps
        return True


def _nest(loops: tuple[int, ...], walk: Walk, factor: tuple[int, ...]) -> Nest:
    """Tile loops in the outer order, then the loops inside a tile in the inner one."""
    tile = walk.tile
    outer = (NestLoop(d, loops[d] // tile[d], tile[d]) for d in walk.outer)
    inside = (NestLoop(d, tile[d] // factor[d], factor[d]) for d in walk.inner)
    return Nest(tuple(loop for loop in (*outer, *inside) if loop.trip > 1), factor)


nest_of = lru_cache(maxsize=16384)(_nest)  # the steps that the heap only passes are not kept


def _growth_order(op: LinalgOp) -> list[int]:
    dims = list(range(len(op.loops) - 1, -1, -1))
    if not op.is_contraction:  # what adds up parts along results first: side by side, it waits for all parts of one
        return sorted(dims, key=lambda d: adds_parts(op) and op.iterators[d] == "reduction")
    # Dimensions that every operand lacks somewhere are reuse; the ones a weight has bring bandwidth: those first.
    shared = {d for d in dims if all(d in operand.dims for operand in (*op.inputs, *op.outputs) if operand.dims)}
    return [d for d in dims if d not in shared] + [d for d in dims if d in shared]
