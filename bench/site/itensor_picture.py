"""Three itensors of one tensor: which elements each token holds, and when it passes."""

from bench.site.svg import Drawing
from compiler.graph.itensor import ITensor, Loop

CELL, LEFT, TOP, APART = 24, 20, 64, 80
# Of an 8 x 8 tensor: rows of small tiles; columns of tall ones; the same, each column twice.
SHOWN = (
    ITensor((2, 2), "f32", (Loop(4, 2, 0), Loop(4, 2, 1))),
    ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 4, 0))),
    ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 1, None), Loop(2, 4, 0))),
)


def itensor() -> str:
    drawing = Drawing("Three itensors of an 8 x 8 tensor, with the numbers of their tokens in order")
    width = 0.0
    for number, shown in enumerate(SHOWN):
        shown.verify()
        rows, columns = shown.shape
        left = LEFT + number * (columns * CELL + APART)
        text = str(shown).removeprefix("itensor<").removesuffix(">").split(", iter_map: ")
        drawing.text(left, TOP - 40, text[0], kind="code")
        drawing.text(left, TOP - 24, text[1], kind="code")
        drawing.text(left, TOP - 8, f"{shown.tokens} tokens of {shown.width} bits", kind="small")
        _tokens(drawing, shown, left, number)
        width, height = left + columns * CELL + APART, TOP + rows * CELL + 20
    return drawing.svg(width, height)


def _tokens(drawing: Drawing, shown: ITensor, left: float, number: int) -> None:
    """A box for each token with the places in the order at which it passes; a line from each token to the next."""
    tall, wide = shown.element
    passes: dict[tuple[int, ...], list[int]] = {}
    for place, offset in enumerate(shown.offsets()):
        passes.setdefault(offset, []).append(place)
    centres = [(left + (c + wide / 2) * CELL, TOP + (r + tall / 2) * CELL) for r, c in shown.offsets()]
    for (row, column), places in passes.items():
        drawing.rect(left + column * CELL, TOP + row * CELL, wide * CELL, tall * CELL, f"p{number}")
        x, y = left + (column + wide / 2) * CELL, TOP + (row + tall / 2) * CELL
        drawing.text(x, y - 6, " ".join(map(str, places)), "middle")
    drawing.line(centres, "grid")
    drawing.dot(*centres[0], 3, f"f{number}")
