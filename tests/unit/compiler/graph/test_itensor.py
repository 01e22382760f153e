"""The examples of design 3.1 and the limits of the verifier."""

import pytest

from compiler.errors import VerificationError
from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor, Loop

# design 3.1: three streams of tensor<8x8xf32>
A = ITensor((2, 2), "f32", (Loop(4, 2, 0), Loop(4, 2, 1)))
B = ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 4, 0)))
C = ITensor((4, 2), "f32", (Loop(4, 2, 1), Loop(2, 1, None), Loop(2, 4, 0)))


def test_offsets_are_those_of_the_design():
    assert list(B.offsets())[:4] == [(0, 0), (4, 0), (0, 2), (4, 2)]
    assert list(C.offsets())[:5] == [(0, 0), (4, 0), (0, 0), (4, 0), (0, 2)]


def test_text_is_the_design_s_syntax():
    assert str(C) == "itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>"


def test_two_loops_of_one_dimension_print_as_a_sum():
    tiled = ITensor((2,), "i8", (Loop(2, 8, 0), Loop(4, 2, 0)))
    assert str(tiled) == "itensor<2xi8, iter_space: [2,4]*[8,2], iter_map: (d0,d1)->(d0+d1)>"
    assert tiled.same_stream(ITensor((2,), "i8", (Loop(8, 2, 0),)))


def test_shape_tokens_and_width():
    assert C.shape == (8, 8)
    assert (C.tokens, C.rereads, C.width) == (16, 2, 256)


def test_paper_converter_from_b_to_c_holds_8x2():
    converter = plan_converter(B, C, "paper")
    assert converter.extent == (8, 2)
    assert (converter.shared, converter.fill, converter.drain, converter.halves) == (4, 2, 4, 2)
    assert converter.bits == 2 * 8 * 2 * 32


@pytest.mark.parametrize(
    "itensor",
    [
        ITensor((2,), "f32", (Loop(4, 3, 0),)),
        ITensor((2,), "f32", (Loop(4, 1, 0),)),
        ITensor((2,), "f64", (Loop(4, 2, 0),)),
        ITensor((2,), "f32", (Loop(4, 2, 1),)),
        ITensor((0,), "f32", ()),
    ],
    ids=["gap", "overlap", "type", "dimension", "empty"],
)
def test_verifier_rejects_what_is_not_a_stream_of_the_whole_tensor(itensor: ITensor):
    with pytest.raises(VerificationError):
        itensor.verify()
