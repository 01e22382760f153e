"""Networks for inputs that follow each other, with what each input gives by itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.interpret import interpret, outputs_of
from compiler.graph.linalg_graph import LinalgGraph

Array = NDArray[Any]


def several(
    graph: LinalgGraph, parameters: Mapping[str, Array], count: int
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Tensors and results of `count` different inputs, both with a dimension for them in front: slow and obvious, one
    input after the other.
    """
    rng = np.random.default_rng(7)
    given = [
        {v.source: rng.standard_normal(v.shape).astype(np.float32) for v in graph.values if v.role == "input"}
        for _ in range(count)
    ]
    made = [outputs_of(graph, interpret(graph, {**parameters, **one})) for one in given]
    stacked = ({name: np.stack([one[name] for one in all_]) for name in all_[0]} for all_ in (given, made))
    tensors, expected = stacked
    return {**parameters, **tensors}, expected
