"""Arrays with padding behind their true extents, and without."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def pad_array(array: Array, shape: Sequence[int]) -> Array:
    """`array` with zeros behind each dimension, up to `shape`."""
    if array.shape == tuple(shape):
        return array
    padded = np.zeros(shape, array.dtype)
    padded[tuple(slice(extent) for extent in array.shape)] = array
    return padded


def crop_array(array: Array, shape: Sequence[int]) -> Array:
    """The corner of `array` that has `shape`: what padding leaves of it. A view."""
    return array[tuple(slice(extent) for extent in shape)]
