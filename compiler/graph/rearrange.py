"""Streams of parts, of joined parts and of reshaped tensors (paper, `chunk`, `concat`, `join`, `reassociate`).

Each function gives the one stream that comes out of such an operation; the verifiers compare with it.
"""

from collections.abc import Sequence
from math import prod

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop

Groups = tuple[tuple[int, ...], ...]


def part_of(whole: ITensor, dim: int, extent: int) -> ITensor:
    """How `extent` consecutive elements along `dim` of a streamed tensor pass when they are picked out of `whole`.

    The outermost tile loop of `dim` takes fewer steps; everything else stays. Raises VerificationError where `extent`
    cuts through a tile.
    """
    if not 0 <= dim < len(whole.element):
        raise VerificationError(f"{whole} has no dimension {dim}")
    if extent == whole.shape[dim]:
        return whole
    walks = [k for k, loop in enumerate(whole.loops) if loop.dim == dim and loop.trip > 1]
    outer = max(walks, key=lambda k: whole.loops[k].step, default=None)
    if outer is None or extent % whole.loops[outer].step or extent > whole.shape[dim]:
        raise VerificationError(
            f"{whole} can not be cut into parts of {extent} along dimension {dim}: a token straddles"
        )
    step = whole.loops[outer].step
    loops = (*whole.loops[:outer], Loop(extent // step, step, dim), *whole.loops[outer + 1 :])
    return ITensor(whole.element, whole.dtype, loops)


def joined(part: ITensor, dim: int, count: int) -> ITensor:
    """What `count` streams like `part` make when one token of each is taken in turn, side by side along `dim`."""
    if not 0 <= dim < len(part.element) or part.shape[dim] != part.element[dim]:
        raise VerificationError(f"{part} can not be joined along dimension {dim}: its tokens must span that dimension")
    return ITensor(part.element, part.dtype, (*part.loops, Loop(count, part.element[dim], dim)))


def collapsed(itensor: ITensor, groups: Groups) -> ITensor:
    """The stream of the row-major reshape that makes one dimension of each group of neighbours.

    Token for token the same elements in the same places of a token. Raises VerificationError where the groups do not
    cover the dimensions in order, or where the elements of a token would not be neighbours in the reshaped tensor.
    Unit dimensions may be left out of all groups when nothing else is left (a tensor of one element becomes rank 0).
    """
    covered = [d for group in groups for d in group]
    dropped = not groups and prod(itensor.shape) == 1
    if covered != list(range(len(itensor.element))) and not dropped:
        raise VerificationError(f"groups {[list(g) for g in groups]} do not cover the dimensions of {itensor} in order")
    place: dict[int, tuple[int, int]] = {}
    element: list[int] = []
    for number, group in enumerate(groups):
        element.append(_dense_extent(itensor, group))
        stride = 1
        for d in reversed(group):
            place[d] = (number, stride)
            stride *= itensor.shape[d]
    loops: list[Loop] = []
    for loop in itensor.loops:
        if loop.dim is None or loop.trip == 1:
            loops.append(Loop(loop.trip, loop.step if loop.dim is None else 1, None))
        else:
            number, stride = place[loop.dim]
            loops.append(Loop(loop.trip, loop.step * stride, number))
    return ITensor(tuple(element), itensor.dtype, tuple(loops))


def _dense_extent(itensor: ITensor, group: Sequence[int]) -> int:
    """Extent of a token along a collapsed dimension: inside the first dimension that it spans it must span all."""
    extents = [itensor.element[d] for d in group]
    spanning = next((i for i, extent in enumerate(extents) if extent > 1), len(group))
    if any(itensor.element[d] != itensor.shape[d] for d in group[spanning + 1 :]):
        raise VerificationError(
            f"a token of {itensor} is no run of neighbours once dimensions {list(group)} are collapsed"
        )
    return prod(extents)


def unit_groups(rank: int, unit: int) -> Groups:
    """Groups that collapse away unit dimension `unit` of `rank` dimensions, with a neighbour."""
    if rank == 1:
        return ()
    partner = unit + 1 if unit + 1 < rank else unit - 1
    first, second = sorted((unit, partner))
    return tuple((d, d + 1) if d == first else (d,) for d in range(rank) if d != second)
