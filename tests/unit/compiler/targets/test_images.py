"""Memory images against the reference semantics of itensors, element by element."""

import time
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import VerificationError
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.layers import long_itensor
from compiler.graph.task_graph import Dealt, Dma, Joint, Part
from compiler.targets.images import (
    NATIVE,
    dma_from_json,
    dma_to_json,
    join,
    pack,
    split,
    tensor_to_tokens,
    tokens_to_tensor,
    unpack,
)


@st.composite
def itensors(draw: st.DrawFn, rereads: bool = True) -> ITensor:
    """A stream of a whole tensor: each dimension split into loops, loops shuffled, re-reads among them."""
    rank = draw(st.integers(0, 3))
    element = tuple(draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    loops: list[Loop] = []
    for dim, extent in enumerate(element):
        for trip in draw(st.lists(st.integers(1, 3), max_size=2)):
            loops.append(Loop(trip, extent, dim))
            extent *= trip
    if rereads:
        loops += [Loop(trip, 1, None) for trip in draw(st.lists(st.integers(1, 3), max_size=2))]
    itensor = ITensor(element, draw(st.sampled_from(sorted(DTYPE_BITS))), tuple(draw(st.permutations(loops))))
    itensor.verify()
    return itensor


def content(itensor: ITensor, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    whole = rng.integers(-(2 ** (min(DTYPE_BITS[itensor.dtype], 30) - 1)), 2, itensor.shape)
    return (whole > -1 if itensor.dtype == "i1" else whole).astype(NATIVE[itensor.dtype])


def tokens_by_definition(array: np.ndarray, itensor: ITensor) -> np.ndarray:
    rows = [
        array[tuple(slice(o, o + e) for o, e in zip(offset, itensor.element, strict=True))].reshape(-1)
        for offset in itensor.offsets()
    ]
    return np.stack(rows)


@given(itensors())
def test_tokens_follow_the_offsets(itensor: ITensor) -> None:
    array = content(itensor)
    tokens = tokens_by_definition(array, itensor)
    assert np.array_equal(tensor_to_tokens(array, itensor), tokens)
    first_pass = tokens_by_definition(array, itensor.without_rereads())
    assert np.array_equal(tokens_to_tensor(first_pass.tobytes(), itensor), array)


@st.composite
def dmas(draw: st.DrawFn) -> Dma:
    layout = draw(itensors(rereads=False))
    channels, port_bits = draw(st.integers(1, 3)), draw(st.sampled_from((128, 256, 512)))
    word = channels * port_bits
    if layout.width > word:
        return Dma("v", layout, channels, 1, -(-layout.width // word), port_bits)
    return Dma("v", layout, channels, draw(st.integers(1, word // layout.width)), 1, port_bits)


@given(dmas())
def test_images_hold_each_element_at_its_bits(dma: Dma) -> None:
    array = content(dma.layout)
    images = pack(array, dma)
    assert [len(image) for image in images] == [dma.words * dma.port_bits // 8] * dma.channels
    assert np.array_equal(unpack(images, dma), array)

    ports = [int.from_bytes(image, "little") for image in images]
    bits, mask = DTYPE_BITS[dma.layout.dtype], (1 << DTYPE_BITS[dma.layout.dtype]) - 1
    wide, port = dma.channels * dma.port_bits, dma.port_bits
    for t, token in enumerate(tokens_by_definition(array, dma.layout)):
        words, slot = divmod(t, dma.tokens_per_word)
        first = (words * dma.words_per_token * wide) + slot * dma.layout.width
        per_word = wide // bits if dma.words_per_token > 1 else prod(dma.layout.element)
        for e, element in enumerate(token):
            place = first + e // per_word * wide + e % per_word * bits
            word, bit = divmod(place, wide)
            got = ports[bit // port] >> (word * port + bit % port) & mask
            assert got == int.from_bytes(element.tobytes(), "little") & mask


@given(dmas())
def test_the_manifest_describes_the_transfer(dma: Dma) -> None:
    assert dma_from_json(dma_to_json(dma)) == dma


def test_a_record_of_another_length_is_rejected() -> None:
    itensor = ITensor((4,), "f32", (Loop(2, 4, 0),))
    with pytest.raises(VerificationError, match="7 elements were recorded"):
        tokens_to_tensor(bytes(28), itensor)


def test_a_block_of_weights_packs_fast() -> None:
    layout = ITensor((8, 16), "i4", (Loop(48, 16, 0), Loop(192, 16, 1), Loop(2, 8, 0)))
    array = np.random.default_rng(0).integers(-8, 8, layout.shape).astype(np.int8)
    start = time.thread_time()
    images = pack(array, Dma("w", layout, 1, 1, 1, 512))
    assert time.thread_time() - start < 1
    assert len(images[0]) == array.size // 2


@given(st.lists(itensors(rereads=False), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 9))
def test_parts_follow_one_another_in_each_round(layers: list[ITensor], rounds: int, seed: int) -> None:
    """By definition: of the first round all tokens of one tensor after those of the one before, then the next round."""
    layouts = [long_itensor(replace(layer, dtype="i8"), rounds) for layer in layers]
    tensors = [content(layout, seed + n) for n, layout in enumerate(layouts)]
    joint = Joint(rounds, tuple(Part(f"v{n}", layout) for n, layout in enumerate(layouts)))
    expected = [
        tokens_by_definition(tensor[number], layer).reshape(-1)
        for number in range(rounds)
        for tensor, layer in zip(tensors, (replace(layer, dtype="i8") for layer in layers), strict=True)
    ]
    joined = join(tensors, joint)
    assert np.array_equal(joined.reshape(-1), np.concatenate(expected))
    for tensor, got in zip(tensors, split(joined, joint), strict=True):
        assert np.array_equal(tensor, got)


@pytest.mark.parametrize("dealt", [None, Dealt(2, 1, 2)], ids=["whole", "in pieces"])
def test_what_lies_behind_all_rounds_is_there_once(dealt: Dealt | None) -> None:
    """Dealt out as the others are: it passes the same stream."""
    layer, last = ITensor((2, 2), "i4", (Loop(2, 2, 1),)), ITensor((2, 2), "i4", (Loop(2, 2, 1), Loop(3, 2, 0)))
    each = long_itensor(layer, 3)
    tensors = [content(each, 1), content(each, 2), content(last, 3)]
    joint = Joint(3, (Part("a", each), Part("b", each)), (Part("last", last),), dealt=dealt)
    rounds, alone = (
        join(some, Joint(count, parts, dealt=dealt))
        for some, count, parts in ((tensors[:2], 3, joint.parts), (tensors[2:], 1, joint.behind))
    )
    joined = join(tensors, joint)
    assert np.array_equal(joined, np.concatenate([rounds.reshape(-1), alone.reshape(-1)]))
    for tensor, got in zip(tensors, split(joined, joint), strict=True):
        assert np.array_equal(tensor, got)


@given(st.integers(1, 3), st.integers(2, 3), st.integers(2, 3), st.integers(1, 2), st.integers(1, 2), st.integers(1, 3))
def test_a_piece_has_as_much_of_every_part(
    tokens: int, parts: int, pieces: int, blocks: int, run: int, rounds: int
) -> None:
    """By definition: element e of part p lies in block e // run of the token, behind those of the parts before it."""
    run *= pieces  # so that each part divides into pieces
    each = ITensor((blocks * parts * run,), "i8", (Loop(tokens * rounds, blocks * parts * run, 0),))
    tensor = content(each, 1)
    joint = Joint(rounds, (Part("w", each),), dealt=Dealt(parts, blocks, pieces))
    expected: list[int] = []
    for token in tensor.reshape(tokens * rounds, -1):
        of_part = [
            [token[(e // run) * parts * run + p * run + e % run] for e in range(blocks * run)] for p in range(parts)
        ]
        size = blocks * run // pieces
        expected += [e for k in range(pieces) for part in of_part for e in part[k * size : (k + 1) * size]]
    joined = join([tensor], joint)
    assert joined.reshape(-1).tolist() == expected
    assert np.array_equal(split(joined, joint)[0], tensor)


def test_a_tensor_that_is_shorter_than_its_part_is_filled_up() -> None:
    layout, whole = ITensor((2,), "i8", (Loop(2, 2, 0),)), ITensor((2,), "i8", (Loop(1, 2, 0),))
    joint = Joint(1, (Part("short", layout), Part("whole", whole)))
    assert join([np.array([1, 2, 3], np.int8), np.array([4, 5], np.int8)], joint).tolist() == [[1, 2, 3, 0, 4, 5]]
