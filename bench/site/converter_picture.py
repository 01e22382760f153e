"""A converter at work: when each side moves, and how many elements are in its buffer, beside what the buffer holds."""

from math import prod

from bench.site.svg import Drawing
from compiler.graph.converter import Converter, plan_converter
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop

# A 16 x 16 tensor that passes in rows of 2 x 4 and is wanted in columns of 4 x 2: four rounds of 4 x 16 elements.
SOURCE = ITensor((2, 4), "f32", (Loop(8, 2, 0), Loop(4, 4, 1)))
TARGET = ITensor((4, 2), "f32", (Loop(4, 4, 0), Loop(8, 2, 1)))
LEFT, TOP, WIDTH, HEIGHT, LANE = 60, 60, 620, 180, 26


def elements_in(converter: Converter) -> list[int]:
    """Elements that are in the buffer after each iteration: written, and not read for the last time yet.

    For converters whose target reads each element once.
    """
    chosen = converter.realisation
    in_, out = prod(converter.source.element), prod(converter.target.element)
    change = [0] * (chosen.period * (converter.shared + chosen.delay))
    for round_ in range(converter.shared):
        for token in range(converter.fill):
            change[round_ * chosen.period + chosen.fill.column(token, chosen.columns)] += in_
        for token in range(converter.drain):
            change[(round_ + chosen.delay) * chosen.period + chosen.drain.column(token, chosen.columns)] -= out
    return [sum(change[: n + 1]) for n in range(len(change))]


def converter() -> str:
    exact, paper = plan_converter(SOURCE, TARGET), plan_converter(SOURCE, TARGET, "paper")
    bits = DTYPE_BITS[SOURCE.dtype]
    inside = elements_in(exact)
    most = paper.bits // bits
    drawing = Drawing("Elements in the buffer of a converter, iteration by iteration")
    drawing.text(LEFT, 20, f"from {SOURCE}", kind="code")
    drawing.text(LEFT, 36, f"to   {TARGET}", kind="code")

    def at(iteration: float, elements: float) -> tuple[float, float]:
        return LEFT + WIDTH * iteration / len(inside), TOP + HEIGHT * (1 - elements / most)

    drawing.rect(LEFT, TOP, WIDTH, HEIGHT, "axis")
    steps = [at(n + end, held) for n, held in enumerate(inside) for end in (0, 1)]
    drawing.line([at(0, 0), *steps], "s0")
    lines = (
        (paper.bits // bits, f"paper's rule, {paper.realisation.kind}: {paper.bits // bits} elements", "s3 dashed"),
        (exact.bits // bits, f"as built, {exact.realisation.kind}: {exact.bits // bits}", "s1"),
        (exact.exact_bits // bits, f"alive at once, at least: {exact.exact_bits // bits}", "s2 dashed"),
    )
    for elements, text, kind in lines:
        drawing.line([at(0, elements), at(len(inside), elements)], kind)
        drawing.text(LEFT + WIDTH + 8, at(0, elements)[1] + 4, text)
    drawing.text(LEFT - 8, TOP + 10, "elements", "end", "small")
    _sides(drawing, exact, len(inside))
    return drawing.svg(LEFT + WIDTH + 250, TOP + HEIGHT + 2 * LANE + 44)


def _sides(drawing: Drawing, shown: Converter, iterations: int) -> None:
    """Below: the rounds in which the source fills and the target drains."""
    chosen = shown.realisation
    lanes = (("fill", chosen.fill, 0, "p0"), ("drain", chosen.drain, chosen.delay, "p1"))
    for lane, (name, window, delay, kind) in enumerate(lanes):
        top = TOP + HEIGHT + 8 + lane * LANE
        drawing.text(LEFT - 8, top + 15, name, "end")
        for round_ in range(shown.shared):
            start = (round_ + delay) * chosen.period + window.start * chosen.columns
            left = LEFT + WIDTH * start / iterations
            wide = WIDTH * window.steps * chosen.columns / iterations
            drawing.rect(left, top, wide, LANE - 6, kind)
            drawing.text(left + wide / 2, top + 14, f"round {round_}", "middle", "small")
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 2 * LANE + 30, f"{iterations} iterations", "middle")
