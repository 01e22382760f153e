"""Windows of pictures, built by hand: rows of windows, then windows of their pixels, and their greatest taps."""

from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, Value
from compiler.graph.windows import LineWalk, Windows


def count(walk: LineWalk) -> int:
    """Windows that end no further behind the lines than they begin in front of them."""
    return (walk.lines + 2 * walk.padding - walk.span) // walk.stride + 1


def greatest(
    size: int, channels: int, kernel: int, stride: int = 1, dilation: int = 1, padding: int = 0
) -> LinalgGraph:
    """Of windows of a square picture whose channels are neighbours: outside of it, there is nothing greater."""
    made = count(LineWalk(size, 0, kernel, stride, 1, padding))
    outside = float("-inf")
    values = (
        Value("x", (size, size, channels), "f32", "input", "x"),
        Value("rows", (made, size, channels, kernel), "f32"),
        Value("pixels", (made, made, channels, kernel, kernel), "f32"),
        Value("y", (made, made, channels), "f32"),
    )
    rows = LinalgOp(
        "rows",
        "window",
        (made, size, channels, kernel),
        ("parallel",) * 4,
        (0, 1, 2, 3),
        (Operand("x", (0, 1, 2)),),
        (Operand("rows", (0, 1, 2, 3)),),
        axis=0,
        windows=Windows(3, stride, 1, padding, outside),
    )
    pixels = LinalgOp(
        "pixels",
        "window",
        (made, made, channels, kernel, kernel),
        ("parallel",) * 5,
        (0, 1, 2, 3, 4),
        (Operand("rows", (0, 1, 2, 3)),),
        (Operand("pixels", (0, 1, 2, 3, 4)),),
        axis=1,
        windows=Windows(4, stride, 1, padding, outside),
    )
    most = LinalgOp(
        "most",
        "generic",
        (made, made, channels, kernel, kernel),
        ("parallel",) * 3 + ("reduction",) * 2,
        (0, 1, 2, 3, 4),
        (Operand("pixels", (0, 1, 2, 3, 4)),),
        (Operand("y", (0, 1, 2)),),
        Body(("f32",), (), 0),
        Reduction("max", outside),
    )
    outputs = (Output("y", "y", (0, 1, 2), (made, made, channels)),)
    return LinalgGraph("greatest", values, (rows, pixels, most), outputs)
