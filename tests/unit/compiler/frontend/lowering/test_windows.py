"""What an operation reads in windows, and what of that has no place."""

import pytest

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.windows import Index, Padding, Plan, Reader, Sum
from compiler.graph.linalg_graph import Iterator

ROWS, COLUMNS = Sum(((2, 1), (5, 1))), Sum(((3, 1), (6, 1)))
OVER: tuple[Iterator, ...] = ("parallel", "parallel", "parallel", "parallel")  # image, output, row, column
TAPS: tuple[Iterator, ...] = ("reduction", "reduction", "reduction")  # input, two taps
CONV = OVER + TAPS


def plan(loops: tuple[int, ...], *indices: Index, shape: tuple[int, ...], padding: Padding | None = None) -> Plan:
    return Reader("conv", loops, CONV, (1, 4, 5, 6)).plan(shape, indices, padding)


def test_rows_of_windows_then_pixels_of_these() -> None:
    around = Padding((0, 0, 1, 1), (0, 0, 1, 1), 0.0)
    found = plan((1, 5, 8, 8, 6, 3, 3), 0, 4, ROWS, COLUMNS, shape=(1, 6, 8, 8), padding=around)
    assert [(step.dim, step.shape, step.order) for step in found.steps] == [
        (2, (1, 6, 8, 8, 3), (0, 2, 3, 1, 4)),
        (3, (1, 6, 8, 8, 3, 3), (0, 2, 3, 1, 4, 5)),
    ]
    assert all((step.walk.kernel, step.walk.padding, step.walk.kept) == (3, 1, 2) for step in found.steps)
    assert found.loops == (0, 4, 2, 3, 5, 6)


def test_one_tap_or_one_window_is_no_window() -> None:
    assert plan((1, 5, 8, 8, 6, 1, 1), 0, 4, ROWS, COLUMNS, shape=(1, 6, 8, 8)) == Plan((), (0, 4, 2, 3))
    assert plan((1, 5, 1, 1, 6, 8, 8), 0, 4, ROWS, COLUMNS, shape=(1, 6, 8, 8)) == Plan((), (0, 4, 5, 6))


def test_channels_of_a_pooling_are_walked_inside() -> None:
    index = (0, 1, Sum(((2, 2), (4, 1))), Sum(((3, 2), (5, 1))))
    found = Reader("pool", (2, 6, 4, 4, 2, 2), OVER + TAPS[:2], ()).plan((2, 6, 8, 8), index, None)
    assert found.steps[0].order == (2, 3, 0, 1, 4)


@pytest.mark.parametrize(
    ("index", "padding", "message"),
    [
        (Sum(((2, 1), (3, 1))), None, "conv indexes by d2 . 1 . d3 . 1; one loop, or that of a window"),
        (2, Padding((0, 0, 1, 0), (0, 0, 1, 0), 0.0), "pads a dimension that has no windows"),
        (
            Sum(((2, 2), (5, 1))),
            None,
            "along dimension 2 can not be streamed: the last of 8 windows begins at 14, behind",
        ),
    ],
)
def test_what_has_no_windows_is_named(index: Index, padding: Padding | None, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        plan((1, 5, 8, 8, 6, 3, 1), 0, 4, index, 3, shape=(1, 6, 8, 8), padding=padding)


def test_a_reshape_moves_what_is_padded() -> None:
    around = Padding((0, 0, 1), (0, 0, 2), 0.0)
    split = around.reshaped("net", (((0,), (0,)), ((1,), (1, 2)), ((2,), (3, 4))), (1, 6, 11), (1, 2, 3, 11, 1))
    assert split == Padding((0, 0, 0, 1, 0), (0, 0, 0, 2, 0), 0.0)
    with pytest.raises(UnsupportedError, match="the reshape at net splits or merges a dimension that is padded"):
        around.reshaped("net", (((0,), (0,)), ((1, 2), (1,))), (1, 6, 11), (1, 66))
