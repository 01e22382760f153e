"""Elements that repeat are maps where they can be, and windows where a dimension has to be whole."""

from dataclasses import replace

from compiler.frontend.lowering.repeats import with_repeats
from compiler.frontend.lowering.source import Concat, Generic, Reshape, SourceModule, SourceOp, Tensor, Window

X = Tensor(0, (1, 2, 4), "f32")
WIDE, MERGED = Tensor(1, (1, 2, 4, 3), "f32"), Tensor(2, (1, 2, 12), "f32")
GROUPS = (((0,), (0,)), ((1,), (1,)), ((2, 3), (2,)))


def copy(*read: int | None, steps: int = 0) -> Generic:
    """Of x, along all loops of what it makes."""
    return Generic(
        "up", (1, 2, 4, 3), ("parallel",) * 4, (X,), (None,), (read, (0, 1, 2, 3)), (), (), (steps,), (WIDE,)
    )


def module(*ops: SourceOp) -> SourceModule:
    arguments = [op.sources[-1] for op in ops if isinstance(op, Concat)]
    return SourceModule((X, *arguments), ops, ())


def beside(read: Tensor, along: int) -> Concat:
    shape = tuple(n + 5 * (d == along) for d, n in enumerate(read.shape))
    other = Tensor(3, tuple(5 if d == along else n for d, n in enumerate(read.shape)), "f32")
    return Concat("both", (read, other), along, Tensor(9, shape, "f32"))


def test_a_dimension_that_has_to_be_whole_is_one_of_lines_that_repeat() -> None:
    whole = module(copy(0, 1, 2), Reshape("up", WIDE, GROUPS, MERGED), beside(MERGED, 2))
    _, window, both = with_repeats(whole).ops
    assert isinstance(window, Window)
    assert (window.source, window.result, window.dim, window.walk.repeat) == (X, MERGED, 2, 3)
    assert window.order == (2, 0, 1)  # channels within lines
    assert both == whole.ops[-1]


def test_all_else_stays_a_map() -> None:
    along_another = module(copy(0, 1, 2), Reshape("up", WIDE, GROUPS, MERGED), beside(MERGED, 1))
    assert with_repeats(along_another) == along_another
    outside = (((0,), (0,)), ((1, 2), (1,)), ((3,), (2,)))  # what repeats is a dimension of its own
    not_merged = module(copy(0, 1, 2), Reshape("up", WIDE, outside, Tensor(2, (1, 8, 3), "f32")))
    assert with_repeats(not_merged) == not_merged


def test_what_repeats_all_lines_in_turn_is_no_line_that_repeats() -> None:
    """x, x, x and not each element three times."""
    x = Tensor(0, (1, 2, 3), "f32")
    turned = Generic(
        "up", (1, 2, 4, 3), ("parallel",) * 4, (x,), (None,), ((0, 1, 3), (0, 1, 2, 3)), (), (), (0,), (WIDE,)
    )
    in_turn = SourceModule((x,), (turned, Reshape("up", WIDE, GROUPS, MERGED), beside(MERGED, 2)), (MERGED,))
    assert with_repeats(in_turn) == in_turn


def test_what_is_transposed_as_well_is_no_line_that_repeats() -> None:
    x = Tensor(0, (1, 4, 2), "f32")
    turned = replace(copy(0, 2, 1), inputs=(x,))
    transposed = SourceModule((x,), (turned, Reshape("up", WIDE, GROUPS, MERGED), beside(MERGED, 2)), (MERGED,))
    assert with_repeats(transposed) == transposed


def test_lines_that_repeat_need_lines_that_repeat_before_them_whole() -> None:
    again, twice = Tensor(4, (1, 2, 12, 2), "f32"), Tensor(5, (1, 2, 24), "f32")
    second = Generic(
        "up2", (1, 2, 12, 2), ("parallel",) * 4, (MERGED,), (None,), ((0, 1, 2), (0, 1, 2, 3)), (), (), (0,), (again,)
    )
    first = (copy(0, 1, 2), Reshape("up", WIDE, GROUPS, MERGED))
    ops = with_repeats(module(*first, second, Reshape("up2", again, GROUPS, twice), beside(twice, 2))).ops
    assert [op.walk.repeat for op in ops if isinstance(op, Window)] == [3, 2]
