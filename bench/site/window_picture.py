"""A line buffer at work: what has come, what waits, and which window leaves with the element that came last."""

from bench.site.svg import Drawing
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.windows import LineWalk

CELL, LEFT, TOP, APART, LANE = 26, 20, 84, 70, 24
SIZE = 6
Place = tuple[int, int]
CAME: Place = (3, 2)  # the element that came last
WALK = LineWalk(lines=SIZE, windows=SIZE, kernel=3, stride=1, dilation=1, padding=1)  # of rows, and of their pixels
LOOPS = (Loop(SIZE, 1, 0), Loop(SIZE, 1, 1))
PASSING = (  # elements; of each pixel a column of three; of each a window of three by three
    ITensor((1, 1), "i8", LOOPS),
    ITensor((1, 1, WALK.kernel), "i8", LOOPS),
    ITensor((1, 1, WALK.kernel, WALK.kernel), "i8", LOOPS),
)


def taps(last: int) -> list[int]:
    """Lines of the window that leaves with line `last`, those outside of all lines included."""
    return [last - WALK.span + 1 + tap * WALK.dilation for tap in range(WALK.kernel)]


def waiting() -> tuple[set[Place], set[Place]]:
    """What waits as the last element comes: of lines in front of it, and of the columns of its row."""
    row, column = CAME
    came = row * SIZE + column
    lines = {divmod(place, SIZE) for place in range(max(0, came - WALK.kept * SIZE), came)}
    columns = {(r, c) for r in taps(row) for c in range(max(0, column - WALK.kept), column)}
    return lines, columns


def window() -> str:
    drawing = Drawing("A line buffer: elements of a picture come one by one, and windows of three by three leave")
    row, column = CAME
    lines, columns = waiting()
    panels = (
        ("elements come", f"{WALK.kept} lines of {SIZE} wait", lines, {CAME}),
        ("columns of them", f"{WALK.kept} columns of {WALK.kernel} wait", columns, {(r, column) for r in taps(row)}),
        ("windows leave", "none waits", set[Place](), {(r, c) for r in taps(row) for c in taps(column)}),
    )
    width = 0.0
    for number, ((title, waits, kept, moving), passing) in enumerate(zip(panels, PASSING, strict=True)):
        left = LEFT + number * ((SIZE + 2) * CELL + APART)
        text = str(passing).removeprefix("itensor<").removesuffix(">").split(", iter_map: ")
        drawing.text(left, TOP - 64, title, kind="title")
        drawing.text(left, TOP - 48, text[0], kind="code")
        drawing.text(left, TOP - 34, text[1], kind="code")
        drawing.text(left, TOP - 18, f"{passing.tokens} tokens of {passing.width} bits; {waits}", kind="small")
        _picture(drawing, left, kept, moving)
        width = left + (SIZE + 2) * CELL + APART
    below = TOP + (SIZE + 2) * CELL + 20
    _rows(drawing, below)
    return drawing.svg(width, below + 2 * LANE + 12)


def _picture(drawing: Drawing, left: float, kept: set[Place], moving: set[Place]) -> None:
    """The elements with their places in the stream, and the zeros around them."""
    for r in range(-WALK.padding, SIZE + WALK.padding):
        for c in range(-WALK.padding, SIZE + WALK.padding):
            x, y = left + (c + 1) * CELL, TOP + (r + 1) * CELL
            inside = 0 <= r < SIZE and 0 <= c < SIZE
            kind = "p1" if (r, c) in moving else "p0" if (r, c) in kept else "grid" if inside else "ground"
            drawing.rect(x, y, CELL - 2, CELL - 2, kind)
            drawing.text(x + CELL / 2 - 1, y + CELL / 2 + 3, str(r * SIZE + c) if inside else "0", "middle", "small")


def _rows(drawing: Drawing, top: float) -> None:
    """Below: the rows that come of one picture and the next, and those of windows that leave."""
    rows = WALK.lines // WALK.stride
    lanes = (("a row comes", 0, 0), ("its windows leave", WALK.first_row, 1))
    name = 110
    for lane, (text, begin, number) in enumerate(lanes):
        drawing.text(LEFT, top + lane * LANE + 15, text)
        for picture in range(2):
            for row in range(rows):
                place = begin + picture * (rows + WALK.first_row - WALK.late) + row
                x = LEFT + name + place * (CELL + 14)
                drawing.rect(x, top + lane * LANE, CELL + 12, LANE - 4, f"p{number + 2 * picture}")
                drawing.text(x + (CELL + 12) / 2, top + lane * LANE + 14, str(row), "middle", "small")
