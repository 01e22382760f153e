"""Which operations fit one engine: what they do to a point, and how tokens lie, by role and not by shape."""

from dataclasses import replace

import pytest
from small_graphs import INT_PRODUCT, matmul, row_reduction

from compiler.graph.engine import (
    Role,
    Slicing,
    Turn,
    layout,
    roles,
    served,
    service_of,
    slice_of,
    slicing,
    unroll_by_role,
)
from compiler.graph.linalg_graph import LinalgOp, Operand, Reduction
from compiler.graph.nest import Nest, NestLoop

ROWS, COLUMNS, SUMMED = (
    Role("parallel", (True, False)),
    Role("parallel", (False, True)),
    Role("reduction", (True, True)),
)
PLAIN = matmul("plain", 4, 8, 16, "x", "w", "y")
CUT = LinalgOp(  # the same product, its columns in two dimensions and what it sums over in two
    "cut",
    "generic",
    (4, 2, 8, 2, 4),
    ("parallel", "parallel", "parallel", "reduction", "reduction"),
    (0, 1, 1, 2, 2),
    (Operand("x", (0, 3, 4)), Operand("w", (3, 4, 1, 2))),
    (Operand("y", (0, 1, 2)),),
    PLAIN.body,
    PLAIN.reduction,
)


def turn(op: LinalgOp, *unroll: int) -> Turn:
    loops = tuple(NestLoop(d, n // u, u) for d, (n, u) in enumerate(zip(op.loops, unroll, strict=True)) if n > u)
    return Turn(op, Nest(loops, unroll))


def test_roles_of_a_product():
    assert roles(PLAIN) == (ROWS, COLUMNS, SUMMED)
    assert roles(CUT) == (ROWS, COLUMNS, COLUMNS, SUMMED, SUMMED)
    assert service_of(PLAIN) == service_of(CUT)


def test_tokens_of_one_layout_fit():
    assert layout(CUT, (2, 2, 8, 1, 4)) == (
        ((ROWS, 2), (SUMMED, 4)),
        ((SUMMED, 4), (COLUMNS, 16)),
        ((ROWS, 2), (COLUMNS, 16)),
    )
    assert served(turn(PLAIN, 2, 16, 4)) == served(turn(CUT, 2, 2, 8, 1, 4))
    assert served(turn(PLAIN, 2, 16, 4)) != served(turn(CUT, 2, 2, 8, 2, 4))
    assert served(turn(PLAIN, 1, 16, 4)) != served(turn(CUT, 2, 2, 8, 1, 4))


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, inputs=(PLAIN.inputs[0], Operand("w", (1, 2)))),  # the columns of a token lie otherwise
        replace(PLAIN, reduction=Reduction("add", 1.0)),
        replace(PLAIN, body=INT_PRODUCT),
    ],
    ids=["another layout", "another start", "another product"],
)
def test_what_does_something_else_does_not_fit(other: LinalgOp):
    assert served(turn(PLAIN, 2, 2, 2)) == served(turn(PLAIN, 2, 2, 2))
    assert served(turn(PLAIN, 2, 2, 2)) != served(turn(other, 2, 2, 2))


def test_only_sums_over_two_tensors_are_served_and_none_that_looks_where_it_is():
    assert service_of(row_reduction("sum", 4, 8, "x", "y")) is None
    assert service_of(replace(PLAIN, inputs=(PLAIN.inputs[0], Operand("w", ())))) is None
    assert service_of(replace(PLAIN, valid=(4, 16, 7), masked=(2,))) is None


def test_lanes_go_to_the_innermost_dimensions_of_their_role():
    lanes = {ROWS: 2, COLUMNS: 4, SUMMED: 8}
    assert unroll_by_role(PLAIN, PLAIN.loops, lanes) == (2, 4, 8)
    assert unroll_by_role(CUT, CUT.loops, lanes) == (2, 1, 4, 2, 4)
    assert unroll_by_role(CUT, CUT.loops, {COLUMNS: 32}) is None
    assert unroll_by_role(CUT, CUT.loops, {Role("parallel", (True, True)): 2}) is None


def test_one_dimension_holds_all_lanes_of_a_role_before_they_are_split():
    for columns, unroll in (((4, 2), (4, 1)), ((8, 6), (4, 1)), ((2, 8), (1, 4)), ((2, 2), (2, 2)), ((6, 2), (2, 2))):
        assert unroll_by_role(CUT, (1, *columns, 1, 1), {COLUMNS: 4}) == (1, *unroll, 1, 1)


def test_lanes_of_one_role_in_another_order_lie_otherwise():
    turned = replace(CUT, inputs=(CUT.inputs[0], Operand("w", (3, 4, 2, 1))))
    assert layout(turned, (1, 2, 8, 1, 1))[1] == ((COLUMNS, 8), (COLUMNS, 2))
    assert slicing(turn(turned, 1, 2, 8, 1, 1), 4) is None


@pytest.mark.parametrize(
    ("op", "unroll", "most", "cut"),
    [
        (PLAIN, (2, 8, 2), 4, Slicing(COLUMNS, 4)),
        (PLAIN, (2, 8, 2), 7, Slicing(COLUMNS, 4)),
        (PLAIN, (4, 2, 1), 4, Slicing(ROWS, 4)),
        (PLAIN, (2, 2, 2), 4, Slicing(COLUMNS, 2)),  # the columns, where both divide alike
        (PLAIN, (1, 1, 4), 4, None),  # what it sums over stays in one task
        (PLAIN, (2, 8, 2), 1, None),
        (CUT, (2, 2, 8, 1, 4), 16, Slicing(COLUMNS, 16)),
    ],
)
def test_how_an_engine_is_cut(op: LinalgOp, unroll: tuple[int, ...], most: int, cut: Slicing | None):
    assert slicing(turn(op, *unroll), most) == cut


@pytest.mark.parametrize("slices", [2, 4, 16])
def test_a_slice_makes_as_many_iterations_with_its_part_of_the_lanes(slices: int):
    whole, cut = turn(CUT, 2, 2, 8, 1, 4), Slicing(COLUMNS, slices)
    part = slice_of(whole, cut)
    assert part.nest.trips == whole.nest.trips
    assert part.nest.lanes * slices == whole.nest.lanes
    assert part.op.iterations * slices == whole.op.iterations
    for lanes, mine in zip(layout(CUT, whole.nest.unroll), layout(part.op, part.nest.unroll), strict=True):
        others = {role: count for role, count in lanes if role != COLUMNS}
        assert others == {role: count for role, count in mine if role != COLUMNS}
        assert dict(lanes).get(COLUMNS, slices) == slices * dict(mine).get(COLUMNS, 1)


def test_which_elements_of_a_token_are_whose():
    cut = Slicing(COLUMNS, 4)
    x, w, y = layout(CUT, (2, 2, 8, 1, 4))
    assert (cut.blocks(x), cut.blocks(w), cut.blocks(y)) == (None, 4, 2)
