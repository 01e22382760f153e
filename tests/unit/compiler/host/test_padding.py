"""Images of tensors that are padded: zeros on the way in, dropped on the way out."""

import numpy as np
import pytest

from compiler.host.packing import Layout, Step, pack, unpack

# 13 x 5 in tokens of 2 x 4, rows first: 14 x 8 move.
LAYOUT = Layout((2, 4), "f32", (Step(7, 2, 0), Step(2, 4, 1)), tokens_per_word=2, valid=(13, 5), port_bits=512)


def test_what_is_packed_comes_back_without_the_padding():
    array = np.arange(1, 66, dtype=np.float32).reshape(13, 5)
    (image,) = pack(array, LAYOUT)
    assert len(image) == LAYOUT.words * 64
    assert np.array_equal(unpack([image], LAYOUT), array)
    assert np.count_nonzero(np.frombuffer(image, np.float32)) == array.size


def test_padding_in_what_a_kernel_wrote_is_dropped():
    array = np.arange(65, dtype=np.float32).reshape(13, 5)
    left = np.full((14, 8), np.nan, np.float32)
    left[:13, :5] = array
    (image,) = pack(left, LAYOUT)
    assert np.array_equal(unpack([image], LAYOUT), array)


def test_another_rank_is_refused():
    with pytest.raises(ValueError, match=r"shape \[13\] can not be padded to \[14, 8\]"):
        pack(np.zeros(13, np.float32), LAYOUT)
