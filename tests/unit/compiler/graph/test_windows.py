"""Lines pass as `LineWalk` says: every window finds its taps, and no line waits that none needs."""

import random
from collections import deque
from typing import NamedTuple

import pytest

from compiler.errors import VerificationError
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Value
from compiler.graph.windows import LineWalk, Windows

TRIED = 10_000


def random_walks() -> list[LineWalk]:
    rng = random.Random(0)
    found: list[LineWalk] = []
    while len(found) < TRIED:
        kernel, stride, dilation = rng.randint(1, 5), rng.randint(1, 4), rng.randint(1, 3)
        lines = stride * rng.randint(1, 12) + rng.randint(0, stride - 1)
        span = (kernel - 1) * dilation + 1
        walk = LineWalk(lines, rng.randint(1, 30), kernel, stride, dilation, rng.randint(0, span))
        found += [] if walk.flaw() else [walk]
    return found


def taps(walk: LineWalk, window: int) -> list[int]:
    """By the definition, lines that are not there left out."""
    reached = (window * walk.stride + k * walk.dilation - walk.padding for k in range(walk.kernel))
    return [line for line in reached if 0 <= line < walk.lines]


class Step(NamedTuple):
    """Whether a line comes in it, and a window leaves."""

    comes: bool
    leaves: bool


def steps_of(walk: LineWalk) -> list[Step]:
    return [
        Step(
            row < rows.taking and phase < rows.phased,
            phase in walk.leaving and rows.low <= row < rows.high,
        )
        for rows in walk.parts
        for row in range(rows.rows)
        for phase in range(rows.phases)
    ]


def test_every_window_finds_its_taps_among_the_lines_that_wait() -> None:
    for walk in random_walks():
        column: deque[int | None] = deque([None] * walk.span, maxlen=walk.span)
        left, taken = 0, 0
        for step, (comes, leaves) in enumerate(steps_of(walk)):
            column.append(step if comes else None)
            taken += comes
            if leaves:
                first = step - walk.kept
                found = [column[k * walk.dilation] for k in range(walk.kernel)]
                inside = [n for k, n in enumerate(found) if 0 <= first + k * walk.dilation < walk.lines]
                assert inside == taps(walk, left), (walk, left)
                left += 1
        assert left == walk.windows, walk
        assert taken == walk.lines, walk


def test_a_line_that_repeats_leaves_from_when_it_comes_until_the_next_one_does() -> None:
    for lines, repeat in ((2, 2), (5, 3), (7, 4)):
        walk = LineWalk(lines, lines * repeat, 1, 1, 1, 0, repeat)
        walk.verify("upsampled")
        came, left = 0, list[int]()
        for step in steps_of(walk):
            came += step.comes
            left += [came - 1] * step.leaves
        assert (came, left) == (lines, [window // repeat for window in range(walk.windows)])
        assert (walk.kept, walk.begins_outside, walk.ends_outside) == (1, False, False)


def test_nothing_is_waited_for_at_the_end() -> None:
    """Of walks whose stride leaves lines over; where it does not, what is behind the last window's row is whole."""
    left_over = [walk for walk in random_walks() if walk.lines % walk.stride]
    assert len(left_over) > TRIED / 10
    for walk in left_over:
        *_, rows = walk.parts
        assert rows.rows > 1 or any(steps_of(walk)[-1]), walk


def waiting(walk: LineWalk) -> int:
    """The most lines that came and that a window needs which has not left: what no order of memory can do without."""
    last = {
        line: (walk.first_row + o) * walk.stride + walk.phase for o in range(walk.windows) for line in taps(walk, o)
    }
    return max(sum(line <= step < until for line, until in last.items()) for step in range(walk.lines))


def test_no_more_lines_wait_than_windows_need() -> None:
    """As many as any memory must hold, where windows lie close or their taps do, and there are enough lines for that.
    Where both lie apart, some lines are of no window, and wait all the same.
    """
    exact = 0
    for walk in random_walks():
        needed = waiting(walk)
        assert needed <= walk.kept, walk
        enough = walk.windows > 1 and walk.lines >= 2 * walk.span and walk.windows * walk.stride >= 2 * walk.span
        if enough and 1 in (walk.stride, walk.dilation):
            assert needed == walk.kept, walk
            exact += 1
    assert exact > TRIED / 10


def test_one_line_less_is_too_few() -> None:
    """That the check above can fail."""
    walk = LineWalk(8, 8, 3, 1, 1, 1)
    assert waiting(walk) == 2
    assert waiting(walk._replace(kernel=2)) < walk.kept


@pytest.mark.parametrize(
    ("walk", "flaw"),
    [
        (LineWalk(8, 8, 3, 0, 1, 1), "must be at least 1"),
        (LineWalk(8, 8, 3, 1, 1, -1), "the padding at least 0"),
        (LineWalk(8, 8, 3, 1, 1, 3), "lie outside of all lines"),
        (LineWalk(8, 16, 1, 1, 1, 0, 0), "repeat must be at least 1"),
        (LineWalk(8, 15, 1, 1, 1, 0, 2), "lines that repeat 2 times have as many windows of one each"),
        (LineWalk(8, 16, 2, 1, 1, 0, 2), "as many windows of one each"),
        (LineWalk(8, 9, 1, 1, 1, 0), "the last of 9 windows begins at 8, behind all 8 lines"),
    ],
)
def test_what_has_no_windows_is_named(walk: LineWalk, flaw: str) -> None:
    with pytest.raises(VerificationError, match=f"conv: .*{flaw}"):
        walk.verify("conv")


def windows(**changed: object) -> LinalgGraph:
    """Eight windows of three of eight lines, with changes."""
    fields: dict[str, object] = {
        "loops": (8, 2, 3),
        "iterators": ("parallel",) * 3,
        "groups": (0, 1, 2),
        "inputs": (Operand("x", (0, 1)),),
        "outputs": (Operand("y", (0, 1, 2)),),
        "axis": 0,
        "windows": Windows(2, padding=1),
    }
    op = LinalgOp("w", "window", **{**fields, **changed})  # pyright: ignore[reportArgumentType]
    values = (Value("x", (8, 2), "f32", "input", "x"), Value("y", (8, 2, 3), "f32"))
    return LinalgGraph("windows", values, (op,), (Output("y", "y", (0, 1, 2), (8, 2, 3)),))


def test_a_graph_with_windows_is_verified() -> None:
    windows().verify()
    for changed, message in (
        ({"windows": None}, "windows have an axis, one input and one output"),
        ({"windows": Windows(1, padding=1)}, "the taps of windows must be the last loop, d2"),
        ({"windows": Windows(None, padding=1)}, "what they are of has all but the taps"),
        ({"windows": Windows(2, padding=3)}, "lie outside of all lines"),
        ({"valid": (7, 2, 3)}, "neither the number of windows nor that of taps can be padded"),
    ):
        with pytest.raises(VerificationError, match=message):
            windows(**changed).verify()
