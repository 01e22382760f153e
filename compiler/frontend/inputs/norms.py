"""A BatchNormalization behind a convolution or a product with weights, whose weights and bias it becomes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Norm(NamedTuple):
    """What it computes of a channel: (x - mean) / sqrt(variance + epsilon) * scale + shift; arrays of shape (channels,)
    each.
    """

    scale: Array
    shift: Array
    mean: Array
    variance: Array
    epsilon: float

    def folded(self, weight: Array, bias: Array | None) -> tuple[Array, Array] | None:
        """Weights (channels first) and bias, in f32, of the operation that makes what both make; None where these are
        not finite, or the bias is not one of channels.
        """
        if bias is not None and bias.shape != self.shift.shape:
            return None
        scale, shift, mean, variance = (np.asarray(array, np.float64) for array in self[:4])
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + self.epsilon)
            kernel = (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.float32)
            made = (((0.0 if bias is None else bias) - mean) * factor + shift).astype(np.float32)
        return (kernel, made) if np.isfinite(kernel).all() and np.isfinite(made).all() else None
