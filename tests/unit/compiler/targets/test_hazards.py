from hypothesis import given
from hypothesis import strategies as st

from compiler.analysis.tasks import converter_task
from compiler.graph.converter import plan_converter, shared_prefix
from compiler.graph.itensor import ITensor, Loop
from compiler.platforms.platform import load_platform
from compiler.targets.hazards import write_to_read_distance

U55C = load_platform("u55c")


def distance_by_definition(source: ITensor, target: ITensor) -> int:
    """Runs the converter's nest on sets of elements."""
    converter = plan_converter(source, target, "paper")
    task = converter_task("c", 0, converter, "in", "out", U55C)
    prefix = shared_prefix(source, target)
    fill = list(ITensor(source.element, "f32", prefix.source).offsets())
    drain = list(ITensor(target.element, "f32", prefix.target).offsets())
    start = task.timing.trips[-1] if converter.halves > 1 else converter.fill

    def box(offset: tuple[int, ...], element: tuple[int, ...]) -> set[tuple[int, int]]:
        (r, c), (h, w) = offset, element
        return {(i, j) for i in range(r, r + h) for j in range(c, c + w)}

    return min(
        start + j - i
        for j, read in enumerate(drain)
        for i, written in enumerate(fill)
        if box(read, target.element) & box(written, source.element)
    )


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_distance_of_transposed_blocks(rows: int, columns: int, height: int, width: int, reread: bool) -> None:
    source = ITensor((height, width), "f32", (Loop(rows, height, 0), Loop(columns, width, 1)))
    again = (Loop(2, 1, None),) if reread else ()
    target = ITensor((height, width), "f32", (Loop(columns, width, 1), *again, Loop(rows, height, 0)))
    task = converter_task("c", 0, plan_converter(source, target, "paper"), "in", "out", U55C)
    assert write_to_read_distance(task) == distance_by_definition(source, target) >= 1


def test_distance_of_a_ping_pong_buffer() -> None:
    source = ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 4, 0)))
    target = ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 1, None), Loop(2, 4, 0)))
    task = converter_task("c", 0, plan_converter(source, target, "paper"), "in", "out", U55C)
    assert task.timing.trips == (5, 4)
    assert write_to_read_distance(task) == distance_by_definition(source, target) == 4
