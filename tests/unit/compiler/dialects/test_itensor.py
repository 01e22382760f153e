"""The text of an itensor type is that of the design document, and every itensor survives it."""

from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from compiler.dialects.context import design_context
from compiler.dialects.itensor_type import ITensorType, stream_type
from compiler.graph.itensor import ITensor, Loop


@st.composite
def itensors(draw: st.DrawFn) -> ITensor:
    """A whole tensor in any order: each dimension split into up to three loops, loops shuffled, re-reads between."""
    element = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    loops: list[Loop] = []
    for dim, extent in enumerate(element):
        for trip in draw(st.lists(st.integers(1, 4), max_size=3)):
            loops.append(Loop(trip, extent, dim))
            extent *= trip
    loops += [Loop(trip, 1, None) for trip in draw(st.lists(st.integers(1, 4), max_size=2))]
    return ITensor(
        element, draw(st.sampled_from(["f32", "i32", "i8", "i4", "i1"])), tuple(draw(st.permutations(loops)))
    )


@given(itensors())
def test_text_round_trip(itensor: ITensor) -> None:
    type_ = ITensorType(itensor)
    assert str(type_) == f"!itensor.{itensor}"
    assert Parser(design_context(), str(type_)).parse_type() == type_


def test_stream_carries_vectors_or_scalars() -> None:
    loops = (Loop(4, 1, None),)
    assert str(stream_type(ITensor((4, 2), "i4", loops), 64)) == "!itensor.stream<vector<4x2xi4>, depth: 64>"
    assert str(stream_type(ITensor((), "f32", loops), 2)) == "!itensor.stream<f32, depth: 2>"
