"""FIFOs of rows side by side as the kernel declares them, and as tools name them."""

import pytest

from compiler.graph.abreast import Abreast
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import Stream
from compiler.targets.parameters import stream_extents

STREAM = Stream("s", "a", "b", ITensor((4,), "i8", (Loop(3, 4, 0),)))


@pytest.mark.parametrize(
    ("rows", "each", "parted", "extents", "fifos"),
    [
        (1, 1, False, (), ("s",)),
        (2, 1, False, (2,), ("s_0", "s_1")),
        (4, 4, False, (), ("s",)),
        (4, 4, True, (4,), ("s_0", "s_1", "s_2", "s_3")),
        (4, 2, True, (2, 2), ("s_0_0", "s_1_0", "s_0_1", "s_1_1")),
    ],
    ids=["one row", "two copies", "one copy, in turns", "one copy, a row each", "two copies, two rows each"],
)
def test_an_array_has_no_extent_of_one(
    rows: int, each: int, parted: bool, extents: tuple[int, ...], fifos: tuple[str, ...]
) -> None:
    abreast = Abreast(
        rows, frozenset({"b"}), {"s": "dealt"}, each, frozenset(), frozenset({"s"}) if parted else frozenset()
    )
    assert stream_extents(STREAM, abreast) == extents
    assert abreast.fifos("s") == fifos
