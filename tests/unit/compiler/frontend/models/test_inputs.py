"""Masks and rotary matrices."""

from typing import Any

import numpy as np
import pytest

from compiler.frontend.models.config import BUILT_IN
from compiler.frontend.models.inputs import MASKED, block_inputs, mask, network_inputs, rotary


def seen(*arguments: Any) -> list[list[int]]:
    return (mask(*arguments) == 0).astype(int).tolist()


def test_rows_see_what_is_before_them_and_themselves() -> None:
    assert seen(range(3), 0, 3, None) == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_empty_slots_are_not_seen() -> None:
    assert seen([2], 2, 6, None) == [[1, 1, 0, 0, 0, 1]]
    assert seen([0], 0, 3, None) == [[0, 0, 1]]
    assert seen([4, 5], 1, 4, None) == [[1, 0, 1, 0], [1, 0, 1, 1]]


def test_a_window_counts_the_row_itself() -> None:
    assert seen(range(4), 0, 4, 2) == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert seen([5], 5, 8, 3) == [[0, 0, 0, 1, 1, 0, 0, 1]]


def test_more_filled_slots_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="4 slots are filled; the cache has 3"):
        mask([4], 4, 4, None)


def test_masked_scores_stay_finite_and_count_nothing() -> None:
    """Whatever the score and the largest of the row: no infinity, no NaN, weight 0."""
    with np.errstate(over="raise", invalid="raise", under="ignore"):
        for score in (np.float32(-1e37), np.float32(0), np.float32(1e37)):
            masked = score + MASKED
            for largest in (np.float32(-1e37), np.float32(1e37)):
                shifted = masked - largest
                assert np.isfinite(shifted)
                assert np.exp(shifted) == 0


def test_rotary_turns_a_pair_by_its_phase() -> None:
    matrices = rotary([0, 3], np.array([1.0, 0.5], np.float32))
    assert matrices.shape == (2, 2, 2, 2)
    np.testing.assert_array_equal(matrices[0, :, :, 0], np.eye(2))
    cos, sin = np.cos(1.5), np.sin(1.5)
    np.testing.assert_allclose(matrices[1, :, :, 1], [[cos, -sin], [sin, cos]], rtol=1e-6)


def test_layers_of_a_kind_have_inputs_of_their_own() -> None:
    gemma, gpt2 = BUILT_IN["gemma3-1b"], BUILT_IN["gpt2"]
    assert list(block_inputs(gemma, 0, [3], 3, 8)) == list(block_inputs(gemma, 5, [3], 3, 8)) == ["mask", "rotary"]
    assert list(network_inputs(gemma, 5, [3], 3, 8)) == ["mask_sliding", "rotary_sliding"]
    both = network_inputs(gemma, 6, [3], 3, 8)
    assert list(both) == ["mask_sliding", "rotary_sliding", "mask", "rotary"]
    assert both["rotary"].shape == (1, 2, 2, 128)
    assert not np.array_equal(both["rotary"], both["rotary_sliding"])
    assert list(network_inputs(gpt2, 12, [3], 3, 8)) == ["mask"]
