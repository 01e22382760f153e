"""Which operations can take turns at one engine, lanes that compute now one of them and now another.

Loops are told apart by their *role*: parallel or reduced, and which inputs have them. A matrix product has rows (only
in the first input), columns (only in the second), and the dimension that it sums over, whatever shapes they are cut
into. Two operations fit one engine where they do the same to every point and lay the points of a token out alike by
role; how many iterations they make, and in which order, is a line of the engine's table.

An engine can be *cut* into equal slices along a parallel role: each has so many of its lanes, neighbours. An input that
lacks the role comes to all of them, of the others and of the results each slice has a part of every token.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from math import gcd, prod
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
    """What an engine for this operation does; None for one that none can serve: only sums over two tensors pay, and
    those unmasked.
    """
    if op.masked or op.body is None or op.reduction is None or [bool(o.dims) for o in op.inputs] != [True, True]:
        return None
    role = roles(op)
    operands = (tuple(key for key, _ in groupby(role[d] for d in o.dims)) for o in (*op.inputs, *op.outputs))
    return Service(op.body, op.reduction, tuple(operands))


def adds_parts(op: LinalgOp) -> bool:
    """Whether it sums products of two tensors, as what adds up the parts of a product multiplies each by a scale."""
    return not op.is_contraction and service_of(op) is not None


@lru_cache(maxsize=65536)  # with one other knob most operations of an engine are the same
def layout(op: LinalgOp, unroll: tuple[int, ...]) -> Layout:
    """How the points that are computed side by side lie in tokens. Neighbours of one role are one, in the order of the
    loops: in another, they would be other lanes there than in the other operands.
    """
    role = roles(op)
    found: list[tuple[tuple[Role, int], ...]] = []
    for operand in (*op.inputs, *op.outputs):
        lanes: list[tuple[Role, int]] = []
        last = -1
        for dim in operand.dims:
            if unroll[dim] == 1:
                continue
            if lanes and lanes[-1][0] == role[dim] and last < dim:
                lanes[-1] = role[dim], lanes[-1][1] * unroll[dim]
            else:
                lanes.append((role[dim], unroll[dim]))
            last = dim
        found.append(tuple(lanes))
    return tuple(found)


def unroll_by_role(op: LinalgOp, tile: Sequence[int], lanes: dict[Role, int]) -> tuple[int, ...] | None:
    """Points of each dimension side by side so that each role has its `lanes`: all in one dimension, the innermost that
    holds them, else innermost dimensions first; None where the tiles do not divide into that many.
    """
    left, unroll = dict(lanes), [1] * len(op.loops)
    role = roles(op)
    dims = sorted(range(len(op.loops)), key=lambda dim: (tile[dim] % lanes.get(role[dim], 1) > 0, -dim))
    for dim in dims:
        wanted = left.get(role[dim], 1)
        unroll[dim] = gcd(wanted, tile[dim])
        left[role[dim]] = wanted // unroll[dim]
    return tuple(unroll) if all(rest == 1 for rest in left.values()) else None


class Served(NamedTuple):
    """What operations of one engine have in common."""

    service: Service
    layout: Layout


def served(turn: Turn) -> Served | None:
    """What an engine for the operation does and how tokens lie in it; None for one that none can serve."""
    service = service_of(turn.op)
    return None if service is None else Served(service, layout(turn.op, turn.nest.unroll))


class Slicing(NamedTuple):
    """An engine as `slices` tasks, which have its lanes of `role` between them; one is the engine itself."""

    role: Role
    slices: int

    def blocks(self, lanes: Sequence[tuple[Role, int]]) -> int | None:
        """Runs of neighbours that a token of these lanes has in each part: a part is so many, a part apart, the first
        slice's in front. None where all slices get the whole token.
        """
        place = next((k for k, (role, _) in enumerate(lanes) if role == self.role), None)
        return None if place is None else prod(count for _, count in lanes[:place])


def slicing(first: Turn, most: int) -> Slicing | None:
    """How an engine whose first turn this is can be cut into as many slices as divide its lanes, `most` at most; None
    where it can not be cut. Columns before rows, where both divide alike.
    """
    operands = layout(first.op, first.nest.unroll)
    *_, results = operands
    found = [Slicing(role, _most_parts(lanes, most)) for role, lanes in reversed(results) if _once(role, operands)]
    best = max(found, key=lambda cut: cut.slices, default=None)
    return best if best is not None and best.slices > 1 else None


def _most_parts(lanes: int, most: int) -> int:
    return max(n for n in range(1, min(lanes, most) + 1) if lanes % n == 0)


def _once(role: Role, operands: Layout) -> bool:
    """Whether a token has its lanes of the role in one place."""
    return all(sum(other == role for other, _ in lanes) <= 1 for lanes in operands)


@lru_cache(maxsize=4096)
def slice_of(turn: Turn, cut: Slicing) -> Turn:
    """What each of the slices computes of an operation: as many iterations, with its part of the lanes."""
    op, nest = turn
    unroll, loops, valid = list(nest.unroll), list(op.loops), list(op.valid)
    left = cut.slices
    for dim, role in enumerate(roles(op)):
        if role != cut.role:
            continue
        parts = gcd(left, unroll[dim])
        unroll[dim], loops[dim], left = unroll[dim] // parts, loops[dim] // parts, left // parts
        if valid:
            valid[dim] = -(-valid[dim] // parts)
    steps = [loop._replace(step=_step(loop.step, nest.unroll[loop.dim], unroll[loop.dim])) for loop in nest.loops]
    one = replace(op, loops=tuple(loops), valid=tuple(valid) if valid != loops else ())
    return Turn(one, Nest(tuple(steps), tuple(unroll)))


def _step(step: int, before: int, now: int) -> int:
    return step // before * now
