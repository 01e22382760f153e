"""Windows in linalg: an operation that indexes a tensor by sums of loops, and a tensor.pad in front of it.

A convolution reads `x[d1 * 2 + d5]`: window d1, tap d5. Here that becomes windows along one dimension after the other
(`compiler.graph.windows`), and the operation one that reads their taps by single loops: a product of matrices as any
other. Where there is one tap and no stride, or one window, there is nothing to do: 1x1 convolutions, global poolings.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from compiler.errors import UnsupportedError
from compiler.graph.linalg_graph import Iterator
from compiler.graph.windows import LineWalk


class Sum(NamedTuple):
    """The index of a window's tap: loops, each times its factor."""

    terms: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return " + ".join(f"d{loop} * {factor}" for loop, factor in self.terms)


Index = int | None | Sum  # a loop, 0, or several loops
Groups = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Padding:
    """Elements of `fill` in front of each dimension and behind it."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    fill: float | int

    def pads(self, dim: int) -> bool:
        return bool(self.low[dim] or self.high[dim])

    def reshaped(self, path: str, groups: Groups, source: Sequence[int], result: Sequence[int]) -> "Padding":
        """Of a reshape of what is padded, from one shape to the other, where each of `groups` takes its first
        dimensions to its second ones. Raises UnsupportedError where a padded one is split, or merged.
        """
        low, high = [0] * len(result), [0] * len(result)
        for sources, results in groups:
            for padded in filter(self.pads, sources):
                same = [d for d in results if result[d] == source[padded]]
                if len(same) != 1 or prod(result[d] for d in results) != source[padded]:
                    raise UnsupportedError(f"the reshape at {path} splits or merges a dimension that is padded")
                low[same[0]], high[same[0]] = self.low[padded], self.high[padded]
        return Padding(tuple(low), tuple(high), self.fill)


class Step(NamedTuple):
    """Windows along dimension `dim` of a tensor; the shape of what that makes, and in what order it is walked."""

    dim: int
    walk: LineWalk
    fill: float | int
    order: tuple[int, ...]
    shape: tuple[int, ...]


class Plan(NamedTuple):
    """Windows one after the other, and the loop that walks each dimension of what the last of them makes."""

    steps: tuple[Step, ...]
    loops: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """An operation that reads windows: its place in the network, extents and types of its loops, and the loops by which
    it indexes what else it reads.
    """

    path: str
    loops: tuple[int, ...]
    iterators: tuple[Iterator, ...]
    others: Collection[int]

    def plan(self, shape: Sequence[int], indices: Sequence[Index], padding: Padding | None) -> Plan:
        """Windows of a tensor of this shape that the operation reads by these indices. Raises UnsupportedError."""
        padding = padding or Padding((0,) * len(shape), (0,) * len(shape), 0)
        found = [self._walk(index, shape[d], d, padding) for d, index in enumerate(indices)]
        walks = {d: walk for d, (walk, _, _) in enumerate(found) if walk is not None}
        outside = self._outside(indices, walks)
        inside = [d for d in range(len(shape)) if d not in outside]
        extents, loops, steps = list(shape), [loop for _, loop, _ in found], list[Step]()
        for dim, walk in walks.items():
            extents[dim] = walk.windows
            if walk.kernel > 1:
                extents.append(walk.kernel)
                loops.append(found[dim][2])
            order = (*outside, *inside, *range(len(shape), len(extents)))
            steps.append(Step(dim, walk, padding.fill, order, tuple(extents)))
        return Plan(tuple(steps), tuple(loops))

    def _walk(
        self, index: Index, lines: int, dim: int, padding: Padding
    ) -> tuple[LineWalk | None, int | None, int | None]:
        """Windows along a dimension, where there are some; the loop that walks it, and that over taps."""
        if not isinstance(index, Sum):
            if padding.pads(dim):
                raise UnsupportedError(f"tensor.pad in front of {self.path} pads a dimension that has no windows")
            return None, index, None
        windows, taps, stride, dilation = self._roles(index)
        count, kernel = self.loops[windows], 1 if taps is None else self.loops[taps]
        if not padding.pads(dim):
            if kernel == stride == 1 and count == lines:
                return None, windows, None
            if count == dilation == 1 and kernel == lines:
                return None, taps, None
            if kernel == count == lines == 1:
                return None, windows, None
        walk = LineWalk(lines, count, kernel, stride, dilation if kernel > 1 else 1, padding.low[dim])
        if flaw := walk.flaw():
            raise UnsupportedError(f"the windows at {self.path} along dimension {dim} can not be streamed: {flaw}")
        return walk, windows, taps

    def _roles(self, index: Sum) -> tuple[int, int | None, int, int]:
        """Loop over windows, loop over taps, stride and dilation."""
        windows = [term for term in index.terms if self.iterators[term[0]] == "parallel"]
        taps = [term for term in index.terms if self.iterators[term[0]] == "reduction"]
        if len(windows) != 1 or len(taps) > 1:
            raise UnsupportedError(
                f"{self.path} indexes by {index}; one loop, or that of a window and that of its taps, are supported"
            )
        ((window, stride),) = windows
        tap, dilation = taps[0] if taps else (None, 1)
        return window, tap, stride, dilation

    def _outside(self, indices: Sequence[Index], walks: Collection[int]) -> tuple[int, ...]:
        """Dimensions that are walked outside of the others, which are channels: those that something else has too, or,
        where nothing else is read, those in front of all windows.
        """
        first = min(walks, default=0)

        def is_outside(dim: int, index: Index) -> bool:
            if dim in walks or isinstance(index, Sum):
                return True
            if index is None or self.iterators[index] == "reduction":
                return False
            return index not in self.others if self.others else dim > first

        return tuple(d for d, index in enumerate(indices) if is_outside(d, index))


def index_of(path: str, expr: AffineExpr) -> Index:
    """Raises UnsupportedError for what is no sum of loops."""
    terms = _terms(expr)
    if terms is None:
        raise UnsupportedError(f"linalg.generic at {path} indexes by {expr}; only loops and their sums are supported")
    match terms:
        case ():
            return None
        case ((loop, 1),):
            return loop
        case _:
            return Sum(terms)


def _terms(expr: AffineExpr) -> tuple[tuple[int, int], ...] | None:
    match expr:
        case AffineDimExpr():
            return ((expr.position, 1),)
        case AffineConstantExpr(value=0):
            return ()
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            left, right = _terms(expr.lhs), _terms(expr.rhs)
            return None if left is None or right is None else (*left, *right)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=AffineDimExpr() as loop, rhs=AffineConstantExpr() as factor
        ) if factor.value > 0:
            return ((loop.position, factor.value),)
        case _:
            return None


def plain(path: str, index: Index) -> int | None:
    """The loop of an index that has one. Raises UnsupportedError for others."""
    if isinstance(index, Sum):
        raise UnsupportedError(f"linalg.generic at {path} indexes by {index}; windows are read, of one input at a time")
    return index
