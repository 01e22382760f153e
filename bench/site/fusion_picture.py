"""Which operations of a real network share a kernel, what is re-ordered between them, and what goes through HBM."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from bench.site.networks import block_graph, board
from bench.site.svg import Drawing, Point
from compiler.graph.design import Design
from compiler.options import Knobs
from compiler.passes.design_passes import planned

BUDGET = 64 << 10  # bytes: less than the network needs, so that it is cut
ROW, LEFT, TOP, WIDTH = 20, 250, 40, 210


class Way(NamedTuple):
    """How a value gets from one operation to another: through a buffer of `bytes`, or through HBM, or directly."""

    source: str
    target: str
    bytes: int
    crosses: bool


def ways(design: Design) -> Iterator[Way]:
    """From every operation to those that read what it makes."""
    task = {op.name.replace(".", "_"): op.name for op in design.graph.ops}
    kept = {value: op.name for op in design.graph.ops for value in (out.value for out in op.outputs)}

    def follow(source: str, node: str, bytes_: int) -> Iterator[Way]:
        if node in task:
            yield Way(source, task[node], bytes_, design.kernel_of[source] != design.kernel_of[task[node]])
        if node in design.converters:
            bytes_ = design.converters[node].converter.bits // 8
        if node in task or node in design.stores:
            return
        for edge in design.edges.values():
            if edge.source == node:
                yield from follow(source, edge.target, bytes_)

    for edge in design.edges.values():
        if edge.source in task:
            yield from follow(task[edge.source], edge.target, 0)
        if edge.source in design.loads and (maker := kept.get(design.loads[edge.source].value)) is not None:
            yield from follow(maker, edge.target, 0)


def fusion() -> str:
    design = planned(block_graph(), Knobs(fusion_budget=BUDGET), board())
    drawing = Drawing(f"A GPT-2 block cut into {design.kernels} kernels")
    operations = [op.name for op in design.graph.ops]
    row = {name: n for n, name in enumerate(operations)}
    _title(drawing, design)
    for kernel, members in groupby(operations, key=lambda name: design.kernel_of[name]):
        names = list(members)
        top = TOP + ROW * row[names[0]]
        drawing.rect(LEFT, top, WIDTH, ROW * len(names) - 2, f"p{kernel % 4}", 4)
        drawing.text(LEFT + WIDTH - 6, top + 14, f"kernel {kernel}", "end", "title")
        for name in names:
            drawing.text(LEFT + 8, TOP + ROW * row[name] + 14, name, kind="code")
    found = sorted(set(ways(design)))
    for way in found:
        _way(drawing, way, row)
    for name in operations:
        buffers = [f"{way.bytes:,}" for way in found if way.target == name and way.bytes and not way.crosses]
        if buffers:
            at = LEFT + WIDTH + 24 + 5 * max(0, len(buffers) - 1)
            drawing.text(at, TOP + ROW * row[name] + 9, " + ".join(buffers), kind="small")
    return drawing.svg(LEFT + WIDTH + 280, TOP + ROW * len(operations) + 10)


def _title(drawing: Drawing, design: Design) -> None:
    budget = f"{BUDGET >> 10} KiB of converters a kernel"
    drawing.text(10, 16, f"One GPT-2 block, decode 64, w4a8, {budget}: {design.kernels} kernels", kind="title")
    drawing.text(LEFT - 10, 32, "through HBM", "end", "small")
    drawing.text(LEFT + WIDTH + 10, 32, "on chip: a FIFO, or a converter of so many bytes", kind="small")


def _way(drawing: Drawing, way: Way, row: dict[str, int]) -> None:
    """On the right what stays on chip, on the left what does not; the further apart, the wider the arc."""
    first, last = row[way.source], row[way.target]
    side = -1 if way.crosses else 1
    start = LEFT if way.crosses else LEFT + WIDTH
    reach = side * min(8 + 5 * (last - first), 150)
    begin, end = TOP + ROW * first + 12, TOP + ROW * last + 6
    points: list[Point] = [(start, begin), (start + reach, begin), (start + reach, end), (start, end)]
    drawing.line(points[:-1], _kind(way))
    drawing.arrow(points[-2], points[-1], _kind(way))


def _kind(way: Way) -> str:
    if way.crosses:
        return "s3 dashed"
    return "s1" if way.bytes else "axis"
