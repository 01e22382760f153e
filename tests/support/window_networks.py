"""Windows of pictures, built by hand: rows of windows, then windows of their pixels, and their greatest taps; pictures
whose rows and pixels repeat.
"""

from itertools import pairwise

from compiler.graph.linalg_graph import (
    Body,
    Iterator,
    LinalgGraph,
    LinalgOp,
    Operand,
    Output,
    Reduction,
    ScalarOp,
    Value,
)
from compiler.graph.windows import LineWalk, Windows


def count(walk: LineWalk) -> int:
    """Windows that end no further behind the lines than they begin in front of them."""
    return (walk.lines + 2 * walk.padding - walk.span) // walk.stride + 1


def greatest(size: int, channels: int, kernel: int, stride: int = 1, padding: int = 0) -> LinalgGraph:
    """Of windows of a square picture whose channels are neighbours: outside of it, there is nothing greater."""
    made = count(LineWalk(size, 0, kernel, stride, 1, padding))
    outside = float("-inf")
    values = (
        Value("x", (size, size, channels), "f32", "input", "x"),
        Value("rows", (made, size, channels, kernel), "f32"),
        Value("pixels", (made, made, channels, kernel, kernel), "f32"),
        Value("y", (made, made, channels), "f32"),
    )
    rows, pixels = (
        _windows(value, read, axis, Windows(len(value.shape) - 1, stride, 1, padding, outside))
        for axis, (read, value) in enumerate(pairwise(values[:3]))
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


def larger(size: int, channels: int, times: int) -> LinalgGraph:
    """A square picture whose channels are neighbours, so many times as high and as wide, and the exponential of it."""
    values = (
        Value("x", (size, size, channels), "f32", "input", "x"),
        Value("rows", (size * times, size, channels), "f32"),
        Value("pixels", (size * times, size * times, channels), "f32"),
        Value("y", (size * times, size * times, channels), "f32"),
    )
    rows, pixels = (
        _windows(value, read, axis, Windows(None, repeat=times))
        for axis, (read, value) in enumerate(pairwise(values[:3]))
    )
    reads, writes = (Operand("pixels", (0, 1, 2)),), (Operand("y", (0, 1, 2)),)
    body = Body(("f32",), (ScalarOp("math.exp", (0,), "f32"),), 1)
    exp = LinalgOp("exp", "generic", values[3].shape, ("parallel",) * 3, (0, 1, 2), reads, writes, body)
    return LinalgGraph("larger", values, (rows, pixels, exp), (Output("y", "y", (0, 1, 2), values[3].shape),))


def _windows(made: Value, read: Value, axis: int, windows: Windows) -> LinalgOp:
    """Those that `made` has of `read`, the taps behind all else."""
    loops = tuple(range(len(made.shape)))
    reads, writes = (Operand(read.name, loops[: len(read.shape)]),), (Operand(made.name, loops),)
    kinds: tuple[Iterator, ...] = ("parallel",) * len(loops)
    return LinalgOp(made.name, "window", made.shape, kinds, loops, reads, writes, axis=axis, windows=windows)
