"""Types of tokens: exactly as wide as their elements, and what C simulation records of them."""

import re
from math import prod

import numpy as np
import pytest

from compiler.graph.itensor import ITensor, Loop
from compiler.targets.tokens import (
    fifo_type,
    is_packed,
    part_names,
    recorded_elements,
    stored_tokens,
    token_alias,
    token_type,
)


def stream(element: int, dtype: str) -> ITensor:
    return ITensor((element,), dtype, (Loop(3, element, 0),))


@pytest.mark.parametrize(
    ("element", "dtype", "alias"),
    [
        (1, "i4", None),
        (1, "i1", None),
        (16, "f32", "using f32x16 = hls::vector<float, 16>;"),
        (16, "i8", "using i8x16 = hls::vector<ap_int<8>, 16>;"),
        (16, "i4", "using i4x16 = ap_uint<64>;"),
        (7, "i1", "using i1x7 = ap_uint<7>;"),
        (256, "i4", "using i4x256 = ap_uint<1024>;"),
        (512, "i4", "using i4x512 = hls::vector<ap_uint<512>, 4>;"),
        (320, "i4", "using i4x320 = hls::vector<ap_uint<256>, 5>;"),
        (512, "i8", "using i8x512 = hls::vector<ap_int<8>, 512>;"),
        (1024, "i8", "using i8x1024 = WideToken<ap_int<8>, 512, 2>;"),
        (2048, "i4", "using i4x2048 = WideToken<ap_uint<512>, 8, 2>;"),
        (160, "f32", "using f32x160 = WideToken<float, 80, 2>;"),
    ],
)
def test_a_token_is_as_wide_as_its_elements(element: int, dtype: str, alias: str | None) -> None:
    itensor = stream(element, dtype)
    assert token_alias(itensor, 512) == alias
    if alias is None:
        assert token_type(itensor) in {"ap_int<4>", "bool"}
    elif is_packed(itensor):
        assert prod(int(n) for n in re.findall(r"\d+", alias.split("=")[1])) == itensor.width


@pytest.mark.parametrize("element", [2, 3, 16, 40, 256, 512])
def test_recorded_bits_become_elements(element: int) -> None:
    itensor = stream(element, "i4")
    values = np.random.default_rng(element).integers(-8, 8, (3, element)).astype(np.int8)
    nibbles = np.zeros((3, element + element % 2), np.uint8)
    nibbles[:, :element] = values.view(np.uint8) & 15
    packed = nibbles[:, 0::2] | nibbles[:, 1::2] << 4
    stored = {2: 1, 3: 2, 16: 8, 40: 24, 256: 128, 512: 256}[element]  # an ap_uint is 1, 2, 4 or whole 8 bytes
    record = np.zeros((3, stored), np.uint8)
    record[:, : packed.shape[1]] = packed
    assert recorded_elements([record.tobytes()], itensor, 512) == values.tobytes()
    assert stored_tokens(values, itensor, 512) == (record.tobytes(),)


@pytest.mark.parametrize(("element", "dtype"), [(1024, "i8"), (2048, "i4"), (160, "f32")])
def test_a_token_wider_than_a_fifo_is_recorded_in_parts(element: int, dtype: str) -> None:
    itensor = stream(element, dtype)
    kind = np.float32 if dtype == "f32" else np.int8
    values = np.random.default_rng(element).integers(-8, 8, (3, element)).astype(kind)
    parts = stored_tokens(values, itensor, 512)
    assert part_names("s", itensor) == ("s", "s_part1")
    assert [len(part) for part in parts] == [3 * itensor.width // 16] * 2
    assert recorded_elements(parts, itensor, 512) == values.tobytes()


def test_the_part_of_an_array_of_fifos() -> None:
    assert part_names("in[own]", stream(1024, "i8")) == ("in[own]", "in_part1[own]")
    assert fifo_type(stream(1024, "i8")) == "i8x1024::Part"
    assert fifo_type(stream(512, "i8")) == "i8x512"


def test_recorded_masks_become_bytes() -> None:
    assert recorded_elements([bytes([0b101, 0b010, 0b111])], stream(3, "i1"), 512) == bytes([1, 0, 1, 0, 1, 0, 1, 1, 1])
    masks = np.frombuffer(bytes([1, 0, 1, 0, 1, 0, 1, 1, 1]), np.bool_).reshape(3, 3)
    assert stored_tokens(masks, stream(3, "i1"), 512) == (bytes([0b101, 0b010, 0b111]),)
    assert recorded_elements([b"unchanged"], stream(4, "i8"), 512) == b"unchanged"
