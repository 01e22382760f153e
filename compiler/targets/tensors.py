"""What values of a network hold, from its tensors."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import InvalidInputError
from compiler.graph.linalg_graph import Value
from compiler.targets.images import NATIVE

Tensors = Mapping[str, NDArray[Any]]


def tensor_of(value: Value, tensors: Tensors) -> NDArray[Any]:
    """The value's content in its own shape, without padding, and type: a tensor, or one of each layer. Raises
    InvalidInputError where one is missing, or has another size.
    """
    shape = value.true_shape
    if not value.sources:
        return _tensor_from(value.source, shape, value, tensors)
    inner = shape[1 if len(value.sources) == shape[0] else 2 :]  # several in each layer
    return np.stack([_tensor_from(source, inner, value, tensors) for source in value.sources]).reshape(shape)


def _tensor_from(source: str, shape: tuple[int, ...], value: Value, tensors: Tensors) -> NDArray[Any]:
    if source not in tensors:
        raise InvalidInputError(f"tensor {source!r} of value {value.name} is missing; import the model again")
    array = np.asarray(tensors[source])
    if array.size != prod(shape):
        raise InvalidInputError(f"tensor {source!r} has shape {list(array.shape)}, value {value.name} is {list(shape)}")
    return array.reshape(shape).astype(NATIVE[value.dtype], copy=False)
