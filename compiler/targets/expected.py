"""What the reference gives for a design's outputs, packed as the kernels store it, for the testbench."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.analysis.rows import Kept, kept_rows, made_rows
from compiler.errors import InvalidInputError
from compiler.graph.linalg_graph import LinalgGraph, Output, Row, Value
from compiler.targets.images import NATIVE, pack
from compiler.targets.interface import Image, Interface
from compiler.targets.tensors import Tensors, tensor_of


def expected_file(image: Image, channel: int) -> str:
    """Path of the expected content of a channel of an output, in the design directory."""
    return f"tb/{image.name}.{channel}.expected.bin"


def valid_file(image: Image, channel: int) -> str:
    """Path of the file that is zero where a channel of a padded output holds padding, in the design directory."""
    return f"tb/{image.name}.{channel}.valid.bin"


def write_expected(
    interface: Interface, graph: LinalgGraph, tensors: Tensors, expected: Mapping[str, NDArray[Any]], design: Path
) -> None:
    """Write the files, of a launch whose arguments are the largest; `tensors` by `Value.source`, `expected` by
    `Output.name`. Raises InvalidInputError that names one that is missing.
    """
    kept = {row.state: (made, row) for made, row in kept_rows(graph).items()}
    rows = made_rows(graph)
    for image in filter(lambda image: image.is_made, interface.images):
        value = image.value
        if image.role == "kept":
            made, row = kept[value.name]
            array = _joined(tensor_of(value, tensors), row, _made(graph.value[made], graph, expected))
        elif value.name in rows:
            array = _alone(_made(graph.value[value.name], graph, expected), rows[value.name])
        else:
            array = _made(value, graph, expected)
        for channel, content in enumerate(pack(array, image.dma)):
            (design / expected_file(image, channel)).write_bytes(content)
        for channel, content in enumerate(pack(np.ones_like(array), image.dma) if value.valid else ()):
            (design / valid_file(image, channel)).write_bytes(content)


def _joined(state: NDArray[Any], kept: Kept, row: NDArray[Any]) -> NDArray[Any]:
    """The state with the new row as its last."""
    joined = np.array(state)
    np.moveaxis(joined, kept.axis, 0)[kept.row.count - 1] = row
    return joined


def _alone(made: NDArray[Any], row: Row) -> NDArray[Any]:
    """All rows with that of one launch as the last."""
    rows = np.zeros((row.count, *made.shape), made.dtype)
    rows[-1] = made
    return np.moveaxis(rows, 0, row.axis)


def _made(value: Value, graph: LinalgGraph, expected: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    results = {out.layer: out for out in reversed(graph.outputs) if out.value == value.name}
    return _value_behind(results, value, expected)


def _value_behind(
    results: Mapping[int | None, Output], value: Value, expected: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """The value that became these results, one, or one of each layer: permutations and reshapes undone."""
    if None in results:
        return _undone(results[None], value.true_shape, value, expected)
    return np.stack([_undone(results[n], value.true_shape[1:], value, expected) for n in range(value.true_shape[0])])


def _undone(output: Output, shape: tuple[int, ...], value: Value, expected: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if output.name not in expected:
        raise InvalidInputError(f"the expected result {output.name!r} is missing; import the model again")
    permuted = np.asarray(expected[output.name]).reshape([shape[d] for d in output.permutation])
    return permuted.transpose(np.argsort(output.permutation)).astype(NATIVE[value.dtype], copy=False)
