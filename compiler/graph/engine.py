"""Which operations can take turns at one engine, lanes that compute now one of them and now another.

Loops are told apart by their *role*: parallel or reduced, and which inputs have them. A matrix product has rows (only
in the first input), columns (only in the second), and the dimension that it sums over, whatever shapes they are cut
into. Two operations fit one engine where they do the same to every point and lay the points of a token out alike by
role; how many iterations they make, and in which order, is a line of the engine's table.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from math import gcd
from typing import NamedTuple

from compiler.graph.linalg_graph import Body, Iterator, LinalgOp, Reduction
from compiler.graph.nest import Nest


class Role(NamedTuple):
    """What a loop is for an operation: whether it is reduced, and which of the inputs have it."""

    iterator: Iterator
    inputs: tuple[bool, ...]


class Service(NamedTuple):
    """What an engine does to a point, and the roles of each operand's dimensions, neighbours of one role as one."""

    body: Body
    reduction: Reduction
    operands: tuple[tuple[Role, ...], ...]


class Turn(NamedTuple):
    """An operation that an engine serves, and how."""

    op: LinalgOp
    nest: Nest


Layout = tuple[tuple[tuple[Role, int], ...], ...]
"""Of each operand, inputs first: roles of the lanes of a token and how many, outermost first."""


@lru_cache(maxsize=4096)
def roles(op: LinalgOp) -> tuple[Role, ...]:
    """Of each loop."""
    return tuple(
        Role(iterator, tuple(dim in operand.dims for operand in op.inputs)) for dim, iterator in enumerate(op.iterators)
    )


@lru_cache(maxsize=4096)
def service_of(op: LinalgOp) -> Service | None:
    """What an engine for this operation does; None for one that none can serve: only contractions, unmasked, pay."""
    if not op.is_contraction or op.masked or op.body is None or op.reduction is None:
        return None
    role = roles(op)
    operands = (tuple(key for key, _ in groupby(role[d] for d in o.dims)) for o in (*op.inputs, *op.outputs))
    return Service(op.body, op.reduction, tuple(operands))


def layout(op: LinalgOp, unroll: Sequence[int]) -> Layout:
    """How the points that are computed side by side lie in tokens."""
    role = roles(op)
    found: list[tuple[tuple[Role, int], ...]] = []
    for operand in (*op.inputs, *op.outputs):
        lanes: list[tuple[Role, int]] = []
        for dim in operand.dims:
            if unroll[dim] == 1:
                continue
            if lanes and lanes[-1][0] == role[dim]:
                lanes[-1] = role[dim], lanes[-1][1] * unroll[dim]
            else:
                lanes.append((role[dim], unroll[dim]))
        found.append(tuple(lanes))
    return tuple(found)


def unroll_by_role(op: LinalgOp, tile: Sequence[int], lanes: dict[Role, int]) -> tuple[int, ...] | None:
    """Points of each dimension side by side so that each role has its `lanes`, innermost dimensions first; None where
    the tiles do not divide into that many.
    """
    left, unroll = dict(lanes), [1] * len(op.loops)
    role = roles(op)
    for dim in reversed(range(len(op.loops))):
        wanted = left.get(role[dim], 1)
        unroll[dim] = gcd(wanted, tile[dim])
        left[role[dim]] = wanted // unroll[dim]
    return tuple(unroll) if all(rest == 1 for rest in left.values()) else None


def fits(first: Turn, other: Turn) -> bool:
    """Whether one engine can serve both."""
    service = service_of(first.op)
    if service is None or service != service_of(other.op):
        return False
    return layout(first.op, first.nest.unroll) == layout(other.op, other.nest.unroll)
